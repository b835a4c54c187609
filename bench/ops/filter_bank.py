# SPDX-License-Identifier: Apache-2.0
"""filter_bank: gradient magnitudes and Laplacians of Gaussians, and a pair of Sobel's, with reflected edges."""

import contenders as of
import torch
from timing import Case, Expected


def case(word, sigma, goals, side=4096):
    taps = 3 if word == "sobel" else 2 * int(4 * sigma + 0.5) + 1
    results = {"gaussian_gradient_magnitude": "norm", "gaussian_laplace": "sum", "sobel": "each"}[word]
    name = "both derivatives of Sobel" if word == "sobel" else f"{word}, sigma={sigma}"
    return Case(
        name=f"{name}, {side}×{side} f32",
        problem=f"height={side} width={side} filters=2 taps_y={taps} taps_x={taps} results={results}",
        goals=goals + "; apart <= 1 best peer",
        word=word,
        side=side,
        sigma=sigma,
        taps=taps,
        results=results,
    )


CASES = [
    case("gaussian_gradient_magnitude", 1, "apart <= 1.3 copy"),
    case("gaussian_gradient_magnitude", 3, "apart <= 2 copy"),
    case("gaussian_laplace", 1, "apart <= 1.3 copy"),
    case("sobel", 0, "apart <= 1.1 copy"),
]


def masks(case):
    """Column masks and row masks, in double; a derivative's mask is reversed, as in scipy.ndimage."""
    if case.word == "sobel":
        across, smooth = (
            torch.tensor([-1.0, 0, 1], dtype=torch.double),
            torch.tensor([1.0, 2, 1], dtype=torch.double),
        )
    else:
        x = torch.arange(-(case.taps // 2), case.taps // 2 + 1, dtype=torch.double)
        smooth = torch.exp(-0.5 * (x / case.sigma) ** 2)
        smooth /= smooth.sum()
        variance = case.sigma**2
        across = smooth * (x / variance if case.results == "norm" else (x * x / variance - 1) / variance)
    return torch.stack([across, smooth]), torch.stack([smooth, across])


def inputs(case):
    return (of.random(case, (case.side, case.side)), *(one.to("cuda", torch.float32) for one in masks(case)))


def tunesmith(case, image, columns, rows):
    output = of.poisoned((2, *image.shape) if case.results == "each" else image.shape)
    return [image, columns, rows, output], output, None


def along(image, axis, weights):
    half, side = len(weights) // 2, image.shape[axis]
    place = torch.arange(-half, side + half, device="cuda")
    place = torch.where(place < 0, -1 - place, torch.where(place >= side, 2 * side - 1 - place, place))
    framed = image.index_select(axis, place)
    return sum(framed.narrow(axis, k, side) * weight for k, weight in enumerate(weights.tolist()))


def expected(case, image, columns, rows):
    """The bounds are those of the op's page."""
    unit, taps = 2.0**-24, 2 * case.taps + 1
    wide, sizes = image.double(), image.double().abs()
    each = torch.stack([along(along(wide, 0, c), 1, r) for c, r in zip(columns.double(), rows.double())])
    error = torch.stack(
        [along(along(sizes, 0, c.abs()), 1, r.abs()) for c, r in zip(columns.double(), rows.double())]
    ) * (taps * unit)
    if case.results == "each":
        return Expected(each, error)
    if case.results == "sum":
        return Expected(each.sum(0), error.sum(0) + unit * (each.abs() + error).sum(0))
    norm, apart = each.square().sum(0).sqrt(), error.square().sum(0).sqrt()
    return Expected(norm, apart + 7 * unit * (norm + apart))


def with_cupy(case, image, columns, rows):
    if of.cupy is None:
        return None
    import cupyx.scipy.ndimage as ndimage

    given = of.as_cupy(image)
    if case.word != "sobel":
        apply = getattr(ndimage, case.word)
        return of.with_cupy(lambda: apply(given, case.sigma), keep=(image,))
    output = of.poisoned((2, *image.shape))
    written = of.as_cupy(output)

    def both():
        ndimage.sobel(given, 0, output=written[0])
        ndimage.sobel(given, 1, output=written[1])

    return of.with_cupy(both, output=lambda: output, keep=(image, output))


PEERS = {"CuPy": with_cupy}
LIMITS = {
    "copy": lambda case, image, *_: of.copy(
        image.element_size() * image.numel() * (3 if case.results == "each" else 2)
    )
}
