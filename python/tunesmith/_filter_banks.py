# SPDX-License-Identifier: Apache-2.0
"""Several separable filters of an image in one launch: filter_bank(), and its use for the derivatives of ndimage."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, number_of
from ._borders import boundaries, boundary_word
from ._core import parameter_words
from ._dispatchers import launch
from ._image_settings import check_origin
from ._image_sums import _images, _on_device
from ._recording import recorded

_results = parameter_words("filter_bank", "results")
most_weights = 1024  # the most weights of a mask


def masks_of(given: Any, name: str, sums: str, like: InputArray) -> InputArray:
    masks = InputArray(given)
    if len(masks.shape) != 2 or 0 in masks.shape:
        raise ValueError(
            f"{name} has the shape {masks.shape}; two dimensions are needed, a row for each filter."
        )
    if masks.array.kind == "numpy":
        return _on_device(np.ascontiguousarray(masks.numpy(), sums), like)
    return InputArray(given, like).to(sums).contiguous()


def run(
    image: InputArray,
    column_masks: InputArray,
    row_masks: InputArray,
    *,
    axis: int,
    results: str,
    boundary: str,
    value: float,
    origins: tuple[int, int],
) -> InputArray:
    """The op on the axes `axis` and `axis` + 1 of a contiguous image; masks are of the type of the sums, a row for each filter."""
    filters, taps_y = column_masks.shape
    taps_x = row_masks.shape[1]
    sums, shape = row_masks.dtype, image.shape
    result = image.empty((filters, *shape) if results == "each" else shape, sums)
    if result.array.size == 0:
        return result
    if boundary == "constant" and value == 0:
        boundary = "zero"
    problem = [
        ("batch", math.prod(shape[:axis])),
        ("height", shape[axis]),
        ("width", shape[axis + 1]),
        ("channels", math.prod(shape[axis + 2 :])),
        ("filters", filters),
        ("taps_y", taps_y),
        ("taps_x", taps_x),
        ("results", results),
        ("boundary", boundary),
        ("dtype", _images[image.dtype]),
    ]
    problem += [(name, origin) for name, origin in zip(("origin_y", "origin_x"), origins) if origin]
    numbers = (float(value),) if boundary == "constant" else ()
    launch("filter_bank", (image, column_masks, row_masks, result), tuple(problem), numbers)
    return result


@typed.of_image
@recorded("image", by_content=("column_masks", "row_masks"))
def filter_bank(
    image: Any,
    column_masks: Any,
    row_masks: Any,
    results: str = "each",
    *,
    boundary: str = "reflect",
    value: float = 0.0,
    origin: SupportsIndex | tuple[SupportsIndex, SupportsIndex] = 0,
    channels_last: bool = False,
) -> Any:
    """One to four separable filters of an image in one launch, which reads it once.

    image: [..., height, width], or with channels_last [..., height, width, channels]. column_masks: [filters, weights along the height];
    row_masks: [filters, weights along the width]; up to 1024 weights. Filter f is scipy.ndimage.correlate(image, outer(column_masks[f],
    row_masks[f])). results: "each" gives [filters, *image.shape]; "sum" adds the filters; "norm" is the root of the sum of their squares, as for
    gradients. boundary, value and origin: scipy.ndimage's mode, cval and origin. The result has the type of the sums: float32 for images of
    float32, float16, bfloat16, uint8, uint16 and int16, else float64. Raises ValueError for shapes, RuntimeError for boundaries.

    >>> image = np.arange(12.0).reshape(3, 4)
    >>> tunesmith.filter_bank(image, [[0, 1, 0]], [[-1, 0, 1]])[0, 1].tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    given = InputArray(image)
    if results not in _results:
        raise ValueError(f"results is {results!r}; allowed are {', '.join(_results)}.")
    axis = len(given.shape) - (3 if channels_last else 2)
    if axis < 0:
        raise ValueError(
            f"The image has the shape {given.shape}; {3 if channels_last else 2} dimensions are needed."
        )
    if given.dtype.startswith("complex"):
        raise TypeError("Complex images have no filter_bank(); filter their real and imaginary parts apart.")
    dtype = given.dtype if given.dtype in _images else "float64"
    sums = "float64" if dtype == "float64" else "float32"
    columns, rows = (
        masks_of(column_masks, "column_masks", sums, given),
        masks_of(row_masks, "row_masks", sums, given),
    )
    (filters, taps_y), (others, taps_x) = columns.shape, rows.shape
    if filters != others:
        raise ValueError(f"There are {filters} column masks and {others} row masks; each filter is a pair.")
    if filters > 4 or max(taps_y, taps_x) > most_weights:
        raise ValueError(
            f"There are {filters} filters of {taps_y} x {taps_x} weights; up to 4 of up to 1024 x 1024 are allowed."
        )
    given_origins = origin if isinstance(origin, tuple) else (origin, origin)
    if len(given_origins) != 2:
        raise ValueError(
            f"origin has {len(given_origins)} numbers; it is one, or a pair for height and width."
        )
    origins = check_origin(given_origins[0], taps_y), check_origin(given_origins[1], taps_x)
    if boundary not in boundaries and boundary != "zero":
        boundary_word(boundary)
    word = boundaries.get(boundary, "zero")
    return run(
        given.to(dtype).contiguous(),
        columns,
        rows,
        axis=axis,
        results=results,
        boundary=word,
        value=float(number_of(value)),
        origins=origins,
    ).object
