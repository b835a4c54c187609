# SPDX-License-Identifier: Apache-2.0
"""tensor: permutations (four, and 60 drawn ones: --case permute60), windows, and the 48 contractions of TCCG (github.com/HPAC/tccg)
in f32 and f64, with its rule for sizes, some 200 MiB a case."""

import math
import random

import contenders as of
import torch
from timing import Case, Expected

PERMUTATIONS = [
    ((100, 101, 102, 33), (3, 1, 0, 2)),
    ((64, 56, 56, 256), (0, 3, 1, 2)),
    ((17, 33, 65, 31, 9), (4, 2, 0, 3, 1)),
    ((8,) * 7, (6, 5, 4, 3, 2, 1, 0)),
]
NAMES = {
    torch.uint8: "u8",
    torch.float16: "f16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex128: "f64",
}


def drawn(count=60, seed=60):
    """Shapes, orders and types: rank 3 to 8, 1 to 128 MiB, elements of 1 to 16 bytes in turns."""
    numbers = random.Random(seed)
    for n in range(count):
        dtype = list(NAMES)[n % len(NAMES)]
        rank = numbers.randint(3, 8)
        elements = 2 ** numbers.uniform(20, 27) / dtype.itemsize
        shares = [0.2 + numbers.random() for _ in range(rank)]
        shape = [max(2, round(elements ** (share / sum(shares)))) for share in shares]
        while math.prod(shape) * dtype.itemsize < 2**20:
            shape[shape.index(max(shape))] += 1
        order = list(range(rank))
        while order == sorted(order):
            numbers.shuffle(order)
        yield tuple(shape), tuple(order), dtype


# The result's indices, and those of the two operands.
CONTRACTIONS = {
    "ccsd": "ij-ik-kj ij-ikl-ljk ij-kil-lkj ijk-ikl-lj ijk-il-jlk ijk-ilk-jl ijk-ilk-lj ijk-ilmk-mjl ijkl-imjn-lnkm "
    "ijkl-imjn-nlmk ijkl-imkn-jnlm ijkl-imkn-njml ijkl-imln-jnkm ijkl-imln-njmk ijkl-imnj-nlkm ijkl-imnk-njml "
    "ijkl-minj-nlmk ijkl-mink-jnlm ijkl-minl-njmk",
    "ao2mo": "aqrs-pa-pqrs abrs-qb-aqrs abcs-rc-abrs",
    "intensli": "abj-bka-kj ajb-kba-jk abjc-cbka-kj ajbc-ckba-jk abjc-kbac-jk abjcd-dkbac-jk adbjc-cbdka-kj ajbdc-ckbad-jk",
    "ccsd(t)": " ".join(
        [
            "abcijk-" + one
            for one in (
                "ijma-mkbc ijmb-mkac ijmc-mkab ikma-mjbc ikmb-mjac ikmc-mjab jkma-mibc jkmb-miac jkmc-miab eiab-jkec eiac-jkeb "
                "eibc-jkea ejab-ikec ejac-ikeb ejbc-ikea ekab-ijec ekac-ijeb ekbc-ijea"
            ).split()
        ]
    ),
}


def sizes(text, item, fixed):
    """The extents of TCCG: the first index of each tensor a multiple of 24, the others of 4, for at most 200 MiB per tensor."""
    tensors = text.split("-")
    each = (200 * 2**20 / item) ** (1 / max(map(len, tensors)))
    found = dict(fixed)
    for index in sorted(set("".join(tensors)) - set(found)):
        if index in {tensor[0] for tensor in tensors}:
            found[index] = int((each + 23) / 24) * 24
        else:
            above, below = int((each + 3) / 4) * 4, max(4, int(each / 4) * 4)
            found[index] = above if abs(each - above) < abs(each - below) else below
    return found


def permutation(shape, order, dtype=torch.float32, name="permute"):
    letters = "abcdefgh"[: len(shape)]
    result = "".join(letters[k] for k in order)
    title = f"{name} {'×'.join(map(str, shape))} to {order}" + (
        f" {dtype.itemsize} bytes" if name != "permute" else ""
    )
    return case(title, result, [letters], dict(zip(letters, shape)), dtype, "apart <= 1.11 copy")


def contraction(family, text, dtype):
    result, *operands = text.split("-")
    extents = sizes(text, dtype.itemsize, {"j": 24} if family == "intensli" else {})
    name = "f32" if dtype == torch.float32 else "f64"
    return case(f"{family} {text} {name}", result, operands, extents, dtype, "apart <= 1.05 best peer")


