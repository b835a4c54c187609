# SPDX-License-Identifier: Apache-2.0
"""What the functions of arrays share: axes, element types, and the array that a result is written to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import SupportsIndex

import numpy as np

from ._arrays import InputArray, index
from ._core import is_array
from ._libraries import assign

Axes = SupportsIndex | Sequence[SupportsIndex] | None

_short = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
}
_complex_parts = {"complex64": "float32", "complex128": "float64"}


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


_kinds = ("bool", "uint", "int", "float", "complex")


def _kind(dtype: str) -> int:
    return _kinds.index(dtype.rstrip("0123456789").replace("bfloat", "float"))


def _finish(value: InputArray, out, *, same_kind: bool = False):
    """What a call returns: the value, or `out` with it. same_kind: a float is not cut to an integer, as in NumPy's ufuncs; its reductions do it."""
    if out is None:
        return value.library.result(value.object)
    if not is_array(out):
        raise TypeError(f"out= is a value of the type {type(out).__name__}; it must be an array.")
    into = InputArray(out)
    if into.shape != value.shape:
        raise ValueError(f"out= has the shape {into.shape}; the result has {value.shape}.")
    if into.array.readonly:
        raise ValueError("out= is read-only.")
    if into.array.kind != value.array.kind and "other" not in (into.array.kind, value.array.kind):
        raise TypeError(f"out= is an array of {into.array.kind}; the result is one of {value.array.kind}.")
    if same_kind and _kind(into.dtype) < _kind(value.dtype):
        raise TypeError(
            f"Cannot cast the result from {value.dtype} to {into.dtype}, the type of out=, with casting rule 'same_kind'."
        )
    assign(value.library, out if into.copied else into.object, value.to(into.dtype).object)
    return out


def _usable(
    out, shape, dtype: str, like: InputArray, reads: Iterable[InputArray] | None = None
) -> InputArray | None:
    """`out`, if the result can be written there while `reads` (None: `like`) are read. Else it is made in a new array, which _finish() copies."""
    if out is None or not is_array(out):
        return None
    into = InputArray(out)
    fits = (
        into.shape == tuple(shape)
        and into.dtype == dtype
        and into.array.device == like.array.device
        and not into.copied
    )
    if not fits or not into.array.contiguous or into.array.readonly or into.array.kind == "jax":
        return None
    return (
        None if any(into.array.overlaps(one.array) for one in ((like,) if reads is None else reads)) else into
    )


def _by_strides(given: InputArray) -> InputArray:
    """The same elements, in any order, without gaps."""
    array = given.array
    if array.contiguous:
        return given.reshaped((array.size,))
    order = sorted(range(len(array.shape)), key=lambda k: -array.strides[k])
    step = 1
    for k in reversed(order):
        if array.shape[k] != 1:
            if array.strides[k] != step:
                return given.contiguous().reshaped((array.size,))
            step *= array.shape[k]
    if array.kind in ("numpy", "cupy"):
        return InputArray(given.object.transpose(order).reshape(array.size))
    if array.kind == "torch":
        return InputArray(given.object.permute(order).reshape(array.size))
    return given.contiguous().reshaped((array.size,))


# How an element type that the op does not have is computed: as this type; and the type of a sum, a mean and an extreme.
