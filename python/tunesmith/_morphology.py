# SPDX-License-Identifier: Apache-2.0
"""Ranks of windows and what is made of them: minima, maxima, medians, and morphology of grey and of binary images, as of scipy.ndimage.

All are rank filters in the image's own type, in one launch where all axes have one boundary. Structures that are not flat are tensor expressions of
a padded copy. Binary images are read as bytes of 0 and 1.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from ._arrays import InputArray, chosen, index, recorded
from ._core import is_array
from ._filters import (
    added,
    axes_of,
    boundary_word,
    checked_cval,
    finish,
    gathered,
    output_type,
    per_axis,
    source,
    spread,
)
from ._rank_filters import rank_all
from ._results import Axes, _complex_parts
from ._tensors import tensor

OneOrSeveral = SupportsIndex | Sequence[SupportsIndex]
Modes = str | Sequence[str]
_letters = "abcdefghijklmnopqrstuvw"


def _real(input) -> InputArray:
    given = InputArray(input)
    if given.dtype in _complex_parts:
        raise TypeError("Complex type not supported")
    return given


def _shape_of(array) -> np.ndarray | None:
    """A footprint or structure in ordinary memory, where its shape and elements decide what is launched."""
    return None if array is None else InputArray(array).numpy()


def _warn_of_size(size, footprint) -> None:
    if size is not None and footprint is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=5)


def _check_origins(origins: list, extents) -> list[int]:
    found = [index(one) for one in origins]
    if any(not 0 <= extent // 2 + origin < extent for origin, extent in zip(found, extents)):
        raise ValueError(
            f"invalid origin: {found} of a window of {list(extents)}; it must be at least -(n // 2) and at most (n - 1) // 2 for n elements"
        )
    return found


def _ranked(
    given: InputArray, footprint: np.ndarray, rank: int, mode: str, cval, origins: list[int]
) -> InputArray:
    boundary, value = boundary_word(mode), np.asarray(np.real(cval)).item()
    if boundary == "constant" and given.dtype.startswith(("int", "uint")) and np.isfinite(value):
        limits = np.iinfo(given.dtype)
        if not limits.min <= int(value) <= limits.max and limits.bits < 64:
            given = given.to("int64")  # SciPy cuts the result, not what stands outside
    return InputArray(rank_all(given, footprint, rank, boundary=boundary, value=value, origins=origins))


def _boxes(given: InputArray, sizes, modes, cval, origins, axes, wanted: str, least: bool) -> InputArray:
    """The least or greatest of boxes: in one launch, or axis by axis where their boundaries differ or results are cut in between."""
    kept = [
        (axis, int(size), mode, origin)
        for axis, size, mode, origin in zip(axes, sizes, modes, origins)
        if size > 1
    ]
    for _, size, mode, origin in kept:
        boundary_word(mode)
        _check_origins([origin], [size])
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
    """The least x - s or the greatest x + s of a window, in float64, or in float32 where that is exact."""
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
                [source(i - extent // 2 - origin, length, boundary) for i in range(length + extent - 1)]
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
    """The least or greatest of each window, in the output's type, and what finish() needs."""
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
        origins = _check_origins(origins, extents)
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

    input: any real array. size: the window's extent, one or one per axis. footprint: an array of booleans, which places of the window count, in
    place of size; it is read in ordinary memory. output, cval, origin and axes as of correlate(); mode may be one per axis where all places of the
    window count. NaN is after all numbers (SciPy: depends on where it stands). Raises RuntimeError and ValueError as SciPy does, and TypeError for
    complex numbers.
    """
    return _finished(_extreme(input, size, footprint, None, output, mode, cval, origin, axes, True))


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
    """scipy.ndimage.maximum_filter: the greatest element of a window around each one; see minimum_filter()."""
    return _finished(_extreme(input, size, footprint, None, output, mode, cval, origin, axes, False))


def _line(input, size, axis, output, mode, cval, origin, least: bool):
    given = _real(input)
    size, axis, dimensions = index(size), index(axis), len(given.shape)
    if not -dimensions <= axis < dimensions:
        raise np.exceptions.AxisError(axis, dimensions)
    if size < 1:
        raise RuntimeError(f"incorrect filter size: {size}; it must be 1 or more")
    _check_origins([origin], [size])
    boundary_word(mode)
    return _finished(_extreme(given.object, size, None, None, output, mode, cval, origin, (axis,), least))


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
    """scipy.ndimage.minimum_filter1d: the least of `size` elements along `axis`; see minimum_filter()."""
    return _line(input, size, axis, output, mode, cval, origin, True)


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
    """scipy.ndimage.maximum_filter1d: the greatest of `size` elements along `axis`; see minimum_filter()."""
    return _line(input, size, axis, output, mode, cval, origin, False)


def _rank(input, rank_of, size, footprint, output, mode, cval, origin, axes):
    """rank_of: of the number of the window's places."""
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
    origins = _check_origins(origins, extents)
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
    """scipy.ndimage.rank_filter: of the elements of a window, in order, the one of `rank` from 0 on; negative ranks count from the end. See minimum_filter().
    Raises NotImplementedError for windows along more than three axes."""
    rank = index(rank)
    return _rank(input, lambda count: rank, size, footprint, output, mode, cval, origin, axes)


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
    """scipy.ndimage.median_filter: the middle element of a window, of an even number the upper one of two. See rank_filter()."""
    return _rank(input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes)


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
    """scipy.ndimage.percentile_filter: the element of a window whose rank is that part of their number; -20 is 80. See rank_filter()."""
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


