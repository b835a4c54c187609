"""NumPy's words: sum, mean, min, max, transpose, convolve, correlate, histogram, bincount; and conv_covariance."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import sys
import warnings

import numpy as np

from ._arrays import Given, launch, recorded

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
        one = operator.index(one)
        if not -dimensions <= one < dimensions:
            raise np.exceptions.AxisError(one, dimensions)
        found.append(one % dimensions)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found))


def _finish(value: Given, out):
    """What a call returns: the value, or `out` with it."""
    if out is None:
        return value.library.result(value.object)
    into = Given(out)
    if into.shape != value.shape:
        raise ValueError(f"out= has the shape {into.shape}; the result has {value.shape}.")
    if into.array.readonly:
        raise ValueError("out= is read-only.")
    if into.array.kind != value.array.kind and "other" not in (into.array.kind, value.array.kind):
        raise TypeError(f"out= is an array of {into.array.kind}; the result is one of {value.array.kind}.")
    value.library.assign(out, value.to(into.dtype).object)
    return out


def _usable(out, shape, dtype: str, like: Given) -> Given | None:
    """`out`, if the result can be written there at once."""
    if out is None:
        return None
    into = Given(out)
    fits = into.shape == tuple(shape) and into.dtype == dtype and into.array.device == like.array.device
    return into if fits and into.array.contiguous and not into.array.readonly and into.array.kind != "jax" else None


def _by_strides(given: Given) -> Given:
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
        return Given(given.object.transpose(order).reshape(array.size))
    if array.kind == "torch":
        return Given(given.object.permute(order).reshape(array.size))
    return given.contiguous().reshaped((array.size,))


# How an element type that the op does not have is computed: as this type; and the type of a sum, a mean and an extreme.
_reduce_types = {
    "bool": ("int32", "int64", "float64", "bool"),
    "int8": ("int32", "int64", "float64", "int8"),
    "int16": ("int32", "int64", "float64", "int16"),
    "int32": ("int32", "int64", "float64", "int32"),
    "int64": ("int64", "int64", "float64", "int64"),
    "uint8": ("int32", "uint64", "float64", "uint8"),
    "uint16": ("int32", "uint64", "float64", "uint16"),
    "uint32": ("int64", "uint64", "float64", "uint32"),
    "uint64": ("int64", "uint64", None, None),
    "float16": ("float32", "float16", "float16", "float16"),
    "bfloat16": ("float32", "bfloat16", "bfloat16", "bfloat16"),
    "float32": ("float32", "float32", "float32", "float32"),
    "float64": ("float64", "float64", "float64", "float64"),
}
_reduce_column = {"sum": 1, "mean": 2, "min": 3, "max": 3}


def _reduce_block(given: Given, first: int, last: int, function: str, into: Given | None) -> Given:
    """Axes `first` to `last` of a contiguous array of one of the op's types."""
    shape = given.shape
    outer, length, inner = _product(shape[:first]), _product(shape[first : last + 1]), _product(shape[last + 1 :])
    if given.dtype in ("int32", "int64"):
        dtype = {"sum": "int64", "mean": "float64"}.get(function, given.dtype)
    else:
        dtype = given.dtype
    result = into or given.empty(shape[:first] + shape[last + 1 :], dtype)
    if result.array.size:
        problem = (
            ("outer", outer),
            ("length", length),
            ("inner", inner),
            ("function", function),
            ("dtype", _short[given.dtype]),
        )
        launch("reduce", (given, result), problem)
    return result


