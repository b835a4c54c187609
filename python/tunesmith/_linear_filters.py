# SPDX-License-Identifier: Apache-2.0
"""Weighted sums of windows, as in scipy.ndimage: correlations, Gaussians and their derivatives, means."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, added, index
from ._axes import Axes
from ._borders import boundary_word
from ._expressions import vectorize
from ._filter_banks import masks_of, most_weights, run
from ._image_settings import (
    OneOrSeveral,
    axes_of,
    check_origin,
    checked_cval,
    finish,
    output_type,
    per_axis,
    spread,
)
from ._image_sums import _images, by_parts, filter_all, filter_as_scipy, image_and_sums, zeros
from ._recording import recorded
from ._types import _complex_parts


def _weights(weights) -> np.ndarray | InputArray:
    """The weights in ordinary memory, so that the function knows them; real ones on a GPU stay there."""
    given = InputArray(weights)
    if given.array.device >= 0 and given.dtype in ("float32", "float64"):
        return given
    found = given.numpy()
    return found.astype(np.complex128 if np.iscomplexobj(found) else np.float64)


def _shaped(weights: np.ndarray | InputArray, shape) -> np.ndarray | InputArray:
    return weights.reshaped(shape) if isinstance(weights, InputArray) else weights.reshape(shape)


def _filter(
    input, weights: np.ndarray | InputArray, output, mode: str, cval, origins, word: str, function=filter_all
):
    given = InputArray(input)
    is_complex = given.dtype in _complex_parts or np.iscomplexobj(weights)
    if is_complex and isinstance(weights, InputArray):
        weights = weights.numpy()
    output, wanted = output_type(given, output, is_complex=is_complex)
    boundary = boundary_word(mode)

    def real(image: InputArray, mask, value, kind: str):
        image, sums = image_and_sums(image, mask, kind)
        return function(image, mask, mode=word, boundary=boundary, value=value, origins=origins, sums=sums)

    cval = checked_cval(given, cval)
    if is_complex:
        result = by_parts(real, given, weights.conj() if word == "correlation" else weights, cval, wanted)
    else:
        result = real(given, weights, float(np.real(cval)), wanted)
    return finish(given, result, output, wanted)


def _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, word):
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    given = InputArray(input)
    weights = _weights(weights)
    dimensions = len(given.shape)
    found = axes_of(axes, dimensions)
    if len(weights.shape) == len(found) and dimensions == 0:
        raise RuntimeError("filter weights array has incorrect shape: an image has at least one dimension.")
    extents, origins = spread(weights.shape, origin, found, dimensions, "weights")
    if 0 in weights.shape:
        return finish(given, zeros(given), *output_type(given, output))
    origins = [check_origin(one, extent) for one, extent in zip(origins, extents)]
    mask = _shaped(weights, extents)
    return _filter(given.object, mask, output, mode, cval, origins, word, filter_as_scipy)


_recorded_with_weights = recorded("input", "output", by_content=("weights",))


@typed.of_input
@_recorded_with_weights
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.correlate: sums over a window around each element, weighted by `weights`.

    input: any array. weights: an array or list of as many dimensions (or as many as axes); it is copied to the image's device.
    output: an array, or the type of a new one; None: the input's type. mode: reflect, constant (with cval), nearest, mirror,
    wrap, and SciPy's other names of these. origin: moves the window, an integer or one per axis.
    Returns an array of the caller's kind. Raises RuntimeError for shapes and modes, ValueError for origins and axes.

    >>> tunesmith.ndimage.correlate([1.0, 2.0, 4.0, 8.0], [1, 0, -1])
    array([-1., -3., -6., -4.])
    """
    return _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, "correlation")


