# SPDX-License-Identifier: Apache-2.0
"""Morphology of grey images, as in scipy.ndimage: minima and maxima of windows, one after the other."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, added, index
from ._axes import Axes
from ._image_settings import Modes, OneOrSeveral, _real, _shape_of, axes_of, finish, output_type, per_axis
from ._rank_filters import _extreme, _finished
from ._recording import recorded


def _needs_window(size, footprint, structure) -> None:
    if size is None and footprint is None and structure is None:
        raise ValueError("size, footprint, or structure must be specified")


def _eroded(input, size, footprint, structure, output, mode, cval, origin, axes):
    _needs_window(size, footprint, structure)
    return _extreme(input, size, footprint, structure, output, mode, cval, origin, axes, True)


def _dilated(input, size, footprint, structure, output, mode, cval, origin, axes):
    """The dilation: the greatest element of the reversed window, whose centre moves if its extent is even."""
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


@typed.of_input
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
    """scipy.ndimage.grey_erosion: minimum_filter(), or with a structure the least of x - structure.

    structure: an array of numbers that are subtracted at each place of the window; it is read in ordinary memory. With it the launch is a tensor
    expression of a copy of the image with its borders. Numbers outside an integer type's range are cut once, in the result (in SciPy it depends on
    the place in the structure). Raises ValueError without size, footprint and structure; the rest is as in minimum_filter().

    >>> tunesmith.ndimage.grey_erosion([5, 1, 5, 5, 5], size=3)
    array([1, 1, 1, 5, 5])
    """
    return _finished(_eroded(input, size, footprint, structure, output, mode, cval, origin, axes))


@typed.of_input
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
    """scipy.ndimage.grey_dilation: maximum_filter() with the reversed window, or with a structure the greatest of x + structure. See
    grey_erosion().

    >>> tunesmith.ndimage.grey_dilation([1, 5, 1, 1, 1], size=3)
    array([5, 5, 5, 1, 1])
    """
    return _finished(_dilated(input, size, footprint, structure, output, mode, cval, origin, axes))


@typed.of_input
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
    """scipy.ndimage.grey_opening: the dilation of the erosion. See grey_erosion().

    >>> tunesmith.ndimage.grey_opening([1, 5, 1, 1, 1], size=3)
    array([1, 1, 1, 1, 1])
    """
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


@typed.of_input
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
    """scipy.ndimage.grey_closing: the erosion of the dilation. See grey_erosion().

    >>> tunesmith.ndimage.grey_closing([5, 1, 5, 5, 5], size=3)
    array([5, 5, 5, 5, 5])
    """
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
    """The difference that an opening takes away, or a closing adds."""
    first, then = (_eroded, _dilated) if is_white else (_dilated, _eroded)
    given = _real(input)
    _, done, _, wanted = then(_of(first(given.object, *window, None, *settings)), *window, output, *settings)
    if given.dtype == "bool" and wanted == "bool":
        result = InputArray(given.object ^ done.object)
    else:
        result = _difference(given, done, wanted) if is_white else _difference(done, given, wanted)
    return finish(given, result.object, *output_type(given, output))


@typed.of_input
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
    """scipy.ndimage.white_tophat: the image less its opening. See grey_erosion().

    >>> tunesmith.ndimage.white_tophat([1, 5, 1, 1, 1], size=3)
    array([0, 4, 0, 0, 0])
    """
    return _tophat(input, (size, footprint, structure), output, (mode, cval, origin, axes), True)


@typed.of_input
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
    """scipy.ndimage.black_tophat: the image's closing less the image. See grey_erosion().

    >>> tunesmith.ndimage.black_tophat([5, 1, 5, 5, 5], size=3)
    array([0, 4, 0, 0, 0])
    """
    return _tophat(input, (size, footprint, structure), output, (mode, cval, origin, axes), False)


@typed.of_input
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
    """scipy.ndimage.morphological_gradient: the dilation less the erosion. See grey_erosion().

    >>> tunesmith.ndimage.morphological_gradient([1, 5, 1, 1, 1], size=3)
    array([4, 4, 4, 0, 0])
    """
    settings = (size, footprint, structure, None, mode, cval, origin, axes)
    given, dilation, _, _ = _dilated(input, *settings)
    output, wanted = output_type(given, output)
    return finish(given, _difference(dilation, _eroded(input, *settings)[1], wanted).object, output, wanted)


@typed.of_input
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
    """scipy.ndimage.morphological_laplace: the dilation plus the erosion less twice the image. See grey_erosion().

    >>> tunesmith.ndimage.morphological_laplace([1, 5, 1, 1, 1], size=3)
    array([ 4, -4,  4,  0,  0])
    """
    settings = (size, footprint, structure, None, mode, cval, origin, axes)
    given, dilation, _, _ = _dilated(input, *settings)
    output, wanted = output_type(given, output)
    total = added(dilation.to(wanted), _eroded(input, *settings)[1].to(wanted))
    return finish(given, _difference(_difference(total, given, wanted), given, wanted).object, output, wanted)