def _needs_window(size, footprint, structure) -> None:
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")


def _eroded(input, size, footprint, structure, output, mode, cval, origin, axes):
    _needs_window(size, footprint, structure)
    return _extreme(input, size, footprint, structure, output, mode, cval, origin, axes, True)


def _dilated(input, size, footprint, structure, output, mode, cval, origin, axes):
    """With the window turned around, whose centre moves where its extent is even."""
    _needs_window(size, footprint, structure)
    found = axes_of(axes, len(InputArray(input).shape))
    footprint, structure = (
        None if one is None else np.flip(_shape_of(one)) for one in (footprint, structure)
    )
    given = next((one.shape for one in (footprint, structure) if one is not None), None)
    extents = per_axis(size, len(found), "size") if given is None else given
    origins = [
        -index(one) - (1 - extent % 2) for one, extent in zip(per_axis(origin, len(found), "origin"), extents)
    ]
    return _extreme(input, size, footprint, structure, output, mode, cval, origins, axes, False)


def _of(found) -> Any:
    return found[1].object


@recorded("input", "output")
def grey_erosion(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.grey_erosion: minimum_filter(), with a structure the least of x - structure.

    structure: an array, what is subtracted at each place of the window; it is read in ordinary memory. It makes the launch a tensor expression of a
    copy of the image with its borders. What leaves an integer type's range is cut once, from the result (in SciPy it depends on the place in the
    structure). Raises ValueError without size, footprint and structure; all else as of minimum_filter().
    """
    return _finished(_eroded(input, size, footprint, structure, output, mode, cval, origin, axes))


@recorded("input", "output")
def grey_dilation(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.grey_dilation: maximum_filter() with the window turned around, with a structure the greatest of x + structure. See grey_erosion()."""
    return _finished(_dilated(input, size, footprint, structure, output, mode, cval, origin, axes))


