"""Filters of images, with the signatures of scipy.ndimage.

Arrays of any number of dimensions; those of one and two take one launch, so do those of more whose mask is 1 along the leading
axes; else there is a launch for each place of the mask along these. All boundary modes, origins and axes.

Types: float32, float16 and bfloat16 are summed in float32 (SciPy: float64), float64 and integers as SciPy does it, and cut to the
output's type as there. With output=numpy.float32 (or any real type of 16 or 32 bits) images of uint8, uint16 and int16 are read as
they lie and summed in float32, which is fastest. Complex images and masks are computed by parts, in ordinary memory.

NaN and infinity: correlate() and convolve() leave out weights of 0 (of at most 2**-52), as SciPy does, so that a NaN under one has no effect; the
functions along one axis multiply by all weights, as SciPy's do (whose uniform_filter1d() carries a NaN on to the end of its line; here it is in the
windows that it lies in). On a GPU all weights count, since looking at the result would mean to wait for it.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

import numpy as np

from ._arrays import InputArray, index, recorded
from ._filters import boundary_word, by_parts, filter_all, filter_as_scipy, finish, image_and_sums, number_of, output_type, zeros
from ._results import Axes, _complex_parts

OneOrSeveral = Union[SupportsIndex, Sequence[SupportsIndex]]

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "uniform_filter",
    "uniform_filter1d",
]


def _weights(weights) -> np.ndarray | InputArray:
    """In ordinary memory, so that the function knows them; real ones on a GPU stay there."""
    given = InputArray(weights)
    if given.array.device >= 0 and given.dtype in ("float32", "float64"):
        return given
    found = given.numpy()
    return found.astype(np.complex128 if np.iscomplexobj(found) else np.float64)


def _shaped(weights: np.ndarray | InputArray, shape) -> np.ndarray | InputArray:
    return weights.reshaped(shape) if isinstance(weights, InputArray) else weights.reshape(shape)


def _per_axis(value, count: int, name: str) -> list:
    """A value for each axis, of one or several."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError(f"sequence argument must have length equal to input rank: {name} has {len(values)}, not {count}")
    return values


def _axes(axes, dimensions: int) -> tuple[int, ...]:
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


def _check_origin(origin: int, extent: int) -> int:
    origin = index(origin)
    if not -(extent // 2) <= origin <= (extent - 1) // 2:
        raise ValueError(
            "Invalid origin; origin must satisfy -(weights.shape[k] // 2) <= origin[k] <= (weights.shape[k]-1) // 2; "
            f"it is {origin}, and the mask has {extent}."
        )
    return origin


def _checked_cval(given: InputArray, cval):
    cval = number_of(cval)
    if given.dtype not in _complex_parts and np.iscomplexobj(cval):
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")
    return cval


def _filter(input, weights: np.ndarray | InputArray, output, mode: str, cval, origins, word: str, function=filter_all):  # noqa: A002
    given = InputArray(input)
    is_complex = given.dtype in _complex_parts or np.iscomplexobj(weights)
    if is_complex and isinstance(weights, InputArray):
        weights = weights.numpy()
    output, wanted = output_type(given, output, is_complex=is_complex)
    boundary = boundary_word(mode)

    def real(image: InputArray, mask, value, kind: str):
        image, sums = image_and_sums(image, mask, kind)
        return function(image, mask, mode=word, boundary=boundary, value=value, origins=origins, sums=sums)

    cval = _checked_cval(given, cval)
    if is_complex:
        result = by_parts(real, given, weights.conj() if word == "correlation" else weights, cval, wanted)
    else:
        result = real(given, weights, float(np.real(cval)), wanted)
    return finish(given, result, output, wanted)


def _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, word):  # noqa: A002
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    given = InputArray(input)
    weights = _weights(weights)
    dimensions = len(given.shape)
    found = _axes(axes, dimensions)
    if len(weights.shape) != len(found):
        raise RuntimeError(f"weights.ndim ({len(weights.shape)}) must match len(axes) ({len(found)}). filter weights array has incorrect shape.")
    if dimensions == 0:
        raise RuntimeError("filter weights array has incorrect shape: an image has at least one dimension.")
    if 0 in weights.shape:
        return finish(given, zeros(given), *output_type(given, output))
    origins = [0] * dimensions
    extents = [1] * dimensions
    for axis, extent in zip(sorted(found), weights.shape):  # whatever the order of axes, as SciPy has it
        extents[axis] = extent
    for axis, one in zip(found, _per_axis(origin, len(found), "origin")):
        origins[axis] = _check_origin(one, extents[axis])
    mask = _shaped(weights, extents)
    return _filter(given.object, mask, output, mode, cval, origins, word, filter_as_scipy)


_recorded_with_weights = recorded("input", "output", by_content=("weights",))


