# SPDX-License-Identifier: Apache-2.0
"""Minima, maxima, medians and other ranks of windows, as in scipy.ndimage.

All are ranks in the image's own type, in one launch if all axes have one boundary. With a structure that is not flat they are tensor expressions
of a padded copy.
"""

from __future__ import annotations

import warnings
from typing import Any, SupportsIndex

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, index
from ._axes import Axes
from ._borders import boundary_word, gathered
from ._core import samples_at
from ._image_settings import (
    Modes,
    OneOrSeveral,
    _real,
    _shape_of,
    axes_of,
    check_origin,
    checked_cval,
    finish,
    output_type,
    per_axis,
    spread,
)
from ._ranks import rank_all
from ._recording import recorded
from ._tensors import tensor

_letters = "abcdefghijklmnopqrstuvw"


def _warn_of_size(size, footprint) -> None:
    if size is not None and footprint is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=5)


def _ranked(
    given: InputArray, footprint: np.ndarray, rank: int, mode: str, cval, origins: list[int]
) -> InputArray:
    boundary, value = boundary_word(mode), np.asarray(np.real(cval)).item()
    if boundary == "constant" and given.dtype.startswith(("int", "uint")) and np.isfinite(value):
        limits = np.iinfo(given.dtype)
        if not limits.min <= int(value) <= limits.max and limits.bits < 64:
            given = given.to("int64")  # SciPy cuts the result, not the value outside
    return InputArray(rank_all(given, footprint, rank, boundary=boundary, value=value, origins=origins))


def _boxes(given: InputArray, sizes, modes, cval, origins, axes, wanted: str, least: bool) -> InputArray:
    """The least or greatest of boxes: in one launch, or axis by axis if their boundaries differ or results are cut in between."""
    kept = [
        (axis, int(size), mode, origin)
        for axis, size, mode, origin in zip(axes, sizes, modes, origins)
        if size > 1
    ]
    for _, size, mode, origin in kept:
        boundary_word(mode)
        check_origin(origin, size)
    if not kept:
        return InputArray(given.library.copy(given.object))
    together = len({boundary_word(mode) for _, _, mode, _ in kept}) == 1 and (
        wanted == given.dtype or wanted.startswith(("float", "bfloat"))
    )
    is_cut = (
        given.dtype.startswith(("int", "uint"))
        and wanted.startswith(("float", "bfloat"))
        and np.real(cval) != np.trunc(np.real(cval))
    )
    if is_cut and any(boundary_word(mode) == "constant" for _, _, mode, _ in kept):
        given = given.to("float32" if np.iinfo(given.dtype).bits <= 16 else "float64")
    for part in [kept] if together else [[one] for one in kept]:
        extents, shifts = [1] * len(given.shape), [0] * len(given.shape)
        for axis, size, _, origin in part:
            extents[axis], shifts[axis] = size, index(origin)
        box = np.ones(extents, bool)
        given = _ranked(given, box, 0 if least else box.size - 1, part[0][2], cval, shifts)
        if not together:
            given = InputArray(finish(given, given.object, None, wanted))
    return given


