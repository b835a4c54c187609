# SPDX-License-Identifier: Apache-2.0
"""NumPy's cumsum and cumprod, and accumulate() of maximum, minimum, logical_or and logical_and."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, number_of
from ._axes import _axis, laid_out
from ._core import parameter_words
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._recording import recorded
from ._reductions import _flipped, _refuse_missing
from ._types import _complex_parts, _kind, dtype_words, type_name, type_of_output, types_of

_functions = parameter_words("scan", "function")
# Element types that the op lacks are converted, or their bits are read as another type.
_converted = {"uint32": "int64"}
_viewed = {"bool": "uint8", "uint64": "int64"}
# The element types that expressions may have.
_expressed = [name for name in types_of("scan") if name not in ("uint8", "int8", "int16", "uint16")]
# The types in which the op sums or multiplies integers: the elements are read as these.
_summed = {"bool": "int64", "uint16": "uint64", "uint32": "uint64", "uint64": "uint64", "uint8": "uint64"}


def _result_type(dtype: str, function: str, wide: bool) -> str:
    """The element type of the op's output."""
    if wide:
        return "float64"
    if function in ("any", "all"):
        return "bool"
    if function in ("sum", "product"):
        whole = {"u": "uint64", "i": "int64"}
        return whole.get(dtype[0], dtype)
    return dtype


def _launched(
    given: InputArray, result: InputArray, axis: int, kind: str, *settings: tuple[str, str]
) -> None:
    if result.array.size:
        given, extents = laid_out(given, (axis,))
        problem = (*extents, ("kind", kind), ("dtype", dtype_words[given.dtype]), *settings)
        launch("scan", (given, result), problem, needs_compiler="expression" in dict(settings))


def _kinds(exclusive: bool, reverse: bool) -> tuple[str, tuple[tuple[str, str], ...]]:
    return "exclusive" if exclusive else "inclusive", (("direction", "reverse"),) * reverse


def _scan(
    given: InputArray,
    function: str,
    axis: int,
    exclusive: bool,
    reverse: bool,
    wanted: str,
    out,
    wide: bool = False,
) -> InputArray:
    """`wanted`: the result's element type. wide: computed as float64."""
    own = given.dtype
    if own == "uint64" and function in ("max", "min"):
        return _flipped(_scan(_flipped(given), function, axis, exclusive, reverse, "int64", None))
    if own == "bool":  # whose extremes are True and False
        function = {"max": "any", "min": "all"}.get(function, function)
    if own in _viewed:
        given = given.contiguous().viewed(_viewed[own])
    given = given.to(_converted.get(own, given.dtype))
    result_type = _result_type(given.dtype, function, wide)
    into = _usable(out, given.shape, result_type, given) if result_type == wanted else None
    result = into or given.empty(given.shape, result_type)
    kind, direction = _kinds(exclusive, reverse)
    _launched(
        given, result, axis, kind, ("function", function), *direction, *((("sum_dtype", "f64"),) * wide)
    )
    if into is not None:
        return into
    if function in ("sum", "product") and not wide:
        bits = _summed.get(own, result_type)
        return (result.viewed(bits) if bits != result_type else result).to(wanted)
    if exclusive and function in ("max", "min") and own in _converted:
        # The first result is the extreme of the type in which it was scanned.
        limits = np.iinfo(own)
        result = InputArray(result.object.clip(limits.min, limits.max))
    return result.to(wanted)


def _on_axis(given: InputArray, axis) -> tuple[InputArray, int]:
    if axis is None or not given.shape:
        if axis is not None and _axis(axis) not in (0, -1):
            raise np.exceptions.AxisError(_axis(axis), 0)
        return given.contiguous().reshaped((given.array.size,)), 0
    axis, dimensions = _axis(axis), len(given.shape)
    if not -dimensions <= axis < dimensions:
        raise np.exceptions.AxisError(axis, dimensions)
    return given, axis % dimensions


def _accumulate(function: str, a, axis, dtype, out, exclusive: bool = False, reverse: bool = False):
    _refuse_missing(a, f"cum{function}")
    given = InputArray(a)
    if dtype is not None:
        dtype = type_name(dtype)
    elif function in ("sum", "product"):
        dtype = type_of_output(given.dtype, out)
    wide = dtype == "float64" and function in ("sum", "product") and given.dtype == "float32"
    if dtype is not None and not wide:
        given = given.to(dtype)
    given, axis = _on_axis(given, axis)
    own = given.dtype
    if own in _complex_parts:
        if function != "sum":
            raise TypeError(
                f"A cumulative {function} of complex numbers is not computed here; that of a sum is."
            )
        parts = given.contiguous().reshaped((*given.shape, 1)).viewed(_complex_parts[own])
        result = _scan(parts, function, axis, exclusive, reverse, parts.dtype, None)
        return _finish(result.viewed(own).reshaped(given.shape), out)
    wanted = "float64" if wide else own
    if function in ("any", "all"):
        wanted = "bool"
    elif function in ("sum", "product") and dtype is None and _kind(own) <= _kind("int64"):
        wanted = _summed.get(own, "int64")
    result = _scan(given, function, axis, exclusive, reverse, wanted, out, wide)
    return out if out is not None and result.object is out else _finish(result, out)


