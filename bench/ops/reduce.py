# SPDX-License-Identifier: Apache-2.0
"""reduce: f32, over all elements or one axis of an image."""

import contenders as of
import torch
from timing import Case, Expected


def case(name, function, shape, axis, goals=""):
    """axis None: over all elements."""
    if axis is None:
        dims = f"length={shape[0]}"
    else:
        dims = f"length={shape[axis]} " + (f"outer={shape[0]}" if axis == 1 else f"inner={shape[1]}")
    return Case(
        name=name,
        problem=f"function={function} {dims}",
        goals=goals + "; " * bool(goals) + "apart <= 1.02 best peer",
        function=function,
        shape=shape,
        axis=axis,
    )


CASES = [
    case("sum of 2^28", "sum", (2**28,), None, "apart <= 1.01 read"),
    case("sum of 10^6", "sum", (10**6,), None, "apart <= 2.2 us"),
    case("max of 2^28", "max", (2**28,), None, "apart <= 1.01 read"),
    case("mean of each row, 4096×4096", "mean", (4096, 4096), 1, "apart <= 1.02 read"),
    case("mean of each column, 4096×4096", "mean", (4096, 4096), 0, "apart <= 1.15 read"),
]


for shape, axis in (((4096, 4096), 0), ((4096, 4096), 1), ((10**5, 33), 0), ((10**5, 33), 1)):
    # The goals of two of the words are ratios to the other two.
    for word in ("max", "argmax", "sum", "var"):
        CASES.append(case(f"{word} of {shape[0]}×{shape[1]}, axis {axis}", word, shape, axis))


def inputs(case):
    return (of.random(case, case.shape),)


def outputs(case):
    return 1 if case.axis is None else case.shape[1 - case.axis]


def tunesmith(case, values):
    output = of.poisoned((outputs(case),), torch.int64 if case.function == "argmax" else torch.float32)
    return [values, output], output, None


def expected(case, values):
    if case.function == "max":
        return Expected(values.max().reshape(1) if case.axis is None else values.amax(case.axis))
    if case.function == "argmax":
        return Expected(values.argmax(case.axis))
    exact = values.double()
    if case.function == "var":
        value = exact.var(case.axis, correction=0)
        # With numbers in [-1, 1) the error counts as the number of elements times 2^-52, except for the first
        # number.
        return Expected(
            value, 2.0**-24 * (18 * value + 256 * 2.0**-24) + 4 * values.shape[case.axis] * 2.0**-52
        )
    dims = list(range(values.dim())) if case.axis is None else [case.axis]
    value, size = exact.sum(dims).reshape(-1), exact.abs_().sum(dims).reshape(-1)
    n = values.numel() // outputs(case)
    if case.function == "mean":
        value, size = value / n, size / n
    return Expected(value, size * (8 * 2.0**-24 + n * 2.0**-53))  # the op's bound


# One function each, because torch.compile keeps its results per function.
def total(values):
    return torch.sum(values)


def largest(values):
    return torch.max(values)


def mean_of_rows(values):
    return torch.mean(values, 1)


def mean_of_columns(values):
    return torch.mean(values, 0)


def sum_of_rows(values):
    return torch.sum(values, 1)


def sum_of_columns(values):
    return torch.sum(values, 0)


def max_of_rows(values):
    return torch.amax(values, 1)


def max_of_columns(values):
    return torch.amax(values, 0)


def argmax_of_rows(values):
    return torch.argmax(values, 1)


def argmax_of_columns(values):
    return torch.argmax(values, 0)


def var_of_rows(values):
    return torch.var(values, 1, correction=0)


def var_of_columns(values):
    return torch.var(values, 0, correction=0)


def function(case):
    if case.axis is None:
        return {"sum": total, "max": largest}[case.function]
    by_axis = {
        "argmax": (argmax_of_columns, argmax_of_rows),
        "max": (max_of_columns, max_of_rows),
        "mean": (mean_of_columns, mean_of_rows),
        "sum": (sum_of_columns, sum_of_rows),
        "var": (var_of_columns, var_of_rows),
    }
    return by_axis[case.function][case.axis]


def pytorch(case, values):
    return of.pytorch(function(case), values)


def compiled(case, values):
    return of.compiled(function(case), values)


def with_cupy(case, values):
    if of.cupy is None:
        return None
    apply, given = getattr(of.cupy, case.function), of.as_cupy(values)
    return of.with_cupy(lambda: apply(given, axis=case.axis), keep=(values,))


def with_cub(case, values):
    if of.peers is None or case.axis is not None:
        return None
    return of.peers.with_temporary(case.function, values, of.poisoned((1,)))


PEERS = {"PyTorch": pytorch, "PyTorch compiled": compiled, "CuPy": with_cupy, "CUB": with_cub}
LIMITS = {
    "read": lambda case, values: of.read(values),
    "empty kernel": lambda case, values: of.empty_kernel(),
}
