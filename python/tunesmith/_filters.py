# SPDX-License-Identifier: Apache-2.0
"""What ndimage and signal share: one or several launches of conv2d on the last two axes."""

from __future__ import annotations

import collections
import itertools
import math
import operator
import warnings
from typing import SupportsIndex

import numpy as np

from ._arrays import InputArray, check_each_time, chosen, index, launch
from ._core import choices, is_array, samples_at
from ._libraries import assign, is_torch_type, promoted, type_name
from ._results import _complex_parts

# The ops' words by SciPy's modes, which have no zero of its own, and other names of some.
boundaries = {word: word for word in choices("conv2d", "boundary") if word != "zero"}
boundaries |= {"grid-mirror": "reflect", "grid-constant": "constant", "grid-wrap": "wrap"}
_images = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "uint8": "u8",
    "uint16": "u16",
    "int16": "i16",
}
_masks: collections.OrderedDict = collections.OrderedDict()  # on devices, by contents: an application has few


def boundary_word(mode: str) -> str:
    if mode not in boundaries:
        raise RuntimeError(f"boundary mode not supported: {mode!r}; allowed are {', '.join(boundaries)}.")
    return boundaries[mode]


def number_of(value):
    """A setting such as cval as a number: Python's or NumPy's, or an array of one element of any library."""
    if type(value) in (int, float, complex):
        return value
    found = InputArray(value).numpy()
    if found.size != 1:
        raise TypeError(f"A single number is needed, and {found.size} were given.")
    return found.reshape(())[()]