def _accumulate_expression(expression: str, a, axis, dtype, out, exclusive: bool, reverse: bool, identity):
    """The result has the array's element type: integers of less than 64 bits do not become larger."""
    _refuse_missing(a, "scan")
    given = InputArray(a)
    given, axis = _on_axis(given if dtype is None else given.to(type_name(dtype)), axis)
    own = given.dtype
    if own not in _expressed:
        raise TypeError(
            f"A scan of the expression {expression!r} has elements of {', '.join(_expressed)}, not {own}; give dtype=."
        )
    kind, direction = _kinds(exclusive, reverse)
    first = (("identity", str(np.asarray(number_of(identity)).item())),) if exclusive else ()
    result = _usable(out, given.shape, own, given) or given.empty(given.shape, own)
    _launched(given, result, axis, kind, *direction, ("expression", expression), *first)
    return out if out is not None and result.object is out else _finish(result, out)


@typed.of_a
@recorded("a", "out")
def cumsum(a: Any, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> Any:
    """numpy.cumsum: the sums of the elements up to each one, along an axis; None: of the flattened array.

    a: any array, which is read in place, but for uint32, which is converted to int64 first (in a copy). Strides of an outer axis and of the scanned one are read in place; other views
    are copied. dtype: converts `a` first; NumPy's or PyTorch's; float64 sums and products of float32 need no
    copy, and are more accurate. out: an array of the result's shape;
    one of float32 or float64 that has more numbers than `a`'s type acts like dtype=.
    Returns an array of the caller's own kind, on the same device, with the same bits in every run of the same plan. Integers give int64 or uint64 and wrap.
    The error of the n-th sum is at most min(n, 256 + n / 1024) u sum|a|, u = 2**-24 or 2**-53; float16 and bfloat16 are summed in float32
    (in NumPy each sum is rounded).
    Raises TypeError for types, masked arrays, numpy.matrix and pandas objects with missing values, numpy.exceptions.AxisError for an axis
    that does not exist.

    >>> tunesmith.cumsum([1, 2, 3, 4])
    array([ 1,  3,  6, 10])
    """
    return _accumulate("sum", a, axis, dtype, out)


@typed.of_a
@recorded("a", "out")
def cumprod(a: Any, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> Any:
    """numpy.cumprod: the products of the elements up to each one. A product of neighbours that leaves the type's range may do so in the result
    although a product from the first element on would not. See cumsum().

    >>> tunesmith.cumprod([1, 2, 3, 4])
    array([ 1,  2,  6, 24])
    """
    return _accumulate("product", a, axis, dtype, out)


@typed.of_a
@recorded("a", "out")
def scan(
    a: Any,
    function: str = "sum",
    axis: SupportsIndex | None = -1,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    identity: float | None = None,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The running results of `function` along an axis, by default the last; None: of the flattened array.

    function: sum, product, max, min, any or all: NumPy's cumsum and cumprod, and accumulate() of maximum, minimum, logical_or and
    logical_and (whose axis is 0 by default). Or an associative expression of a, the result before, and b, the next element, as in
    tunesmith.elementwise:
    "b == b ? b : a" is the last number that is not NaN, "max(a, b) + log1p(exp(-abs(a - b)))" the logarithm of a sum. Its result has the
    array's element type, of float16, bfloat16, float32, float64, int32 and int64. An expression that is not associative for a few test numbers raises
    ValueError, because the elements are not combined one after the other.
    exclusive: the results of the elements before each one; the first result is 0, 1, the least or the greatest number (an infinity if the type has
    one), False or True; for an expression it is `identity`, which must be given. reverse: from the last element on. See cumsum().

    >>> tunesmith.scan([3, 1, 4], 'max'), tunesmith.scan([3, 1, 4], exclusive=True)
    (array([3, 3, 4]), array([0, 3, 4]))
    """
    if isinstance(axis, tuple) and len(axis) == 1:  # accumulate() takes a tuple
        (axis,) = axis
    is_own = function not in _functions
    if is_own and function.isidentifier():
        raise ValueError(
            f"function= is {function!r}; allowed are {', '.join(_functions)}, and expressions of a and b."
        )
    if (identity is not None) != (is_own and bool(exclusive)):
        raise ValueError(
            f"identity= is {identity!r}; an exclusive scan of an expression needs it, and no other has one."
        )
    if is_own:
        return _accumulate_expression(function, a, axis, dtype, out, bool(exclusive), bool(reverse), identity)
    return _accumulate(function, a, axis, dtype, out, bool(exclusive), bool(reverse))