@_recorded_with_weights
def correlate(
    input: Any,  # noqa: A002
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
    """
    return _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, "correlation")


@_recorded_with_weights
def convolve(
    input: Any,  # noqa: A002
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.convolve: correlate() with the mask turned around in each direction; parameters, types and errors as there."""
    return _correlate_or_convolve(input, weights, output, mode, cval, origin, axes, "convolution")


def _along(input, weights: np.ndarray | InputArray, axis: int, output, mode, cval, origin: int, word: str):  # noqa: A002
    """A mask of one dimension along an axis: rows where it is the last, else columns."""
    given = InputArray(input)
    shape = given.shape
    axis = index(axis)
    if not -len(shape) <= axis < len(shape):
        raise np.exceptions.AxisError(axis, len(shape))
    axis %= len(shape)
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
    result = InputArray(_filter(image.object, mask, wanted, mode, cval, origins, word)).reshaped(shape).object
    return finish(given, result, output, wanted)


def _line(input, weights, cval) -> np.ndarray | InputArray:  # noqa: A002
    _checked_cval(InputArray(input), cval)
    weights = _weights(weights)
    if len(weights.shape) != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return weights


@_recorded_with_weights
def correlate1d(
    input: Any,  # noqa: A002
    weights: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.correlate1d: correlate() with a mask of one dimension along `axis`, the last by default.

    weights: an array or list of one dimension. origin: an integer. All else as of correlate().
    Returns an array of the caller's kind and shape. Raises RuntimeError for weights and modes, ValueError for origins and
    numpy.exceptions.AxisError for axes.
    """
    weights = _line(input, weights, cval)
    return _along(input, weights, axis, output, mode, cval, _check_origin(origin, weights.shape[0]), "correlation")


@_recorded_with_weights
def convolve1d(
    input: Any,  # noqa: A002
    weights: Any,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.convolve1d: correlate1d() with the mask turned around; parameters, types and errors as there."""
    weights = _line(input, weights, cval)
    # As SciPy checks it: of the turned mask.
    extent = weights.shape[0]
    turned = -index(origin) - (1 if extent % 2 == 0 else 0)
    if not -(extent // 2) <= turned <= (extent - 1) // 2:
        raise ValueError(
            "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2; "
            f"it is {origin}, and the mask has {extent}."
        )
    if isinstance(weights, InputArray):
        weights = weights.numpy()
    return _along(input, weights[::-1].conj(), axis, output, mode, cval, turned, "correlation")


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


@recorded("input", "output")
def gaussian_filter1d(
    input: Any,  # noqa: A002
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
    `order`; cut at truncate standard deviations, or at `radius` elements."""
    sigma = float(sigma)
    if order < 0 or order != int(order):
        raise ValueError(f"order must be non-negative and whole; it is {order!r}.")
    order = int(order)
    reach = int(float(truncate) * sigma + 0.5) if radius is None else radius
    if not isinstance(reach, numbers.Integral) or reach < 0:
        raise ValueError(f"Radius must be a nonnegative integer; it is {reach!r}.")
    weights = _gaussian(sigma, order, reach)[::-1].copy()
    return correlate1d(input, weights, axis, output, mode, cval, 0)


@recorded("input", "output")
def gaussian_filter(
    input: Any,  # noqa: A002
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
    """scipy.ndimage.gaussian_filter: gaussian_filter1d() along each axis; sigma, order, mode and radius may be one per axis."""
    given = InputArray(input)
    found = _axes(axes, len(given.shape))
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    each = zip(
        found,
        _per_axis(sigma, len(found), "sigma"),
        _per_axis(order, len(found), "order"),
        _per_axis(mode, len(found), "mode"),
        _per_axis(radius, len(found), "radius"),
    )
    result = given.object
    done = False
    for axis, width, derivative, boundary, reach in each:
        if width > 1e-15:
            result = gaussian_filter1d(result, width, axis, derivative, wanted, boundary, cval, truncate, radius=reach)
            done = True
    return finish(given, result if done else given.library.copy(result), output, wanted)


@recorded("input", "output")
def uniform_filter1d(
    input: Any,  # noqa: A002
    size: SupportsIndex,
    axis: SupportsIndex = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: complex = 0.0,
    origin: SupportsIndex = 0,
) -> Any:
    """scipy.ndimage.uniform_filter1d: the mean of `size` elements along `axis`; integers are summed exactly in float64 and divided once.

    output, mode, cval and origin as of correlate1d(). Raises RuntimeError for a size below 1, ValueError for origins.
    """
    size = index(size)
    if size < 1:
        raise RuntimeError("incorrect filter size")
    origin = index(origin)
    if not 0 <= size // 2 + origin < size:
        raise ValueError("invalid origin")
    given = InputArray(input)
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    if given.dtype.startswith(("int", "uint", "bool")):  # exact sums, one division, as SciPy's
        result = _along(given.object, np.ones(size), axis, "float64", mode, cval, origin, "correlation") / size
    else:
        result = _along(given.object, np.full(size, 1.0 / size), axis, wanted, mode, cval, origin, "correlation")
    return finish(given, result, output, wanted)


@recorded("input", "output")
def uniform_filter(
    input: Any,  # noqa: A002
    size: OneOrSeveral = 3,
    output: Any = None,
    mode: str | Sequence[str] = "reflect",
    cval: complex = 0.0,
    origin: OneOrSeveral = 0,
    *,
    axes: Axes = None,
) -> Any:
    """scipy.ndimage.uniform_filter: uniform_filter1d() along each axis; size, mode and origin may be one per axis."""
    given = InputArray(input)
    found = _axes(axes, len(given.shape))
    output, wanted = output_type(given, output, is_complex=given.dtype in _complex_parts)
    each = zip(
        found,
        _per_axis(size, len(found), "size"),
        _per_axis(origin, len(found), "origin"),
        _per_axis(mode, len(found), "mode"),
    )
    result = given.object
    done = False
    for axis, extent, shift, boundary in each:
        if extent > 1:
            result = uniform_filter1d(result, int(extent), axis, wanted, boundary, cval, shift)
            done = True
    return finish(given, result if done else given.library.copy(result), output, wanted)