def per_axis(value, count: int, name: str) -> list:
    """A value for each axis, of one or several."""
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
    """Of a window of `extent` places, which has to hold its output's place. A mask that is turned around has the same limits."""
    origin, least, most = index(origin), -(extent // 2), (extent - 1) // 2
    if not least <= origin <= most:
        raise ValueError(
            f"Invalid origin: {origin}; for {extent} places there, allowed are integers from {least} to {most}."
        )
    return origin


def spread(shape, origin, axes: tuple[int, ...], dimensions: int, name: str) -> tuple[list[int], list]:
    """The extents of a mask over all dimensions, and its origins, of what was given for the axes."""
    if len(shape) != len(axes):
        raise RuntimeError(
            f"{name}.ndim ({len(shape)}) must match len(axes) ({len(axes)}). {name} array has incorrect shape."
        )
    extents, origins = [1] * dimensions, [0] * dimensions
    for axis, extent in zip(sorted(axes), shape):  # whatever the order of axes, as SciPy has it
        extents[axis] = extent
    # SciPy has those of all axes in the axes' own order, and those of some as `axes` has them.
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


def _on_device(mask: np.ndarray, like: InputArray) -> InputArray:
    if like.array.device < 0:
        return InputArray(mask, like).constant()
    key = (like.array.kind, like.array.device, mask.shape, mask.dtype.str, mask.tobytes())
    found = _masks.get(key)
    if found is None:
        found = InputArray(mask, like)
        _masks[key] = found
        if len(_masks) > 64:
            _masks.popitem(last=False)
    else:
        _masks.move_to_end(key)
    return found.constant()


def image_and_sums(given: InputArray, mask: np.ndarray | InputArray, wanted: str) -> tuple[InputArray, str]:
    """The image as conv2d reads it, and the type of its sums: float32 or float64.

    SciPy sums in float64. So does this where the result has to be that of it: for images of float64 and of wide integers, and for
    integers whose result is cut to an integer, unless all sums are exact in float32 (a mask on a GPU is not looked at).
    """
    dtype = given.dtype
    if dtype in ("float32", "float16", "bfloat16"):
        return given, "float64" if wanted == "float64" and dtype != "bfloat16" else "float32"
    if dtype in ("uint8", "uint16", "int16"):
        if wanted in ("float32", "float16", "bfloat16"):
            return given, "float32"
        largest = 255 if dtype == "uint8" else 65535
        whole = isinstance(mask, np.ndarray) and bool(np.all(mask == np.rint(mask)))
        if whole and wanted != "float64" and float(np.abs(mask).sum()) * largest <= 2.0**24:
            return given, "float32"
    return given, "float64"


def filter_last_two(
    given: InputArray,
    mask: np.ndarray | InputArray,
    *,
    mode: str,
    boundary: str,
    value: float,
    size: str,
    origins,
    sums: str,
) -> InputArray:
    """conv2d of [..., height, width] with a mask of two dimensions: [..., rows, columns] of `sums`."""
    shape = given.shape
    height, width = shape[-2:]
    batch = math.prod(shape[:-2])
    dtype = given.dtype if sums == "float32" and given.dtype in _images and given.dtype != "float64" else sums
    given = given.to(dtype).contiguous()
    n, m = mask.shape
    rows = {"same": height, "full": height + n - 1, "valid": abs(height - n) + 1}[size]
    columns = {"same": width, "full": width + m - 1, "valid": abs(width - m) + 1}[size]
    result = given.empty((*shape[:-2], rows, columns), sums)
    if result.array.size == 0:
        return result
    if boundary == "constant" and value == 0:
        boundary = "zero"
    problem = [
        ("batch", batch),
        ("height", height),
        ("width", width),
        ("mask_height", n),
        ("mask_width", m),
        ("mode", mode),
        ("boundary", "zero" if size == "valid" else boundary),
        ("size", size),
        ("dtype", _images[dtype]),
    ]
    for name, origin in zip(("origin_y", "origin_x"), origins):
        if origin != 0:
            problem.append((name, origin))
    numbers = (float(value),) if boundary == "constant" and size != "valid" else ()
    weights = (
        mask.to(sums).contiguous()
        if isinstance(mask, InputArray)
        else _on_device(np.ascontiguousarray(mask, sums), given)
    )
    launch("conv2d", (given, weights, result), tuple(problem), numbers)
    return result


def by_parts(function, given: InputArray, mask: np.ndarray, value: complex, wanted: str):
    """A complex result from real ones: function(part, real mask, real value, its type)."""
    part = _complex_parts[wanted]
    value = complex(value)

    def one(image, weights, number):
        return np.asarray(function(InputArray(np.ascontiguousarray(image)), weights, number, part))

    image = given.numpy()
    real, imaginary = one(image.real, mask.real, value.real), np.zeros(())
    if np.iscomplexobj(mask):
        imaginary = imaginary + one(image.real, mask.imag, value.real)
    if np.iscomplexobj(image):
        imaginary = imaginary + one(image.imag, mask.real, value.imag)
        if np.iscomplexobj(mask):
            real = real - one(image.imag, mask.imag, value.imag)
    return given.library.of_numpy((real + 1j * imaginary).astype(wanted), given.object)


def filter_as_scipy(given: InputArray, mask: np.ndarray | InputArray, *, value: float, sums: str, **places):
    """filter_all() where nothing meets a weight of 0, as in SciPy's correlate() and convolve(): neither NaN nor infinity comes through it.

    Kernels multiply by all weights, so results that are not finite are made again. Not on a GPU: its results are not waited for.
    """
    if isinstance(mask, np.ndarray):
        mask = np.where(np.abs(mask) > np.finfo(float).eps, mask, 0.0)  # as SciPy has it
    found = filter_all(given, mask, value=value, sums=sums, **places)
    if (
        isinstance(mask, InputArray)
        or mask.all()
        or given.array.device >= 0
        or given.dtype not in ("float16", "bfloat16", "float32", "float64")
    ):
        return found
    check_each_time(_is_finite)
    return found if _is_finite(found) else _over_gaps(given, mask, value, sums, places)


def _is_finite(result) -> bool:
    with np.errstate(all="ignore"):
        return math.isfinite(float(result.sum()))


def _over_gaps(given: InputArray, mask: np.ndarray, value: float, sums: str, places: dict):
    image = given.numpy().astype(sums)

    def meets(found, weights) -> np.ndarray:
        """Where a weight of these meets an element of which found() is true."""
        there = InputArray(found(image).astype("float64"))
        return (
            np.asarray(
                filter_all(
                    there, weights.astype("float64"), value=float(found(value)), sums="float64", **places
                )
            )
            > 0.5
        )

    def positive(x):
        return x == math.inf

    def negative(x):
        return x == -math.inf

    missing = meets(np.isnan, mask != 0)
    up = meets(positive, mask > 0) | meets(negative, mask < 0)
    down = meets(negative, mask > 0) | meets(positive, mask < 0)
    finite = InputArray(np.where(np.isfinite(image), image, image.dtype.type(0)))
    result = np.array(
        filter_all(finite, mask, value=value if math.isfinite(value) else 0.0, sums=sums, **places)
    )
    result[up], result[down], result[missing | up & down] = math.inf, -math.inf, math.nan
    return given.library.of_numpy(result, given.object)


def filter_all(
    given: InputArray,
    mask: np.ndarray | InputArray,
    *,
    mode: str,
    boundary: str,
    value: float,
    origins,
    sums: str,
):
    """Of any number of dimensions: a sum over the mask's leading axes of conv2d on the last two. An object of the array's library."""
    if given.array.size == 0:
        return given.empty(given.shape, sums).object
    if len(mask.shape) == 1:
        flat = given.reshaped((1, *given.shape))
        row = mask.reshaped((1, *mask.shape)) if isinstance(mask, InputArray) else mask[None]
        done = filter_last_two(
            flat,
            row,
            mode=mode,
            boundary=boundary,
            value=value,
            size="same",
            origins=(0, origins[0]),
            sums=sums,
        )
        return done.reshaped(given.shape).object
    leading = mask.shape[:-2]
    common = {
        "mode": mode,
        "boundary": boundary,
        "value": value,
        "size": "same",
        "origins": origins[-2:],
        "sums": sums,
    }
    if all(extent == 1 for extent in leading) and not any(origins[:-2]):
        last_two = (
            mask.reshaped(mask.shape[-2:]) if isinstance(mask, InputArray) else mask.reshape(mask.shape[-2:])
        )
        return filter_last_two(given, last_two, **common).object
    if isinstance(mask, InputArray):
        mask = mask.numpy().astype(np.float64)
    total = None
    given = given.to(sums)
    for place in itertools.product(*(range(extent) for extent in leading)):
        weights = mask[place]
        if not weights.any():
            continue
        moved = given.object
        for axis, k in enumerate(place):
            n = leading[axis]
            shift = (
                (n - 1 - k) - (n - 1 - n // 2) + origins[axis]
                if mode == "convolution"
                else k - n // 2 - origins[axis]
            )
            moved = _shifted(given, moved, axis, shift, boundary, value)
        one = filter_last_two(InputArray(moved), weights, **common).object
        total = one if total is None else total + one
    return zeros(given) if total is None else total


def zeros(like: InputArray):
    """The sums of no products."""
    return like.library.of_numpy(np.zeros(like.shape), like.object)


def _shifted(given: InputArray, array, axis: int, shift: int, boundary: str, value: float):
    if shift == 0:
        return array
    extent = given.shape[axis]
    return gathered(
        given, array, axis, np.array(samples_at(shift, extent, extent, boundary), dtype=np.int64), value
    )


def gathered(given: InputArray, array, axis: int, places: np.ndarray, value: float):
    """A copy of the elements at these places along an axis; -1: the value. `given` says of which library the array is."""
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


def added(first: InputArray, second: InputArray, operation=operator.add) -> InputArray:
    """The sum (or difference) in their own type; of unsigned integers by their bits, which PyTorch does not add."""
    dtype = first.dtype
    if not dtype.startswith("uint"):
        return InputArray(operation(first.object, second.object))
    signed = dtype.removeprefix("u")
    return InputArray(
        operation(first.contiguous().viewed(signed).object, second.contiguous().viewed(signed).object)
    ).viewed(dtype)


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
    """Cut as SciPy cuts: what is out of an unsigned type's range goes around, and a truth value is true where its byte is not 0."""
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
