# SPDX-License-Identifier: Apache-2.0
"""NumPy's convolve and correlate, and conv_covariance."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from . import _typing as typed
from ._arrays import InputArray
from ._core import is_array
from ._dispatchers import launch
from ._recording import recorded
from ._reductions import _as_int64, _least_and_most
from ._types import _complex_parts, dtype_words, promoted


def _line(value, name: str, like: InputArray | None = None) -> InputArray:
    given = InputArray(value, like)
    if len(given.shape) == 0:
        given = given.reshaped((1,))
    if len(given.shape) > 1:
        raise ValueError(
            f"{name} has {len(given.shape)} dimensions; it must have one. object too deep for desired array"
        )
    if given.array.size == 0:
        raise ValueError(f"{name} cannot be empty")
    return given


def _computed_as(*types: str) -> tuple[str, str]:
    """The type in which an op computes, and the type of the result by NumPy's promotion."""
    wanted = promoted(*types)
    if wanted in ("float32", "float64"):
        return wanted, wanted
    if wanted in ("float16", "bfloat16"):
        return "float32", wanted
    return "float64", wanted


_largest_integer = {
    "bool": 1,
    **{f"int{bits}": 2 ** (bits - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": 2**bits - 1 for bits in (8, 16, 32, 64)},
}


def _sixteen_bits(given: InputArray) -> list[InputArray]:
    """Integers modulo 2**64 as four digits of base 2**16, the lowest first, in float64."""
    whole = _as_int64(given)
    return [InputArray((whole.object >> shift) & 0xFFFF).to("float64") for shift in (0, 16, 32, 48)]


def exact_integers(
    convolution, first: InputArray, second: InputArray, terms: int, wanted: str, fill: int = 0
) -> InputArray:
    """convolution(first, second, fill) -> InputArray of float64, for sums of at most `terms` products of integers that wrap as NumPy's and SciPy's do."""
    if wanted == "bool":
        return convolution(first, second, fill).to("bool")
    bounds = [builtins.max(_largest_integer[first.dtype], abs(fill)), _largest_integer[second.dtype]]
    if bounds[0] * bounds[1] * terms > 2**53:  # the numbers may be smaller than their types allow
        bounds = [builtins.max(abs(int(one)) for one in _least_and_most(given)) for given in (first, second)]
        bounds[0] = builtins.max(bounds[0], abs(fill))
    if bounds[0] * bounds[1] * terms <= 2**53:
        return convolution(first, second, fill).to("int64").to(wanted)
    if terms > 2**21:
        raise ValueError(
            f"Sums of {terms} products of integers of 64 bits are not computed exactly; at most {2**21} are. Convert the arrays to float64."
        )
    total = None
    digits = _sixteen_bits(second)
    for i, one in enumerate(_sixteen_bits(first)):
        for j in range(4 - i):
            part = convolution(one, digits[j], (fill >> 16 * i) & 0xFFFF).to("int64").object << 16 * (i + j)
            total = part if total is None else total + part
    return InputArray(total).to(wanted)


def _modes(mode) -> str:
    words = ("valid", "same", "full")
    if mode in words:
        return mode
    if mode is None:
        raise TypeError("mode is None; it must be one of 'valid', 'same', or 'full'")
    if isinstance(mode, int) and 0 <= mode <= 2:
        return words[mode]
    raise ValueError(f"mode is {mode!r}; it must be one of 'valid', 'same', or 'full'")


def _conv1d(a, v, mode, function: str):
    signal, kernel = _line(a, "a"), _line(v, "v")
    if signal.array.kind == "numpy":
        signal = _line(a, "a", kernel)
    kernel = _line(v, "v", signal)
    mode = _modes(mode)
    if signal.dtype in _complex_parts or kernel.dtype in _complex_parts:
        return _complex_conv1d(signal.numpy(), kernel.numpy(), mode, function, signal)
    computed, wanted = _computed_as(signal.dtype, kernel.dtype)
    n, k = signal.array.size, kernel.array.size
    length = {"full": n + k - 1, "same": n if n > k else k, "valid": abs(n - k) + 1}[mode]

    def convolution(signal: InputArray, kernel: InputArray, fill=0) -> InputArray:
        signal, kernel = signal.to(computed).contiguous(), kernel.to(computed).contiguous()
        result = signal.empty((length,), computed)
        problem = (
            ("length", n),
            ("taps", k),
            ("function", function),
            ("mode", mode),
            ("dtype", dtype_words[computed]),
        )
        launch("conv1d", (signal, kernel, result), problem)
        return result

    if wanted.startswith(("float", "bfloat")):
        return convolution(signal, kernel).to(wanted).object
    return exact_integers(convolution, signal, kernel, builtins.min(n, k), wanted).object


def _complex_conv1d(signal, kernel, mode, function, like: InputArray):
    if function == "correlate":
        kernel = np.conj(kernel)

    def part(x, y):
        return _conv1d(np.ascontiguousarray(x), np.ascontiguousarray(y), mode, function)

    real = part(signal.real, kernel.real) - part(signal.imag, kernel.imag)
    imaginary = part(signal.real, kernel.imag) + part(signal.imag, kernel.real)
    both = (real + 1j * imaginary).astype(np.result_type(signal, kernel))
    return like.library.of_numpy(both, like.object)


@typed.of_a_and_v
@recorded("a", "v")
def convolve(a: Any, v: Any, mode: str | int = "full") -> Any:
    """numpy.convolve: the convolution of two one-dimensional arrays; mode is 'full', 'same' or 'valid'.

    float32 and float64 are computed in their own type, float16 and bfloat16 in float32, integers in float64, or in ten parts if their sums
    could pass 2**53, so that they wrap as NumPy's do; complex numbers by parts. Lists, and a NumPy array beside a GPU's, are copied to the other's
    device. An output's error is at most (n + 1) u sum|a v|. Raises ValueError for empty arrays or an unknown mode.

    >>> tunesmith.convolve([1.0, 2.0, 3.0], [1.0, 10.0])
    array([ 1., 12., 23., 30.])
    """
    return _conv1d(a, v, mode, "convolve")


@typed.of_a_and_v
@recorded("a", "v")
def correlate(a: Any, v: Any, mode: str | int = "valid") -> Any:
    """numpy.correlate: the cross-correlation of two one-dimensional arrays, `v` conjugated. See convolve().

    >>> tunesmith.correlate([1.0, 2.0, 3.0], [1.0, 10.0])
    array([21., 32.])
    """
    return _conv1d(a, v, mode, "correlate")


@typed.of_input
def conv_covariance(input: Any, gamma: Any, mu: Any, c: Any) -> Any:
    """Adds to `input`, in place, the terms that a two-dimensional convolution adds to the covariance of its output.

    With n, o, i and h x w for batch, output and input channels and an image's size, and (h - p + 1) x (w - q + 1) for
    the size of the output:
      input: [n, o, h - p + 1, w - q + 1, o, h - p + 1, w - q + 1]; gamma: [n, i, h, w, i, h, w]; mu: [n, i, h, w]; c: [o]
    input[n, o, x, y, o, x', y'] += c[o] * sum over i, k < p, l < q of
        mu[n, i, x + k, y + l] * mu[n, i, x' + k, y' + l] + gamma[n, i, x + k, y + l, i, x' + k, y' + l]
    All four are C-contiguous and of one type: float32, float64 or float16. Returns `input`. Raises ValueError for shapes,
    TypeError for types that do not agree.

    >>> covariance, gamma = np.zeros((1, 1, 2, 2, 1, 2, 2)), np.zeros((1, 1, 2, 2, 1, 2, 2))
    >>> mu, c = np.ones((1, 1, 2, 2)), np.full(1, 3.0)  # a mask of one place
    >>> tunesmith.conv_covariance(covariance, gamma, mu, c)[0, 0, 1, 1, 0].tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    target = InputArray(input)
    others = [InputArray(one, target) for one in (gamma, mu, c)]
    types = {target.dtype, *(one.dtype for one in others)}
    if len(types) != 1 or target.dtype not in ("float32", "float64", "float16"):
        raise TypeError(
            f"conv_covariance was given {', '.join(sorted(types))}; all four arrays have one of float32, float64, float16."
        )
    covariance, means, factors = others
    if (
        len(target.shape) != 7
        or len(covariance.shape) != 7
        or len(means.shape) != 4
        or len(factors.shape) != 1
    ):
        raise ValueError("conv_covariance takes input and gamma of 7 dimensions, mu of 4 and c of 1.")
    n, i, h, w = means.shape
    o, rows, columns = factors.shape[0], target.shape[2], target.shape[3]
    if target.shape != (n, o, rows, columns, o, rows, columns) or covariance.shape != (n, i, h, w, i, h, w):
        raise ValueError(
            f"conv_covariance was given input {target.shape}, gamma {covariance.shape}, mu {means.shape} and c "
            f"{factors.shape}, which do not agree; see its docstring."
        )
    problem = (
        ("batch", n),
        ("channels_out", o),
        ("channels_in", i),
        ("height", h),
        ("width", w),
        ("mask_height", h - rows + 1),
        ("mask_width", w - columns + 1),
        ("dtype", dtype_words[target.dtype]),
    )
    if not is_array(input) or target.copied or not target.array.contiguous or target.array.readonly:
        raise ValueError(
            "conv_covariance works in place, so input must be a C-contiguous array that may be written, aligned and of the machine's byte order."
        )
    launch("conv_covariance", (target, *(one.contiguous() for one in others)), problem)
    return input
