# SPDX-License-Identifier: Apache-2.0
"""Measurements of images and of their labelled parts, as in scipy.ndimage.

Without labels, and for one label, they are reductions and histograms of this package. For several labels, the array's own library (NumPy, CuPy,
PyTorch; sums not in JAX) adds up sums, and finds extremes and medians by sorting, on its device; a kernel of this package counts the elements of
each label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from . import _reductions, _statistics
from . import _typing as typed
from ._arrays import InputArray, chosen
from ._histograms import _bincount_of_library, _counted, _most_bins
from ._histograms import histogram as _histogram
from ._keywords import with_explained_keywords
from ._scans import cumsum
from ._types import _complex_parts, _kind

# Elements are sorted, and labels compared, as these types: PyTorch does neither with truth values and wider unsigned integers.
_wide = {"bool": "uint8", "uint16": "int32", "uint32": "int64", "float16": "float32", "bfloat16": "float32"}


class _Groups(NamedTuple):
    """The elements and, for each, the position of its label among `count` different ones; `count` if it has none of these."""

    values: InputArray  # flat
    ids: InputArray  # flat, int64
    count: int
    places: np.ndarray  # in the caller's order and shape


def _beside(labels, given: InputArray) -> InputArray:
    """The labels of each element."""
    found = InputArray(labels, given)
    if found.shape == given.shape:
        return found
    try:
        return InputArray(given.library.module().broadcast_to(found.object, given.shape))
    except (ValueError, RuntimeError):
        raise ValueError(
            f"input and labels must have the same shape (excepting dimensions with width 1); they have {given.shape} and {found.shape}."
        ) from None


def _mask(given: InputArray, labels, index) -> InputArray:
    """The mask of elements that count: their label is the index, or above 0."""
    found = _beside(labels, given)
    found = found.to(_wide.get(found.dtype, found.dtype))
    return InputArray(found.object > 0 if index is None else found.object == index)


def _is_one(labels, index) -> bool:
    return labels is None or index is None or np.isscalar(index)


def _part(given: InputArray, labels, index) -> InputArray:
    """The elements that count; with labels, in a copy."""
    return given if labels is None else InputArray(given.object[_mask(given, labels, index).object])


def _groups(given: InputArray, labels, index) -> _Groups:
    wanted = InputArray(index).numpy()
    found = _beside(labels, given)
    kind = "float64" if _kind("float32") in (_kind(found.dtype), _kind(wanted.dtype.name)) else "int64"
    different, places = np.unique(wanted.astype(kind), return_inverse=True)
    known = InputArray(different, given).object
    flat = InputArray(given.library.reshape(found.to(kind).object, (-1,))).object
    library, count = given.library.module(), different.size
    place = library.searchsorted(known, flat)
    place = (
        library.where(place == count, 0, place) if given.array.kind != "torch" else place.clamp(max=count - 1)
    )
    # Elements of other labels come last.
    ids = place + (known[place] != flat) * (count - place)
    return _Groups(
        InputArray(given.library.reshape(given.object, (-1,))),
        InputArray(ids).to("int64"),
        count,
        places.reshape(wanted.shape),
    )


def _in_order(groups: _Groups, values: InputArray) -> InputArray:
    """A value for each of the caller's indices."""
    return InputArray(values.object[InputArray(groups.places.astype(np.int64), values).object])


def _counts(groups: _Groups) -> InputArray:
    bins = groups.count + 1
    if groups.ids.array.size == 0:
        return InputArray(np.zeros(groups.count, np.int64), groups.ids)
    counts = (
        _counted(groups.ids.to("int32").object, bins, "bincount")
        if bins <= _most_bins
        else _bincount_of_library(groups.ids, None, bins)
    )
    return InputArray(counts[: groups.count])


def _sums(groups: _Groups, values: InputArray) -> InputArray:
    return InputArray(_bincount_of_library(groups.ids, values.object, groups.count + 1)[: groups.count])


def _divided(total, count) -> Any:
    """The numbers of elements, in float64 as in SciPy."""
    found = InputArray(total)
    if found.dtype not in _complex_parts:
        found = found.to("float64")
    below = InputArray(count).to("float64").object if not isinstance(count, int) else np.float64(count)
    return found.library.result(InputArray(found.library.result(found.object) / below).object)