def _not_flat(
    given: InputArray,
    footprint: np.ndarray,
    structure: np.ndarray,
    mode: str,
    cval,
    origins: list[int],
    least: bool,
) -> InputArray:
    """The least x - s or the greatest x + s of a window, in float64, or in float32 if that is exact."""
    narrow = given.dtype in ("float32", "float16", "bfloat16") and bool(
        (structure.astype("float32") == structure).all()
    )
    dtype = "float32" if narrow else "float64"
    padded, boundary, value = given.to(dtype), boundary_word(mode), float(np.real(cval))
    if given.dtype.startswith(("int", "uint")):
        value = float(np.trunc(value))
    for axis, (extent, origin) in enumerate(zip(footprint.shape, origins)):
        length = given.shape[axis]
        if extent > 1 or origin:
            places = np.array(
                samples_at(-(extent // 2) - origin, length + extent - 1, length, boundary), dtype=np.int64
            )
            padded = InputArray(gathered(padded, padded.object, axis, places, value))
    beside = [
        InputArray(one.astype(dtype), given)
        for one in (-structure if least else structure, footprint, np.array([np.inf if least else -np.inf]))
    ]
    places = [(a, b) for a, b in zip(_letters, _letters[len(given.shape) :])][: len(given.shape)]
    outputs, inner = ",".join(a for a, _ in places), ",".join(b for _, b in places)
    term = f"image[{','.join(f'{a}+{b}' for a, b in places)}] + s[{inner}]"
    word = "min=" if least else "max="
    if footprint.all():
        return InputArray(tensor(f"out[{outputs}] {word} {term}", padded.object, beside[0].object))
    line = f"out[{outputs}] {word} f[{inner}] > 0 ? {term} : none[0]"
    return InputArray(
        tensor(line, image=padded.object, s=beside[0].object, f=beside[1].object, none=beside[2].object)
    )


def _extreme(input, size, footprint, structure, output, mode, cval, origin, axes, least: bool):
    """The least or greatest of each window, in the output's type, and the arguments of finish()."""
    _warn_of_size(size, footprint)
    footprint, structure = _shape_of(footprint), _shape_of(structure)
    if structure is not None:
        structure = structure.astype(np.float64)
        footprint = np.ones(structure.shape, bool) if footprint is None else footprint.astype(bool)
    elif footprint is not None:
        footprint = footprint.astype(bool)
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        if footprint.all():
            size, footprint = footprint.shape, None
    elif size is None:
        raise RuntimeError("no footprint provided")
    given = _real(input)
    if structure is not None and given.dtype == "bool":
        raise TypeError(
            "A structure is added to an image's elements, and those of this one are truth values; give it as footprint=, or an image of uint8."
        )
    dimensions = len(given.shape)
    output, wanted = output_type(given, output)
    cval = checked_cval(given, cval)
    found = axes_of(axes, dimensions)
    if footprint is None:
        settings = (
            per_axis(value, len(found), name)
            for value, name in ((size, "size"), (mode, "mode"), (origin, "origin"))
        )
        sizes, modes, origins = settings
        result = _boxes(given, sizes, modes, cval, origins, found, wanted, least)
    else:
        extents, origins = spread(footprint.shape, origin, found, dimensions, "footprint")
        origins = list(map(check_origin, origins, extents))
        if structure is not None and structure.shape != footprint.shape:
            raise RuntimeError(
                f"structure array has incorrect shape: {structure.shape}; that of the footprint is {footprint.shape}"
            )
        if not isinstance(mode, str):
            raise RuntimeError("A sequence of modes is not supported for non-separable footprints")
        boundary_word(mode)
        footprint = footprint.reshape(extents)
        if given.array.size == 0:
            result = given
        elif structure is not None:
            result = _not_flat(given, footprint, structure.reshape(extents), mode, cval, origins, least)
        else:
            result = _ranked(given, footprint, 0 if least else int(footprint.sum()) - 1, mode, cval, origins)
    return given, InputArray(finish(given, result.object, None, wanted)), output, wanted


def _finished(found):
    given, result, output, wanted = found
    return finish(given, result.object, output, wanted)


@typed.of_input
@recorded("input", "output")
def minimum_filter(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.minimum_filter: the least element of a window around each one.

    input: any real array. size: the window's extent, one or one per axis. footprint: an array of booleans that says which places of the window count,
    instead of size; it is read in ordinary memory. output, cval, origin and axes as in correlate(); mode may be one per axis if all places of the
    window count. NaN is after all numbers (in SciPy this depends on its position). Raises RuntimeError and ValueError as SciPy does, and TypeError
    for complex numbers.

    >>> tunesmith.ndimage.minimum_filter([1, 5, 2, 3, 1], size=3)
    array([1, 1, 2, 1, 1])
    """
    return _finished(_extreme(input, size, footprint, None, output, mode, cval, origin, axes, True))


@typed.of_input
@recorded("input", "output")
def maximum_filter(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.maximum_filter: the greatest element of a window around each one; see minimum_filter().

    >>> tunesmith.ndimage.maximum_filter([1, 5, 2, 3, 1], size=3)
    array([5, 5, 5, 3, 3])
    """
    return _finished(_extreme(input, size, footprint, None, output, mode, cval, origin, axes, False))


def _line(input, size, axis, output, mode, cval, origin, least: bool):
    given = _real(input)
    size, axis, dimensions = index(size), index(axis), len(given.shape)
    if not -dimensions <= axis < dimensions:
        raise np.exceptions.AxisError(axis, dimensions)
    if size < 1:
        raise RuntimeError(f"incorrect filter size: {size}; it must be 1 or more")
    check_origin(origin, size)
    boundary_word(mode)
    return _finished(_extreme(given.object, size, None, None, output, mode, cval, origin, (axis,), least))


@typed.of_input
@recorded("input", "output")
def minimum_filter1d(
    input: Any,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.minimum_filter1d: the least of `size` elements along `axis`; see minimum_filter().

    >>> tunesmith.ndimage.minimum_filter1d([[1, 5, 2], [3, 1, 4]], 2)
    array([[1, 1, 2],
           [3, 1, 1]])
    """
    return _line(input, size, axis, output, mode, cval, origin, True)


@typed.of_input
@recorded("input", "output")
def maximum_filter1d(
    input: Any,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.maximum_filter1d: the greatest of `size` elements along `axis`; see minimum_filter().

    >>> tunesmith.ndimage.maximum_filter1d([[1, 5, 2], [3, 1, 4]], 2)
    array([[1, 5, 5],
           [3, 3, 4]])
    """
    return _line(input, size, axis, output, mode, cval, origin, False)


def _rank(input, rank_of, size, footprint, output, mode, cval, origin, axes):
    """rank_of: a function of the number of the window's places."""
    _warn_of_size(size, footprint)
    given = _real(input)
    dimensions = len(given.shape)
    found = axes_of(axes, dimensions)
    if footprint is not None:
        window = _shape_of(footprint).astype(bool)
    elif size is not None:
        window = np.ones(per_axis(size, len(found), "size"), bool)
    else:
        raise RuntimeError("no footprint or filter size provided")
    extents, origins = spread(window.shape, origin, found, dimensions, "footprint")
    origins = list(map(check_origin, origins, extents))
    window = window.reshape(extents)
    count = int(window.sum())
    rank = rank_of(count)
    if rank < 0:
        rank += count
    if not 0 <= rank < count:
        raise RuntimeError(f"rank not within filter footprint size: {rank} of {count} places")
    modes = ["reflect"] * dimensions
    for axis, one in zip(found, per_axis(mode, len(found), "mode")):
        modes[axis] = one
    if rank in (0, count - 1):
        return _finished(
            _extreme(
                given.object,
                None,
                window,
                None,
                output,
                mode if isinstance(mode, str) else modes,
                cval,
                origins,
                None,
                rank == 0,
            )
        )
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported by non-separable rank filters")
    output, wanted = output_type(given, output)
    return finish(
        given, _ranked(given, window, rank, mode, checked_cval(given, cval), origins).object, output, wanted
    )


@typed.of_input
@recorded("input", "output")
def rank_filter(
    input: Any,
    rank: SupportsIndex,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.rank_filter: the element with the rank `rank`, from 0 on, of the sorted elements of a window; negative ranks count from the end.
    See minimum_filter().
    Raises NotImplementedError for windows along more than three axes.

    >>> tunesmith.ndimage.rank_filter([1, 9, 2, 3, 1], -1, size=3)
    array([9, 9, 9, 3, 3])
    """
    rank = index(rank)
    return _rank(input, lambda count: rank, size, footprint, output, mode, cval, origin, axes)


@typed.of_input
@recorded("input", "output")
def median_filter(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.median_filter: the middle element of a window, for an even number the upper one of two. See rank_filter().

    >>> tunesmith.ndimage.median_filter([1, 9, 2, 3, 1], size=3)
    array([1, 2, 3, 2, 1])
    """
    return _rank(input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes)


@typed.of_input
@recorded("input", "output")
def percentile_filter(
    input: Any,
    percentile: float,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.percentile_filter: the element of a window whose rank is that percentage of their number; -20 is 80. See rank_filter().

    >>> tunesmith.ndimage.percentile_filter([1, 9, 2, 3, 1], 50, size=3)
    array([1, 2, 3, 2, 1])
    """
    part = float(percentile) + (100.0 if percentile < 0 else 0.0)
    if not 0 <= part <= 100:
        raise RuntimeError(f"invalid percentile: {percentile}; it must be from -100 to 100")
    return _rank(
        input,
        lambda count: count - 1 if part == 100 else int(count * part / 100),
        size,
        footprint,
        output,
        mode,
        cval,
        origin,
        axes,
    )
