# SPDX-License-Identifier: Apache-2.0
"""NumPy's argmin, argmax, var, std, prod, any, all, count_nonzero, ptp and norm; pairs of results; and reductions of expressions."""

from __future__ import annotations

import re
import string
import warnings
from typing import Any, overload

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, number_of
from ._axes import Axes, _axes, _axis, _product, _reduced_axes, laid_out
from ._dispatchers import launch
from ._keywords import with_explained_keywords
from ._outputs import _finish, _usable
from ._recording import recorded
from ._reductions import (
    _as_int64,
    _as_read,
    _flipped,
    _halves,
    _mean_by_count,
    _reduce,
    _reduce_all,
    _reduced_shape,
    _refuse_missing,
    _where,
)
from ._tensors import tensor
from ._types import _complex_parts, _kind, dtype_words, type_name, type_of_output


def _reduce_as(
    given: InputArray,
    axes: tuple[int, ...],
    function: str,
    result: str,
    out=None,
    *,
    ddof: int = 0,
    wide: bool = False,
) -> InputArray:
    """The reduction of an array of one of the op's types; `result` is the output's type. A pair has an axis of 2 behind the kept ones."""
    shape = _reduced_shape(given.shape, axes, False) + ((2,) if function in ("min_max", "mean_var") else ())
    into = _usable(out, shape, result, given) or given.empty(shape, result)
    if into.array.size:
        given, extents = laid_out(given, axes, function in ("argmin", "argmax"))
        more = (("ddof", ddof),) * (ddof != 0) + (("sum_dtype", "f64"),) * wide
        launch(
            "reduce",
            (given, into),
            (*extents, ("function", function), ("dtype", dtype_words[given.dtype]), *more),
        )
    return into


def _returned(value: InputArray, shape: tuple[int, ...], out, *, same_kind: bool = False):
    if out is not None and value.object is out:
        return out
    return _finish(value if value.shape == shape else value.reshaped(shape), out, same_kind=same_kind)


def _flag(keepdims) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


def _without(name: str, instead: str, **given) -> None:
    """Refuses parameters that NumPy has and this package lacks."""
    for word, value in given.items():
        if value is not np._NoValue and value is not None and value is not True:
            raise NotImplementedError(f"{name}() has no {word}= here; {instead}.")


def _arg(function: str, a, axis, out, keepdims):
    _refuse_missing(a, function)
    given = InputArray(a)
    dimensions = len(given.shape)
    if given.dtype in _complex_parts:
        raise TypeError(f"{function} of complex numbers is not defined here; take that of their magnitudes.")
    if given.dtype == "uint64":
        given = _flipped(given)
    given = _as_read(given)
    if axis is None:
        axes, shape = (0,), (1,) * dimensions if _flag(keepdims) else ()
        given = given.contiguous().reshaped((given.array.size,)) if dimensions != 1 else given
    else:
        axis = _axis(axis)
        is_single = not dimensions and axis in (0, -1)  # NumPy lets it pass
        given = given.reshaped((1,)) if is_single else given
        axes = _axes(axis, len(given.shape))
        shape = () if is_single else _reduced_shape(given.shape, axes, _flag(keepdims))
    if _product(given.shape[k] for k in axes) == 0 and (_product(shape) > 0 or not shape):
        raise ValueError(f"attempt to get {function} of an empty sequence")
    plain = _reduced_shape(given.shape, axes, False)
    value = _reduce_as(given, axes, function, "int64", out if shape == plain else None)
    if out is not None and InputArray(out).dtype != "int64":
        raise TypeError(f"out= has the type {InputArray(out).dtype}; the places are of int64.")
    return _returned(value, shape, out)


@typed.reduction
@recorded("a", "out")
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """numpy.argmax: the first position of the greatest element; a NaN is greater than any number, and the first one counts. None: in the flattened
    array. Raises ValueError for no elements. See sum().

    >>> tunesmith.argmax([[1, 5], [7, 2]], axis=1)
    array([1, 0])
    """
    return _arg("argmax", a, axis, out, keepdims)


@typed.reduction
@recorded("a", "out")
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """numpy.argmin: the first position of the least element; a NaN is less than any number, and the first one counts. See argmax().

    >>> tunesmith.argmin([[1, 5], [7, 2]], axis=1)
    array([0, 1])
    """
    return _arg("argmin", a, axis, out, keepdims)


