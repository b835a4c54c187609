# SPDX-License-Identifier: Apache-2.0
"""NumPy's sum, mean, min and max."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, _by_strides, chosen
from ._axes import Axes, _axes, _product, _reduced_axes
from ._core import is_array
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._recording import recorded
from ._types import _complex_parts, _kind, dtype_words, type_name, type_of_output

_halves = ("float16", "bfloat16")


def _result_type(dtype: str, function: str) -> str:
    """The type of the result, as NumPy's."""
    if not dtype.startswith(("int", "uint", "bool")):
        return dtype
    whole = "uint64" if dtype.startswith("uint") else "int64"
    return {"sum": whole, "mean": "float64"}.get(function, dtype)


def _reduced_type(dtype: str, function: str) -> str:
    """The element type of the op's output, whose sums of integers are all int64."""
    return "int64" if function == "sum" and dtype.startswith("uint") else _result_type(dtype, function)


def _as_read(given: InputArray) -> InputArray:
    """The array in one of the op's types: uint32 is converted, bool is read as bytes."""
    if given.dtype == "bool":
        return given.viewed("uint8")
    return given.to("int64") if given.dtype == "uint32" else given


def _reduce_block(
    given: InputArray, first: int, last: int, function: str, into: InputArray | None, wide: bool = False
) -> InputArray:
    """Reduces the axes `first` to `last` of a contiguous array of one of the op's types. wide: summed as float64."""
    shape = given.shape
    outer, length, inner = (
        _product(shape[:first]),
        _product(shape[first : last + 1]),
        _product(shape[last + 1 :]),
    )
    result = into or given.empty(
        shape[:first] + shape[last + 1 :], "float64" if wide else _reduced_type(given.dtype, function)
    )
    if result.array.size:
        problem = (
            ("outer", outer),
            ("length", length),
            ("inner", inner),
            ("function", function),
            ("dtype", dtype_words[given.dtype]),
            *((("sum_dtype", "f64"),) * wide),
        )
        launch("reduce", (given, result), problem)
    return result


def _flipped(given: InputArray) -> InputArray:
    """uint64 as int64 in the same order, and back: the highest bit is turned over."""
    there = given.contiguous().viewed("int64") if given.dtype == "uint64" else given
    turned = InputArray(given.library.module().bitwise_xor(there.object, -(2**63)))
    return turned if given.dtype == "uint64" else turned.viewed("uint64")


def _as_int64(given: InputArray) -> InputArray:
    return given.contiguous().viewed("int64") if given.dtype == "uint64" else given.to("int64")


def _reduce_all(function: str, a, axis, dtype: str | None, out, keepdims: bool):
    given = InputArray(a)
    axes = _axes(axis, len(given.shape))
    # The op reads these types in place, and sums them as float64.
    is_wide = axes and (
        function in ("sum", "mean")
        and (
            given.dtype == "float32"
            and dtype == "float64"
            or given.dtype in _halves
            and dtype in ("float32", "float64")
        )
        or function == "sum"
        and dtype == "float64"
        and given.dtype != "uint64"
        and given.dtype.startswith(("int", "uint", "bool"))
    )
    if dtype is not None and not is_wide:
        given = given.to(dtype)
    shape = _reduced_shape(given.shape, axes, keepdims)
    if function in ("min", "max") and _product(shape) > 0 and given.array.size == 0:
        raise ValueError(f"zero-size array to reduction operation {function} which has no identity")

    if function == "mean" and given.array.size == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=6)
    complex_dtype = given.dtype if given.dtype in _complex_parts else None
    if complex_dtype:
        if function in ("min", "max"):
            raise TypeError(f"{function} of complex numbers is not defined here; take that of their parts.")
        given = given.contiguous()
        parts = given.reshaped((*given.shape, 1)).viewed(_complex_parts[complex_dtype])
        summed = InputArray(_reduce_all(function, parts.object, axes, None, None, False))
        return _finish(
            summed.contiguous().viewed(complex_dtype).reshaped(shape), out, same_kind=function == "mean"
        )

    wanted = _result_type(given.dtype, function)
    if is_wide:
        wanted = dtype
    elif dtype is not None and function == "sum":
        wanted = given.dtype
    if not axes:
        length_one = given.reshaped((*given.shape, 1))
        return _finish(
            InputArray(_reduce_all(function, length_one.object, -1, dtype, None, False)),
            out,
            same_kind=function == "mean",
        )
    if given.dtype == "uint64":
        if function == "mean":
            given = given.to("float64")
        else:
            given = given.contiguous().viewed("int64") if function == "sum" else _flipped(given)
    given = _as_read(given)
    if len(axes) == len(given.shape):
        given = _by_strides(given)
        blocks = [(0, 0)]
    else:
        given = given.contiguous()
        blocks = []
        for k in axes:
            if blocks and blocks[-1][1] == k - 1:
                blocks[-1] = (blocks[-1][0], k)
            else:
                blocks.append((k, k))
    if function == "mean" and len(blocks) > 1 and given.dtype.startswith(("int", "uint")):
        given = given.to("float64")  # the mean of means of groups of one size
    # Sums of groups are rounded to 16 bits once, at the end.
    is_wide = is_wide or len(blocks) > 1 and given.dtype in _halves and function in ("sum", "mean")
    into = None
    for number, (first, last) in enumerate(reversed(blocks)):
        wide = is_wide and number == 0
        is_direct = (
            number == len(blocks) - 1
            and not keepdims
            and ("float64" if wide else _reduced_type(given.dtype, function)) == wanted
        )
        into = _usable(out, shape, wanted, given) if is_direct else None
        given = _reduce_block(given, first, last, function, into, wide)
    if given is into:
        return out
    if given.dtype == "int64" and wanted == "uint64":
        given = given.contiguous().viewed("uint64") if function == "sum" else _flipped(given)
    given = given.to(wanted)
    return _finish(
        given if given.shape == shape else given.reshaped(shape), out, same_kind=function == "mean"
    )


