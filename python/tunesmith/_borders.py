# SPDX-License-Identifier: Apache-2.0
"""Boundaries of images, by SciPy's names, and the elements outside."""

from __future__ import annotations

import numpy as np

from ._arrays import InputArray
from ._core import parameter_words, samples_at

# SciPy's modes. The ops' own words are among them, except zero, which is constant with a value of 0.
boundaries = {
    **{word: word for word in parameter_words("conv2d", "boundary") if word != "zero"},
    "grid-mirror": "reflect",
    "grid-constant": "constant",
    "grid-wrap": "wrap",
}


def boundary_word(mode: str) -> str:
    if mode not in boundaries:
        raise RuntimeError(f"boundary mode not supported: {mode!r}; allowed are {', '.join(boundaries)}.")
    return boundaries[mode]


def gathered(given: InputArray, array, axis: int, places: np.ndarray, value: float):
    """A copy of the elements at these places along an axis; -1: the value. The array is of the library of `given`."""
    outside = np.flatnonzero(places < 0)
    places = np.maximum(places, 0)
    if given.array.kind == "torch":
        import torch

        moved = array.index_select(axis, torch.as_tensor(places, device=array.device))
    else:
        moved = array.take(places, axis=axis)
    if outside.size:
        place = (slice(None),) * axis + (outside,)
        moved = moved.at[place].set(value) if given.array.kind == "jax" else _set(moved, place, value)
    return moved


def _set(array, place, value):
    array[place] = value
    return array


def _shifted(given: InputArray, array, axis: int, shift: int, boundary: str, value: float):
    if shift == 0:
        return array
    extent = given.shape[axis]
    return gathered(
        given, array, axis, np.array(samples_at(shift, extent, extent, boundary), dtype=np.int64), value
    )
