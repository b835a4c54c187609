# SPDX-License-Identifier: Apache-2.0
"""Ranks of windows: launches of rank_filter on at most three dimensions."""

from __future__ import annotations

import math

import numpy as np

from ._arrays import InputArray
from ._borders import gathered
from ._dispatchers import launch
from ._types import types_of

_types = types_of("rank_filter")
# Element types that the op lacks are read by their bits, or converted to a wider type that keeps the order.
_viewed = {"bool": "uint8"}
_converted = {"int8": "int16", "uint32": "int64"}
_most_places = 2048  # the largest window in which some places do not count
_sign = -(2**63)


def rank_all(
    image: InputArray,
    footprint: np.ndarray,
    rank: int,
    *,
    boundary: str,
    value: float | int,
    origins: list[int],
) -> object:
    """An array of the image's library, type and shape: the element of rank `rank`, from 0 on, of each window's sorted elements.

    footprint: booleans, as many dimensions as the image has; true for the places of the window that count. boundary: a value of _filters.boundaries.
    value: the value outside if boundary is "constant"; integers cut it, and clamp it to their range, exactly where it is an integer itself. origins:
    by how much the window begins before the centred one, for each axis. In the order -0 is before 0, and NaN after all numbers. Raises
    NotImplementedError for windows over more than three axes unless they are boxes whose minimum or maximum is asked for, and for complex numbers.
    """
    dtype = image.dtype
    if dtype.startswith("complex"):
        raise NotImplementedError(
            "Complex numbers have no order; filter their real and imaginary parts apart."
        )
    count = int(footprint.sum())
    if not 0 <= rank < count:
        raise ValueError(
            f"The rank is {rank}; a footprint of {count} elements has those from 0 to {count - 1}."
        )
    if image.array.size == 0 or not image.shape:
        return image.library.copy(image.object)
    if dtype == "uint64":  # with its first bit flipped it has the order of int64
        flipped = InputArray(image.contiguous().viewed("int64").object ^ _sign)
        done = rank_all(
            flipped, footprint, rank, boundary=boundary, value=_cut(value, "uint64") + _sign, origins=origins
        )
        return InputArray(InputArray(done).object ^ _sign).viewed("uint64").object
    if dtype == "int64" and boundary == "constant":
        value = _cut(value, "int64")
        if int(float(value)) != value:  # launches take numbers as float64
            return _in_a_border(image, footprint, rank, value, origins)
    if dtype in _viewed:
        if dtype == "bool":
            value = float(value != 0)
        done = rank_all(
            image.contiguous().viewed(_viewed[dtype]),
            footprint,
            rank,
            boundary=boundary,
            value=value,
            origins=origins,
        )
        return InputArray(done).viewed(dtype).object
    if dtype in _converted:
        limits = np.iinfo(dtype)
        value = float(np.clip(value, limits.min, limits.max)) if value == value else 0.0
        wide = image.to(_converted[dtype])
        return (
            InputArray(rank_all(wide, footprint, rank, boundary=boundary, value=value, origins=origins))
            .to(dtype)
            .object
        )
    return _ranked(
        image.contiguous(), np.ascontiguousarray(footprint, bool), rank, boundary, float(value), list(origins)
    ).object


def _cut(value: float | int, dtype: str) -> int:
    """The value as a whole number of the type: the nearest limit for a value beyond the range, 0 for NaN."""
    limits = np.iinfo(dtype)
    whole = 0 if value != value else value if math.isinf(value) else int(value)
    return int(min(max(whole, limits.min), limits.max))


def _in_a_border(
    image: InputArray, footprint: np.ndarray, rank: int, value: int, origins: list[int]
) -> object:
    """rank_all() of a copy that is a window wider on each side, filled with the value."""
    moved, inside = image, []
    for axis, extent in enumerate(footprint.shape):
        width = extent if extent > 1 or origins[axis] else 0
        length = image.shape[axis]
        if width:
            places = np.concatenate([np.full(width, -1), np.arange(length), np.full(width, -1)])
            moved = InputArray(gathered(image, moved.object, axis, places, value))
        inside.append(slice(width, width + length))
    done = InputArray(rank_all(moved, footprint, rank, boundary="nearest", value=0, origins=origins))
    return image.library.copy(done.object[tuple(inside)])