def _reduce(function: str, a, axis, dtype, out, keepdims: bool):
    given = Given(a)
    axes = _axes(axis, len(given.shape))
    if dtype is not None:
        given = given.to(np.dtype(dtype).name if not isinstance(dtype, str) else dtype)
    kept = tuple(1 if k in axes else extent for k, extent in enumerate(given.shape))
    shape = kept if keepdims else tuple(extent for k, extent in enumerate(given.shape) if k not in axes)
    if function in ("min", "max") and _product(shape) > 0 and given.array.size == 0:
        raise ValueError(f"zero-size array to reduction operation {function} which has no identity")

    if function == "mean" and given.array.size == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
    complex_dtype = given.dtype if given.dtype in _complex_parts else None
    if complex_dtype:
        if function in ("min", "max"):
            raise TypeError(f"{function} of complex numbers is not defined here; take that of their parts.")
        given = given.contiguous()
        parts = given.reshaped((*given.shape, 1)).viewed(_complex_parts[complex_dtype])
        summed = Given(_reduce(function, parts.object, axes, None, None, False))
        return _finish(summed.contiguous().viewed(complex_dtype).reshaped(shape), out)

    if given.dtype not in _reduce_types:
        raise TypeError(f"{function} of {given.dtype} is not possible; allowed are {', '.join(_reduce_types)}.")
    computed = _reduce_types[given.dtype][0]
    wanted = _reduce_types[given.dtype][_reduce_column[function]]
    if dtype is not None and function == "sum":
        wanted = given.dtype
    if wanted is None:
        raise TypeError(f"{function} of {given.dtype} is not possible; convert it to int64 or float64 first.")
    if not axes:
        length_one = given.reshaped((*given.shape, 1))
        return _finish(Given(_reduce(function, length_one.object, -1, dtype, None, False)), out)
    if given.dtype == "uint64":
        given = given.contiguous().viewed("int64")
    given = given.to(computed)
    if len(axes) == len(given.shape):
        given = _by_strides(given)
        blocks = [(0, 0)]
    else:
        given = given.contiguous()
        blocks = []
        for k in axes:
            if blocks and blocks[-1][1] == k - 1:
                blocks[-1] = (blocks[-1][0], k)
            else:
                blocks.append((k, k))
    if function == "mean" and len(blocks) > 1 and given.dtype in ("int32", "int64"):
        given = given.to("float64")  # the mean of means of groups of one size
    for number, (first, last) in enumerate(reversed(blocks)):
        is_last = number == len(blocks) - 1
        into = _usable(out, shape, wanted, given) if is_last and not keepdims else None
        if function == "mean" and given.dtype in ("int32", "int64") and wanted != "float64":
            into = None
        given = _reduce_block(given, first, last, function, into)
    if given.dtype == "int64" and wanted == "uint64":
        given = given.contiguous().viewed("uint64")
    given = given.to(wanted)
    if out is not None and given.object is out:
        return out
    return _finish(given if given.shape == shape else given.reshaped(shape), out)


@recorded()
def sum(a, axis=None, dtype=None, out=None, keepdims=False):  # noqa: A001
    """numpy.sum: the sum of the elements of `a`, over all or the given axes.

    a: any array; float32, float64, int32 and int64 are read as they lie, other types are converted first (in a copy):
    booleans and smaller integers to int32, uint32 to int64, float16 and bfloat16 to float32, complex numbers to
    their parts. An array that is not C-contiguous is copied, unless all of it is summed.
    axis: an integer or several; None: all. dtype: converts `a` first. out: an array of the result's shape.
    Returns an array of the caller's own kind, on the same device. Integers give int64 or uint64 and wrap. A real sum's error
    is at most 8 u sum|a|, u = 2**-24 or 2**-53.
    Raises TypeError for types and numpy.exceptions.AxisError or ValueError for axes that cannot be.
    """
    return _reduce("sum", a, axis, dtype, out, keepdims)


@recorded()
def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """numpy.mean: the sum divided by the number of elements; of integers as float64. The mean of nothing is NaN. See sum()."""
    return _reduce("mean", a, axis, dtype, out, keepdims)


@recorded()
def min(a, axis=None, out=None, keepdims=False):  # noqa: A001
    """numpy.min: the least element; NaN where there is one. Raises ValueError for no elements. See sum()."""
    return _reduce("min", a, axis, None, out, keepdims)


@recorded()
def max(a, axis=None, out=None, keepdims=False):  # noqa: A001
    """numpy.max: the greatest element; NaN where there is one. Raises ValueError for no elements. See sum()."""
    return _reduce("max", a, axis, None, out, keepdims)


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