def case(name, result, operands, extents, dtype, goals):
    # An element of 16 bytes is computed as two of 8.
    halves = ",z" if dtype == torch.complex128 else ""
    factors = " * ".join(f"x{k}[{','.join(operand)}{halves}]" for k, operand in enumerate(operands))
    reduced = set("".join(operands)) - set(result)
    text = f"out[{','.join(result)}{halves}] {'+=' if reduced else '='} {factors}"
    values = " ".join(f"{index}={extent}" for index, extent in extents.items()) + (" z=2" if halves else "")
    problem = f'expression="{text}" {values} dtype={NAMES[dtype]}'
    return Case(
        name=name,
        problem=problem,
        goals=goals,
        result=result,
        operands=operands,
        extents=extents,
        dtype=dtype,
    )


def windows(name, text, result, arrays, dtype, goals, peer, values=""):
    """`peer` computes the result with PyTorch from the arrays, in their type or in double."""
    layouts = " ".join(f"{array}={'x'.join(map(str, shape))}" for array, shape in arrays.items())
    return Case(
        name=f"{name} {NAMES[dtype]}",
        problem=f'expression="{text}" {layouts} {values} dtype={NAMES[dtype]}',
        goals=goals,
        result=result,
        arrays=arrays,
        dtype=dtype,
        peer=peer,
    )


def depthwise(mask, dtype, times):
    side = 112
    return windows(
        f"depthwise {mask}×{mask}",
        "out[n,c,y,x] += a[n,c,y+i,x+j] * w[c,i,j]",
        (16, 64, side, side),
        {"a": (16, 64, side + mask - 1, side + mask - 1), "w": (64, mask, mask)},
        dtype,
        f"apart <= {times} copy; apart <= 1.05 best peer",
        lambda a, w: torch.nn.functional.conv2d(a, w[:, None], groups=64),
    )


def strided(dtype):
    return windows(
        "first layer 7×7",
        "out[n,o,y,x] += a[n,c,2*y+i,2*x+j] * w[o,c,i,j]",
        (32, 64, 109, 109),
        {"a": (32, 3, 224, 224), "w": (64, 3, 7, 7)},
        dtype,
        "apart <= 0.33 best peer",
        lambda a, w: torch.nn.functional.conv2d(a, w, stride=2),
        "y=109 x=109",
    )


def gaussian(radius):
    def peer(a, v, h):
        columns = torch.nn.functional.conv2d(a[None, None], v[None, None, :, None])
        return torch.nn.functional.conv2d(columns, h[None, None, None, :])[0, 0]

    taps, side = 2 * radius + 1, 4096
    return windows(
        f"separable {taps}×{taps}",
        "out[y,x] += a[y+i,x+j] * v[i] * h[j]",
        (side, side),
        {"a": (side + 2 * radius, side + 2 * radius), "v": (taps,), "h": (taps,)},
        torch.float32,
        "apart <= 1.3 copy",
        peer,
        "may=distribute",
    )


def volume(radius, side=256):
    def peer(a, *weights):
        result = a[None, None]
        for dimension, weight in enumerate(weights):
            result = torch.nn.functional.conv3d(
                result, weight.view([1, 1] + [-1 if d == dimension else 1 for d in range(3)])
            )
        return result[0, 0]

    taps, reach = 2 * radius + 1, side + 2 * radius
    return windows(
        f"separable {taps}×{taps}×{taps}",
        "out[z,y,x] += a[z+i,y+j,x+k] * u[i] * v[j] * w[k]",
        (side, side, side),
        {"a": (reach, reach, reach), "u": (taps,), "v": (taps,), "w": (taps,)},
        torch.float32,
        "apart <= 1.3 copy",
        peer,
        "may=distribute",
    )


def pooled(name, reduction, peer, taps=15, side=4096):
    reach = side + taps - 1
    return windows(
        f"{name} {taps}×{taps}",
        f"out[y,x] {reduction} a[y+i,x+j]",
        (side, side),
        {"a": (reach, reach)},
        torch.float32,
        "apart <= 1.3 copy",
        lambda a: peer(a[None, None], taps, 1)[0, 0],
        f"y={side} x={side}",
    )