def _ranked(
    image: InputArray, footprint: np.ndarray, rank: int, boundary: str, value: float, origins: list[int]
) -> InputArray:
    wide = [axis for axis, extent in enumerate(footprint.shape) if extent > 1 or origins[axis]]
    if not wide:
        return InputArray(image.library.copy(image.object))
    is_box, is_extreme = bool(footprint.all()), rank in (0, int(footprint.sum()) - 1)
    if is_box and is_extreme and (len(wide) > 3 or wide[-1] - wide[0] > 2):
        done = image  # the extreme of a box is the extreme of its lines' extremes
        for axis in wide:
            line = [1] * footprint.ndim
            line[axis] = footprint.shape[axis]
            moved = [0] * footprint.ndim
            moved[axis] = origins[axis]
            extreme = 0 if rank == 0 else line[axis] - 1
            done = _ranked(done, np.ones(line, bool), extreme, boundary, value, moved)
        return done
    # Three groups of neighbouring axes; along a group of several axes the window has one element.
    groups = _groups(image.shape, wide)
    if groups is None:
        raise NotImplementedError(
            f"A rank filter with a window of {' x '.join(map(str, footprint.shape))} spans more than three axes in a row, and is no minimum or "
            "maximum of a box; use scipy.ndimage, or filter slices of three dimensions."
        )
    if not is_box and footprint.size > _most_places:
        raise NotImplementedError(
            f"The footprint has {footprint.size} places; up to {_most_places} may be chosen one by one, and a box may have any number. "
            "Use a box, or scipy.ndimage."
        )
    extents = [math.prod(image.shape[axis] for axis in group) for group in groups]
    window = [math.prod(footprint.shape[axis] for axis in group) for group in groups]
    origin = [sum(origins[axis] for axis in group) for group in groups]
    names = ("depth", "height", "width")
    problem = [(name, extent) for name, extent in zip(names, extents)]
    problem += [(f"window_{name}", extent) for name, extent in zip(names, window)]
    if not is_box:
        rows = footprint.reshape(-1, window[-1])
        problem.append(
            ("footprint", "/".join("".join("x" if place else "." for place in row) for row in rows))
        )
    problem.append(("rank", rank))
    if boundary == "constant" and value == 0 and not math.copysign(1, value) < 0:
        boundary = "zero"
    problem.append(("boundary", boundary))
    problem += [(f"origin_{letter}", shift) for letter, shift in zip("zyx", origin) if shift]
    problem.append(("dtype", _types[image.dtype]))
    result = image.empty(image.shape, image.dtype)
    launch("rank_filter", (image, result), tuple(problem), (value,) if boundary == "constant" else ())
    return result


def _groups(shape, wide: list[int]) -> list[list[int]] | None:
    """The axes as depth, height and width; None: there are no such three. Axes before the first wide one are merged, and so are those behind the
    last."""
    first, last = wide[0], wide[-1]
    between = [[axis] for axis in range(first, last + 1)]
    if len(between) == 3 and math.prod(shape[:first]) == 1 and math.prod(shape[last + 1 :]) == 1:
        between[0] = [*range(first), *between[0]]
        between[-1] += range(last + 1, len(shape))
        return between
    before, after = list(range(first)), list(range(last + 1, len(shape)))
    groups = [group for group in (before, *between, after) if group]
    if len(groups) > 3:  # axes of one element may join any other
        groups = [
            group
            for group in groups
            if math.prod(shape[axis] for axis in group) > 1 or set(group) & set(wide)
        ]
    if len(groups) > 3:
        return None
    return [[]] * (3 - len(groups)) + groups