def _reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(shape))
    return tuple(extent for k, extent in enumerate(shape) if k not in axes)


def _number(value, dtype: str, like: InputArray) -> InputArray:
    """initial= as an array without dimensions, of the library and on the device of `like`."""
    number = np.asarray(value) if isinstance(value, int) else InputArray(value).numpy()
    if number.ndim != 0 or np.iscomplexobj(number) and dtype not in _complex_parts:
        raise TypeError(f"initial= is {value!r}; it must be a number that {dtype} can hold.")
    if dtype.startswith(("int", "uint")):
        if not np.iinfo(dtype).min <= int(number) <= np.iinfo(dtype).max:
            raise OverflowError(f"initial= is {value!r}, which is out of bounds for {dtype}.")
        number = np.asarray(int(number))  # cut, as NumPy does
    return InputArray(number, like).to(dtype)


def _where(where, given: InputArray) -> InputArray:
    mask = InputArray(where, given).to("bool")
    if np.broadcast_shapes(mask.shape, given.shape) != given.shape:
        raise ValueError(
            f"where= has the shape {mask.shape}, which cannot be broadcast to that of the array, {given.shape}."
        )
    return mask


def _mean_by_count(given: InputArray, axes, dtype: str, keepdims: bool, where) -> InputArray:
    """A mean as NumPy computes it: a sum in the type, divided by the number of elements and converted back."""
    summed = {"float16": "float32", "bfloat16": "float32"}.get(dtype, dtype)
    total = InputArray(_reduce("sum", given.object, axes, summed, None, keepdims, None, where))
    if _kind(total.dtype) <= _kind("int64"):
        total = total.to("float64")
    library = given.library.module()
    if where is True:
        count = _product(given.shape[k] for k in axes)
        empty = count == 0
        quotient = total.object / count if count else total.object / total.object
    else:
        mask = library.broadcast_to(_where(where, given).object, given.shape)
        count = InputArray(_reduce_all("sum", mask, axes, None, None, keepdims)).object
        empty = bool((count == 0).any())
        with np.errstate(invalid="ignore", divide="ignore"):
            quotient = total.object / count
    if empty:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=6)
    return InputArray(quotient).to(dtype)


def _refuse_missing(a, function: str) -> None:
    """pandas and xarray leave missing values out, also when numpy.sum() is called with their objects."""
    if hasattr(a, "isnull") and not is_array(a) and np.any(np.asarray(a.isnull())):
        raise TypeError(
            f"The {type(a).__name__} has missing values, which its own {function}() leaves out; give it without them (dropna()) or as an array, "
            "in which they are NaN (to_numpy())."
        )


