# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and layers of networks: lines of index notation under the names and with the rules of NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from . import _typing as typed
from ._arrays import index
from ._core import conv_computation, linear_computation, matmul_computation
from ._recording import recorded
from ._tensors import _check_accuracy, _dtype_of, _launched, _read_as, _together, _types, _types_of_line
from ._types import dtype_words, type_name

_Layout = tuple[Sequence[int], Sequence[int]]  # extents, and strides in elements
_Computation = Callable[
    ..., tuple[tuple[int, ...], str]
]  # gives a line's shape and problem for a type and layouts of arrays
_most_factor = 1 << 20  # of an index, and a place's whole number


def _product(
    word: str,
    values: Sequence[Any],
    computation: _Computation,
    finish: str | None,
    out: Any,
    out_dtype: Any,
    accuracy: str,
) -> Any:
    """The result of a word's line for its arrays, of which computation() gives shape and problem."""
    if finish is not None and not isinstance(finish, str):
        raise TypeError(
            f"finish is a value of the type {type(finish).__name__}; it must be a text such as 'max(out, 0)'."
        )
    finish = "out" if finish is None else finish
    _check_accuracy(accuracy)
    given, like = _together(values)
    dtype = _dtype_of(given, None, f"{word}()")
    if dtype == "uint64" and finish != "out":
        raise TypeError(
            "A finish of uint64 is not computed, as its comparisons and quotients would be those of int64; convert the arrays first."
        )
    computed, stored, last = _types_of_line(dtype, None if out_dtype is None else type_name(out_dtype))
    operands = _read_as(given, computed)
    shape, problem = computation(
        _types[computed],
        [(one.shape, one.array.strides) for one in operands],
        finish,
        "" if stored == computed else dtype_words[stored],
        accuracy,
    )
    return _launched(problem, shape, operands, like, out, stored, last)