def _moments(function: str, a, axis, dtype, out, ddof, keepdims):
    _refuse_missing(a, function)
    given = InputArray(a)
    axes = _axes(axis, len(given.shape))
    # ddof may be an array, which NumPy broadcasts.
    shape = np.broadcast_shapes(_reduced_shape(given.shape, axes, _flag(keepdims)), np.shape(ddof))
    ddof = np.asarray(number_of(ddof)).item()
    if int(ddof) != ddof:
        return _moments_with_fraction(function, given, axes, dtype, out, ddof, keepdims, shape)
    ddof = int(ddof)
    own = given.dtype
    name = None if dtype is None else type_name(dtype)
    if own in _complex_parts:
        if name is not None or function == "mean_var":
            raise TypeError(f"{function} of complex numbers has no dtype= here, and no pair.")
        parts = given.contiguous().reshaped((*given.shape, 1)).viewed(_complex_parts[own])
        both = InputArray(_moments("var", parts.object, axes, None, None, ddof, False))
        total = InputArray(_sum_last(both))
        if function == "std":
            total = InputArray(total.object**0.5)
        return _returned(total, shape, out)
    wanted = name or (own if _kind(own) > _kind("int64") else "float64")
    if name is not None and _kind(name) <= _kind("int64"):
        raise TypeError(f"dtype= is {name}; moments are computed in a type of real numbers.")
    count = _product(given.shape[k] for k in axes)
    if count - ddof <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=6)
    wide = own == "float32" and wanted == "float64" or own in _halves and wanted != own
    if wanted == "float32" and own == "float64":
        given = given.to("float32")
    elif own == "uint64":
        given = given.to("float64")
    given = _as_read(given)
    computed = given.dtype if given.dtype in ("float32", *_halves) and not wide else "float64"
    if not given.shape:
        given, axes = given.reshaped((1,)), (0,)
    elif not axes:
        given, axes = given.reshaped((*given.shape, 1)), (len(given.shape),)
    is_direct = wanted == computed and not _flag(keepdims) and function != "mean_var"
    value = _reduce_as(given, axes, function, computed, out if is_direct else None, ddof=ddof, wide=wide)
    return _returned(
        value if out is not None and value.object is out else value.to(wanted),
        shape + (2,) * (function == "mean_var"),
        out,
        same_kind=True,
    )


def _moments_with_fraction(function: str, given: InputArray, axes, dtype, out, ddof: float, keepdims, shape):
    """For a ddof that is no whole number, which kernels do not have: the result of ddof=0, which the array's own library scales."""
    if function == "mean_var":
        raise NotImplementedError(
            f"ddof= is {ddof!r}; mean_var() takes whole numbers only. Use mean() and var()."
        )
    wanted = given.dtype if dtype is None and given.dtype in _halves else None
    whole = InputArray(
        _moments(function, given.object, axes, "float32" if wanted else dtype, None, 0, keepdims)
    )
    count = _product(given.shape[k] for k in axes)
    if count - ddof <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=7)
        scale = float("inf") if count else float("nan")
    else:
        scale = count / (count - ddof)
    with np.errstate(invalid="ignore"):
        value = InputArray(whole.object * (scale**0.5 if function == "std" else scale))
    return _returned(value.to(wanted or whole.dtype), shape, out, same_kind=True)