WINDOWS = [
    depthwise(mask, dtype, times)
    for dtype in (torch.float32, torch.float16)
    for mask, times in ((3, 1.3), (5, 1.5), (7, 2), (13, 4))
]
WINDOWS += [
    strided(torch.float32),
    gaussian(4),
    gaussian(8),
    volume(4),
    pooled("dilation", "max=", torch.nn.functional.max_pool2d),
]
WINDOWS += [
    pooled(
        "box", "+=", lambda a, taps, step: torch.nn.functional.avg_pool2d(a, taps, step, divisor_override=1)
    )
]
CASES = (
    [permutation(*each) for each in PERMUTATIONS]
    + WINDOWS
    + [permutation(*each, name="permute60") for each in drawn()]
    + [
        contraction(family, text, dtype)
        for dtype in (torch.float32, torch.float64)
        for family, texts in CONTRACTIONS.items()
        for text in texts.split()
    ]
)


def shape(case, indices):
    return tuple(case.extents[index] for index in indices)


def inputs(case):
    if hasattr(case, "peer"):
        return tuple(of.random(case, each).to(case.dtype) for each in case.arrays.values())
    if case.dtype == torch.uint8:
        return (of.random(case, shape(case, case.operands[0]), 0, 256).to(case.dtype),)
    if case.dtype == torch.complex128:
        return (torch.view_as_complex(of.random(case, (*shape(case, case.operands[0]), 2)).double()),)
    return tuple(of.random(case, shape(case, operand)).to(case.dtype) for operand in case.operands)


def output(case):
    return of.poisoned(case.result if hasattr(case, "peer") else shape(case, case.result), case.dtype)


def tunesmith(case, *operands):
    target = output(case)
    return [*operands, *[None] * (6 - len(operands)), target], target, None


def subscripts(case):
    return ",".join(case.operands) + "->" + case.result


def window_terms(case):
    """The products per output: the elements of all filters, of one output channel; without a filter those of the window."""
    image, *filters = case.arrays.values()
    if not filters:
        return math.prod(extent - outputs + 1 for extent, outputs in zip(image, case.result))
    return math.prod(math.prod(each[1:] if len(each) > 1 else each) for each in filters)


def expected(case, *operands):
    if hasattr(case, "peer"):
        wide = [operand.double() for operand in operands]
        size = case.peer(*[operand.abs() for operand in wide])
        return Expected(
            case.peer(*wide),
            size * (2.0**-24 * (window_terms(case) + 2))
            + (size * 2.0**-11 if case.dtype == torch.float16 else 0),
        )
    if len(operands) == 1:
        return Expected(
            operands[0].permute([case.operands[0].index(index) for index in case.result]).contiguous()
        )
    wide = [operand.double() for operand in operands]
    terms = math.prod(case.extents[index] for index in set("".join(case.operands)) - set(case.result))
    # The error of a sum of that many products, each rounded; the sum in f64 is compared with another one that
    # is rounded in the same way.
    unit = 2.0**-24 if case.dtype == torch.float32 else 2.0**-52
    bound = torch.einsum(subscripts(case), *[operand.abs() for operand in wide]) * ((terms + 1) * unit)
    return Expected(torch.einsum(subscripts(case), *wide), bound)


def pytorch(case, *operands):
    if hasattr(case, "peer"):
        return of.pytorch(lambda: case.peer(*operands))
    if len(operands) == 1:
        target = output(case)
        order = [case.operands[0].index(index) for index in case.result]
        return of.pytorch(lambda: target.copy_(operands[0].permute(order)))
    return of.pytorch(lambda: torch.einsum(subscripts(case), *operands))


def with_cupy(case, *operands):
    if of.cupy is None or hasattr(case, "peer"):
        return None
    arrays = [of.as_cupy(operand) for operand in operands]
    if len(operands) == 1:
        target = output(case)
        order = [case.operands[0].index(index) for index in case.result]
        written = of.as_cupy(target)
        return of.with_cupy(
            lambda: of.cupy.copyto(written, arrays[0].transpose(order)),
            output=lambda: target,
            keep=(*operands, target),
        )
    results = {}

    def launch():
        results["last"] = of.cupy.einsum(subscripts(case), *arrays)

    return of.with_cupy(launch, output=lambda: torch.as_tensor(results["last"], device="cuda"), keep=operands)


def moved(case):
    if hasattr(case, "peer"):
        return case.dtype.itemsize * sum(map(math.prod, (*case.arrays.values(), case.result)))
    return case.dtype.itemsize * sum(math.prod(shape(case, one)) for one in (*case.operands, case.result))


def ffma(case, *operands):
    if len(operands) == 1 or case.dtype != torch.float32:
        return None
    if hasattr(case, "peer"):
        return of.ffma(math.prod(case.result) * window_terms(case))
    return of.ffma(math.prod(case.extents.values()))


PEERS = {"PyTorch": pytorch, "CuPy": with_cupy}
LIMITS = {"copy": lambda case, *operands: of.copy(moved(case)), "FFMA": ffma}
