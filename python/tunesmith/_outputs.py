# SPDX-License-Identifier: Apache-2.0
"""The array that a result is written to: out=, as in NumPy's functions."""

from __future__ import annotations

from collections.abc import Iterable

from ._arrays import InputArray
from ._call_log import assign
from ._core import is_array
from ._types import _kind


def _finish(value: InputArray, out, *, same_kind: bool = False):
    """The call's result: the value, or `out` with it. same_kind: a float is not cut to an integer, as in NumPy's ufuncs; NumPy's reductions do cut
    it."""
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