def _moments_where(function: str, a, axis, dtype, out, ddof, keepdims, where):
    """In two passes: the mean of the elements that count, then the squares of the differences from it, which the array's own library computes."""
    given = InputArray(a)
    axes, ddof = _axes(axis, len(given.shape)), np.asarray(number_of(ddof)).item()
    wanted = (
        type_name(dtype)
        if dtype is not None
        else given.dtype
        if _kind(given.dtype) > _kind("int64")
        else "float64"
    )
    if given.dtype in _complex_parts or _kind(wanted) <= _kind("int64"):
        raise NotImplementedError(
            f"{function}() with where= of {given.dtype} as {wanted} is not there; choose elements before, as in {function}(a[mask])."
        )
    real = given.to("float32" if wanted in _halves else wanted)
    middle = _mean_by_count(real, axes, real.dtype, True, where)
    away = real.object - middle.object
    total = InputArray(_reduce("sum", away * away, axes, None, None, keepdims, np._NoValue, where))
    library = real.library.module()
    counts = InputArray(
        _reduce_all(
            "sum",
            library.broadcast_to(_where(where, real).object, real.shape),
            axes,
            None,
            None,
            _flag(keepdims),
        )
    )
    left = InputArray((counts.object - ddof).clip(0)).to(real.dtype)
    if bool((left.object == 0).any()):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=5)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = InputArray(total.object / left.object)
        value = InputArray(value.object**0.5) if function == "std" else value
    return _finish(value.to(wanted), out, same_kind=True)


def _sum_last(pair: InputArray):
    from ._reductions import sum as total

    return total(pair.object, -1)


def _moment(function: str, a, axis, dtype, out, ddof, keepdims, where, mean):
    _without(function, "give the array without it, since the mean is computed in the same pass", mean=mean)
    if where is True:
        return _moments(function, a, axis, dtype, out, ddof, keepdims)
    _refuse_missing(a, function)
    return _moments_where(function, a, axis, dtype, out, ddof, keepdims, where)


@typed.reduction
@recorded("a", "out")
def var(
    a: Any, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = np._NoValue, *, where: Any = True,
    mean: Any = np._NoValue, correction: Any = np._NoValue,
) -> Any:  # fmt: skip
    """numpy.var: the sum of the squared differences of the elements from their mean, divided by n - ddof.

    a is read once, as accurately as by two passes: the error is at most 16 u var + 256 u**2 mean(a**2), u = 2**-24 or 2**-53, as long as the
    squares' sum does not overflow. Integers give float64, as which they are read: those beyond 2**53 are rounded first. dtype="float64" of float32 is computed in float64 without a copy.
    correction: another name of ddof. where: an array of booleans, true for the elements that count; the array's own library computes their squares,
    in two passes. mean= raises NotImplementedError. See sum().

    >>> tunesmith.var([[1.0, 3.0], [2.0, 2.0]], axis=1)
    array([1., 0.])
    """
    return _moment("var", a, axis, dtype, out, _correction(ddof, correction), keepdims, where, mean)


def _correction(ddof, correction):
    if correction is np._NoValue:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@typed.reduction
@recorded("a", "out")
def std(
    a: Any, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = np._NoValue, *, where: Any = True,
    mean: Any = np._NoValue, correction: Any = np._NoValue,
) -> Any:  # fmt: skip
    """numpy.std: the root of var().

    >>> tunesmith.std([[1.0, 3.0], [2.0, 2.0]], axis=1)
    array([1., 0.])
    """
    return _moment("std", a, axis, dtype, out, _correction(ddof, correction), keepdims, where, mean)


@typed.of_a
@recorded("a")
def mean_var(a: Any, axis: Axes = None, *, ddof: int = 0, dtype: Any = None) -> Any:
    """Mean and variance in one pass over `a`: an array of the kept axes and one of 2 elements behind them. See var().

    >>> tunesmith.mean_var([[1.0, 2.0], [3.0, 4.0]], axis=0)
    array([[2., 1.],
           [3., 1.]])
    """
    return _moments("mean_var", a, axis, dtype, None, ddof, False)


@typed.of_a
@recorded("a")
def min_max(a: Any, axis: Axes = None) -> Any:
    """Least and greatest element in one pass over `a`: an array of the kept axes and one of 2 elements behind them. See min().

    >>> tunesmith.min_max([[1, 5], [7, 2]], axis=0)
    array([[1, 7],
           [2, 5]])
    """
    return _extremes("min_max", a, axis, None, False)


