# SPDX-License-Identifier: Apache-2.0
"""Settings that the functions of images share with scipy.ndimage: values per axis, origins, constants, and output."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ._arrays import InputArray, chosen, index, number_of
from ._call_log import assign
from ._core import is_array
from ._types import _complex_parts, is_torch_type, promoted, type_name

OneOrSeveral = SupportsIndex | Sequence[SupportsIndex]
Modes = str | Sequence[str]


def per_axis(value, count: int, name: str) -> list:
    """A value for each axis, from one value or several."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError(
            f"sequence argument must have length equal to input rank: {name} has {len(values)}, not {count}"
        )
    return values


def axes_of(axes, dimensions: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(dimensions))
    found = []
    for axis in axes if np.iterable(axes) else (axes,):
        axis = index(axis)
        if not -dimensions <= axis < dimensions:
            raise ValueError(f"specified axis: {axis} is out of range")
        found.append(axis % dimensions)
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return tuple(found)


def check_origin(origin: SupportsIndex, extent: int) -> int:
    """An origin that keeps the output's place within a window of `extent` elements, as it must. A reversed mask has the same limits."""
    origin, least, most = index(origin), -(extent // 2), (extent - 1) // 2
    if not least <= origin <= most:
        raise ValueError(
            f"Invalid origin: {origin}; for {extent} places there, allowed are integers from {least} to {most}."
        )
    return origin


def spread(shape, origin, axes: tuple[int, ...], dimensions: int, name: str) -> tuple[list[int], list]:
    """The extents and the origins of a mask over all dimensions, from the values for the axes."""
    if len(shape) != len(axes):
        raise RuntimeError(
            f"{name}.ndim ({len(shape)}) must match len(axes) ({len(axes)}). {name} array has incorrect shape."
        )
    extents, origins = [1] * dimensions, [0] * dimensions
    for axis, extent in zip(sorted(axes), shape):  # in ascending order of the axes, as in SciPy
        extents[axis] = extent
    # SciPy takes origins of all axes in the axes' own order, and origins of some axes in the order of `axes`.
    for axis, one in zip(
        axes if len(axes) < dimensions else range(dimensions), per_axis(origin, len(axes), "origin")
    ):
        origins[axis] = one
    return extents, origins


def checked_cval(given: InputArray, cval):
    cval = number_of(cval)
    if given.dtype not in _complex_parts and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    return cval


def finish(given: InputArray, result, output, wanted: str):
    """`result` in the type and place that the caller asked for."""
    done = InputArray(result)
    if output is not None:
        into = InputArray(output)
        if into.shape != done.shape:
            raise RuntimeError("output shape not correct")
        if into.array.readonly:
            raise ValueError("output is read-only.")
        if into.array.kind != done.array.kind and "other" not in (into.array.kind, done.array.kind):
            raise TypeError(
                f"output is an array of {into.array.kind}; the result is one of {done.array.kind}."
            )
        assign(done.library, output if into.copied else into.object, _rounded(done, into.dtype).object)
        return output
    return _rounded(done, wanted).object


def _rounded(done: InputArray, wanted: str) -> InputArray:
    """Converts as SciPy does: numbers outside an unsigned type's range wrap around, and a truth value is true if its byte is not 0."""
    if done.dtype == wanted:
        return done
    with np.errstate(invalid="ignore"):
        if wanted == "uint64":
            return chosen(InputArray(done.object < 0), done.to("int64").to(wanted), done.to(wanted))
        if wanted == "bool":
            return done.to("int64").to("uint8").to("bool")
        if wanted.startswith("uint"):
            return done.to("int64").to(wanted)
    return done.to(wanted)


def output_type(given: InputArray, output, *, is_complex: bool = False) -> tuple[object, str]:
    """The array to write, or None; and the result's type."""
    if output is None:
        wanted = given.dtype
        if is_complex and wanted not in _complex_parts:
            wanted = promoted(wanted, "complex64")
        return None, wanted
    if isinstance(output, (type, np.dtype, str)) or is_torch_type(output):
        wanted = type_name(output)
        if is_complex and wanted not in _complex_parts:
            warnings.warn("promoting specified output dtype to complex", UserWarning, stacklevel=4)
            wanted = promoted(wanted, "complex64")
        return None, wanted
    if not is_array(output):
        raise TypeError(
            f"output is a value of the type {type(output).__name__}; it must be an array or an element type."
        )
    wanted = InputArray(output).dtype
    if is_complex and wanted not in _complex_parts:
        raise RuntimeError("output must have complex dtype")
    return output, wanted


def _real(input) -> InputArray:
    given = InputArray(input)
    if given.dtype in _complex_parts:
        raise TypeError("Complex type not supported")
    return given


def _shape_of(array) -> np.ndarray | None:
    """A footprint or structure in ordinary memory, because its shape and elements decide the launch."""
    return None if array is None else InputArray(array).numpy()