@recorded("input", "output")
def grey_opening(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.grey_opening: the dilation of the erosion. See grey_erosion()."""
    window = (size, footprint, structure)
    return _finished(
        _dilated(
            _of(_eroded(input, *window, None, mode, cval, origin, axes)),
            *window,
            output,
            mode,
            cval,
            origin,
            axes,
        )
    )


@recorded("input", "output")
def grey_closing(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.grey_closing: the erosion of the dilation. See grey_erosion()."""
    window = (size, footprint, structure)
    return _finished(
        _eroded(
            _of(_dilated(input, *window, None, mode, cval, origin, axes)),
            *window,
            output,
            mode,
            cval,
            origin,
            axes,
        )
    )


def _difference(first: InputArray, second: InputArray, wanted: str) -> InputArray:
    return added(first.to(wanted), second.to(wanted), operator.sub)


def _tophat(input, window, output, settings, is_white: bool):
    """What an opening takes away, or a closing adds."""
    first, then = (_eroded, _dilated) if is_white else (_dilated, _eroded)
    given = _real(input)
    _, done, _, wanted = then(_of(first(given.object, *window, None, *settings)), *window, output, *settings)
    if given.dtype == "bool" and wanted == "bool":
        result = InputArray(given.object ^ done.object)
    else:
        result = _difference(given, done, wanted) if is_white else _difference(done, given, wanted)
    return finish(given, result.object, *output_type(given, output))


def white_tophat(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.white_tophat: the image less its opening. See grey_erosion()."""
    return _tophat(input, (size, footprint, structure), output, (mode, cval, origin, axes), True)


def black_tophat(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.black_tophat: the image's closing less the image. See grey_erosion()."""
    return _tophat(input, (size, footprint, structure), output, (mode, cval, origin, axes), False)


def morphological_gradient(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.morphological_gradient: the dilation less the erosion. See grey_erosion()."""
    settings = (size, footprint, structure, None, mode, cval, origin, axes)
    given, dilation, _, _ = _dilated(input, *settings)
    output, wanted = output_type(given, output)
    return finish(given, _difference(dilation, _eroded(input, *settings)[1], wanted).object, output, wanted)


def morphological_laplace(
    input: Any,
    size: OneOrSeveral | None = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Modes = "reflect",
    cval: float = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.morphological_laplace: the dilation plus the erosion less twice the image. See grey_erosion()."""
    settings = (size, footprint, structure, None, mode, cval, origin, axes)
    given, dilation, _, _ = _dilated(input, *settings)
    output, wanted = output_type(given, output)
    total = added(dilation.to(wanted), _eroded(input, *settings)[1].to(wanted))
    return finish(given, _difference(_difference(total, given, wanted), given, wanted).object, output, wanted)


def generate_binary_structure(rank: SupportsIndex, connectivity: SupportsIndex) -> np.ndarray:
    """scipy.ndimage.generate_binary_structure: a NumPy array of 3 places along each of `rank` axes; those count that are reached by steps along at most
    `connectivity` different axes."""
    rank, connectivity = index(rank), max(index(connectivity), 1)
    if rank < 1:
        return np.array(True)
    return np.abs(np.indices([3] * rank) - 1).sum(0) <= connectivity


def iterate_structure(structure: Any, iterations: SupportsIndex, origin: OneOrSeveral | None = None) -> Any:
    """scipy.ndimage.iterate_structure: the structure dilated by itself iterations - 1 times, as NumPy array; with origin= also what that becomes."""
    given, iterations = InputArray(structure).numpy(), index(iterations)
    if iterations < 2:
        return given.copy()
    found = base = given != 0
    for _ in range(iterations - 1):
        grown = np.zeros([a + b - 1 for a, b in zip(found.shape, base.shape)], bool)
        for place in np.argwhere(base):
            grown[tuple(slice(start, start + extent) for start, extent in zip(place, found.shape))] |= found
        found = grown
    return (
        found
        if origin is None
        else (found, [iterations * one for one in per_axis(origin, base.ndim, "origin")])
    )


class _Binary:
    """A binary erosion or dilation, step by step, on bytes of 0 and 1."""

    def __init__(self, input, structure, mask, border, origin, axes, *, dilates: bool, turned: bool = False):
        given = self.given = _real(input)
        dimensions = len(given.shape)
        found = axes_of(axes, dimensions)
        window = (
            generate_binary_structure(len(found), 1)
            if structure is None
            else _shape_of(structure).astype(bool)
        )
        shifts = [index(one) for one in per_axis(origin, len(found), "origin")]
        if turned:  # the elements that a structure reaches, instead of those from which it is reached
            window = np.flip(window)
            shifts = [-shift - (1 - extent % 2) for shift, extent in zip(shifts, window.shape)]
        if dimensions == len(found) and window.ndim != dimensions:
            raise RuntimeError(
                f"structure and input must have same dimensionality; they have {window.ndim} and {dimensions}"
            )
        if window.size < 1:
            raise RuntimeError("structure must not be empty")
        extents, self.origins = spread(window.shape, shifts, found, dimensions, "structure")
        self.origins = _check_origins(self.origins, extents)
        self.window, self.dilates, self.border = window.reshape(extents), dilates, float(bool(border))
        self.image = _bytes(given)
        self.mask = None if mask is None else InputArray(mask, given)
        if self.mask is not None and self.mask.shape != given.shape:
            raise RuntimeError(
                f"mask and input must have equal sizes; they have {self.mask.shape} and {given.shape}"
            )
        if self.mask is not None:
            self.mask = _bytes(self.mask).viewed("bool")
        # So that what has changed once never changes again.
        self.has_centre = bool(
            self.window[tuple(extent // 2 + shift for extent, shift in zip(extents, self.origins))]
        )

    def step(self, image: InputArray, window: np.ndarray, origins: list[int]) -> InputArray:
        count = int(window.sum())
        if count == 0:
            done = InputArray((image.object | 1) ^ int(self.dilates))
        else:
            rank = count - 1 if self.dilates else 0
            done = InputArray(
                rank_all(image, window, rank, boundary="constant", value=self.border, origins=origins)
            )
        return done if self.mask is None else chosen(self.mask, done, image)

    def repeated(self, iterations: int) -> InputArray:
        """As often; below 1: until nothing changes."""
        image = self.image
        if iterations > 1 and self.mask is None and self.has_centre and self.window.all():
            # A box of a box is a box. Of each axis the first place of the window is -(n // 2 + origin) from the centre.
            first = [
                -iterations * (extent // 2 + origin)
                for extent, origin in zip(self.window.shape, self.origins)
            ]
            extents = [iterations * (extent - 1) + 1 for extent in self.window.shape]
            return self.step(
                image, np.ones(extents, bool), [-start - extent // 2 for start, extent in zip(first, extents)]
            )
        at_once = 1
        while True:
            before = image
            for _ in range(iterations if iterations > 0 else at_once):
                image = self.step(image, self.window, self.origins)
            if iterations > 0 or not bool(InputArray((image.object != before.object).any()).numpy()):
                return image
            at_once = min(2 * at_once, 64) if self.has_centre else 1


def _bytes(given: InputArray) -> InputArray:
    """1 where an element is not 0."""
    whole = given.contiguous()
    if given.dtype in ("uint16", "uint32", "uint64"):  # which PyTorch does not compare
        whole = whole.viewed(given.dtype.removeprefix("u"))
    return (whole if given.dtype == "bool" else InputArray(whole.object != 0)).viewed("uint8")


def _iterations(value) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"iterations parameter should be an integer; it is {value!r}") from None


def _written(given: InputArray, image: InputArray, output):
    """Bytes as truth values; only an array says another type, as in SciPy."""
    into = output if output is not None and is_array(output) else None
    if into is not None and InputArray(into).dtype in _complex_parts:
        raise TypeError("Complex output type not supported")
    return finish(given, image.viewed("bool").object, into, "bool")


def _binary(input, steps, structure, iterations, mask, output, border_value, origin, axes):
    """Erosions and dilations one after the other; steps: whether each dilates."""
    iterations = _iterations(iterations)
    image = input
    for dilates in steps:
        binary = _Binary(image, structure, mask, border_value, origin, axes, dilates=dilates, turned=dilates)
        image = binary.repeated(iterations).viewed("bool").object
    return _written(_real(input), InputArray(image).viewed("uint8"), output)


def binary_erosion(
    input: Any,
    structure: Any = None,
    iterations: SupportsIndex = 1,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: OneOrSeveral = 0,
    brute_force: bool = False,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_erosion: true where all elements under the structure are.

    input: any real array; what is not 0 is true. structure: an array, read in ordinary memory; None: generate_binary_structure(n, 1). iterations:
    how often; below 1: until nothing changes, which waits for results. A box is repeated in one launch, other structures in one each. mask: only
    elements where it is true change. output: an array of any real type. border_value: what stands outside. brute_force: has no effect on the
    result. Returns an array of booleans. Raises RuntimeError and TypeError as SciPy does.
    """
    return _binary(input, (False,), structure, iterations, mask, output, border_value, origin, axes)


def binary_dilation(
    input: Any,
    structure: Any = None,
    iterations: SupportsIndex = 1,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: OneOrSeveral = 0,
    brute_force: bool = False,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_dilation: true where the structure reaches from an element that is. See binary_erosion()."""
    return _binary(input, (True,), structure, iterations, mask, output, border_value, origin, axes)


def binary_opening(
    input: Any,
    structure: Any = None,
    iterations: SupportsIndex = 1,
    output: Any = None,
    origin: OneOrSeveral = 0,
    mask: Any = None,
    border_value: int = 0,
    brute_force: bool = False,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_opening: the dilation of the erosion. See binary_erosion()."""
    return _binary(input, (False, True), structure, iterations, mask, output, border_value, origin, axes)


def binary_closing(
    input: Any,
    structure: Any = None,
    iterations: SupportsIndex = 1,
    output: Any = None,
    origin: OneOrSeveral = 0,
    mask: Any = None,
    border_value: int = 0,
    brute_force: bool = False,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_closing: the erosion of the dilation. See binary_erosion()."""
    return _binary(input, (True, False), structure, iterations, mask, output, border_value, origin, axes)


def binary_hit_or_miss(
    input: Any,
    structure1: Any = None,
    structure2: Any = None,
    output: Any = None,
    origin1: OneOrSeveral = 0,
    origin2: OneOrSeveral | None = None,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_hit_or_miss: true where all elements under structure1 are, and none under structure2, which by default has the other places.
    See binary_erosion()."""
    given = _real(input)
    if structure1 is None:
        structure1 = generate_binary_structure(len(axes_of(axes, len(given.shape))), 1)
    if structure2 is None:
        structure2 = _shape_of(structure1) == 0
    hit = _Binary(given.object, structure1, None, 0, origin1, axes, dilates=False).repeated(1)
    touched = _Binary(
        given.object, structure2, None, 0, origin1 if origin2 is None else origin2, axes, dilates=True
    ).repeated(1)
    return _written(given, InputArray(hit.object & (touched.object ^ 1)), output)


def binary_propagation(
    input: Any,
    structure: Any = None,
    mask: Any = None,
    output: Any = None,
    border_value: int = 0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.binary_propagation: binary_dilation() within the mask until nothing changes: a launch for each step, and after 1, 3, 7, ...
    steps, and then each 64, a look at the result, which is waited for."""
    return _binary(input, (True,), structure, -1, mask, output, border_value, origin, axes)


def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: OneOrSeveral = 0, *, axes: Axes = None
) -> Any:
    """scipy.ndimage.binary_fill_holes: true but where the border is reached over elements that are not; see binary_propagation()."""
    given = _real(input)
    image = _bytes(given)
    outside = InputArray(image.object & 0).viewed("bool").object
    free = InputArray(image.object ^ 1).viewed("bool").object
    reached = _Binary(outside, structure, free, 1, origin, axes, dilates=True, turned=True).repeated(-1)
    return _written(given, InputArray(reached.object ^ 1), output)