def _reduce(function: str, a, axis, dtype, out, keepdims, initial, where):
    _refuse_missing(a, function)
    keepdims = keepdims is not np._NoValue and bool(keepdims)
    name = None if dtype is None else type_name(dtype)
    given = InputArray(a)
    if name is None and function == "sum":
        name = type_of_output(given.dtype, out)
    if not given.shape and function != "mean":
        axis = _reduced_axes(axis, 0)
    by_count = function == "mean" and (
        where is not True or name is not None and not name.startswith(("float", "bfloat", "complex"))
    )
    plain = initial is np._NoValue or initial is None
    if where is True and plain and not by_count:
        if function == "sum" and initial is None and given.array.size == 0:
            raise ValueError("zero-size array to reduction operation add which has no identity")
        return _reduce_all(function, given.object if is_array(a) else a, axis, name, out, keepdims)
    axes = _axes(axis, len(given.shape))
    if by_count:
        own = given.dtype if given.dtype in _complex_parts else _result_type(given.dtype, "mean")
        return _finish(_mean_by_count(given, axes, name or own, keepdims, where), out, same_kind=True)
    if name is not None:
        given = given.to(name)
    own = given.dtype if name or given.dtype in _complex_parts else _result_type(given.dtype, function)
    if where is not True:
        if plain and function != "sum":
            raise ValueError(
                f"reduction operation {function} does not have an identity, so to use a where mask one has to specify 'initial'"
            )
        mask = _where(where, given)
        fill = _number(0 if function == "sum" else initial, given.dtype, given)
        given = chosen(mask, given, fill)
    if plain:
        return _finish(InputArray(_reduce_all(function, given.object, axes, name, None, keepdims)), out)
    first = _number(initial, own, given)
    if given.array.size == 0:
        shape = _reduced_shape(given.shape, axes, keepdims)
        return _finish(
            InputArray(given.library.copy(given.library.module().broadcast_to(first.object, shape))), out
        )
    value = InputArray(_reduce_all(function, given.object, axes, name, None, keepdims))
    combine = getattr(given.library.module(), {"sum": "add", "min": "minimum", "max": "maximum"}[function])
    if _kind(own) > _kind("int64"):
        return _finish(InputArray(combine(value.object, first.object)), out)
    # Computed as int64, since PyTorch cannot add wider unsigned integers.
    there, back = (
        (_flipped, _flipped)
        if own == "uint64" and function != "sum"
        else (_as_int64, lambda one: one.to(own))
    )
    return _finish(back(InputArray(combine(there(value).object, there(first).object))), out)


@typed.reduction
@recorded("a", "out")
def sum(
    a: Any,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """numpy.sum: the sum of the elements of `a`, over all or the given axes.

    a: any array, which is read in place, but for uint32, which is converted to int64 first, and complex numbers, of which
    the parts are summed. float16 and bfloat16 are summed as float32, and the result is rounded once. An array that is not C-contiguous is copied, unless all of it is summed.
    axis: an integer or several; None: all. dtype: converts `a` first; NumPy's or PyTorch's. out: an array of the result's shape; one of float32
    or float64 that has more numbers than `a`'s type acts like dtype=, and floats are cut to an integer one, as in NumPy. initial: is added. where: an
    array of booleans, true for the elements that count; the others are replaced in a copy by the array's own library.
    Returns an array of the caller's own kind, on the same device. Integers give int64 or uint64 and wrap. A real sum's error
    is at most 8 u sum|a|, u = 2**-24 or 2**-53.
    Raises TypeError for types, masked arrays, numpy.matrix and pandas objects with missing values, numpy.exceptions.AxisError or ValueError
    for invalid axes.

    >>> tunesmith.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    array([4., 6.])
    """
    return _reduce("sum", a, axis, dtype, out, keepdims, initial, where)


@typed.reduction
@recorded("a", "out")
def mean(
    a: Any,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """numpy.mean: the sum divided by the number of elements; for integers in float64, with dtype=int cut to an integer. The mean of no elements is
    NaN. An integer out= is a TypeError (in NumPy the sum wraps). See sum().

    >>> tunesmith.mean([[1.0, 2.0], [3.0, 4.0]], axis=0)
    array([2., 3.])
    """
    return _reduce("mean", a, axis, dtype, out, keepdims, np._NoValue, where)


@typed.reduction
@recorded("a", "out")
def min(
    a: Any,
    axis: Axes = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """numpy.min: the least element, or `initial` if that is less; NaN if there is a NaN. Raises ValueError for no elements, and for where=
    without initial=. See sum().

    >>> tunesmith.min([[1, 5], [7, 2]], axis=0)
    array([1, 2])
    """
    return _reduce("min", a, axis, None, out, keepdims, initial, where)


@typed.reduction
@recorded("a", "out")
def max(
    a: Any,
    axis: Axes = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """numpy.max: the greatest element, or `initial` if that is greater; NaN if there is a NaN. Raises as min() does. See sum().

    >>> tunesmith.max([[1, 5], [7, 2]], axis=0)
    array([7, 5])
    """
    return _reduce("max", a, axis, None, out, keepdims, initial, where)


def _least_and_most(given: InputArray) -> list:
    """Both are launched before the call waits for the first, from one copy if the array has gaps."""
    given = _by_strides(given)
    found = [one(given.object) for one in (min, max)]
    return [InputArray(one).numpy() for one in found]
