# SPDX-License-Identifier: Apache-2.0
"""histogram: bins of f32 over [-1, 1] or of bytes; values uniform, all in one bin, or nine of ten in one bin."""

import ctypes
import functools

import contenders as of
import torch
from timing import Case, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs
LENGTHS = {"2^28": 2**28, "10^6": 10**6, "4·10^6": 4 * 10**6}


def case(dtype, values, goals, length="2^28", bins=256):
    kind = "floats" if dtype == "f32" else "bytes"
    function = "histogram lo=-1 hi=1" if dtype == "f32" else "bincount"
    name = f"{length} {kind}, {values}" + (f", {bins} bins" if bins != 256 else "")
    return Case(
        name=name,
        problem=f"function={function} length={LENGTHS[length]} bins={bins} dtype={dtype}",
        goals="; ".join([*goals, "apart <= 1.02 best peer"]),
        dtype=dtype,
        values=values,
        length=LENGTHS[length],
        bins=bins,
    )


CASES = [
    case("f32", "uniform", ["apart <= 1.05 read"]),
    case("f32", "one bin", ["apart <= 1.3 Tunesmith at 2^28 floats, uniform"]),
    case("f32", "nine of ten in one bin", ["apart <= 1.3 Tunesmith at 2^28 floats, uniform"]),
    case("u8", "uniform", ["apart <= 1.1 read"]),
    case("u8", "one bin", ["apart <= 1.3 Tunesmith at 2^28 bytes, uniform"]),
    case("u8", "nine of ten in one bin", ["apart <= 1.3 Tunesmith at 2^28 bytes, uniform"]),
    case("u8", "uniform", [], "10^6"),
    case("u8", "uniform", [], "4·10^6"),
    case("f32", "uniform", [], "10^6", 128),
]


def inputs(case):
    """Floats whose bin is the same in f32 and in f64: multiples of 2^-24, or away from a bin's edges."""
    values = of.random(case, (case.length,), 0.0, 1.0)
    within = (case.bins / 2 + 0.25 + values / 2) / case.bins  # in the middle half of a bin
    if case.values == "one bin":
        values = within
    elif case.values == "nine of ten in one bin":
        values = torch.where(of.random(case, (1, case.length), 0.0, 1.0)[0] < 0.9, within, values)
    return (values * 2 - 1 if case.dtype == "f32" else (values * case.bins).to(torch.uint8),)


def tunesmith(case, values):
    counts = of.poisoned((case.bins,), torch.int64)
    return [values, counts], counts, None


def expected(case, values):
    bins = ((values.double() + 1) * (case.bins / 2)).floor_() if case.dtype == "f32" else values
    return Expected(torch.bincount(bins.to(torch.int64), minlength=case.bins))


def pytorch(case, values):
    if case.dtype == "f32":
        return of.pytorch(lambda: torch.histc(values, case.bins, -1, 1))
    return of.pytorch(lambda: torch.bincount(values, minlength=case.bins), capture=False)


def with_cupy(case, values):
    if of.cupy is None:
        return None
    given = of.as_cupy(values)
    if case.dtype == "f32":
        return of.with_cupy(
            lambda: of.cupy.histogram(given, case.bins, (-1.0, 1.0))[0], capture=False, keep=(values,)
        )
    return of.with_cupy(lambda: of.cupy.bincount(given, minlength=case.bins), capture=False, keep=(values,))


def with_cub(case, values):
    if of.peers is None:
        return None
    counts = of.poisoned((case.bins,), torch.int32)
    number = ctypes.c_float if case.dtype == "f32" else ctypes.c_int
    ends = (-1, 1) if case.dtype == "f32" else (0, case.bins)
    return of.peers.with_temporary(
        f"histogram_{case.dtype}", values, counts, ctypes.c_int(case.bins), *map(number, ends)
    )


@functools.cache
def original():
    """The original Numba kernel, the one with atomic counters: one counter per bin."""

    @cuda.jit
    def count(values, low, scale, counts):
        for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
            cuda.atomic.add(counts, int((values[i] - low) * scale), 1)

    return count


def with_numba(case, values):
    if of.numba_cuda is None:
        return None
    counts = of.poisoned((case.bins,), torch.int32)
    given, counted = of.as_numba(values, counts)
    low, scale = (-1, case.bins // 2) if case.dtype == "f32" else (0, 1)
    return of.with_numba(
        original(), of.multiprocessors() * 16, 256, (given, low, scale, counted), counts, counts.zero_
    )


PEERS = {"PyTorch": pytorch, "CuPy": with_cupy, "CUB": with_cub, "original": with_numba}
LIMITS = {"read": lambda case, values: of.read(values)}
