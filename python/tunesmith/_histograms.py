# SPDX-License-Identifier: Apache-2.0
"""NumPy's histogram, histogram2d and bincount."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, _by_strides, index
from ._dispatchers import launch
from ._recording import recorded
from ._reductions import _least_and_most
from ._scans import cumsum
from ._types import dtype_words, type_name

_most_bins = 65536


@recorded("a")
def _counted(a, bins: int, function: str, lo: float = 0.0, hi: float = 1.0):
    given = _by_strides(InputArray(a))
    counts = given.empty((bins,), "int64")
    problem = (
        ("function", function),
        ("length", given.array.size),
        ("bins", bins),
        ("dtype", dtype_words[given.dtype]),
    )
    launch("histogram", (given, counts), problem, (lo, hi) if function == "histogram" else ())
    return counts.object


@functools.lru_cache(maxsize=256)
def _edges(lo: float, hi: float, count: int, dtype) -> np.ndarray:
    return np.linspace(lo, hi, count + 1, dtype=dtype)


_edge_types: dict = {}  # by the dtypes of arrays that are counted without conversion


@typed.histogram
def histogram(
    a: Any,
    bins: SupportsIndex | str | Sequence[float] | np.ndarray = 10,
    range: tuple[float, float] | Sequence[float] | None = None,
    density: bool | None = None,
    weights: Any = None,
    *,
    cumulative: bool = False,
) -> tuple[Any, np.ndarray]:
    """numpy.histogram: counts of the values of `a` in bins of equal width, and the edges of the bins.

    a: float32, float64, int16, int32, int64, uint8 and uint16 are counted without conversion, uint64 as float64, other integers as int32 or int64, float16 and
    bfloat16 as float32 (NumPy has edges of float16 for them). bins: their number; edges of equal width, as numpy.linspace makes them; or the name of
    a rule of numpy.histogram_bin_edges, which then looks at a copy in ordinary memory. range: the limits;
    None: the least and the greatest value, which takes two more launches and waits for them; float32 values are counted as float64
    if a limit is of float64. density: divides by the number and the width. cumulative: counts (or weights) of each bin and all before it; with
    density as fractions, the last of which is 1.
    weights: real numbers that are added for each value; sums are of float64, in an order that differs from run to run, and are returned in the
    weights' type. More than 65536 bins, other weights, edges of NaN, and integers of 64 bits between edges beyond 2**52 are left to the array's own
    library: NumPy, CuPy, or operators of PyTorch (TypeError for others).
    Returns (counts, edges): counts of int64 of the caller's kind, edges as a NumPy array. Every value is in the bin where NumPy
    puts it if the limits are Python's floats: numpy.histogram(a, bins, (float(lo), float(hi))). (With limits of NumPy's types, and with those
    that it finds itself, NumPy computes the edges in these types, so that one may lie a unit in the last place elsewhere.)

    >>> tunesmith.histogram([1.0, 2.0, 2.5, 4.0], bins=3)
    (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    if cumulative:
        counts, edges = histogram(a, bins, range, weights=weights)
        sums = cumsum(counts)
        return sums / sums[-1] if density else sums, edges
    edges_type = _edge_types.get(getattr(a, "dtype", None))
    if (
        edges_type
        and weights is None
        and not density
        and type(bins) is int
        and type(range) is tuple
        and len(range) == 2
    ):
        lo, hi = range  # the usual case, in few steps
        if (
            type(lo) in (int, float)
            and type(hi) in (int, float)
            and -math.inf < lo < hi < math.inf
            and 0 < bins <= _most_bins
        ):
            with contextlib.suppress(ValueError):  # said below
                lo, hi = float(lo), float(hi)
                return _counted(a, bins, "histogram", lo, hi), _edges(lo, hi, bins, edges_type).copy()
    given = InputArray(a)
    added = None if weights is None else _real_weights(weights, given)
    if weights is not None and (added is None or isinstance(bins, str)):
        return _histogram_of_library(given, bins, range, density, weights)
    compared = given.dtype
    if given.dtype == "bool":
        warnings.warn(
            f"Converting input from {given.dtype} to {np.uint8} for compatibility.",
            RuntimeWarning,
            stacklevel=3,
        )
    if isinstance(bins, str):
        bins = np.histogram_bin_edges(given.numpy(), bins, range)
    given = _by_strides(given) if added is None else given.contiguous()  # the weights' order
    given = (
        given.to("float64")
        if given.dtype == "uint64"
        else _countable(given, ("float32", "float64", "int32", "int64", "uint8", "int16", "uint16"))
    )
    edges_type = np.float32 if given.dtype == "float32" else np.float64
    if str(getattr(a, "dtype", None)).removeprefix("torch.") == given.dtype:
        _edge_types[a.dtype] = edges_type
    edges = None
    if np.ndim(bins) == 1:
        edges = InputArray(bins).numpy()
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        count = edges.size - 1
        lo, hi = float(edges[0]), float(edges[-1])
        if count < 1 or not _is_uniform(edges):
            return _between(_paired(given), added, edges, compared, InputArray(a), density, weights)
    else:
        if np.ndim(bins) != 0:
            raise ValueError("`bins` must be 1d, when an array")
        count = index(bins)
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        if range is not None:
            lo, hi = range
            if given.dtype == "float32" and any(
                type_name(limit.dtype) == "float64" for limit in (lo, hi) if hasattr(limit, "dtype")
            ):
                given, edges_type = given.to("float64"), np.float64  # NumPy's promotion
            lo, hi = float(lo), float(hi)
            if lo > hi:
                raise ValueError("max must be larger than min in range parameter.")
        elif given.array.size == 0:
            lo, hi = 0.0, 1.0
        else:
            lo, hi = (float(limit) for limit in _least_and_most(given))
        if not (math.isfinite(lo) and math.isfinite(hi)):
            which = "supplied" if range is not None else "autodetected"
            raise ValueError(f"{which} range of [{lo}, {hi}] is not finite")
        if lo == hi:
            lo, hi = lo - 0.5, hi + 0.5
        edges = _edges(lo, hi, count, edges_type).copy()
        if np.any(edges[:-1] >= edges[1:]):
            raise ValueError(
                f"Too many bins for data range. Cannot create {count} finite-sized bins. Two edges from {lo} to {hi} are the same number of "
                f"{edges.dtype}; give fewer bins or a wider range=."
            )
    if count > _most_bins:
        if weights is not None:
            return _histogram_of_library(InputArray(a), bins, range, density, weights)
        if given.array.kind == "numpy":
            return np.histogram(given.numpy(), count, (lo, hi), density)
        return _histogram_of_library(given, edges, None, density, None)
    with contextlib.suppress(ValueError):  # bins too narrow for an estimate: between edges, below
        if added is not None:
            return _finished(
                _weighted_values(_paired(given).object, added.object, count, (lo, hi)),
                edges,
                density,
                weights,
            )
        return _finished(_counted(given.object, count, "histogram", lo, hi), edges, density, None)
    return _between(_paired(given), added, edges, compared, InputArray(a), density, weights)


def _between(
    given: InputArray,
    added: InputArray | None,
    edges: np.ndarray,
    compared: str,
    a: InputArray,
    density,
    weights,
):
    """Counts, or sums of the weights `added`, between edges of any distance. compared: the type in which NumPy compares the values of `a`."""
    if not _are_for_kernels([edges], compared):
        return _histogram_of_library(a, edges, None, density, weights)
    return _finished(
        _sums_of_values(given.contiguous(), added, edges.size - 1, edges=edges),
        edges,
        density,
        "int64" if added is None else weights,
    )


def _real_weights(weights, given: InputArray) -> InputArray | None:
    """The array as float32 or float64; None: there are special rules for elements of other types."""
    try:
        found = InputArray(weights, given)
    except TypeError:
        return None
    if found.dtype.startswith(("complex", "bool", "float16", "bfloat16")):
        return None
    if tuple(found.shape) != tuple(given.shape):
        raise ValueError("weights should have the same shape as a.")
    return (found if found.dtype == "float32" else found.to("float64")).contiguous()


def _finished(sums, edges: np.ndarray, density, like):
    """Counts or sums in the type `like`, or that of the array `like`, or with density divided."""
    counts = InputArray(sums)
    if like is not None:
        counts = counts.to(like if isinstance(like, str) else InputArray(like, counts).dtype)
    if density:
        numbers = counts.numpy()
        return counts.library.of_numpy(
            numbers / np.diff(edges).astype("float64") / numbers.sum(), counts.object
        ), edges
    return counts.object, edges


def _sums_of_values(x: InputArray, weights: InputArray | None, count: int, limits=(), edges=None):
    """Counts in one launch the values, or the sums of their weights, between limits, or between edges; float64."""
    sums = x.empty((count,), "float64")
    problem = (
        ("values", "single"),
        ("weights", "none" if weights is None else dtype_words[weights.dtype]),
        ("edges", "uniform" if limits else "given"),
        ("length", x.array.size),
        ("bins_x", count),
        ("bins_y", 1),
        ("dtype", dtype_words[x.dtype]),
    )
    there = None if edges is None else InputArray(edges.astype("float64"), x)
    launch(
        "joint_histogram",
        (x, None, weights, there, None, sums),
        problem,
        (*limits, 0.0, 1.0) if limits else (),
    )
    return sums.object


@recorded("x", "weights")
def _weighted_values(x, weights, count: int, limits: tuple[float, float]):
    return _sums_of_values(*(InputArray(one).contiguous() for one in (x, weights)), count, limits)


def _histogram_of_library(given: InputArray, bins, limits, density, weights):
    """Counts without a kernel: for weights or edges that are not real numbers, and for very many bins."""
    kind = given.array.kind
    if kind in ("numpy", "other"):
        return np.histogram(given.numpy(), bins, limits, density, weights)
    if weights is not None:
        weights = InputArray(weights, given)
        if tuple(weights.shape) != tuple(given.shape):
            raise ValueError("weights should have the same shape as a.")
    if kind == "cupy":
        library, like = sys.modules["cupy"], given.object
        edges = bins if np.ndim(bins) == 0 else library.asarray(InputArray(bins, given).object)
        # NumPy changed the order of these parameters from version to version, so they are given by name.
        counts, edges = library.histogram(
            like, edges, limits, weights=None if weights is None else weights.object, density=density
        )
        if weights is not None and not density:
            counts = counts.astype(weights.object.dtype)  # NumPy's type
        return counts, edges.get()
    if kind != "torch":
        raise TypeError(
            f"Such weights or edges, and more than {_most_bins} bins, are for the array's own library, and {kind} has no such function; "
            "give an array of CuPy or PyTorch."
        )
    torch, x = sys.modules["torch"], given.object.reshape(-1)
    if np.ndim(bins) == 1:
        edges = InputArray(bins).numpy()
    else:
        ends = [float(x.min()), float(x.max())] if limits is None else []
        edges = np.histogram_bin_edges(
            np.array(ends, np.float32 if given.dtype == "float32" else np.float64), index(bins), limits
        )
    common = np.result_type(edges.dtype, "float32" if given.dtype in ("float16", "bfloat16") else given.dtype)
    there = torch.as_tensor(edges.astype(common), device=x.device)
    x = x.to(there.dtype)
    place = torch.searchsorted(there, x, right=True) - 1
    place = torch.where(x == there[-1], len(edges) - 2, place)
    inside = (place >= 0) & (place < len(edges) - 1)
    place = place[inside]
    if weights is None:
        counts = torch.bincount(place, minlength=len(edges) - 1)
    else:  # added as float64 and returned in the weights' type, as NumPy does
        weights = weights.object.reshape(-1)[inside]
        parts = [weights.real, weights.imag] if weights.is_complex() else [weights]
        sums = [
            torch.bincount(place, weights=part.to(torch.float64), minlength=len(edges) - 1) for part in parts
        ]
        counts = (torch.complex(*sums) if weights.is_complex() else sums[0]).to(weights.dtype)
    if density:
        counts = counts / torch.as_tensor(np.diff(edges).astype(np.float64), device=x.device) / counts.sum()
    return counts, edges


def _edges_of(given: InputArray, bins, limits, of_half: bool) -> np.ndarray:
    """NumPy's edges of one axis. of_half: NumPy has the elements as float16, and so the edges between their extremes."""
    if np.ndim(bins) == 1:
        edges = InputArray(bins).numpy()
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must be monotonically increasing, when an array")
        return edges
    if np.ndim(bins) != 0:
        raise ValueError("`bins` must be a scalar or 1d array")
    count = index(bins)
    if count < 1:
        raise ValueError(f"`bins` must be positive, when an integer; it is {count}.")
    if limits is not None:
        lo, hi = limits
        if lo > hi:
            raise ValueError(f"max must be larger than min in range parameter; they are {hi} and {lo}.")
    elif given.array.size == 0:
        lo, hi = 0, 1
    else:
        lo, hi = (one[()] for one in _least_and_most(given))
        if of_half:
            lo, hi = np.float16(lo), np.float16(hi)
    if not (np.isfinite(lo) and np.isfinite(hi)):
        raise ValueError(
            f"{'autodetected' if limits is None else 'supplied'} range of [{lo}, {hi}] is not finite"
        )
    return np.linspace(lo - 0.5, hi + 0.5, count + 1) if lo == hi else np.linspace(lo, hi, count + 1)


def _places(given: InputArray, edges: np.ndarray):
    """The bin of each value; the last bin includes its upper edge. Values below all bins have -1, values above them the number of bins."""
    common = np.result_type(edges.dtype, given.dtype).name
    there, values = InputArray(edges.astype(common), given).object, given.to(common).object
    side = {"right": True} if given.array.kind == "torch" else {"side": "right"}
    return given.library.module().searchsorted(there, values, **side) - (values == there[-1]) * 1 - 1


def _sums_of_pairs(
    x: InputArray,
    y: InputArray,
    weights: InputArray | None,
    shape: tuple[int, int],
    limits=(),
    edges=(None, None),
):
    """Counts in one launch the pairs, or the sums of their weights, between limits (lo and hi of x, then of y), or between edges."""
    sums = x.empty(shape, "float64")
    problem = (
        ("weights", "none" if weights is None else dtype_words[weights.dtype]),
        ("edges", "uniform" if limits else "given"),
        ("length", x.array.size),
        ("bins_x", shape[0]),
        ("bins_y", shape[1]),
        ("dtype", dtype_words[x.dtype]),
    )
    launch("joint_histogram", (x, y, weights, *edges, sums), problem, limits)
    return sums.object


@recorded("x", "y")
def _pairs(x, y, shape: tuple[int, int], limits: tuple[float, ...]):
    return _sums_of_pairs(*(InputArray(one).contiguous() for one in (x, y)), None, shape, limits)


@recorded("x", "y", "weights")
def _weighted_pairs(x, y, weights, shape: tuple[int, int], limits: tuple[float, ...]):
    return _sums_of_pairs(*(InputArray(one).contiguous() for one in (x, y, weights)), shape, limits)


def _is_uniform(edges: np.ndarray) -> bool:
    lo, hi = float(edges[0]), float(edges[-1])
    return bool(lo < hi and math.isfinite(hi - lo) and np.array_equal(edges, np.linspace(lo, hi, edges.size)))


def _are_for_kernels(edges: list[np.ndarray], dtype: str) -> bool:
    """True if kernels put values of this type into the same bins as NumPy."""
    shape = tuple(one.size - 1 for one in edges)
    if (
        min(shape) < 1
        or max(shape) > _most_bins
        or math.prod(shape) > 2**28
        or any(one.dtype.kind not in "fiub" or one.dtype.itemsize > 8 for one in edges)
    ):
        return False
    if any(np.isnan(one).any() for one in edges):
        return False
    # If NumPy compares integers of 64 bits, doubles give the same between edges that are doubles.
    return dtype not in ("int64", "uint64") or not any(
        one.dtype.kind in "iu" and np.abs(one.astype("float64")).max() > 2.0**52 for one in edges
    )


def _joint_counts(given: list[InputArray], edges: list[np.ndarray], weights: InputArray | None):
    """None: the kernels do not count these."""
    shape = tuple(one.size - 1 for one in edges)
    if not _are_for_kernels(edges, given[0].dtype):
        return None
    x, y = (one.to("float64") if one.dtype == "uint64" else _paired(one) for one in given)
    if all(_is_uniform(one) for one in edges):
        limits = tuple(float(limit) for one in edges for limit in (one[0], one[-1]))
        with contextlib.suppress(ValueError):  # bins too narrow for an estimate: between edges, below
            if weights is None:
                return _pairs(x.object, y.object, shape, limits)
            return _weighted_pairs(x.object, y.object, weights.object, shape, limits)
    there = [InputArray(one.astype("float64"), x) for one in edges]
    return _sums_of_pairs(
        x.contiguous(), y.contiguous(), None if weights is None else weights.contiguous(), shape, edges=there
    )


def _joint_counts_of_library(given: list[InputArray], edges: list[np.ndarray], weights: InputArray | None):
    rows, columns = (one.size - 1 for one in edges)
    row, column = (_places(one, own) for one, own in zip(given, edges))
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    count = rows * columns
    # The places of values outside are behind all others.
    place = InputArray((row * columns + column) * inside + count * (inside == 0))
    counts = _bincount_of_library(place.to("int64"), None if weights is None else weights.object, count + 1)
    return InputArray(counts[:count]).to("float64").reshaped((rows, columns)).object


@typed.histogram2d
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Sequence[Sequence[float] | None] | None = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """numpy.histogram2d: the number of pairs (x, y) in each bin of a grid, and the edges along both axes.

    x, y: one-dimensional arrays of one library and length. bins: a number or edges for both axes, or one for each. range: limits for each axis;
    None: the least and the greatest value, which are waited for. density: divides by the number and the areas. weights: numbers that are added for
    each pair, as float32 or float64; sums of float64 in an order that differs from run to run. One kernel puts every pair into the same bin as NumPy;
    more than 65536 bins of an axis or 2**28 of both, edges of NaN or long double, and integers of 64 bits between edges beyond 2**52, are counted by
    the arrays' own library (TypeError for JAX). Returns (counts, edges of x, edges of y): counts of float64 and of the caller's kind, edges as NumPy
    arrays. Raises ValueError as NumPy does.

    >>> tunesmith.histogram2d([1.0, 2.0, 2.0], [1.0, 1.0, 3.0], bins=2)[0]
    array([[1., 0.],
           [1., 1.]])
    """
    first = InputArray(x)
    second = InputArray(y, first)
    if len(first.shape) != 1 or first.shape != second.shape:
        raise ValueError(
            f"x and y must have the same length; they have the shapes {first.shape} and {second.shape}."
        )
    common = np.result_type(
        "float32" if "float16" in first.dtype else first.dtype,
        "float32" if "float16" in second.dtype else second.dtype,
    ).name
    if common.startswith("complex"):
        raise TypeError(f"Pairs of {common} cannot be counted, since complex numbers have no order.")
    given = [one.to("uint8" if common == "bool" else common) for one in (first, second)]
    of_half = (
        "bfloat16" not in (first.dtype, second.dtype)
        and np.result_type(first.dtype, second.dtype) == np.float16
    )
    each = [bins, bins] if not np.iterable(bins) or len(bins) not in (1, 2) else list(bins)
    if len(each) != 2 or range is not None and len(range) != 2:
        raise ValueError("bins and range must be given for both axes, as two elements.")
    edges = [
        _edges_of(one, count, limits, of_half)
        for one, count, limits in zip(given, each, (None, None) if range is None else range)
    ]
    if weights is not None:
        weights = InputArray(weights, first)
        if weights.shape != first.shape:
            raise ValueError(
                f"The weights and x must have the same length; they have the shapes {weights.shape} and {first.shape}."
            )
        if weights.dtype.startswith("complex"):
            raise TypeError(
                f"Cannot cast array data from dtype('{weights.dtype}') to dtype('float64') according to the rule 'safe'"
            )
        weights = weights if weights.dtype == "float32" else weights.to("float64")
    counts = _joint_counts(given, edges, weights)
    if counts is None:
        counts = _joint_counts_of_library(given, edges, weights)
    table = InputArray(counts)
    if density:
        total = table.object.sum()
        # NumPy divides by one width after the other; doing the same gives the same bits.
        for width in (np.diff(edges[0])[:, np.newaxis], np.diff(edges[1])):
            table = InputArray(table.object / InputArray(width.astype(np.float64), table).object)
        table = InputArray(table.object / total)
    return table.object, edges[0], edges[1]


_countable_as = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "float16": "float32",
    "bfloat16": "float32",
}


