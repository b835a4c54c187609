# SPDX-License-Identifier: Apache-2.0
"""scan: cumulative sums of f32, along each axis."""

import math

import contenders as of
import torch
from timing import Case, Expected


def case(shape, axis, goal):
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    dims = f"outer={outer} " * (outer > 1) + f"length={shape[axis]}" + f" inner={inner}" * (inner > 1)
    sizes = "×".join(str(extent) for extent in shape)
    return Case(
        name=f"cumulative sum of {sizes}, axis {axis}",
        problem=dims,
        goals=f"apart <= {goal} copy; apart <= 1.02 best peer",
        shape=shape,
        axis=axis,
    )


CASES = [
    case((2**26,), 0, 1.15),
    case((2**20, 64), 0, 1.3),
    case((2**20, 7), 0, 1.4),
    case((4096, 4096), 0, 1.25),
    case((4096, 4096), 1, 1.2),
    case((65536, 100), 1, 1.3),
    case((64, 1000, 333), 1, 1.4),
]


def inputs(case):
    return (of.random(case, case.shape),)


def tunesmith(case, values):
    output = of.poisoned(case.shape)
    return [values, output], output, None


def expected(case, values):
    exact = values.double()
    value, size = exact.cumsum(case.axis), exact.abs_().cumsum(case.axis)
    n = case.shape[case.axis]
    count = torch.arange(1, n + 1, device="cuda").reshape(
        [n if k == case.axis else 1 for k in range(values.dim())]
    )
    return Expected(value, size * torch.minimum(count, 256 + count / 1024) * 2.0**-24)  # the op's bound


def pytorch(case, values):
    output = of.poisoned(case.shape)
    return of.pytorch(lambda: torch.cumsum(values, case.axis, out=output))


def with_cupy(case, values):
    if of.cupy is None:
        return None
    output = of.poisoned(case.shape)
    given, written = of.as_cupy(values), of.as_cupy(output)
    return of.with_cupy(
        lambda: of.cupy.cumsum(given, axis=case.axis, out=written),
        output=lambda: output,
        keep=(values, output),
    )


PEERS = {"PyTorch": pytorch, "CuPy": with_cupy}
LIMITS = {"copy": lambda case, values: of.copy(8 * values.numel())}