@typed.measurement
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.sum_labels: the sum of the elements, of those with a label above 0, or of those with each label of `index`.

    input: any array. labels: an array of whole numbers that can be broadcast to the input's shape. index: a label or several; None: all above 0.
    Returns a number, or an array with one for each of several labels, of the caller's kind (in NumPy a number is one of its own). Sums of several
    labels are of float64 (TypeError for JAX). Types and accuracy of other sums are as in tunesmith.sum(). Raises ValueError for shapes.

    >>> tunesmith.ndimage.sum_labels([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([ 6., 11.])
    """
    given = InputArray(input)
    if _is_one(labels, index):
        return _reductions.sum(_part(given, labels, index).object)
    groups = _groups(given, labels, index)
    return _in_order(groups, _sums(groups, groups.values)).object


@typed.measurement
def sum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.sum: sum_labels().

    >>> tunesmith.ndimage.sum([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([ 6., 11.])
    """
    return sum_labels(input, labels, index)


@typed.measurement
def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.mean: the mean of the elements, in float64; the mean of no elements is NaN. Parameters as in sum_labels().

    >>> tunesmith.ndimage.mean([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([3. , 5.5])
    """
    given = InputArray(input)
    if _is_one(labels, index):
        part = _part(given, labels, index)
        whole = _kind(part.dtype) <= _kind("int64")  # whose sum may go around
        return _divided(_reductions.sum(part.object, dtype="float64" if whole else None), part.array.size)
    groups = _groups(given, labels, index)
    return _in_order(
        groups, InputArray(_divided(_sums(groups, groups.values).object, _counts(groups).object))
    ).object


def _squares(values: InputArray, means) -> InputArray:
    """The sums of squared distances from the means."""
    away = values.object - means
    return InputArray(away * (away.conj() if values.dtype in _complex_parts else away))


@typed.measurement
def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.variance: the mean of the squares of the distances from the mean, in two passes. Integers are computed in float64, float16
    and bfloat16 in float32, all others in their own type. Parameters as in sum_labels().

    >>> tunesmith.ndimage.variance([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([4.  , 2.25])
    """
    given = InputArray(input)
    real = (
        given.to("float64")
        if _kind(given.dtype) <= _kind("int64")
        else given.to("float32")
        if "float16" in given.dtype
        else given
    )
    if _is_one(labels, index):
        part = _part(real, labels, index)
        count = part.array.size
        middle = InputArray(_divided(_reductions.sum(part.object), count)).to(part.dtype).object
        return _divided(_reductions.sum(_squares(part, middle).object), count)
    groups = _groups(real, labels, index)
    counts, zero = _counts(groups).object, InputArray(np.zeros(1), given).object
    means = InputArray(_divided(_sums(groups, groups.values).object, counts)).object
    joined = given.library.module()
    joined = joined.cat((means, zero)) if given.array.kind == "torch" else joined.concatenate((means, zero))
    squares = _sums(groups, _squares(groups.values.to("float64"), joined[groups.ids.object]))
    return _in_order(groups, InputArray(_divided(squares.object, counts))).object


@typed.measurement
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.standard_deviation: the root of variance().

    >>> tunesmith.ndimage.standard_deviation([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([2. , 1.5])
    """
    return variance(input, labels, index) ** 0.5


class _Sorted(NamedTuple):
    """The elements of groups, ordered by their labels and then by their values; equal ones keep their order."""

    values: InputArray
    order: InputArray  # their original positions
    starts: InputArray
    counts: InputArray


def _stable_order(values: InputArray):
    if values.array.kind == "torch":
        return values.library.module().sort(values.object, stable=True).indices
    if values.array.kind in ("cupy", "jax"):
        return values.library.module().argsort(values.object)
    return np.argsort(values.object, kind="stable")


def _sorted(groups: _Groups) -> _Sorted:
    values = groups.values.to(_wide.get(groups.values.dtype, groups.values.dtype))
    order = _stable_order(values)
    order = order[_stable_order(InputArray(groups.ids.object[order]))]
    counts = _counts(groups)
    starts = InputArray(cumsum(counts.object) - counts.object)
    return _Sorted(InputArray(groups.values.object[order]), InputArray(order), starts, counts)


def _taken(found: _Sorted, values: InputArray, offset) -> InputArray:
    """The element at that position of each group; 0 for a group without elements."""
    place = found.starts.object + offset
    is_there = found.counts.object > 0
    taken = InputArray(values.object[place * is_there])
    return chosen(
        InputArray(is_there),
        taken,
        InputArray(taken.object ^ taken.object if taken.dtype == "bool" else _zeros(taken)),
    )


def _zeros(like: InputArray):
    return like.library.module().zeros_like(like.object)


def _tuples(positions: InputArray, shape) -> list[tuple]:
    return list(
        zip(*(one.reshape(-1) for one in np.unravel_index(positions.numpy().astype(np.int64), shape)))
    )


def _select(input, labels, index, *which: str) -> list:
    """The asked part of minimum, maximum, minimum_position and maximum_position."""
    given = InputArray(input)
    if not _is_one(labels, index):
        groups = _groups(given, labels, index)
        found = _sorted(groups)
        results: list = []
        for word in which:
            offset = 0 if word.startswith("min") else found.counts.object - 1
            values = found.order if word.endswith("position") else found.values
            taken = _in_order(groups, _taken(found, values, offset))
            results.append(_tuples(taken, given.shape) if word.endswith("position") else taken.object)
        return results
    part = _part(given, labels, index)
    results = []
    for word in which:
        if not word.endswith("position"):
            results.append((_reductions.min if word == "minimum" else _reductions.max)(part.object))
            continue
        if part.array.size == 0:
            raise ValueError(f"There is no element with that label, so it has no {word.replace('_', ' ')}.")
        place = (_statistics.argmin if word.startswith("min") else _statistics.argmax)(part.object)
        if labels is not None:
            mask = _mask(given, labels, index).object.reshape(-1).nonzero()
            place = (mask[:, 0] if given.array.kind == "torch" else mask[0])[place]
        results.append(tuple(one[()] for one in np.unravel_index(InputArray(place).numpy(), given.shape)))
    return results


@typed.measurement
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.minimum: the least element; with several labels, 0 for one without elements. Parameters as in sum_labels(). Raises ValueError for
    no elements.

    >>> tunesmith.ndimage.minimum([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([1, 4])
    """
    return _select(input, labels, index, "minimum")[0]


@typed.measurement
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.maximum: the greatest element; see minimum().

    >>> tunesmith.ndimage.maximum([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([5, 7])
    """
    return _select(input, labels, index, "maximum")[0]


@with_explained_keywords
def minimum_position(
    input: Any, labels: Any = None, index: Any = None
) -> tuple[Any, ...] | list[tuple[Any, ...]]:
    """scipy.ndimage.minimum_position: the position of the least element, the first of several equal ones, as a tuple of NumPy's integers; a list of
    tuples for several labels. The array's own library finds it, and the call waits for it. A NaN is less and greater than all numbers, for several
    labels only greater. See minimum().

    >>> [int(k) for k in tunesmith.ndimage.minimum_position([[5, 1], [4, 7]])]
    [0, 1]
    """
    return _select(input, labels, index, "minimum_position")[0]


@with_explained_keywords
def maximum_position(
    input: Any, labels: Any = None, index: Any = None
) -> tuple[Any, ...] | list[tuple[Any, ...]]:
    """scipy.ndimage.maximum_position: the position of the greatest element, of several equal ones the first (for several labels the last, as in
    SciPy); see minimum_position().

    >>> [int(k) for k in tunesmith.ndimage.maximum_position([[5, 1], [4, 7]])]
    [1, 1]
    """
    return _select(input, labels, index, "maximum_position")[0]


@with_explained_keywords
def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Any, Any, Any, Any]:
    """scipy.ndimage.extrema: minimum(), maximum(), minimum_position() and maximum_position().

    >>> least, most, at_least, at_most = tunesmith.ndimage.extrema([5, 1, 4, 7])
    >>> int(least), int(most), int(at_least[0]), int(at_most[0])
    (1, 7, 1, 3)
    """
    return tuple(_select(input, labels, index, "minimum", "maximum", "minimum_position", "maximum_position"))  # type: ignore[return-value]


def _halfway(first, second, dtype: str):
    real = dtype if dtype.startswith(("float", "bfloat")) else "float64"
    total = InputArray(first).to(real).object + InputArray(second).to(real).object
    return InputArray(total / 2).to(real)


@typed.measurement
def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.median: the middle element, or the mean of the two in the middle, found by the array's own library's sort; NaN if there is a
    NaN (with several labels: if it is in the middle), or no element. Parameters as in sum_labels().

    >>> tunesmith.ndimage.median([5, 1, 4, 7], labels=[1, 1, 2, 2], index=[1, 2])
    array([3. , 5.5])
    """
    given = InputArray(input)
    if _is_one(labels, index):
        part = _part(given, labels, index)
        count = part.array.size
        if count == 0:
            return np.nan
        flat = InputArray(part.library.reshape(part.object, (-1,))).to(_wide.get(part.dtype, part.dtype))
        order = flat.library.module().sort(flat.object)
        ordered = order.values if flat.array.kind == "torch" else order
        middle = _halfway(ordered[(count - 1) // 2], ordered[count // 2], given.dtype)
        if _kind(given.dtype) > _kind("int64"):  # a NaN is sorted last
            last = InputArray(ordered[count - 1]).to(middle.dtype)
            middle = chosen(InputArray(last.object != last.object), last, middle)
        return given.library.result(middle.object)
    groups = _groups(given, labels, index)
    found = _sorted(groups)
    counts = found.counts.object
    middle = _halfway(
        *(_taken(found, found.values, one).object for one in ((counts - 1) // 2, counts // 2)), given.dtype
    )
    none = InputArray(np.array([np.nan, 0.0]), given).object[(counts > 0) * 1]
    return _in_order(groups, InputArray(middle.object + InputArray(none).to(middle.dtype).object)).object


@with_explained_keywords
def center_of_mass(
    input: Any, labels: Any = None, index: Any = None
) -> tuple[Any, ...] | list[tuple[Any, ...]]:
    """scipy.ndimage.center_of_mass: the mean position, weighted by the elements: a tuple with a number of float64 for each axis, and for several
    labels a list of them. Without labels it is one reduction per axis; integers are summed as float64, exactly up to 2**53. Parameters as in
    sum_labels().

    >>> tuple(map(float, tunesmith.ndimage.center_of_mass([[0, 0, 0], [0, 1, 3]])))
    (1.0, 1.75)
    """
    given = InputArray(input)
    dimensions, library = len(given.shape), given.library
    if _is_one(labels, index):
        if labels is not None:
            given = chosen(_mask(given, labels, index), given, InputArray(_zeros(given)))
        results = []
        for axis in range(dimensions):
            others = tuple(k for k in range(dimensions) if k != axis)
            whole = _kind(given.dtype) <= _kind("int64")  # whose sum may go around
            along = InputArray(
                _reductions.sum(given.object, axis=others, dtype="float64" if whole else None)
                if others
                else given.object
            )
            along = along if along.dtype in _complex_parts else along.to("float64")
            places = InputArray(np.arange(given.shape[axis], dtype=np.float64), given).object
            results.append(
                library.result(InputArray((along.object * places).sum() / along.object.sum()).object)
            )
        return tuple(results)
    groups = _groups(given, labels, index)
    whole = groups.values.to("float64")
    total = _sums(groups, whole).object
    results = []
    for axis, extent in enumerate(given.shape):
        shape = [1] * dimensions
        shape[axis] = extent
        places = library.reshape(InputArray(np.arange(extent, dtype=np.float64), given).object, tuple(shape))
        weighted = library.reshape(library.reshape(whole.object, given.shape) * places, (-1,))
        results.append(
            _in_order(groups, InputArray(_sums(groups, InputArray(weighted)).object / total))
            .numpy()
            .reshape(-1)
        )
    return list(zip(*results))


@overload
def histogram(
    input: typed.NumPy | Sequence[Any],
    min: float,
    max: float,
    bins: int,
    labels: Any = None,
    index: None = None,
) -> typed.NumPy: ...
@overload
def histogram(
    input: typed.NumPy | Sequence[Any], min: float, max: float, bins: int, labels: Any, index: float
) -> typed.NumPy | None: ...
@overload
def histogram(
    input: typed.ArrayT, min: float, max: float, bins: int, labels: Any = None, index: None = None
) -> typed.ArrayT: ...
@overload
def histogram(
    input: typed.ArrayT, min: float, max: float, bins: int, labels: Any, index: float
) -> typed.ArrayT | None: ...
@overload
def histogram(
    input: object, min: float, max: float, bins: int, labels: Any, index: typed.NumPy | Sequence[Any]
) -> typed.NumPy: ...
@overload
def histogram(
    input: object, min: float, max: float, bins: int, labels: Any = None, index: Any = None
) -> Any: ...
@with_explained_keywords
def histogram(input: Any, min: float, max: float, bins: int, labels: Any = None, index: Any = None) -> Any:
    """scipy.ndimage.histogram: the number of elements in each of `bins` bins of equal width from `min` to `max`; see tunesmith.histogram(). None for
    a label without elements. For several labels a NumPy array of such arrays; each takes a launch.

    >>> tunesmith.ndimage.histogram([0, 1, 1, 3], 0, 4, 4)
    array([1, 2, 0, 1])
    """
    if labels is None and index is not None:
        raise ValueError("histogram() has index= without labels=, which say where it counts.")
    given = InputArray(input)

    def counts(one) -> Any:
        part = _part(given, labels, one)
        return (
            _histogram(part.object, bins, (float(min), float(max)))[0]
            if part.array.size or one is None
            else None
        )

    if _is_one(labels, index):
        return counts(index)
    wanted = InputArray(index).numpy()
    found = np.empty(wanted.shape, object)
    for place in np.ndindex(wanted.shape):
        found[place] = counts(wanted[place].item())
    return found
