# SPDX-License-Identifier: Apache-2.0
"""conv1d: numpy.convolve(signal, taps, "valid"), PyTorch's conv1d without padding, with the taps in reverse."""

import functools

import contenders as of
import torch
import torch.nn.functional as functional
from timing import Case, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs


def case(exponent, taps, goals):
    n = 10**exponent
    return Case(
        name=f"n=10^{exponent}, k={taps}",
        problem=f"length={n} taps={taps} function=convolve mode=valid",
        goals=goals + "; apart <= 1.02 best peer",
        n=n,
        taps=taps,
    )


CASES = [
    case(6, 5, "apart <= 1 copy"),
    case(7, 5, "apart <= 0.65 copy"),
    case(7, 63, "apart <= 0.8 copy"),
    case(7, 255, "apart <= 1.2 copy"),
    case(8, 9, "apart <= 1.02 copy"),
]


def inputs(case):
    return of.random(case, (case.n,)), of.random(case, (case.taps,))


def outputs(case):
    return case.n - case.taps + 1


def tunesmith(case, signal, taps):
    output = of.poisoned((outputs(case),))
    return [signal, taps, output], output, None


def expected(case, signal, taps):
    """The bound is that of a plain f32 sum: (taps + 1) u sum|w x|."""
    n = outputs(case)
    value, size = (torch.zeros(n, dtype=torch.double, device=signal.device) for _ in range(2))
    for tap, weight in enumerate(reversed(taps.tolist())):
        part = signal[tap : tap + n].double()
        value.add_(part, alpha=weight)
        size.add_(part.abs_(), alpha=abs(weight))
    return Expected(value, size * (case.taps + 1) * 2.0**-24)


def pytorch(case, signal, taps):
    weights = torch.flip(taps, (0,)).contiguous()[None, None]
    return of.pytorch(lambda: functional.conv1d(signal[None, None], weights))


def with_cupy(case, signal, taps):
    if of.cupy is None:
        return None
    source, weights = of.as_cupy(signal), of.as_cupy(taps)
    return of.with_cupy(lambda: of.cupy.convolve(source, weights, mode="valid"), keep=(signal, taps))


@functools.cache
def original():
    @cuda.jit
    def numba_cuda_conv(x, k, y):
        i = cuda.grid(1)
        if (i >= k.size - 1) and (i < x.size):
            for j in range(k.size):
                y[i - k.size + 1] += x[i - j] * k[j]

    return numba_cuda_conv


def with_numba(case, signal, taps):
    """The original Numba kernel, which adds to an output of zeros."""
    if of.numba_cuda is None:
        return None
    output = of.poisoned((outputs(case),))
    return of.with_numba(
        original(), case.n // 128 + 1, 128, of.as_numba(signal, taps, output), output, output.zero_
    )


PEERS = {"PyTorch": pytorch, "CuPy": with_cupy, "original": with_numba}
LIMITS = {
    "copy": lambda case, signal, taps: of.copy(4 * (case.n + outputs(case))),
    "FFMA": lambda case, signal, taps: of.ffma(outputs(case) * case.taps),
    "empty kernel": lambda case, signal, taps: of.empty_kernel(),
}