@recorded()
def transpose(a, axes=None, out=None):
    """numpy.transpose, as a copy: a C-contiguous array whose k-th axis is axes[k] of `a`; None: all axes in reverse.

    Elements of 1, 2, 4, 8 and 16 bytes, copied bit by bit. One launch where the order exchanges two groups of
    neighbouring axes (every matrix, every batch of matrices, images from channels-first to channels-last) or where elements have
    4 or 8 bytes and at most six groups are left; other orders are copied by the array's own library.
    out: a C-contiguous array of that shape and type. Raises ValueError for axes that are no permutation.
    """
    given = Given(a)
    dimensions = len(given.shape)
    order = tuple(reversed(range(dimensions))) if axes is None else tuple(operator.index(k) for k in axes)
    if sorted(k % dimensions if -dimensions <= k < dimensions else k for k in order) != list(range(dimensions)):
        raise ValueError("axes don't match array")
    order = tuple(k % dimensions for k in order)
    shape = tuple(given.shape[k] for k in order)
    result = _usable(out, shape, given.dtype, given) or given.empty(shape, given.dtype)
    if given.array.size and not _permute(given, order, result):
        library = given.library
        moved = given.object.permute(order) if given.array.kind == "torch" else given.object.transpose(order)
        library.assign(result.object, moved)
    if out is not None and result.object is out:
        return out
    return _finish(result, out)


