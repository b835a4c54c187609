# SPDX-License-Identifier: Apache-2.0
"""rank_filter: medians and maxima of square windows, with reflected edges."""

import contenders as of
import torch
from timing import Case, Expected


def case(word, side, window, dtype, goals):
    count = window**2
    rank = count // 2 if word == "median" else count - 1
    return Case(
        name=f"{word} of {window}×{window}, {side}×{side} {dtype}",
        problem=f"height={side} width={side} window_height={window} window_width={window} rank={rank} dtype={dtype}",
        goals=goals + "; apart <= 1 best peer",
        word=word,
        side=side,
        window=window,
        dtype=dtype,
        rank=rank,
    )


CASES = [
    *(
        case("median", 4096, window, "f32", f"apart <= {goal} copy")
        for window, goal in ((3, 1.4), (5, 3), (7, 6))
    ),
    *(
        case("median", 4096, window, "u8", f"apart <= {goal} copy")
        for window, goal in ((3, 2), (5, 4), (7, 8))
    ),
    *(case("median", 2048, 15, dtype, "apart <= 0.02 CuPy") for dtype in ("f32", "u8")),
    *(case("median", 1024, 31, dtype, "apart <= 0.01 CuPy") for dtype in ("f32", "u8")),
    *(case("maximum", 4096, window, "f32", "apart <= 1.3 copy") for window in (3, 9, 41)),
    *(case("maximum", 4096, window, "u8", "apart <= 1.6 copy") for window in (3, 9, 41)),
]


def inputs(case):
    shape = (case.side, case.side)
    return (
        of.random(case, shape) if case.dtype == "f32" else of.random(case, shape, 0, 256).to(torch.uint8),
    )


def tunesmith(case, image):
    output = of.poisoned(image.shape, image.dtype)
    return [image, output], output, None


def expected(case, image):
    """Sorted windows, a few rows at a time."""
    half, rows = case.window // 2, max(1, 2**24 // (case.side * case.window**2))
    place = torch.arange(-half, case.side + half, device="cuda")
    place = torch.where(
        place < 0, -1 - place, torch.where(place >= case.side, 2 * case.side - 1 - place, place)
    )
    framed = image[place][:, place]
    value = torch.empty(image.shape, dtype=torch.double, device="cuda")
    for y in range(0, case.side, rows):
        windows = framed[y : y + rows + 2 * half].unfold(0, case.window, 1).unfold(1, case.window, 1)
        value[y : y + rows] = (
            windows.reshape(*windows.shape[:2], -1).sort(dim=-1).values[..., case.rank].double()
        )
    return Expected(value, torch.zeros_like(value))


def with_cupy(case, image):
    if of.cupy is None:
        return None
    import cupyx.scipy.ndimage

    output = of.poisoned(image.shape, image.dtype)
    given, written = of.as_cupy(image), of.as_cupy(output)
    apply = cupyx.scipy.ndimage.median_filter if case.word == "median" else cupyx.scipy.ndimage.maximum_filter
    return of.with_cupy(
        lambda: apply(given, case.window, output=written), output=lambda: output, keep=(image, output)
    )


PEERS = {"CuPy": with_cupy}
LIMITS = {"copy": lambda case, image: of.copy(2 * image.element_size() * image.numel())}
