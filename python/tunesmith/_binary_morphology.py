# SPDX-License-Identifier: Apache-2.0
"""Morphology of binary images, as in scipy.ndimage: ranks of bytes of 0 and 1."""

from __future__ import annotations

from typing import Any, SupportsIndex, overload

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, chosen, index
from ._axes import Axes
from ._core import is_array
from ._image_settings import OneOrSeveral, _real, _shape_of, axes_of, check_origin, finish, per_axis, spread
from ._ranks import rank_all
from ._types import _complex_parts


def generate_binary_structure(rank: SupportsIndex, connectivity: SupportsIndex) -> np.ndarray:
    """scipy.ndimage.generate_binary_structure: a NumPy array of 3 places along each of `rank` axes; those are true that steps along at most
    `connectivity` different axes reach. Raises TypeError for what is no whole number.

    >>> tunesmith.ndimage.generate_binary_structure(2, 1).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 1, 0]])
    """
    rank, connectivity = index(rank), max(index(connectivity), 1)
    if rank < 1:
        return np.array(True)
    return np.abs(np.indices([3] * rank) - 1).sum(0) <= connectivity


@overload
def iterate_structure(structure: Any, iterations: SupportsIndex, origin: None = None) -> np.ndarray: ...
@overload
def iterate_structure(
    structure: Any, iterations: SupportsIndex, origin: OneOrSeveral
) -> tuple[np.ndarray, list[int]]: ...
def iterate_structure(structure: Any, iterations: SupportsIndex, origin: OneOrSeveral | None = None) -> Any:
    """scipy.ndimage.iterate_structure: the structure dilated by itself iterations - 1 times, as a NumPy array; with origin= also the new origin.
    Raises TypeError for what is no array of numbers, RuntimeError for a sequence of origins of another length.

    >>> tunesmith.ndimage.iterate_structure([1, 1, 1], 2).astype(int)
    array([1, 1, 1, 1, 1])
    """
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
        if turned:  # the elements that a structure reaches, not those from which it is reached
            window = np.flip(window)
            shifts = [-shift - (1 - extent % 2) for shift, extent in zip(shifts, window.shape)]
        if dimensions == len(found) and window.ndim != dimensions:
            raise RuntimeError(
                f"structure and input must have same dimensionality; they have {window.ndim} and {dimensions}"
            )
        if window.size < 1:
            raise RuntimeError("structure must not be empty")
        extents, self.origins = spread(window.shape, shifts, found, dimensions, "structure")
        self.origins = list(map(check_origin, self.origins, extents))
        self.window, self.dilates, self.border = window.reshape(extents), dilates, float(bool(border))
        self.image = _bytes(given)
        self.mask = None if mask is None else InputArray(mask, given)
        if self.mask is not None and self.mask.shape != given.shape:
            raise RuntimeError(
                f"mask and input must have equal sizes; they have {self.mask.shape} and {given.shape}"
            )
        if self.mask is not None:
            self.mask = _bytes(self.mask).viewed("bool")
        # If the centre is in the window, an element that has changed once never changes again.
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
        """The image after this many steps; below 1: after the first step that changes nothing."""
        image = self.image
        if iterations > 1 and self.mask is None and self.has_centre and self.window.all():
            # The erosion or dilation of a box by a box is a box. Of each axis the first place of the window
            # is -(n // 2 + origin) from the centre.
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
    if given.dtype in ("uint16", "uint32", "uint64"):  # PyTorch does not compare these
        whole = whole.viewed(given.dtype.removeprefix("u"))
    return (whole if given.dtype == "bool" else InputArray(whole.object != 0)).viewed("uint8")


def _iterations(value) -> int:
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"iterations parameter should be an integer; it is {value!r}") from None


def _written(given: InputArray, image: InputArray, output):
    """Bytes as truth values; only an output array can ask for another type, as in SciPy."""
    into = output if output is not None and is_array(output) else None
    if into is not None and InputArray(into).dtype in _complex_parts:
        raise TypeError("Complex output type not supported")
    return finish(given, image.viewed("bool").object, into, "bool")