@typed.of_input
@_recorded_with_weights
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.convolve: correlate() with the mask reversed along each axis; parameters, types and errors as there.

    >>> tunesmith.ndimage.convolve([1.0, 2.0, 4.0, 8.0], [1, 0, -1])
    array([1., 3., 6., 4.])
    """
    return _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, "convolution")


def _one_axis(axis, dimensions: int) -> int:
    axis = index(axis)
    if not -dimensions <= axis < dimensions:
        raise np.exceptions.AxisError(axis, dimensions)
    return axis % dimensions


def _along(input, weights: np.ndarray | InputArray, axis: int, output, mode, cval, origin: int, word: str):
    """A mask of one dimension along an axis: a row if it is the last axis, else a column."""
    given = InputArray(input)
    shape = given.shape
    axis = _one_axis(axis, len(shape))
    is_complex = given.dtype in _complex_parts or np.iscomplexobj(weights)
    output, wanted = output_type(given, output, is_complex=is_complex)
    if given.array.size == 0:
        return finish(given, given.object, output, wanted)
    outer = int(np.prod(shape[:axis], dtype=np.int64))
    inner = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    if inner == 1:
        flat, mask, origins = (outer, shape[axis]), _shaped(weights, (1, -1)), [0, origin]
    else:
        flat, mask, origins = (outer, shape[axis], inner), _shaped(weights, (1, -1, 1)), [0, origin, 0]
    image = given.contiguous().reshaped(flat)
    result = (
        InputArray(_filter(image.object, mask, wanted, mode, cval, origins, word, _filter_line))
        .reshaped(shape)
        .object
    )
    return finish(given, result, output, wanted)


def _is_odd(weights: np.ndarray) -> bool:
    """True if the second half is the first one reversed and with the other sign: the sum of equal elements is 0."""
    return (
        weights.size > 1
        and bool(np.any(weights))
        and bool(np.all(np.abs(weights + weights[::-1]) <= np.finfo(float).eps * np.abs(weights).max()))
    )


def _needs_halves(weights: np.ndarray) -> bool:
    """True if a sum of equal elements is 0 only if both halves are summed separately: not for one power of two and its negative, which are not
    rounded."""
    return _is_odd(weights) and (
        np.count_nonzero(weights) > 2 or bool(np.frexp(np.abs(weights).max())[0] != 0.5)
    )


def _filter_line(
    given: InputArray,
    mask: np.ndarray | InputArray,
    *,
    mode: str,
    boundary: str,
    value: float,
    origins,
    sums: str,
):
    """filter_all() of a mask along the second of two or three axes. If the mask is odd, filter_bank sums its halves separately, so that equal
    elements give exactly 0, as in SciPy, which subtracts before it multiplies."""
    if (
        isinstance(mask, InputArray)
        or mask.size > most_weights
        or given.array.size == 0
        or not _needs_halves(mask.reshape(-1))
    ):
        return filter_all(given, mask, mode=mode, boundary=boundary, value=value, origins=origins, sums=sums)
    line = (mask.reshape(-1) - mask.reshape(-1)[::-1]) / 2
    is_last = len(mask.shape) == 2
    dtype = given.dtype if sums == "float32" and given.dtype in _images and given.dtype != "float64" else sums
    image, one = given.to(dtype).contiguous(), np.ones((1, 1))
    columns, rows = (
        masks_of(weights, "weights", sums, image)
        for weights in ((one, line[None]) if is_last else (line[None], one))
    )
    along = (0, origins[1]) if is_last else (origins[1], 0)
    return run(
        image,
        columns,
        rows,
        axis=0 if is_last else 1,
        results="sum",
        boundary=boundary,
        value=value,
        origins=along,
    ).object


def _line(input, weights, cval) -> np.ndarray | InputArray:
    checked_cval(InputArray(input), cval)
    weights = _weights(weights)
    if len(weights.shape) != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return weights


@typed.of_input
@_recorded_with_weights
def correlate1d(
    input: Any,
    weights: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.correlate1d: correlate() with a mask of one dimension along `axis`, the last by default.

    weights: an array or list of one dimension. origin: an integer. The rest is as in correlate().
    Returns an array of the caller's kind and shape. Raises RuntimeError for weights and modes, ValueError for origins and
    numpy.exceptions.AxisError for axes.

    >>> tunesmith.ndimage.correlate1d([[1.0, 2.0], [4.0, 8.0]], [1, 1], axis=0)
    array([[ 2.,  4.],
           [ 5., 10.]])
    """
    weights = _line(input, weights, cval)
    return _along(
        input, weights, axis, output, mode, cval, check_origin(origin, weights.shape[0]), "correlation"
    )