def _extremes(function: str, a, axis, out, keepdims):
    _refuse_missing(a, function)
    given = InputArray(a)
    own = given.dtype
    axes = _reduced_axes(axis, len(given.shape))
    shape = _reduced_shape(given.shape, axes, keepdims)
    if own in _complex_parts or own == "bool" and function == "ptp":
        raise TypeError(f"{function} of {own} is not defined here; take that of its parts or of integers.")
    if given.array.size == 0 and _product(shape) > 0:
        raise ValueError(f"zero-size array to reduction operation {function} which has no identity")
    if own == "uint64":
        given = _flipped(given)
    given = _as_read(given)
    if not axes:
        given, axes = given.reshaped((*given.shape, 1)), (len(given.shape),)
    is_direct = given.dtype == own and function == "ptp" and not keepdims
    value = _reduce_as(given, axes, function, given.dtype, out if is_direct else None)
    if out is not None and value.object is out:
        return out
    if own == "uint64":
        value = value.viewed("uint64") if function == "ptp" else _flipped(value)
    return _returned(value.to(own), shape + (2,) * (function == "min_max"), out)


@typed.reduction
@recorded("a", "out")
def ptp(a: Any, axis: Axes = None, out: Any = None, keepdims: Any = np._NoValue) -> Any:
    """numpy.ptp: the greatest element minus the least, in the array's type, in which it may wrap. See min().

    >>> tunesmith.ptp([[1, 5], [7, 2]], axis=0)
    array([6, 3])
    """
    return _extremes("ptp", a, axis, out, _flag(keepdims))


