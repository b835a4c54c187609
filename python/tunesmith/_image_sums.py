# SPDX-License-Identifier: Apache-2.0
"""Weighted sums of windows: one or several launches of conv2d on the last two axes."""

from __future__ import annotations

import collections
import itertools
import math
import threading

import numpy as np

from ._arrays import InputArray
from ._borders import _shifted
from ._dispatchers import launch
from ._recording import check_each_time
from ._types import _complex_parts, types_of

_images = types_of("conv2d")
_masks: collections.OrderedDict = collections.OrderedDict()  # on devices, by contents: an application has few
_lock = threading.Lock()  # of _masks


def _on_device(mask: np.ndarray, like: InputArray) -> InputArray:
    if like.array.device < 0:
        return InputArray(mask, like).constant()
    key = (like.array.kind, like.array.device, mask.shape, mask.dtype.str, mask.tobytes())
    with _lock:
        found = _masks.get(key)
        if found is not None:
            _masks.move_to_end(key)
    if found is None:
        found = InputArray(mask, like)
        with _lock:
            _masks[key] = found
            if len(_masks) > 64:
                _masks.popitem(last=False)
    return found.constant()


def image_and_sums(given: InputArray, mask: np.ndarray | InputArray, wanted: str) -> tuple[InputArray, str]:
    """The image in the form that conv2d reads, and the type of its sums: float32 or float64.

    SciPy sums in float64. So does this if the results have to be equal: for images of float64 and of wide integers, and for
    integers whose result is cut to an integer, unless all sums are exact in float32 (a mask on a GPU is not read).
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
    """A complex result composed of real ones: function(part, real mask, real value, its type)."""
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
    """filter_all() that leaves out weights of 0, as SciPy's correlate() and convolve() do: NaN and infinity have no effect under them.

    Kernels multiply by all weights, so results that are not finite are computed again; not on a GPU, because that would wait for its results.
    """
    if isinstance(mask, np.ndarray):
        mask = np.where(np.abs(mask) > np.finfo(float).eps, mask, 0.0)  # SciPy's limit
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
        """The results for which a weight is multiplied by an element for which found() is true."""
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
    """The filter for any number of dimensions: a sum over the mask's leading axes of conv2d on the last two. Returns an object of the array's library."""
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
    """The sums without any products: zeros."""
    return like.library.of_numpy(np.zeros(like.shape), like.object)