@typed.of_input
@_recorded_with_weights
def convolve1d(
    input: Any,
    weights: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.convolve1d: correlate1d() with the mask reversed; parameters, types and errors as there.

    >>> tunesmith.ndimage.convolve1d([[1.0, 2.0], [4.0, 8.0]], [1, 1], axis=0)
    array([[ 5., 10.],
           [ 8., 16.]])
    """
    weights = _line(input, weights, cval)
    # SciPy checks the origin of the reversed mask.
    extent = weights.shape[0]
    turned = -check_origin(origin, extent) - (1 if extent % 2 == 0 else 0)
    if isinstance(weights, InputArray):
        weights = weights.numpy()
    return _along(input, weights[::-1].conj(), axis, output, mode, cval, turned, "correlation")


class _Line(NamedTuple):
    """A mask of one dimension along an axis, in the form that correlate1d() takes."""

    axis: int
    weights: np.ndarray
    mode: str
    origin: int = 0


# The largest number of weights of a two-dimensional mask whose launch takes no longer than one for a line. On
# an H200 an image of 4096 x 4096 takes 34 us for a line, and 34, 37, 46 and 73 us for masks of 3 x 3, 5 x 5,
# 7 x 7 and 13 x 13.
_weights_per_launch = 41
_whole = ("int", "uint", "bool")


def _one_mask(given: InputArray, terms: list[list[_Line]], wanted: str, cval) -> np.ndarray | None:
    """The sum of the terms, each the product of its lines, as a mask of the last two axes. None if the lines are along other axes, have several
    boundaries, are faster one by one, would be cut in between, or include an odd line while sums are rounded."""
    lines = [line for term in terms for line in term]
    first = len(given.shape) - 2
    if (
        len(lines) < 2
        or first < 0
        or any(line.axis < first for line in lines)
        or len({boundary_word(line.mode) for line in lines}) > 1
    ):
        return None
    if given.dtype in ("float32", "float64") and any(_is_odd(line.weights) for line in lines):
        return None
    is_product = any(len(term) > 1 for term in terms)
    has_constant = boundary_word(lines[0].mode) == "constant" and cval != 0
    if is_product and has_constant:
        return None  # a second line would see the constant outside next to results of the first
    if wanted.startswith(_whole):
        # Wrapping sums of whole numbers are the same whether they are cut once or in between.
        whole = all((line.weights == np.rint(line.weights)).all() for line in lines)
        if not whole or has_constant or not given.dtype.startswith(_whole) or wanted in ("bool", "uint64"):
            return None  # SciPy also loses the last digits of a negative number in uint64 that is read again as float64
    extents = [
        max(line.weights.size if line.axis == axis else 1 for line in lines) for axis in (first, first + 1)
    ]
    if extents[0] * extents[1] > _weights_per_launch * (len(lines) + len(terms) - 1):
        return None
    mask = np.zeros(extents)
    for term in terms:
        product = np.ones((1, 1))
        for line in term:
            product = product * (line.weights[:, None] if line.axis == first else line.weights[None])
        before = [(extent - own) // 2 for extent, own in zip(extents, product.shape)]
        mask[tuple(slice(start, start + own) for start, own in zip(before, product.shape))] += product
    return mask


def _window(array, mask: np.ndarray, lines: list[_Line], wanted: str, cval, function):
    """A mask of the last two axes."""
    leading = len(InputArray(array).shape) - 2
    origins = [0] * (leading + 2)
    for line in lines:
        origins[line.axis] = line.origin
    return _filter(
        array,
        mask.reshape((1,) * leading + mask.shape),
        wanted,
        lines[0].mode,
        cval,
        origins,
        "correlation",
        function,
    )


def _sweep(given: InputArray, lines: list[_Line], wanted: str, cval):
    """One line after the other, each result of the type `wanted`; the lines of the last two axes in one launch if that is equivalent."""
    checked_cval(given, cval)
    if wanted == "bool":  # SciPy cuts the bytes of bool, and reads on with them like with any others
        wanted = "uint8"
    first = len(given.shape) - 2
    pair = [line for line in lines if line.axis >= first]
    # These lines come last, except if a later line has a constant outside next to their results.
    after = lines[[line.axis >= first for line in lines].index(True) :] if pair else []
    is_kept = cval != 0 and any(
        line.axis < first and boundary_word(line.mode) == "constant" for line in after
    )
    mask = None if is_kept else _one_mask(given, [pair], wanted, cval)
    result = given.object
    # Lines are in SciPy's order if numbers are cut in between, or if the constant outside is next to another
    # line's results.
    in_order = (
        wanted.startswith(_whole)
        or cval != 0
        and any(boundary_word(line.mode) == "constant" for line in lines)
    )
    odd_first = lines if in_order else sorted(lines, key=lambda line: not _is_odd(line.weights))
    if mask is None and (
        len(lines) == 2 or odd_first is not lines and any(_is_odd(line.weights) for line in pair)
    ):
        together = lines if len(lines) == 2 else pair
        both = _bank(given, [together], wanted, cval, "sum")
        if both is not None:
            result, odd_first = both.object, [line for line in odd_first if line not in together]
    for line in odd_first:
        if mask is None or line not in pair:
            result = _along(
                result, line.weights, line.axis, wanted, line.mode, cval, line.origin, "correlation"
            )
    if mask is not None:
        result = _window(result, mask, pair, wanted, cval, filter_all)
    return given.library.copy(given.to(wanted).object) if result is given.object else result


def _sum_of(given: InputArray, terms: list[list[_Line]], wanted: str, cval):
    """The sum of the terms, each a sweep. Terms that are the same along the axes before the last two are swept there once, and the last two axes take
    one launch if that is equivalent."""
    checked_cval(given, cval)
    first = len(given.shape) - 2
    groups: dict[tuple, list[list[_Line]]] = {}
    for term in terms:
        key = tuple(
            (line.axis, line.weights.tobytes(), boundary_word(line.mode))
            for line in term
            if line.axis < first
        )
        groups.setdefault(key, []).append(term)
    parts = []
    for group in groups.values():
        inside = [[line for line in term if line.axis >= first] for term in group]
        mask = _one_mask(given, inside, wanted, cval)
        if mask is None:
            together = _bank(given, group, wanted, cval, "sum") if len(group) > 1 else None
            each = (
                [InputArray(_sweep(given, term, wanted, cval)) for term in group]
                if together is None
                else [together]
            )
            parts += [one.to(wanted) for one in each]
            continue
        before = [line for line in group[0] if line.axis < first]
        swept = _sweep(given, before, wanted, cval) if before else given.object
        lines = [line for term in inside for line in term]
        is_product = all(len(term) > 1 for term in inside)
        parts.append(
            InputArray(
                _window(swept, mask, lines, wanted, cval, filter_all if is_product else filter_as_scipy)
            )
        )
    return functools.reduce(added, parts).object if parts else given.library.copy(given.to(wanted).object)


# The longest masks of two filters that are one launch of filter_bank, and the largest number of elements in
# its windows beside the pixel of a row.
_longest_in_bank, _farthest_in_bank = 49, 384


def _bank(given: InputArray, terms: list[list[_Line]], wanted: str, cval, results: str) -> InputArray | None:
    """The terms, each the product of its lines along two neighbouring axes, as one launch of filter_bank. None if they have another form, have
    several boundaries, or would be cut in between."""
    lines = [line for term in terms for line in term]
    axes = {line.axis for line in lines}
    edges = {boundary_word(line.mode) for line in lines}
    if (
        not 1 <= len(terms) <= 2
        or len(axes) != 2
        or max(axes) != min(axes) + 1
        or len(edges) > 1
        or any(line.origin for line in lines)
    ):
        return None
    if (
        wanted not in ("float16", "bfloat16", "float32", "float64")
        or given.dtype in _complex_parts
        or (edges == {"constant"} and cval != 0)
    ):
        return None
    axis = min(axes)
    extents = [max(line.weights.size for line in lines if line.axis == axis + side) for side in (0, 1)]
    channels = int(np.prod(given.shape[axis + 2 :], dtype=np.int64))
    if max(extents) > _longest_in_bank or (extents[1] - 1) * channels > _farthest_in_bank:
        return None
    if any(extents[line.axis - axis] % 2 != line.weights.size % 2 for line in lines):
        return None  # the centres of an odd and an even number of weights differ
    masks = [np.zeros((len(terms), extent)) for extent in extents]
    for f, term in enumerate(terms):
        for side, extent in enumerate(extents):
            own = [line.weights for line in term if line.axis == axis + side] or [np.ones(1)]
            if len(own) > 1 or extent % 2 != own[0].size % 2:
                return None
            before = (extent - own[0].size) // 2
            masks[side][f, before : before + own[0].size] = own[0]
    image, sums = image_and_sums(given, masks[0], wanted)
    dtype = (
        image.dtype
        if sums == "float32" and image.dtype in ("float32", "float16", "bfloat16", "uint8", "uint16", "int16")
        else sums
    )
    columns, rows = (masks_of(one, "masks", sums, image) for one in masks)
    boundary = boundary_word(lines[0].mode)
    return run(
        image.to(dtype).contiguous(),
        columns,
        rows,
        axis=axis,
        results=results,
        boundary=boundary,
        value=0.0,
        origins=(0, 0),
    )


def _gaussian(sigma: float, order: int, radius: int) -> np.ndarray:
    """A Gaussian or a derivative of it at -radius to radius: its polynomial times the normal weights."""
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 / (sigma * sigma) * x**2)
    weights /= weights.sum()
    # (p g)' = (p' - p x / sigma^2) g, once for each order.
    polynomial = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        polynomial = polynomial.deriv() - polynomial * np.polynomial.Polynomial([0, 1 / (sigma * sigma)])
    return weights * polynomial(x)


def _gaussian_line(sigma: float, order: int, truncate: float, radius, wanted: str) -> np.ndarray:
    """The weights in the form that correlate1d() takes, for a result of the type `wanted`."""
    sigma = float(sigma)
    if order < 0 or order != int(order):
        raise ValueError(f"order must be non-negative and whole; it is {order!r}.")
    reach = int(float(truncate) * sigma + 0.5) if radius is None else radius
    if not isinstance(reach, numbers.Integral) or reach < 0:
        raise ValueError(f"Radius must be a nonnegative integer; it is {reach!r}.")
    weights = _gaussian(sigma, int(order), int(reach))[::-1].copy()
    # For a result that is cut to a whole number: increased by more than the roundings of a sum in float64, so
    # that equal elements do not become one less.
    return (
        weights * (1 + (weights.size + 2) * np.finfo(float).eps)
        if wanted.startswith(_whole) and order == 0
        else weights
    )


def _gaussian_lines(axes, sigma, order, mode, truncate, radius, wanted: str) -> list[_Line]:
    count = len(axes)
    each = zip(
        axes,
        *(
            per_axis(value, count, name)
            for value, name in ((sigma, "sigma"), (order, "order"), (mode, "mode"), (radius, "radius"))
        ),
    )
    return [
        _Line(axis, _gaussian_line(width, k, truncate, reach, wanted), edge)
        for axis, width, k, edge, reach in each
        if width > 1e-15
    ]


@typed.of_input
@recorded("input", "output")
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: SupportsIndex = -1,
    order: SupportsIndex = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    truncate: float = 4.0,
    *,
    radius: SupportsIndex | None = None,
) -> Any:
    """scipy.ndimage.gaussian_filter1d: a Gaussian of standard deviation `sigma` elements along `axis`, or its derivative of
    `order`; cut at truncate standard deviations, or at `radius` elements.

    >>> tunesmith.ndimage.gaussian_filter1d([[0.0, 1.0, 0.0]], sigma=0.5).round(3)
    array([[0.107, 0.787, 0.107]])
    """
    given = InputArray(input)
    _, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    return correlate1d(
        input, _gaussian_line(sigma, order, truncate, radius, wanted), axis, output, mode, cval, 0
    )


@typed.of_input
@recorded("input", "output")
def gaussian_filter(
    input: Any,
    sigma: float | Sequence[float],
    order: OneOrSeveral = 0,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    truncate: float = 4.0,
    *,
    radius: OneOrSeveral | None = None,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.gaussian_filter: gaussian_filter1d() along each axis; sigma, order, mode and radius may be one per axis.

    >>> tunesmith.ndimage.gaussian_filter([0.0, 0.0, 1.0, 0.0, 0.0], sigma=1).round(3)
    array([0.058, 0.242, 0.399, 0.242, 0.058])
    """
    given = InputArray(input)
    found = axes_of(axes, len(given.shape))
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    lines = _gaussian_lines(found, sigma, order, mode, truncate, radius, wanted)
    return finish(given, _sweep(given, lines, wanted, cval), output, wanted)


@typed.of_input
@recorded("input", "output")
def uniform_filter1d(
    input: Any,
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.uniform_filter1d: the mean of `size` elements along `axis`; integers are summed exactly in float64 and divided once.

    output, mode, cval and origin as of correlate1d(). Raises RuntimeError for a size below 1, ValueError for origins.

    >>> tunesmith.ndimage.uniform_filter1d([[1.0, 3.0], [5.0, 7.0]], 2, axis=0)
    array([[1., 3.],
           [3., 5.]])
    """
    size = index(size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    origin = check_origin(origin, size)
    given = InputArray(input)
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    if given.dtype.startswith(("int", "uint", "bool")):  # exact sums, one division, as SciPy's
        result = (
            _along(given.object, np.ones(size), axis, "float64", mode, cval, origin, "correlation") / size
        )
    else:
        result = _along(
            given.object, np.full(size, 1.0 / size), axis, wanted, mode, cval, origin, "correlation"
        )
    return finish(given, result, output, wanted)


@typed.of_input
@recorded("input", "output")
def uniform_filter(
    input: Any,
    size: OneOrSeveral = 3,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.uniform_filter: uniform_filter1d() along each axis; size, mode and origin may be one per axis.

    >>> tunesmith.ndimage.uniform_filter([1.0, 4.0, 1.0, 1.0], size=3)
    array([2., 2., 2., 1.])
    """
    given = InputArray(input)
    found = axes_of(axes, len(given.shape))
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    settings = ((size, "size"), (mode, "mode"), (origin, "origin"))
    each = [
        one
        for one in zip(found, *(per_axis(value, len(found), name) for value, name in settings))
        if one[1] > 1
    ]
    if given.dtype.startswith(_whole) or wanted.startswith(_whole):
        result = given.object if each else given.library.copy(given.object)
        for axis, extent, edge, shift in each:
            result = uniform_filter1d(result, int(extent), axis, wanted, edge, cval, shift)
    else:
        lines = [
            _Line(axis, np.full(int(extent), 1.0 / int(extent)), edge, check_origin(shift, int(extent)))
            for axis, extent, edge, shift in each
        ]
        result = _sweep(given, lines, wanted, cval)
    return finish(given, result, output, wanted)


def _derivative(input, axis, output, mode, cval, smoothing: list[int]):
    given = InputArray(input)
    dimensions = len(given.shape)
    axis = _one_axis(axis, dimensions)
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    edges = per_axis(mode, dimensions, "mode")
    lines = [
        _Line(k, np.array([-1.0, 0, 1] if k == axis else smoothing), edges[k]) for k in range(dimensions)
    ]
    lines.sort(
        key=lambda line: line.axis != axis
    )  # SciPy's order, in which results between the lines are cut
    return finish(given, _sweep(given, lines, wanted, cval), output, wanted)


@typed.of_input
@recorded("input", "output")
def sobel(
    input: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
) -> Any:
    """scipy.ndimage.sobel: the differences [-1, 0, 1] along `axis`, smoothed by [1, 2, 1] along all others. Two dimensions take one launch; mode
    may be one per axis.

    >>> tunesmith.ndimage.sobel([1.0, 2.0, 4.0, 8.0])
    array([1., 3., 6., 4.])
    """
    return _derivative(input, axis, output, mode, cval, [1, 2, 1])


@typed.of_input
@recorded("input", "output")
def prewitt(
    input: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
) -> Any:
    """scipy.ndimage.prewitt: sobel() with the smoothing [1, 1, 1].

    >>> tunesmith.ndimage.prewitt([1.0, 2.0, 4.0, 8.0])
    array([1., 3., 6., 4.])
    """
    return _derivative(input, axis, output, mode, cval, [1, 1, 1])


@typed.of_input
@recorded("input", "output")
def laplace(
    input: Any,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.laplace: the sum of the second differences [1, -2, 1] along the axes. Those of the last two axes take one launch, whose mask has
    zeros at its corners: there a NaN has no effect, except on a GPU, as in correlate(). mode may be one per axis.

    >>> tunesmith.ndimage.laplace([1.0, 2.0, 4.0, 8.0])
    array([ 1.,  1.,  2., -4.])
    """
    given = InputArray(input)
    found = axes_of(axes, len(given.shape))
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    edges = per_axis(mode, len(found), "mode")
    terms = [[_Line(axis, np.array([1.0, -2, 1]), edge)] for axis, edge in zip(found, edges)]
    return finish(given, _sum_of(given, terms, wanted, cval), output, wanted)


def _gaussian_derivatives(
    given: InputArray, sigma, order: int, mode, axes, truncate, radius, wanted: str
) -> list[list[_Line]]:
    """A term for each axis: a Gaussian whose derivative of that order is taken along it. An axis's mode is that of all lines of its term, as in SciPy."""
    found = axes_of(axes, len(given.shape))
    widths = per_axis(sigma, len(found), "sigma")
    edges = per_axis(mode, len(found), "mode")
    return [
        _gaussian_lines(
            found, widths, [order * (axis == one) for one in found], edge, truncate, radius, wanted
        )
        for axis, edge in zip(found, edges)
    ]


@typed.of_input
@recorded("input", "output")
def gaussian_laplace(
    input: Any,
    sigma: float | Sequence[float],
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    *,
    axes: Axes = None,
    truncate: float = 4.0,
    radius: OneOrSeveral | None = None,
) -> Any:
    """scipy.ndimage.gaussian_laplace: the sum of a Gaussian's second derivatives along the axes. Two dimensions and a sigma up to 6 take one launch.

    sigma, mode, radius: may be one per axis; truncate and radius as in gaussian_filter1d().

    >>> tunesmith.ndimage.gaussian_laplace([0.0, 0.0, 1.0, 0.0, 0.0], sigma=1).round(3)
    array([ 0.197,  0.002, -0.399,  0.002,  0.197])
    """
    given = InputArray(input)
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    terms = _gaussian_derivatives(given, sigma, 2, mode, axes, truncate, radius, wanted)
    return finish(given, _sum_of(given, terms, wanted, cval), output, wanted)


@typed.of_input
@recorded("input", "output")
def gaussian_gradient_magnitude(
    input: Any,
    sigma: float | Sequence[float],
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    *,
    axes: Axes = None,
    truncate: float = 4.0,
    radius: OneOrSeveral | None = None,
) -> Any:
    """scipy.ndimage.gaussian_gradient_magnitude: the root of the sum of the squares of a Gaussian's derivatives along the axes. Parameters as in
    gaussian_laplace(). Two dimensions and a sigma up to 6 take one launch. Only `axes` are smoothed (SciPy 1.17 smooths along the others too).
    Squares of floats do not overflow.

    >>> tunesmith.ndimage.gaussian_gradient_magnitude([0.0, 0.0, 1.0, 1.0], sigma=1).round(3)
    array([0.108, 0.363, 0.363, 0.108])
    """
    given = InputArray(input)
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    terms = _gaussian_derivatives(given, sigma, 1, mode, axes, truncate, radius, wanted)
    checked_cval(given, cval)
    together = _bank(given, terms, wanted, cval, "norm") if len(terms) == 2 else None
    if together is not None:
        return finish(given, together.object, output, wanted)
    parts = [InputArray(_sweep(given, lines, wanted, cval)).to(wanted) for lines in terms]
    return finish(given, _magnitude(given, parts, wanted).object, output, wanted)


_hypot = vectorize("hypot(a, b)")


def _magnitude(given: InputArray, parts: list[InputArray], wanted: str) -> InputArray:
    """The root of the sum of the squares."""
    if not parts:
        return InputArray(given.library.copy(given.object))
    if len(parts) > 1 and wanted in ("float32", "float64", "float16", "bfloat16"):
        return functools.reduce(lambda sum, one: InputArray(_hypot(sum.object, one.object)), parts)
    squares = functools.reduce(added, (InputArray(one.object * one.object) for one in parts))
    real = (
        squares
        if wanted in _complex_parts or wanted.startswith(("float", "bfloat"))
        else squares.to("float64")
    )
    return InputArray(real.library.module().sqrt(real.object))


def _each_axis(
    input, function, output, mode, cval, arguments, keywords, axes
) -> tuple[InputArray, list[InputArray], Any, str]:
    """The results of `function` along each axis, in the output's type: it is called as SciPy calls it, first with an array to write to."""
    given = InputArray(input)
    found = axes_of(axes, len(given.shape))
    output, wanted = output_type(given, output)
    parts: list[InputArray] = []
    for axis, edge in zip(found, per_axis(mode, len(found), "mode")):
        into = given.empty(given.shape, wanted).object
        one = function(
            given.object,
            axis,
            parts[0].object.dtype if parts else into,
            edge,
            cval,
            *arguments,
            **(keywords or {}),
        )
        parts.append(InputArray(into if one is None else one, given).to(wanted))
    return given, parts, output, wanted


@typed.of_input
def generic_laplace(
    input: Any,
    derivative2: Callable[..., Any],
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.generic_laplace: the sum over the axes of derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords).

    derivative2: a function of Python, which may call others of this module. It is called with an array as output for the first axis, with an element type
    for all others, and returns its result.

    >>> tunesmith.ndimage.generic_laplace([1.0, 2.0, 4.0, 8.0], tunesmith.ndimage.sobel)
    array([1., 3., 6., 4.])
    """
    given, parts, output, wanted = _each_axis(
        input, derivative2, output, mode, cval, extra_arguments, extra_keywords, axes
    )
    result = functools.reduce(added, parts).object if parts else given.library.copy(given.object)
    return finish(given, result, output, wanted)


@typed.of_input
def generic_gradient_magnitude(
    input: Any,
    derivative: Callable[..., Any],
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    extra_arguments: Sequence[Any] = (),
    extra_keywords: Mapping[str, Any] | None = None,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.generic_gradient_magnitude: the root of the sum of the squares of the results of `derivative` along each axis; see
    generic_laplace().

    >>> tunesmith.ndimage.generic_gradient_magnitude([1.0, 2.0, 4.0, 8.0], tunesmith.ndimage.sobel)
    array([1., 3., 6., 4.])
    """
    given, parts, output, wanted = _each_axis(
        input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes
    )
    return finish(given, _magnitude(given, parts, wanted).object, output, wanted)