def _shape_of(computation: _Computation, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape of a word's result, which depends neither on types nor on strides: these arrays repeat one element."""
    arrays = [([int(extent) for extent in shape], [0] * len(shape)) for shape in shapes]
    return computation("f32", arrays, "out", "", "full")[0]


@typed.of_a_and_b
@recorded("a", "b", "out")
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    finish: str | None = None,
    out_dtype: Any = None,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> Any:
    """numpy.matmul: the product of two matrices, of stacks of them, which are broadcast, or of a vector with either; of two vectors it is a number.

    a, b: arrays of one library; numbers and lists are converted. finish: what is written instead of out, an element of the product: a function of
    it in tensor()'s language, such as "max(out, 0)", in the same kernel. out: an array for the result. out_dtype: the result's type, to which sums are converted; None: the arrays' common one, as in
    NumPy (integers wrap as NumPy's do). bool is refused, where NumPy has a logical product.
    Types and accuracy, also the words for less of it, as of tensor(). Raises ValueError for shapes that do not fit, numbers without dimensions,
    and a finish or an accuracy that is wrong.

    >>> tunesmith.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]])
    array([[21.],
           [43.]])
    """
    return _product("matmul", (a, b), matmul_computation, finish, out, out_dtype, accuracy)


@typed.of_x_and_w
@recorded("x", "w", "bias", "out")
def linear(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    finish: str | None = None,
    out: Any = None,
    out_dtype: Any = None,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> Any:
    """A layer of a network, torch.nn.functional.linear: y[..., o] is the sum of x[..., i] * w[o, i] over i, and bias[o].

    w: an array of outputs x inputs. bias: of one element for each output; None: nothing is added. finish: what is written instead of out, that sum:
    a function of it in tensor()'s language, such as "max(out, 0)". Bias and finish are computed in the same kernel. out: an array for the
    result. out_dtype: its type; None: the arrays' common one, as NumPy has it. Types and accuracy, also the words for less of it, as of tensor().
    Raises ValueError for shapes that do not fit, and a finish or an accuracy that is wrong.

    >>> tunesmith.linear([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], bias=[0.5, 0.0])
    array([[11.5, 17. ]])
    """
    values = (x, w) if bias is None else (x, w, bias)
    return _product("linear", values, linear_computation, finish, out, out_dtype, accuracy)


def _numbers(value: Any, count: int, what: str) -> list[int]:
    """A setting for each dimension, given for each or as one for all."""
    given = list(value) if isinstance(value, (tuple, list)) or np.ndim(value) else [value]
    given = given * count if len(given) == 1 else given
    if len(given) != count:
        raise ValueError(
            f"conv() was given {what}={value!r}, {len(given)} numbers; w has {count} dimensions of taps, so one number or {count} are allowed."
        )
    found = [index(one) for one in given]
    if any(not 1 <= one <= _most_factor for one in found):
        raise ValueError(f"conv() was given {what}={value!r}; allowed are 1 to {_most_factor}.")
    return found


def _borders(
    taps: Sequence[int], strides: list[int], dilations: list[int], padding: Any
) -> tuple[list[int], list[int]]:
    """The zeros before and behind the image along each dimension."""
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"conv() was given padding={padding!r}; allowed are 'same', 'valid', a number, or numbers."
            )
        if padding == "valid":
            return [0] * len(taps), [0] * len(taps)
        if any(one != 1 for one in strides):
            raise ValueError(
                f"conv() was given padding='same' and stride={strides}; with a stride the result has not the image's size. Give the padding as numbers."
            )
        reaches = [step * (tap - 1) if tap else 0 for step, tap in zip(dilations, taps)]
        return [reach // 2 for reach in reaches], [reach - reach // 2 for reach in reaches]
    given = list(padding) if isinstance(padding, (tuple, list)) or np.ndim(padding) else [padding]
    given = given * len(taps) if len(given) == 1 else given
    if len(given) != len(taps):
        raise ValueError(
            f"conv() was given padding={padding!r} for {len(taps)} dimensions of taps; one number or {len(taps)} are allowed, "
            "each a number or a pair of those before and behind the image."
        )
    before, behind = [], []
    for one in given:
        pair = [index(part) for part in one] if np.ndim(one) else [index(one)] * 2
        if len(pair) != 2 or any(not 0 <= part <= _most_factor for part in pair):
            raise ValueError(
                f"conv() was given padding={padding!r}; allowed are 0 to {_most_factor}, or pairs of such numbers."
            )
        before.append(pair[0])
        behind.append(pair[1])
    return before, behind


def _convolution(stride: Any, padding: Any, dilation: Any, groups: int, channels: str) -> _Computation:
    """conv_computation() with the settings of conv()."""
    if channels not in ("first", "last"):
        raise ValueError(f"conv() was given channels={channels!r}; allowed are 'first' and 'last'.")

    def computation(dtype: str, arrays: Sequence[_Layout], *rest: str) -> tuple[tuple[int, ...], str]:
        taps = arrays[1][0][2:]
        strides, dilations = _numbers(stride, len(taps), "stride"), _numbers(dilation, len(taps), "dilation")
        before, behind = _borders(taps, strides, dilations, padding)
        return conv_computation(
            dtype, arrays, *rest, strides, dilations, before, behind, index(groups), channels == "last"
        )

    return computation


@typed.of_x_and_w
@recorded("x", "w", "bias", "out")
def conv(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    finish: str | None = None,
    channels: Literal["first", "last"] = "first",
    out: Any = None,
    out_dtype: Any = None,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> Any:
    """A layer of a network, torch.nn.functional.conv1d, conv2d or conv3d by w's dimensions: windows of images, times masks, summed over channels and taps.

    x: an array (batch, channels, …), or with channels="last" (batch, …, channels), as the result; the batch may be missing. w: (outputs, channels of a
    group, taps …) in both cases; masks are not mirrored. bias: an element for each output; None: nothing is added. stride, dilation: a number, or one for each
    dimension. padding: zeros around the image: a number, one for each dimension, a pair (before, behind) for each, as ((3, 0),) for a causal
    convolution, "valid" for none, or "same" for a result of the image's size. groups: each has its part of the channels
    and of the outputs; as many as channels is a depthwise convolution. finish: what is written instead of out, the sum: a function of it in
    tensor()'s language, such as "max(out, 0)". Bias, borders and finish are computed in the same kernel. out: an array for the result.
    out_dtype: its type; None: the arrays' common one, as NumPy has it. Types and accuracy, also the words for less of it, as of tensor(); with
    padding it has no effect.
    Raises ValueError for shapes and settings that do not fit, and a finish or an accuracy that is wrong.

    >>> image, mask = np.ones((1, 1, 3, 4)), np.ones((1, 1, 2, 2))
    >>> tunesmith.conv(image, mask).tolist()
    [[[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]]]]
    """
    values = (x, w) if bias is None else (x, w, bias)
    computation = _convolution(stride, padding, dilation, groups, channels)
    return _product("conv", values, computation, finish, out, out_dtype, accuracy)
