# SPDX-License-Identifier: Apache-2.0
"""Axes, as NumPy's functions take them, and axes that lie behind each other in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ._arrays import index

Axes = SupportsIndex | Sequence[SupportsIndex] | None


def _product(extents) -> int:
    return math.prod(extents)


def _axes(axis, dimensions: int) -> tuple[int, ...]:
    """Sorted, from 0 on; None: all."""
    if axis is None:
        return tuple(range(dimensions))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for one in given:
        one = index(one)
        if not -dimensions <= one < dimensions:
            raise np.exceptions.AxisError(one, dimensions)
        found.append(one % dimensions)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found))


def _merged(extents, strides):
    """Neighbouring dimensions that lie behind each other as one; those of one element are left out."""
    found: list[list[int]] = []
    for extent, stride in zip(extents, strides):
        if extent == 1:
            continue
        if found and found[-1][1] == extent * stride:
            found[-1] = [found[-1][0] * extent, stride]
        else:
            found.append([extent, stride])
    return found
