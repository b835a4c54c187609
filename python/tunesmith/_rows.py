# SPDX-License-Identifier: Apache-2.0
"""Reductions over rows and functions that use them, in one kernel: softmax, layer_norm, and any expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsIndex, overload

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, index
from ._axes import Axes, _axes, _merged, _product
from ._core import rows_arrays, rows_expression, rows_results, rows_results_vary
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._recording import recorded
from ._tensors import _common_dtype, _operands, _together
from ._transposition import transpose
from ._types import dtype_words, promoted, type_name, types_of

_most_arrays, _most_results = 6, 4
_computed = tuple(types_of("rows"))


def _computed_as(dtype: str) -> str:
    """NumPy's own functions make float64 of integers."""
    if dtype.startswith("complex"):
        raise TypeError(
            f"An array of {dtype} was given; rows of complex numbers are not computed. Take its real and imaginary part, or its magnitude."
        )
    return dtype if dtype in _computed else "float64"


def _matrix(given: InputArray, rank: int) -> tuple[InputArray, int]:
    """The array as rows of its last `rank` dimensions, copied if it has no rows of contiguous elements, and the distance between rows."""
    shape, strides = given.shape, given.array.strides
    columns = _product(shape[len(shape) - rank :])
    if given.array.size and not any(stride < 0 for stride in strides):
        outer = _merged(shape[: len(shape) - rank], strides[: len(shape) - rank])
        inner = _merged(shape[len(shape) - rank :], strides[len(shape) - rank :])
        if len(outer) <= 1 and (not inner or (len(inner) == 1 and inner[0][1] == 1)):
            return given, outer[0][1] if outer else columns
    return given.contiguous(), columns


def _read(given: InputArray, whole: tuple[int, ...], rank: int, name: str) -> tuple[InputArray, str]:
    """An array that is broadcast to the shape `whole`, whose last `rank` dimensions are a row; and the way in which its elements are read."""
    lead, row = whole[: len(whole) - rank], whole[len(whole) - rank :]
    shape = (1,) * (len(whole) - len(given.shape)) + tuple(given.shape)
    if shape == whole:
        read, stride = _matrix(given, min(rank, len(given.shape)))
        return read, "matrix" if stride == _product(row) or _product(lead) <= 1 else f"matrix:{stride}"
    if given.array.size == 1:
        return given, "scalar"
    if shape[: len(lead)] == (1,) * len(lead) and shape[len(lead) :] == row:
        return given.contiguous(), "per_column"
    if shape[: len(lead)] == lead and shape[len(lead) :] == (1,) * rank:
        return given.contiguous(), "per_row"
    raise ValueError(
        f"{name} has the shape {tuple(given.shape)}; beside rows of the shape {row} and {lead} of them it may have the shape {whole}, one value for each "
        "column, for each row, or for all. Broadcast it first."
    )


def _compute(
    expression: str,
    names: Sequence[str],
    arrays: Sequence[InputArray],
    like: InputArray,
    rank: int,
    keepdims: bool,
    outs: Sequence[Any],
) -> list:
    """The results, or `outs` with them; a row is of the arrays' last `rank` dimensions."""
    try:
        whole = np.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError:
        raise ValueError(
            "Arrays of the shapes "
            + ", ".join(str(tuple(one.shape)) for one in arrays)
            + " are not broadcast to one."
        ) from None
    if len(whole) < rank:
        raise np.exceptions.AxisError(-rank, len(whole))
    lead, row = tuple(whole[: len(whole) - rank]), tuple(whole[len(whole) - rank :])
    read = [_read(one, tuple(whole), rank, name) for name, one in zip(names, arrays)]
    vary = rows_results_vary(expression, [kind.partition(":")[0] for _, kind in read])
    dtype = arrays[0].dtype
    shapes = [tuple(whole) if wide else lead + (1,) * rank if keepdims else lead for wide in vary]
    used = [_usable(out, shape, dtype, like, [one for one, _ in read]) for out, shape in zip(outs, shapes)]
    results = [into or like.empty(shape, dtype) for into, shape in zip(used, shapes)]
    if any(one.array.size for one in results):
        problem = (
            ("expression", rows_expression(expression)),
            ("rows", _product(lead)),
            ("columns", _product(row)),
            ("dtype", dtype_words[dtype]),
            *((f"x{k}", kind) for k, (_, kind) in enumerate(read)),
        )
        inputs = [one if one.array.size else None for one, _ in read]
        padding = [None] * (_most_arrays - len(inputs)), [None] * (_most_results - len(results))
        launch("rows", (*inputs, *padding[0], *results, *padding[1]), problem)
    return [
        out if into is not None else _finish(one, out, same_kind=True)
        for one, out, into in zip(results, outs, used)
    ]