def _binary(input, steps, structure, iterations, mask, output, border_value, origin, axes):
    """Erosions and dilations one after the other; steps: True for each that dilates."""
    iterations = _iterations(iterations)
    image = input
    for dilates in steps:
        binary = _Binary(image, structure, mask, border_value, origin, axes, dilates=dilates, turned=dilates)
        image = binary.repeated(iterations).viewed("bool").object
    return _written(_real(input), InputArray(image).viewed("uint8"), output)


@typed.of_input
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

    input: any real array; elements that are not 0 are true. structure: an array, read in ordinary memory; None: generate_binary_structure(n, 1).
    iterations:
    the number of repetitions; below 1: until nothing changes, which waits for results. A box is repeated in one launch, other structures take a
    launch each.
    mask: only elements where it is true change. output: an array of any real type. border_value: the value outside. brute_force: has no effect on the
    result. Returns an array of booleans. Raises RuntimeError and TypeError as SciPy does.

    >>> tunesmith.ndimage.binary_erosion([0, 1, 1, 1, 0]).astype(int)
    array([0, 0, 1, 0, 0])
    """
    return _binary(input, (False,), structure, iterations, mask, output, border_value, origin, axes)


@typed.of_input
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
    """scipy.ndimage.binary_dilation: true where the structure reaches from a true element. See binary_erosion().

    >>> tunesmith.ndimage.binary_dilation([0, 0, 1, 0, 0]).astype(int)
    array([0, 1, 1, 1, 0])
    """
    return _binary(input, (True,), structure, iterations, mask, output, border_value, origin, axes)


@typed.of_input
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
    """scipy.ndimage.binary_opening: the dilation of the erosion. See binary_erosion().

    >>> tunesmith.ndimage.binary_opening([0, 1, 0, 1, 1, 1, 0]).astype(int)
    array([0, 0, 0, 1, 1, 1, 0])
    """
    return _binary(input, (False, True), structure, iterations, mask, output, border_value, origin, axes)


@typed.of_input
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
    """scipy.ndimage.binary_closing: the erosion of the dilation. See binary_erosion().

    >>> tunesmith.ndimage.binary_closing([1, 0, 1, 1, 0, 0, 1]).astype(int)
    array([0, 1, 1, 1, 1, 1, 0])
    """
    return _binary(input, (True, False), structure, iterations, mask, output, border_value, origin, axes)


@typed.of_input
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
    """scipy.ndimage.binary_hit_or_miss: true where all elements under structure1 are, and none under structure2, which by default is the complement
    of structure1. See binary_erosion().

    >>> tunesmith.ndimage.binary_hit_or_miss([0, 1, 1, 1, 0, 1], [1, 1, 0]).astype(int)
    array([0, 0, 0, 1, 0, 0])
    """
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


@typed.of_input
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
    """scipy.ndimage.binary_propagation: binary_dilation() within the mask until nothing changes. Each step is a launch; after 1, 3, 7 and so on
    steps, and then each 64, the result is tested, which waits for it.

    >>> tunesmith.ndimage.binary_propagation([1, 0, 0, 0, 0], mask=[1, 1, 1, 0, 1]).astype(int)
    array([1, 1, 1, 0, 0])
    """
    return _binary(input, (True,), structure, -1, mask, output, border_value, origin, axes)


@typed.of_input
def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: OneOrSeveral = 0, *, axes: Axes = None
) -> Any:
    """scipy.ndimage.binary_fill_holes: true except where a path over false elements leads to the border; see binary_propagation().

    >>> tunesmith.ndimage.binary_fill_holes([0, 1, 0, 0, 1, 0]).astype(int)
    array([0, 1, 1, 1, 1, 0])
    """
    given = _real(input)
    image = _bytes(given)
    outside = InputArray(image.object & 0).viewed("bool").object
    free = InputArray(image.object ^ 1).viewed("bool").object
    reached = _Binary(outside, structure, free, 1, origin, axes, dilates=True, turned=True).repeated(-1)
    return _written(given, InputArray(reached.object ^ 1), output)