def _permute(given: Given, order, result: Given) -> bool:
    array = given.array
    if any(stride < 0 for stride in array.strides):
        return False
    groups = _merged((array.shape[k] for k in order), (array.strides[k] for k in order))
    item = array.itemsize
    if groups and groups[-1][1] == 1 and groups[-1][0] * item in (2, 4, 8, 16):
        width = groups[-1][0]  # a pixel's channels move together
        if all(stride % width == 0 for _, stride in groups[:-1]):
            groups = [[extent, stride // width] for extent, stride in groups[:-1]]
            item *= width
    if not groups or (len(groups) == 1 and groups[0][1] == 1):
        groups = [[groups[0][0] if groups else 1, 1], [1, 1]]
    if len(groups) == 1:
        groups = [[1, 1], *groups]
    if len(groups) == 2:
        groups = [[1, groups[1][0] * groups[1][1]], *groups]
    if len(groups) == 3 and groups[1][1] == 1 and item in (1, 2, 4, 8, 16):
        (batch, batch_stride), (width, _), (height, pitch) = groups
        if (height == 1 or pitch == width) and (batch == 1 or batch_stride == height * width):
            problem = (("batch", batch), ("height", height), ("width", width), ("dtype", f"b{8 * item}"))
            launch("transpose", (given, result), problem)
            return True
    if item in (4, 8) and len(groups) <= 6:
        name = "int32" if item == 4 else "int64"
        extents = "x".join(str(extent) for extent, _ in groups)
        strides = "x".join(str(stride) for _, stride in groups)
        problem = (("function", "a"), ("dtype", _short[name]), ("shape", extents), ("a", f"{extents}:{strides}"))
        launch("elementwise", (given, None, None, None, None, None, result), problem)
        return True
    return False


def _line(value, name: str, like: Given | None = None) -> Given:
    given = Given(value, like)
    if len(given.shape) == 0:
        given = given.reshaped((1,))
    if len(given.shape) > 1:
        raise ValueError(f"{name} has {len(given.shape)} dimensions; it must have one. object too deep for desired array")
    if given.array.size == 0:
        raise ValueError(f"{name} cannot be empty")
    return given


def _computed_as(*types: str) -> tuple[str, str]:
    """The type that an op computes in, and the type of the result, as NumPy promotes them."""
    if "bfloat16" in types:
        return "float32", "bfloat16"
    wanted = np.result_type(*(np.dtype(one) for one in types)).name
    if wanted in ("float32", "float64"):
        return wanted, wanted
    if wanted == "float16":
        return "float32", wanted
    return "float64", wanted


def _modes(mode) -> str:
    words = ("valid", "same", "full")
    if mode in words:
        return mode
    if mode is None:
        raise TypeError("mode is None; it must be one of 'valid', 'same', or 'full'")
    if isinstance(mode, int) and 0 <= mode <= 2:
        return words[mode]
    raise ValueError(f"mode is {mode!r}; it must be one of 'valid', 'same', or 'full'")


def _conv1d(a, v, mode, function: str):
    signal = _line(a, "a")
    kernel = _line(v, "v", signal)
    if signal.array.kind == "numpy" and kernel.array.kind != "numpy":
        signal = _line(a, "a", kernel)
    mode = _modes(mode)
    if signal.dtype in _complex_parts or kernel.dtype in _complex_parts:
        return _complex_conv1d(signal.numpy(), kernel.numpy(), mode, function, signal)
    computed, wanted = _computed_as(signal.dtype, kernel.dtype)
    signal, kernel = signal.to(computed).contiguous(), kernel.to(computed).contiguous()
    n, k = signal.array.size, kernel.array.size
    length = {"full": n + k - 1, "same": n if n > k else k, "valid": abs(n - k) + 1}[mode]
    result = signal.empty((length,), computed)
    problem = (("length", n), ("taps", k), ("function", function), ("mode", mode), ("dtype", _short[computed]))
    launch("conv1d", (signal, kernel, result), problem)
    return result.to(wanted).object


def _complex_conv1d(signal, kernel, mode, function, like: Given):
    if function == "correlate":
        kernel = np.conj(kernel)

    def part(x, y):
        return _conv1d(np.ascontiguousarray(x), np.ascontiguousarray(y), mode, function)

    real = part(signal.real, kernel.real) - part(signal.imag, kernel.imag)
    imaginary = part(signal.real, kernel.imag) + part(signal.imag, kernel.real)
    both = (real + 1j * imaginary).astype(np.result_type(signal, kernel))
    return like.library.of_numpy(both, like.object)


@recorded()
def convolve(a, v, mode="full"):
    """numpy.convolve: the convolution of two one-dimensional arrays; mode is 'full', 'same' or 'valid'.

    float32 and float64 are computed as they are, float16 and bfloat16 in float32, integers in float64 (exact below 2**53)
    and converted back, complex numbers by parts. Lists, and a NumPy array beside a GPU's, are copied to the other's
    device. An output's error is at most (n + 1) u sum|a v|. Raises ValueError for empty arrays or an unknown mode.
    """
    return _conv1d(a, v, mode, "convolve")


@recorded()
def correlate(a, v, mode="valid"):
    """numpy.correlate: the cross-correlation of two one-dimensional arrays, `v` conjugated. See convolve()."""
    return _conv1d(a, v, mode, "correlate")


_most_bins = 65536


@recorded()
def _counted(a, bins: int, function: str, lo: float = 0.0, hi: float = 1.0):
    given = Given(a)
    counts = given.empty((bins,), "int64")
    problem = (("function", function), ("length", given.array.size), ("bins", bins), ("dtype", _short[given.dtype]))
    launch("histogram", (given, counts), problem, (lo, hi) if function == "histogram" else ())
    return counts.object


@functools.lru_cache(maxsize=256)
def _edges(lo: float, hi: float, count: int, dtype) -> np.ndarray:
    return np.linspace(lo, hi, count + 1, dtype=dtype)


def _least_and_most(given: Given) -> list:
    """Both are under way before the first is waited for."""
    found = [one(given.object) for one in (min, max)]
    return [Given(one).numpy() for one in found]


def _check_bins(bins: int) -> None:
    if bins > _most_bins:
        raise ValueError(f"{bins} bins were asked for; at most {_most_bins} are counted.")


def histogram(a, bins=10, range=None, density=None, weights=None):  # noqa: A002
    """numpy.histogram: counts of the values of `a` in bins of equal width, and the edges of the bins.

    a: float32, float64, int32, int64 and uint8 are counted as they are, other integers as int32 or int64, float16 and bfloat16 as
    float32 (NumPy has edges of float16 for them). bins: their number, at most 65536; edges of equal width, as numpy.linspace makes them; or the name of
    a rule of numpy.histogram_bin_edges, which then looks at a copy in ordinary memory. range: the limits;
    None: the least and the greatest value, which takes two more launches and waits for them. density: divides by the number and the width.
    weights, and bins of unequal width, are counted by the array's own library: NumPy, CuPy, or operators of PyTorch (TypeError for others).
    Returns (counts, edges): counts of int64 of the caller's kind, edges as NumPy array. Every value is in the bin in which NumPy
    has it with the limits as Python's floats: numpy.histogram(a, bins, (float(lo), float(hi))). (With limits of NumPy's types, and with those
    that it finds itself, NumPy computes the edges in these types, so that one may lie a unit in the last place elsewhere.)
    """
    given = Given(a)
    if weights is not None:
        return _histogram_of_library(given, bins, range, density, weights)
    if given.dtype == "bool":
        warnings.warn(f"Converting input from {given.dtype} to {np.uint8} for compatibility.", RuntimeWarning, stacklevel=2)
    if isinstance(bins, str):
        bins = np.histogram_bin_edges(given.numpy(), bins, range)
    given = _by_strides(given)
    given = _countable(given, ("float32", "float64", "int32", "int64", "uint8"))
    edges_type = np.float32 if given.dtype == "float32" else np.float64
    edges = None
    if np.ndim(bins) == 1:
        edges = Given(bins).numpy()
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        count = edges.size - 1
        lo, hi = float(edges[0]), float(edges[-1])
        if count < 1 or not np.array_equal(edges, np.linspace(lo, hi, count + 1)):
            return _histogram_of_library(Given(a), edges, range, density, None)
    else:
        if np.ndim(bins) != 0:
            raise ValueError("`bins` must be 1d, when an array")
        count = operator.index(bins)
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        if range is not None:
            lo, hi = (float(limit) for limit in range)
            if lo > hi:
                raise ValueError("max must be larger than min in range parameter.")
        elif given.array.size == 0:
            lo, hi = 0.0, 1.0
        else:
            lo, hi = (float(limit) for limit in _least_and_most(given.to("int32") if given.dtype == "uint8" else given))
        if not (math.isfinite(lo) and math.isfinite(hi)):
            which = "supplied" if range is not None else "autodetected"
            raise ValueError(f"{which} range of [{lo}, {hi}] is not finite")
        if lo == hi:
            lo, hi = lo - 0.5, hi + 0.5
        edges = _edges(lo, hi, count, edges_type).copy()
    _check_bins(count)
    try:
        counts = _counted(given.object, count, "histogram", lo, hi)
    except ValueError as error:
        if "too few" not in str(error):
            raise
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins. {error}") from None
    if density:
        numbers = Given(counts).numpy()
        return given.library.of_numpy(numbers / np.diff(edges) / numbers.sum(), given.object), edges
    return counts, edges


def _histogram_of_library(given: Given, bins, limits, density, weights):
    """What the kernels do not count: weights, and bins of unequal width."""
    kind = given.array.kind
    if kind in ("numpy", "other"):
        return np.histogram(given.numpy(), bins, limits, density, weights)
    if kind == "cupy":
        library, like = sys.modules["cupy"], given.object
        edges = bins if np.ndim(bins) == 0 else library.asarray(Given(bins, given).object)
        weights = None if weights is None else Given(weights, given).object
        counts, edges = library.histogram(like, edges, limits, weights, density)
        return counts, edges.get()
    if kind != "torch":
        raise TypeError(f"Weights and bins of unequal width are counted by the array's own library, and {kind} has no such function; give an array of CuPy or PyTorch.")
    torch, x = sys.modules["torch"], given.object.reshape(-1)
    if np.ndim(bins) == 1:
        edges = Given(bins).numpy()
    else:
        ends = [float(x.min()), float(x.max())] if limits is None else []
        edges = np.histogram_bin_edges(np.array(ends, np.float32 if given.dtype == "float32" else np.float64), operator.index(bins), limits)
    there = torch.as_tensor(edges, device=x.device)
    x = x.to(there.dtype)
    place = torch.searchsorted(there, x, right=True) - 1
    place = torch.where(x == there[-1], len(edges) - 2, place)
    inside = (place >= 0) & (place < len(edges) - 1)
    if weights is not None:
        weights = Given(weights, given).object.reshape(-1)
        if weights.shape != x.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights[inside]
    counts = torch.bincount(place[inside], weights=weights, minlength=len(edges) - 1)
    if density:
        counts = counts / torch.as_tensor(np.diff(edges), device=x.device) / counts.sum()
    return counts, edges


_countable_as = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "float16": "float32",
    "bfloat16": "float32",
}


def _countable(given: Given, allowed) -> Given:
    if given.dtype in allowed:
        return given
    if given.dtype == "uint64":
        return given.viewed("int64")  # what is too large becomes negative
    target = _countable_as.get(given.dtype)
    if target in allowed:
        return given.to(target)
    raise TypeError(f"Values of {given.dtype} cannot be counted; convert them to one of {', '.join(allowed)}.")


def bincount(x, weights=None, minlength=0):
    """numpy.bincount: counts[i] is how often i is in `x`, for i up to the greatest value, and at least minlength of them.

    x: one-dimensional; uint8 and int32 are counted as they are, other integers in a copy of int32. At most 65536
    counts. weights are added up by the array's own library: NumPy, CuPy or PyTorch (TypeError for others). The greatest value takes two more launches, which are waited for; of uint8 it is
    looked for in the counts, unless minlength is at least 256.
    Raises ValueError for negative values or too many counts, TypeError for values that are no integers.
    """
    given = Given(x)
    if weights is not None:
        if given.array.kind in ("numpy", "other"):
            return np.bincount(given.numpy(), weights, minlength)
        if given.array.kind not in ("cupy", "torch"):
            raise TypeError(f"weights= is added up by the array's own library, and {given.array.kind} has no such function; give an array of CuPy or PyTorch.")
        library = sys.modules[given.array.kind]
        return library.bincount(given.object, weights=Given(weights, given).object, minlength=minlength)
    if len(given.shape) != 1:
        raise ValueError("object too deep for desired array" if len(given.shape) > 1 else "object of too small depth for desired array")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if given.array.size == 0 and given.dtype == "float64":
        given = given.to("int32")  # an empty list
    if given.dtype.startswith(("float", "complex", "bfloat")):
        raise TypeError(f"Cannot cast array data from dtype('{given.dtype}') to dtype('int64') according to the rule 'safe'")
    given = _countable(given.contiguous(), ("int32", "int64", "uint8"))
    count = minlength
    if given.dtype == "uint8" and given.array.size:
        _check_bins(minlength)
        counts = _counted(given.object, builtins.max(minlength, 256), "bincount")
        if minlength >= 256:
            return counts
        return counts[: builtins.max(minlength, int(np.flatnonzero(Given(counts).numpy())[-1]) + 1)]
    if given.array.size:
        least, most = (int(one) for one in _least_and_most(given))
        if least < 0:
            raise ValueError("'list' argument must have no negative elements")
        count = most + 1 if most + 1 > minlength else minlength
    _check_bins(count)
    if given.dtype == "int64":
        given = given.to("int32")  # none is too large now
    if count == 0:
        return given.empty((0,), "int64").object
    return _counted(given.object, count, "bincount")


def conv_covariance(input, gamma, mu, c):  # noqa: A002
    """Adds to `input`, in place, what a two-dimensional convolution adds to the covariance of its output.

    With n, o, i and h x w for batch, output and input channels and an image's size, and (h - p + 1) x (w - q + 1) for
    that of the output:
      input: [n, o, h - p + 1, w - q + 1, o, h - p + 1, w - q + 1]; gamma: [n, i, h, w, i, h, w]; mu: [n, i, h, w]; c: [o]
    input[n, o, x, y, o, x', y'] += c[o] * sum over i, k < p, l < q of
        mu[n, i, x + k, y + l] * mu[n, i, x' + k, y' + l] + gamma[n, i, x + k, y + l, i, x' + k, y' + l]
    All four are C-contiguous and of one type: float32, float64 or float16. Returns `input`. Raises ValueError for shapes,
    TypeError for types that do not agree.
    """
    target = Given(input)
    others = [Given(one, target) for one in (gamma, mu, c)]
    types = {target.dtype, *(one.dtype for one in others)}
    if len(types) != 1 or target.dtype not in ("float32", "float64", "float16"):
        raise TypeError(f"conv_covariance was given {', '.join(sorted(types))}; all four arrays have one of float32, float64, float16.")
    covariance, means, factors = others
    if len(target.shape) != 7 or len(covariance.shape) != 7 or len(means.shape) != 4 or len(factors.shape) != 1:
        raise ValueError("conv_covariance takes input and gamma of 7 dimensions, mu of 4 and c of 1.")
    n, i, h, w = means.shape
    o, rows, columns = factors.shape[0], target.shape[2], target.shape[3]
    if target.shape != (n, o, rows, columns, o, rows, columns) or covariance.shape != (n, i, h, w, i, h, w):
        raise ValueError(
            f"conv_covariance was given input {target.shape}, gamma {covariance.shape}, mu {means.shape} and c "
            f"{factors.shape}, which do not agree; see its docstring."
        )
    problem = (
        ("batch", n),
        ("channels_out", o),
        ("channels_in", i),
        ("height", h),
        ("width", w),
        ("mask_height", h - rows + 1),
        ("mask_width", w - columns + 1),
        ("dtype", _short[target.dtype]),
    )
    if not target.array.contiguous or target.array.readonly:
        raise ValueError("conv_covariance works in place, so input must be C-contiguous and may not be read-only.")
    launch("conv_covariance", (target, *(one.contiguous() for one in others)), problem)
    return input