def _countable(given: InputArray, allowed) -> InputArray:
    if given.dtype in allowed:
        return given
    target = _countable_as.get(given.dtype)
    if target in allowed:
        return given.to(target)
    raise TypeError(
        f"Values of {given.dtype} cannot be counted; convert them to one of {', '.join(allowed)}."
    )


def _paired(given: InputArray) -> InputArray:
    """The array in one of the types of joint_histogram."""
    return _countable(given, ("float32", "float64", "int32", "int64", "uint8"))


@typed.of_x
def bincount(x: Any, weights: Any = None, minlength: SupportsIndex = 0) -> Any:
    """numpy.bincount: counts[i] is how often i is in `x`, for i up to the greatest value, and at least minlength of them.

    x: one-dimensional; uint8, int16, uint16 and int32 are counted without conversion, other integers in a copy of int32. More than 65536
    counts, and weights, are added up by the array's own library: NumPy, CuPy or PyTorch (TypeError for others). The greatest value takes two more
    launches, which are waited for; of uint8 it is looked for in the counts, unless minlength is at least 256.
    Raises ValueError for negative values and for more than 2**32 counts, TypeError for values that are not integers.

    >>> tunesmith.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    given = InputArray(x)
    if weights is not None:
        return _bincount_of_library(given, weights, minlength)
    if len(given.shape) != 1:
        raise ValueError(
            "object too deep for desired array"
            if len(given.shape) > 1
            else "object of too small depth for desired array"
        )
    minlength = index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if given.array.size == 0 and given.dtype == "float64":
        given = given.to("int32")  # an empty list
    if given.dtype.startswith(("float", "complex", "bfloat")):
        raise TypeError(
            f"Cannot cast array data from dtype('{given.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    given = given.contiguous()
    if given.dtype != "uint64":
        given = _countable(given, ("int32", "int64", "uint8", "int16", "uint16"))
    count = minlength
    if given.dtype == "uint8" and given.array.size and minlength <= _most_bins:
        counts = _counted(given.object, builtins.max(minlength, 256), "bincount")
        if minlength >= 256:
            return counts
        return counts[: builtins.max(minlength, int(np.flatnonzero(InputArray(counts).numpy())[-1]) + 1)]
    if given.array.size:
        least, most = (int(one) for one in _least_and_most(given))
        if least < 0:
            raise ValueError("'list' argument must have no negative elements")
        count = builtins.max(most + 1, minlength)
    if count > 2**32:
        raise ValueError(f"bincount would return {count} counts; at most 2**32 are allowed.")
    if count == 0:
        return given.empty((0,), "int64").object
    if count > _most_bins:
        return _bincount_of_library(given.to("int64"), None, count)
    is_read = given.dtype in ("uint8", "int16", "uint16")
    return _counted((given if is_read else given.to("int32")).object, count, "bincount")


def _bincount_of_library(given: InputArray, weights, minlength: int):
    kind = given.array.kind
    if kind == "numpy":
        return np.bincount(given.numpy(), weights, minlength)
    if kind not in ("cupy", "torch"):
        raise TypeError(
            f"weights= and more than {_most_bins} counts are added up by the array's own library, and {kind} has no such function; give an array "
            "of CuPy or PyTorch."
        )
    if weights is not None:
        weights = InputArray(weights, given)
        if weights.dtype.startswith("complex"):
            raise TypeError(
                f"Cannot cast array data from dtype('{weights.dtype}') to dtype('float64') according to the rule 'safe'"
            )
        weights = weights.to("float64").object
    return sys.modules[kind].bincount(given.object, weights=weights, minlength=minlength)