def _word(expression: str, x: Any, axis: Axes, out: Any, keepdims: bool = False) -> Any:
    """The result of an expression of one array, along any axes."""
    given = InputArray(x)
    given = given.to(_computed_as(given.dtype))
    if not given.shape:
        _axes(axis, 1)
        given = given.reshaped((1,))
        value = InputArray(_compute(expression, ("x",), (given,), given, 1, keepdims, (None,))[0])
        return _finish(value.reshaped(()), out, same_kind=True)
    axes = _axes(axis, len(given.shape))
    if not axes:
        raise ValueError("axis=() names no axis to reduce.")
    others = tuple(k for k in range(len(given.shape)) if k not in axes)
    order = others + axes
    if order == tuple(range(len(order))):
        return _compute(expression, ("x",), (given,), given, len(axes), keepdims, (out,))[0]
    moved = InputArray(transpose(given.object, order))
    if tuple(moved.shape) and rows_results_vary(expression, ["matrix"])[0]:
        value = _compute(expression, ("x",), (moved,), moved, len(axes), False, (None,))[0]
        return transpose(value, tuple(int(k) for k in np.argsort(order)), out=out)
    if not keepdims:
        return _compute(expression, ("x",), (moved,), moved, len(axes), False, (out,))[0]
    value = InputArray(_compute(expression, ("x",), (moved,), moved, len(axes), False, (None,))[0])
    return _finish(
        value.reshaped(tuple(1 if k in axes else extent for k, extent in enumerate(given.shape))),
        out,
        same_kind=True,
    )


