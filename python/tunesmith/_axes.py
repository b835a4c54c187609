# SPDX-License-Identifier: Apache-2.0
"""Axes in the forms that NumPy's functions take, and axes that are contiguous in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ._arrays import InputArray, _by_strides, index

Axes = SupportsIndex | Sequence[SupportsIndex] | None


def _product(extents) -> int:
    return math.prod(extents)


def _axis(one) -> int:
    if isinstance(one, (bool, np.bool_)):
        raise TypeError(f"An axis is {one}; it must be a whole number.")
    return index(one)


def _axes(axis, dimensions: int) -> tuple[int, ...]:
    """The axes as sorted numbers from 0 on; None: all axes."""
    if axis is None:
        return tuple(range(dimensions))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for one in given:
        one = _axis(one)
        if not -dimensions <= one < dimensions:
            raise np.exceptions.AxisError(one, dimensions)
        found.append(one % dimensions)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found))


def _reduced_axes(axis, dimensions: int) -> tuple[int, ...]:
    """As _axes(), for functions that are NumPy's reductions: of an array without dimensions 0 and -1 pass."""
    is_one = axis is not None and not isinstance(axis, (tuple, list))
    return () if not dimensions and is_one and _axis(axis) in (0, -1) else _axes(axis, dimensions)


def _merged(extents, strides):
    """The dimensions, with neighbours that are contiguous in memory merged; dimensions of one element are left out."""
    found: list[list[int]] = []
    for extent, stride in zip(extents, strides):
        if extent == 1:
            continue
        if found and found[-1][1] == extent * stride:
            found[-1] = [found[-1][0] * extent, stride]
        else:
            found.append([extent, stride])
    return found


def laid_out(given: InputArray, axes: tuple[int, ...], ordered: bool = True) -> tuple[InputArray, tuple]:
    """The array, copied if the ops reduce and scan cannot read it in place, and their problem's extents and strides: `axes` as one, between
    the axes before and behind them. ordered: the elements' order along the axes counts.
    """
    shape, strides = given.shape, given.array.strides
    if not ordered and len(axes) == len(shape):
        given = _by_strides(given)
        return given, (("length", given.array.size),)
    kept = [k for k in range(len(shape)) if k not in axes and shape[k] != 1]
    reduced = [k for k in axes if shape[k] != 1] or list(axes[:1])
    between = reduced and any(reduced[0] < k < reduced[-1] for k in kept)
    if not between and all(stride >= 0 for stride in strides):
        first = reduced[0] if reduced else len(shape)
        groups = [
            _merged((shape[k] for k in part), (strides[k] for k in part))
            for part in ([k for k in kept if k < first], reduced, [k for k in kept if k > first])
        ]
        before, middle, after = groups
        length, stride = middle[0] if middle else (1, 0)
        inner, step = after[0] if after else (1, 1)
        outer, outer_stride = before[0] if before else (1, 0)
        fits = len(before) <= 1 and len(middle) <= 1 and len(after) <= 1 and step == 1
        if fits and (length == 1 or stride > 0) and (outer == 1 or outer_stride > 0):
            stride = 0 if length == 1 or stride == inner else stride
            dense = length * (stride or inner)
            outer_stride = 0 if outer == 1 or outer_stride == dense else outer_stride
            extents = (("outer", outer), ("length", length), ("inner", inner))
            return given, (*extents, ("outer_stride", outer_stride), ("stride", stride))
    if between:  # one copy, in which the reduced axes are last
        order = [k for k in range(len(shape)) if k not in axes] + list(axes)
        module = given.library.module()
        moved = (
            given.object.permute(order)
            if given.array.kind == "torch"
            else module.transpose(given.object, order)
        )
        given = InputArray(given.library.copy(moved))
        return given, (
            ("outer", _product(shape[k] for k in range(len(shape)) if k not in axes)),
            ("length", _product(shape[k] for k in axes)),
        )
    # Kept axes may lie beyond a reduced axis of one element.
    first, last = (reduced[0], reduced[-1]) if reduced else (len(shape), len(shape) - 1)
    extents = (
        ("outer", _product(shape[:first])),
        ("length", _product(shape[first : last + 1])),
        ("inner", _product(shape[last + 1 :])),
    )
    return given.contiguous(), extents