@typed.reduction
@recorded("a", "out")
def prod(
    a: Any,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """numpy.prod: the product of the elements. Integers give int64 or uint64 and wrap. For real numbers only the result may leave the type's
    range, not products in between; float32 is multiplied as float64. initial= and where= raise NotImplementedError. See sum().

    >>> tunesmith.prod([[1, 5], [7, 2]], axis=0)
    array([ 7, 10])
    """
    _without(
        "prod",
        "multiply the result, or choose elements before, as in prod(a[mask])",
        initial=initial,
        where=where,
    )
    _refuse_missing(a, "prod")
    given = InputArray(a)
    axes = _reduced_axes(axis, len(given.shape))
    shape = _reduced_shape(given.shape, axes, _flag(keepdims))
    own = given.dtype
    name = type_of_output(own, out) if dtype is None else type_name(dtype)
    if own in _complex_parts or name in _complex_parts:
        raise TypeError("A product of complex numbers is not computed here; that of their magnitudes is.")
    wide = name == "float64" and own not in ("float64", "uint64") or name == "float32" and own in _halves
    wanted = name or {"uint8": "uint64", "uint16": "uint64", "uint32": "uint64", "uint64": "uint64"}.get(
        own, own
    )
    if name is None and _kind(own) <= _kind("int64") and wanted != "uint64":
        wanted = "int64"
    if name is not None and not wide:
        given = given.to(name)
    if given.dtype == "uint64":
        given = _as_int64(given)
    given = _as_read(given)
    result = "float64" if wide else given.dtype if _kind(given.dtype) > _kind("int64") else "int64"
    if not axes:
        given, axes = given.reshaped((*given.shape, 1)), (len(given.shape),)
    is_direct = result == wanted and not _flag(keepdims)
    value = _reduce_as(given, axes, "prod", result, out if is_direct else None, wide=wide)
    if out is not None and value.object is out:
        return out
    return _returned(value.viewed("uint64") if wanted == "uint64" else value.to(wanted), shape, out)


def _truth(given: InputArray) -> InputArray:
    """The array in one of the op's types, not 0 where the element is not 0."""
    own = given.dtype
    if own in _complex_parts:
        given = InputArray(given.object != 0)
    elif own in ("uint32", "uint64"):
        return given.contiguous().viewed(own[1:])
    return _as_read(given)


def _logical(function: str, a, axis, out, keepdims):
    given = _truth(InputArray(a))
    axes = _reduced_axes(axis, len(given.shape))
    shape = _reduced_shape(given.shape, axes, _flag(keepdims))
    if not axes:
        given, axes = given.reshaped((*given.shape, 1)), (len(given.shape),)
    result = "int64" if function == "count_nonzero" else "bool"
    value = _reduce_as(given, axes, function, result, None if _flag(keepdims) else out)
    return _returned(value, shape, out)


@typed.reduction
@recorded("a", "out")
def any(a: Any, axis: Axes = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = True) -> Any:
    """numpy.any: True if any element is not 0, as booleans; a NaN is not 0. where= raises NotImplementedError. See sum().

    >>> tunesmith.any([[0, 0], [0, 3]], axis=1)
    array([False,  True])
    """
    _without("any", "give any(a & mask)", where=where)
    return _logical("any", a, axis, out, keepdims)


@typed.reduction
@recorded("a", "out")
def all(a: Any, axis: Axes = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = True) -> Any:
    """numpy.all: True if all elements are not 0. See any().

    >>> tunesmith.all([[1, 0], [2, 3]], axis=1)
    array([False,  True])
    """
    _without("all", "give all(a | ~mask)", where=where)
    return _logical("all", a, axis, out, keepdims)


@typed.reduction
@recorded("a")
def count_nonzero(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    """numpy.count_nonzero: the number of elements that are not 0, as int64 (NumPy's own gives a Python int for all axes). See sum().

    >>> tunesmith.count_nonzero([[0, 1], [2, 3]], axis=0)
    array([1, 2])
    """
    return _logical("count_nonzero", a, axis, None, keepdims)


def _vector_norm(given: InputArray, ord, axes: tuple[int, ...]) -> InputArray:
    if given.dtype in _complex_parts:
        if ord != 2:
            raise NotImplementedError(
                f"A norm with ord={ord!r} of complex numbers is not there; give their magnitudes, abs(x)."
            )
        given = given.contiguous().reshaped((*given.shape, 1)).viewed(_complex_parts[given.dtype])
        axes = (*axes, len(given.shape) - 1)
    if given.dtype == "uint64":
        given = given.to("float64")
    wanted = given.dtype if _kind(given.dtype) > _kind("int64") else "float64"
    given = _as_read(given)
    if ord == 0:
        return _reduce_as(given, axes, "count_nonzero", "int64").to(wanted)
    if ord == -np.inf:
        from ._reductions import min as least

        return InputArray(least(abs(given.object), axes)).to(wanted)
    if ord not in (1, 2, np.inf):
        power = float(ord)
        found = reduction(
            f"pow(abs(a), {power!r})", given.to(wanted).object, axis=axes, finish=f"pow(out, {1 / power!r})"
        )
        return InputArray(found).to(wanted)
    function = {1: "norm1", 2: "norm2"}.get(ord, "norminf")
    if function == "norminf" and _product(given.shape[k] for k in axes) == 0:
        function = "norm1"  # also 0
    computed = given.dtype if _kind(given.dtype) > _kind("int64") else "float64"
    return _reduce_as(given, axes, function, computed).to(wanted)


@typed.norm
@recorded("x")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm: for vectors any ord; for matrices (two axes) None, "fro", 1, -1, inf, -inf.

    Integers give float64. The error is at most 11 u of the norm (6 for ord=2), as long as the squares do not overflow. Ords of vectors other than 0,
    1, 2, inf and -inf are computed by reduction(). Those that need singular values (2, -2, "nuc" of matrices) raise NotImplementedError. See sum().

    >>> tunesmith.norm([[3.0, 4.0], [5.0, 12.0]], axis=1)
    array([ 5., 13.])
    """
    given = InputArray(x)
    dimensions = len(given.shape)
    ord = ord if ord is None or isinstance(ord, str) else np.asarray(number_of(ord)).item()
    if (
        axis is None
        and (ord is None or dimensions == 1 and ord in (2, "fro", "f"))
        and ord not in ("fro", "f")
        or axis is None
        and ord in ("fro", "f")
        and dimensions == 2
    ):
        axes, ord = tuple(range(dimensions)), 2
        is_matrix = False
    else:
        if axis is not None:
            # NumPy converts a single axis to an integer.
            axis = tuple(axis) if isinstance(axis, (tuple, list)) else (int(axis),)
        given_axes = tuple(range(dimensions)) if axis is None else axis
        axes = tuple(_axes(one, dimensions)[0] for one in given_axes)
        is_matrix = len(axes) == 2
        if len(axes) not in (1, 2):
            raise ValueError("Improper number of dimensions to norm.")
        if len(set(axes)) != len(axes):
            raise ValueError("Duplicate axes given.")
    shape = _reduced_shape(given.shape, axes, bool(keepdims))
    if not is_matrix:
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order '{ord}' for vectors")
        if not axes:
            given, axes = given.reshaped((1,)), (0,)
        return _returned(_vector_norm(given, 2 if ord is None else ord, tuple(sorted(axes))), shape, None)
    if ord in (None, "fro", "f"):
        return _returned(_vector_norm(given, 2, tuple(sorted(axes))), shape, None)
    if ord in (2, -2, "nuc"):
        raise NotImplementedError(
            f"A matrix norm with ord={ord!r} needs singular values, which are not computed here; use the array's own library."
        )
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    from ._reductions import max as most
    from ._reductions import min as least
    from ._reductions import sum as total

    added, other = axes if abs(ord) == 1 else axes[::-1]
    sums = _vector_norm(given, 1, (added,))
    most = most if given.shape[other] else total  # the sum of no elements is 0
    found = (most if ord > 0 else least)(sums.object, other - (other > added))
    return _returned(InputArray(found), shape, None)


_letters = "abcdef"
_word = re.compile(r"(?<![\w.])([a-f])(?![\w(])")
_signs = {"sum": "+=", "max": "max=", "min": "min="}


@overload
def reduction(
    expression: str,
    *arrays: typed.NumPy,
    function: str = "sum",
    axis: Axes = None,
    keepdims: bool = False,
    finish: str = "out",
    dtype: Any = None,
) -> typed.NumPy: ...
@overload
def reduction(
    expression: str,
    *arrays: typed.ArrayT,
    function: str = "sum",
    axis: Axes = None,
    keepdims: bool = False,
    finish: str = "out",
    dtype: Any = None,
) -> typed.ArrayT: ...
@overload
def reduction(
    expression: str,
    *arrays: Any,
    function: str = "sum",
    axis: Axes = None,
    keepdims: bool = False,
    finish: str = "out",
    dtype: Any = None,
) -> Any: ...
@with_explained_keywords
def reduction(
    expression: str,
    *arrays: Any,
    function: str = "sum",
    axis: Axes = None,
    keepdims: bool = False,
    finish: str = "out",
    dtype: Any = None,
) -> Any:
    """A sum, maximum or minimum of an expression of arrays, and the function `finish` of it, in one pass: reduction("exp(a - b)", x, m, axis=1).

    expression: in `a` to `f`, the arrays in their order, which are broadcast as by NumPy, in the language of vectorize(). finish: a function of
    `out`, such as "sqrt(out)". function: sum, max or min. dtype: the result's type. It is a line of index notation, which tensor() computes: see
    there for types and accuracy.

    >>> tunesmith.reduction('(a - b) ** 2', [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0], axis=1, finish='sqrt(out)').round(4)
    array([1.    , 3.6056])
    """
    if function not in _signs:
        raise ValueError(f"function= is {function!r}; allowed are {', '.join(_signs)}.")
    if not 1 <= len(arrays) <= len(_letters):
        raise ValueError(f"{len(arrays)} arrays were given; a reduction has 1 to {len(_letters)}.")
    shapes = [InputArray(one).shape for one in arrays]
    whole = np.broadcast_shapes(*shapes)
    axes = _axes(axis, len(whole))
    names = string.ascii_lowercase[8 : 8 + len(whole)]

    def access(found: re.Match) -> str:
        k = _letters.index(found[1])
        if k >= len(arrays):
            raise ValueError(
                f"The expression {expression!r} has {found[1]}, but {len(arrays)} arrays were given."
            )
        shape, own = shapes[k], names[len(whole) - len(shapes[k]) :]
        places = [
            "0" if extent == 1 and whole[names.index(name)] != 1 else name for extent, name in zip(shape, own)
        ]
        return f"x{k}[{','.join(places)}]"

    kept = [name for k, name in enumerate(names) if k not in axes]
    sign = _signs[function] if axes else "="
    text = (
        f"out[{','.join(kept)}] {sign} {_word.sub(access, expression)}"
        if kept
        else f"out {sign} {_word.sub(access, expression)}"
    )
    given = {f"x{k}": one for k, one in enumerate(arrays)}
    found = tensor(text, **given, finish=finish, out_dtype=dtype, extents=dict(zip(names, whole)))
    if keepdims:
        value = InputArray(found)
        return value.library.result(value.reshaped(_reduced_shape(whole, axes, True)).object)
    return found