@typed.of_x
@recorded("x", "out")
def softmax(x: Any, axis: Axes = -1, *, out: Any = None) -> Any:
    """exp(x) divided by its sum along an axis, or several; None: all. It equals scipy.special.softmax, whose axis is None by default (here -1), and
    torch.softmax; in one kernel and without overflow.

    x: any array; float32, float64, float16 and bfloat16 are computed in their own type (those of 16 bits in float32, rounded once), integers as
    float64. The last axes are read in place, others are moved to the end in a copy and back. out: an array of x's shape.
    Returns an array of the caller's own kind, on the same device, with the same bits in every run of the same plan. Raises TypeError for types,
    numpy.exceptions.AxisError for an axis that does not exist. A row with NaN or +inf, or with only -inf, is NaN, as in PyTorch.

    >>> tunesmith.softmax([[0.0, 0.0, 0.0, 0.0]])
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    return _word("softmax", x, axis, out)


@typed.of_x
@recorded("x", "out")
def log_softmax(x: Any, axis: Axes = -1, *, out: Any = None) -> Any:
    """The logarithm of softmax(), which does not overflow; scipy.special.log_softmax has axis=None by default (here -1). A row with an
    infinite maximum is NaN, as in PyTorch; SciPy has -inf for its finite elements. See softmax().

    >>> tunesmith.log_softmax([0.0, 0.0]).round(4)
    array([-0.6931, -0.6931])
    """
    return _word("log_softmax", x, axis, out)


def _sum_of_exponentials(is_scaled: bool) -> tuple[str, str]:
    """The text of each row's sum divided by exp(shift), and that of the shift: the greatest number, or 0 if that is infinite, so that exp() gives the
    infinity, or zeros.
    is_scaled: with factors b. The least number replaces those whose factor is 0."""
    greatest = "max(b == 0 ? min(x) : x)" if is_scaled else "max(x)"
    shift = f"({greatest} - {greatest} == 0 ? {greatest} : 0)"
    return f"sum({'b == 0 ? 0 : b * ' if is_scaled else ''}exp(x - {shift}))", shift


@overload
def logsumexp(
    x: typed.NumPy,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    out: Any = None,
) -> typed.NumPy: ...
@overload
def logsumexp(
    x: typed.NumPy,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: Literal[True],
    out: Any = None,
) -> tuple[typed.NumPy, typed.NumPy]: ...
@overload
def logsumexp(
    x: typed.ArrayT,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
    out: Any = None,
) -> typed.ArrayT: ...
@overload
def logsumexp(
    x: typed.ArrayT,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: Literal[True],
    out: Any = None,
) -> tuple[typed.ArrayT, typed.ArrayT]: ...
@overload
def logsumexp(
    x: object,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    out: Any = None,
) -> Any: ...
@recorded("x", "b", "out")
def logsumexp(
    x: Any,
    axis: Axes = -1,
    *,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    out: Any = None,
) -> Any:
    """log(sum(b * exp(x))) along an axis, or several, without overflow; None: of all. It equals scipy.special.logsumexp, whose axis is None by
    default (here -1), and torch.logsumexp, also for infinities and for no elements (-inf).

    b: factors, broadcast with x; elements whose factor is 0 do not count. The logarithm of a sum below 0 is NaN. keepdims: reduced axes
    stay with one element. return_sign: a pair, the logarithm of the sum's magnitude and its sign: -1, 0 or 1. out: for the logarithm. Complex numbers
    are not supported. See softmax().

    >>> tunesmith.logsumexp([[0.0, 0.0], [2.0, 2.0]]).round(4)
    array([0.6931, 2.6931])
    """
    read, like = _together((x,) if b is None else (x, b))
    dtype = _computed_as(promoted(*(one.dtype for one in read)))
    arrays = [one.to(dtype) for one in read]
    whole = tuple(np.broadcast_shapes(*(one.shape for one in arrays)))
    axes = _axes(axis, len(whole) or 1)
    if whole and not axes:
        raise ValueError("axis=() names no axis to reduce.")
    is_empty = bool(whole) and _product(whole[k] for k in axes) == 0
    if b is None and not return_sign and not is_empty:
        total, shift = _sum_of_exponentials(False)
        return _word(f"y = log({total}) + {shift}", arrays[0].object, axis, out, bool(keepdims))
    shape = tuple(1 if k in axes else extent for k, extent in enumerate(whole) if keepdims or k not in axes)
    if is_empty:
        found = [InputArray(np.full(shape, number), like).to(dtype) for number in (-np.inf, 0.0)]
    else:
        library, order = like.library.module(), tuple(k for k in range(len(whole)) if k not in axes) + axes
        each = [
            one if one.shape == whole else InputArray(library.broadcast_to(one.object, whole))
            for one in arrays
        ]
        if not whole:
            each = [one.reshaped((1,)) for one in each]
        elif order != tuple(range(len(order))):
            each = [InputArray(transpose(one.object, order)) for one in each]
        total, shift = _sum_of_exponentials(b is not None)
        text = f"s = {total}; y = log(abs(s)) + {shift}" if return_sign else f"y = log({total}) + {shift}"
        named = dict(zip(("x", "b"), each))
        names = rows_arrays(text)
        results = _compute(
            text,
            names,
            [named[name] for name in names],
            each[0],
            len(axes),
            False,
            (None,) * (1 + return_sign),
        )
        found = [InputArray(one).reshaped(shape) for one in results[::-1]]
    value = _finish(found[0], out, same_kind=True)
    if not return_sign:
        return value
    return value, like.library.result(found[1].library.module().sign(found[1].object))


@typed.of_x
@recorded("x", "out")
def normalize(x: Any, axis: Axes = -1, *, p: float = 2.0, eps: float = 1e-12, out: Any = None) -> Any:
    """x divided by its p-norm along an axis, or by eps if the norm is smaller: torch.nn.functional.normalize,
    whose dim is 1 by default (here the last axis). p: above 0, or numpy.inf. See softmax().

    >>> tunesmith.normalize([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """
    p, eps = float(p), _number(eps, "eps")
    if not p > 0:
        raise ValueError(f"p={p} is not above 0.")
    norms = {1.0: "sum(abs(x))", 2.0: "sqrt(sum(x * x))", float("inf"): "max(abs(x))"}
    norm = norms.get(p) or f"sum(abs(x) ** {p!r}) ** {1 / p!r}"
    return _word(f"y = x / max({norm}, {eps})", x, axis, out)


def _number(value: Any, name: str) -> str:
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name}={value!r} is not a number from 0 on.")
    return repr(number)


def _normed(expression: str, x: Any, weights: Mapping[str, Any], normalized_shape: Any, out: Any) -> Any:
    named = {"x": x, **{name: one for name, one in weights.items() if one is not None}}
    read, like = _together(tuple(named.values()))
    dtype = _computed_as(read[0].dtype)
    arrays = [one.to(dtype) for one in read]
    if normalized_shape is None:
        row = tuple(arrays[1].shape) if len(arrays) > 1 else tuple(arrays[0].shape[-1:])
    else:
        row = tuple(index(one) for one in np.ravel(np.asarray(normalized_shape, dtype=object)))
    shape = tuple(arrays[0].shape)
    if not row or shape[len(shape) - len(row) :] != row:
        raise ValueError(f"x has the shape {shape}, which does not end with the normalized shape {row}.")
    for name, one in zip(named, arrays):
        if name != "x" and tuple(one.shape) != row:
            raise ValueError(f"{name} has the shape {tuple(one.shape)}, but the normalized shape is {row}.")
    return _compute(expression, tuple(named), arrays, like, len(row), False, (out,))[0]


@typed.of_x
@recorded("x", "weight", "bias", "out")
def layer_norm(
    x: Any,
    normalized_shape: SupportsIndex | Sequence[int] | None = None,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *,
    out: Any = None,
) -> Any:
    """(x - mean(x)) / sqrt(var(x) + eps) * weight + bias of each row: torch.nn.functional.layer_norm, in one kernel.

    normalized_shape: the shape of the last dimensions, which are a row; None: the weight's or bias's shape, or the last dimension. weight, bias:
    arrays of that shape; they get x's type. The variance is the mean of squared differences from the mean, so that no digits cancel. See softmax().

    >>> tunesmith.layer_norm([[1.0, 3.0], [2.0, 2.0]], eps=0.0001).round(3)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    text = f"y = (x - mean(x)) * rsqrt(mean((x - mean(x)) ** 2) + {_number(eps, 'eps')})"
    text += (" * weight" if weight is not None else "") + (" + bias" if bias is not None else "")
    return _normed(text, x, {"weight": weight, "bias": bias}, normalized_shape, out)


@typed.of_x
@recorded("x", "weight", "out")
def rms_norm(
    x: Any,
    normalized_shape: SupportsIndex | Sequence[int] | None = None,
    weight: Any = None,
    eps: float | None = None,
    *,
    out: Any = None,
) -> Any:
    """x / sqrt(mean(x**2) + eps) * weight of each row: torch.nn.functional.rms_norm. eps: None is the distance from 1 to the next number of x's
    type. See layer_norm().

    >>> tunesmith.rms_norm([[3.0, 3.0]], eps=0.0)
    array([[1., 1.]])
    """
    if eps is None:
        eps = {"float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23}[
            _computed_as(InputArray(x).dtype)
        ]
    text = f"y = x * rsqrt(mean(x * x) + {_number(eps, 'eps')})" + (" * weight" if weight is not None else "")
    return _normed(text, x, {"weight": weight}, normalized_shape, out)


# A checker does not read the text, so that it takes several results, too, for an array: as such they can be unpacked.
@overload
def rows(
    expression: str,
    /,
    *values: typed.Plain,
    out: tuple[Any, ...],
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: typed.Plain,
) -> tuple[typed.NumPy, ...]: ...
@overload
def rows(
    expression: str,
    /,
    *values: typed.ArrayT | typed.Plain,
    out: tuple[Any, ...],
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: typed.ArrayT | typed.Plain,
) -> tuple[typed.ArrayT, ...]: ...
@overload
def rows(
    expression: str,
    /,
    *values: typed.Plain,
    out: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: typed.Plain,
) -> typed.NumPy: ...
@overload
def rows(
    expression: str,
    /,
    *values: typed.ArrayT | typed.Plain,
    out: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: typed.ArrayT | typed.Plain,
) -> typed.ArrayT: ...
@overload
def rows(
    expression: str,
    /,
    *values: Any,
    out: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: Any,
) -> Any: ...
@recorded("out")
def rows(
    expression: str,
    /,
    *values: Any,
    out: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    **arrays: Any,
) -> Any:
    """Computes results from arrays' elements and from reductions over each row, the last axis, in one kernel that reads each array once if possible:

        y = tunesmith.rows("y = exp(x - max(x)) / sum(exp(x - max(x)))", x=x)
        mean, rstd, y = tunesmith.rows("m = mean(x); r = rsqrt(mean((x - m) ** 2) + 1e-5); y = (x - m) * r * w", x=x, w=w)

    expression: results, joined by ';', which may use the ones before. sum, mean, prod, and max and min of one value reduce it along the row; the
    rest is vectorize()'s language. At most 6 arrays, 4 results and 16 different reductions. Or a word: softmax, log_softmax, logsumexp,
    layer_norm (of x, gamma, beta), rms_norm (of x, gamma), normalize.
    values, arrays: in the order in which the expression first names them, or by name: whole arrays of any number of dimensions, and arrays that have
    one value for each column, for each row (an axis of 1 at the end), or for all. dtype: converts all first; None: their common type, float64 for
    integers. out: an array for the result, or a tuple for several.
    Returns an array, or a tuple of several results. A result that is the same along a row has one element for it; keepdims: with an axis of 1 at the
    end. The same plan gives the same bits for the same arrays in every run. Sums are as accurate as the op's page says. Raises ValueError with the
    place of a mistake in the text.

    >>> tunesmith.rows('y = x / sum(x)', [[1.0, 3.0], [2.0, 2.0]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    names, results = rows_arrays(expression), rows_results(expression)
    given = _operands(names, values, arrays)
    if len(results) > 1 and out is not None and (not isinstance(out, tuple) or len(out) != len(results)):
        raise TypeError(
            f"out= is a tuple of {len(results)} arrays, or None in places of it, for the results {', '.join(results)}."
        )
    read, like = _together(given)
    kind = (
        _computed_as(_common_dtype((one.dtype for one in read), "rows()"))
        if dtype is None
        else type_name(dtype)
    )
    if kind not in _computed:
        raise TypeError(f"rows() does not compute elements of {kind}; allowed are {', '.join(_computed)}.")
    outs = out if isinstance(out, tuple) else (out,) * len(results)
    found = _compute(expression, names, [one.to(kind) for one in read], like, 1, bool(keepdims), outs)
    return found[0] if len(found) == 1 else tuple(found)
