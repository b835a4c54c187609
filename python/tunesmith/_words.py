"""NumPy's words: sum, mean, min, max, transpose, convolve, correlate, histogram, bincount; and conv_covariance."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

import numpy as np

from ._arrays import Given, chosen, index, launch, promoted, recorded, type_name
from ._core import is_array

Axes = Union[SupportsIndex, Sequence[SupportsIndex], None]

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


def _finish(value: Given, out, *, same_kind: bool = False):
    """What a call returns: the value, or `out` with it. same_kind: a float is not cut to an integer, as in NumPy's ufuncs; its reductions do it."""
    if out is None:
        return value.library.result(value.object)
    if not is_array(out):
        raise TypeError(f"out= is a value of the type {type(out).__name__}; it must be an array.")
    into = Given(out)
    if into.shape != value.shape:
        raise ValueError(f"out= has the shape {into.shape}; the result has {value.shape}.")
    if into.array.readonly:
        raise ValueError("out= is read-only.")
    if into.array.kind != value.array.kind and "other" not in (into.array.kind, value.array.kind):
        raise TypeError(f"out= is an array of {into.array.kind}; the result is one of {value.array.kind}.")
    if same_kind and _kind(into.dtype) < _kind(value.dtype):
        raise TypeError(f"Cannot cast the result from {value.dtype} to {into.dtype}, the type of out=, with casting rule 'same_kind'.")
    value.library.assign(out if into.copied else into.object, value.to(into.dtype).object)
    return out


def _usable(out, shape, dtype: str, like: Given) -> Given | None:
    """`out`, if the result can be written there at once."""
    if out is None or not is_array(out):
        return None
    into = Given(out)
    fits = into.shape == tuple(shape) and into.dtype == dtype and into.array.device == like.array.device and not into.copied
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
    "uint64": ("int64", "uint64", "float64", "uint64"),
    "float16": ("float32", "float16", "float16", "float16"),
    "bfloat16": ("float32", "bfloat16", "bfloat16", "bfloat16"),
    "float32": ("float32", "float32", "float32", "float32"),
    "float64": ("float64", "float64", "float64", "float64"),
}
_reduce_column = {"sum": 1, "mean": 2, "min": 3, "max": 3}


def _reduced_type(dtype: str, function: str) -> str:
    """Of the op's output."""
    return {"sum": "int64", "mean": "float64"}.get(function, dtype) if dtype in ("int32", "int64") else dtype


def _reduce_block(given: Given, first: int, last: int, function: str, into: Given | None) -> Given:
    """Axes `first` to `last` of a contiguous array of one of the op's types."""
    shape = given.shape
    outer, length, inner = _product(shape[:first]), _product(shape[first : last + 1]), _product(shape[last + 1 :])
    result = into or given.empty(shape[:first] + shape[last + 1 :], _reduced_type(given.dtype, function))
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


def _flipped(given: Given) -> Given:
    """uint64 as int64 in the same order, and back: the highest bit is turned over."""
    there = given.contiguous().viewed("int64") if given.dtype == "uint64" else given
    turned = Given(given.library.module().bitwise_xor(there.object, -(2**63)))
    return turned if given.dtype == "uint64" else turned.viewed("uint64")


def _as_int64(given: Given) -> Given:
    return given.contiguous().viewed("int64") if given.dtype == "uint64" else given.to("int64")


def _reduce_all(function: str, a, axis, dtype: str | None, out, keepdims: bool):
    given = Given(a)
    axes = _axes(axis, len(given.shape))
    if dtype is not None:
        given = given.to(dtype)
    shape = _reduced_shape(given.shape, axes, keepdims)
    if function in ("min", "max") and _product(shape) > 0 and given.array.size == 0:
        raise ValueError(f"zero-size array to reduction operation {function} which has no identity")

    if function == "mean" and given.array.size == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=6)
    complex_dtype = given.dtype if given.dtype in _complex_parts else None
    if complex_dtype:
        if function in ("min", "max"):
            raise TypeError(f"{function} of complex numbers is not defined here; take that of their parts.")
        given = given.contiguous()
        parts = given.reshaped((*given.shape, 1)).viewed(_complex_parts[complex_dtype])
        summed = Given(_reduce_all(function, parts.object, axes, None, None, False))
        return _finish(summed.contiguous().viewed(complex_dtype).reshaped(shape), out, same_kind=function == "mean")

    computed = _reduce_types[given.dtype][0]
    wanted = _reduce_types[given.dtype][_reduce_column[function]]
    if dtype is not None and function == "sum":
        wanted = given.dtype
    if not axes:
        length_one = given.reshaped((*given.shape, 1))
        return _finish(Given(_reduce_all(function, length_one.object, -1, dtype, None, False)), out, same_kind=function == "mean")
    if given.dtype == "uint64":
        if function == "mean":
            given = given.to("float64")
            computed = "float64"
        else:
            given = given.contiguous().viewed("int64") if function == "sum" else _flipped(given)
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
    into = None
    for number, (first, last) in enumerate(reversed(blocks)):
        is_direct = number == len(blocks) - 1 and not keepdims and _reduced_type(given.dtype, function) == wanted
        into = _usable(out, shape, wanted, given) if is_direct else None
        given = _reduce_block(given, first, last, function, into)
    if given is into:
        return out
    if given.dtype == "int64" and wanted == "uint64":
        given = given.contiguous().viewed("uint64") if function == "sum" else _flipped(given)
    given = given.to(wanted)
    return _finish(given if given.shape == shape else given.reshaped(shape), out, same_kind=function == "mean")


def _reduced_shape(shape, axes, keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(shape))
    return tuple(extent for k, extent in enumerate(shape) if k not in axes)


def _number(value, dtype: str, like: Given) -> Given:
    """initial= as an array without dimensions, beside `like`."""
    number = np.asarray(value) if isinstance(value, int) else Given(value).numpy()
    if number.ndim != 0 or np.iscomplexobj(number) and dtype not in _complex_parts:
        raise TypeError(f"initial= is {value!r}; it must be a number that {dtype} can hold.")
    if dtype.startswith(("int", "uint")):
        if not np.iinfo(dtype).min <= int(number) <= np.iinfo(dtype).max:
            raise OverflowError(f"initial= is {value!r}, which is out of bounds for {dtype}.")
        number = np.asarray(int(number))  # cut, as NumPy does
    return Given(number, like).to(dtype)


def _where(where, given: Given) -> Given:
    mask = Given(where, given).to("bool")
    if np.broadcast_shapes(mask.shape, given.shape) != given.shape:
        raise ValueError(f"where= has the shape {mask.shape}, which cannot be broadcast to that of the array, {given.shape}.")
    return mask


def _mean_by_count(given: Given, axes, dtype: str, keepdims: bool, where) -> Given:
    """A mean as NumPy makes it: a sum of the type, divided by how many there are and converted back."""
    summed = {"float16": "float32", "bfloat16": "float32"}.get(dtype, dtype)
    total = Given(_reduce("sum", given.object, axes, summed, None, keepdims, None, where))
    if _kind(total.dtype) <= _kind("int64"):
        total = total.to("float64")
    library = given.library.module()
    if where is True:
        count = _product(given.shape[k] for k in axes)
        empty = count == 0
        quotient = total.object / count if count else total.object / total.object
    else:
        mask = library.broadcast_to(_where(where, given).object, given.shape)
        count = Given(_reduce_all("sum", mask, axes, None, None, keepdims)).object
        empty = bool((count == 0).any())
        with np.errstate(invalid="ignore", divide="ignore"):
            quotient = total.object / count
    if empty:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=6)
    return Given(quotient).to(dtype)


def _refuse_missing(a, function: str) -> None:
    """pandas and xarray leave missing values out, also when numpy.sum() is called with their objects."""
    if hasattr(a, "isnull") and not is_array(a) and np.any(np.asarray(a.isnull())):
        raise TypeError(
            f"The {type(a).__name__} has missing values, which its own {function}() leaves out; give it without them (dropna()) or as an array, "
            "in which they are NaN (to_numpy())."
        )


def _reduce(function: str, a, axis, dtype, out, keepdims, initial, where):
    _refuse_missing(a, function)
    keepdims = keepdims is not np._NoValue and bool(keepdims)
    name = None if dtype is None else type_name(dtype)
    given = Given(a)
    if not given.shape and function != "mean" and not isinstance(axis, (tuple, list)) and axis is not None and index(axis) in (0, -1):
        axis = None  # as NumPy lets it pass
    by_count = function == "mean" and (where is not True or name is not None and not name.startswith(("float", "bfloat", "complex")))
    plain = initial is np._NoValue or initial is None
    if where is True and plain and not by_count:
        if function == "sum" and initial is None and given.array.size == 0:
            raise ValueError("zero-size array to reduction operation add which has no identity")
        return _reduce_all(function, given.object if is_array(a) else a, axis, name, out, keepdims)
    axes = _axes(axis, len(given.shape))
    if by_count:
        own = given.dtype if given.dtype in _complex_parts else _reduce_types[given.dtype][_reduce_column["mean"]]
        return _finish(_mean_by_count(given, axes, name or own, keepdims, where), out, same_kind=True)
    if name is not None:
        given = given.to(name)
    own = given.dtype if name or given.dtype in _complex_parts else _reduce_types[given.dtype][_reduce_column[function]]
    if where is not True:
        if plain and function != "sum":
            raise ValueError(f"reduction operation {function} does not have an identity, so to use a where mask one has to specify 'initial'")
        mask = _where(where, given)
        fill = _number(0 if function == "sum" else initial, given.dtype, given)
        given = chosen(mask, given, fill)
    if plain:
        return _finish(Given(_reduce_all(function, given.object, axes, name, None, keepdims)), out)
    first = _number(initial, own, given)
    if given.array.size == 0:
        shape = _reduced_shape(given.shape, axes, keepdims)
        return _finish(Given(given.library.copy(given.library.module().broadcast_to(first.object, shape))), out)
    value = Given(_reduce_all(function, given.object, axes, name, None, keepdims))
    combine = getattr(given.library.module(), {"sum": "add", "min": "minimum", "max": "maximum"}[function])
    if _kind(own) > _kind("int64"):
        return _finish(Given(combine(value.object, first.object)), out)
    # As int64, since PyTorch adds no wider unsigned integers.
    there, back = (_flipped, _flipped) if own == "uint64" and function != "sum" else (_as_int64, lambda one: one.to(own))
    return _finish(back(Given(combine(there(value).object, there(first).object))), out)


@recorded("a", "out")
def sum(  # noqa: A001
    a: Any, axis: Axes = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue, where: Any = True
) -> Any:
    """numpy.sum: the sum of the elements of `a`, over all or the given axes.

    a: any array; float32, float64, int32 and int64 are read as they lie, other types are converted first (in a copy):
    booleans and smaller integers to int32, uint32 to int64, float16 and bfloat16 to float32, complex numbers to
    their parts. An array that is not C-contiguous is copied, unless all of it is summed.
    axis: an integer or several; None: all. dtype: converts `a` first; NumPy's or PyTorch's. out: an array of the result's shape; floats
    are cut to an integer one, as NumPy does. initial: is added. where: an array of booleans, which elements count; the others are replaced in a copy by
    the array's own library.
    Returns an array of the caller's own kind, on the same device. Integers give int64 or uint64 and wrap. A real sum's error
    is at most 8 u sum|a|, u = 2**-24 or 2**-53.
    Raises TypeError for types, masked arrays, numpy.matrix and pandas objects with missing values, numpy.exceptions.AxisError or ValueError
    for axes that cannot be.
    """
    return _reduce("sum", a, axis, dtype, out, keepdims, initial, where)


@recorded("a", "out")
def mean(a: Any, axis: Axes = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """numpy.mean: the sum divided by the number of elements; of integers as float64, with dtype=int cut to an integer. The mean of nothing is NaN.
    An integer out= is a TypeError (in NumPy's the sum wraps). See sum()."""
    return _reduce("mean", a, axis, dtype, out, keepdims, np._NoValue, where)


@recorded("a", "out")
def min(a: Any, axis: Axes = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue, where: Any = True) -> Any:  # noqa: A001
    """numpy.min: the least element, or `initial` if that is less; NaN where there is one. Raises ValueError for no elements, and for where=
    without initial=. See sum()."""
    return _reduce("min", a, axis, None, out, keepdims, initial, where)


@recorded("a", "out")
def max(a: Any, axis: Axes = None, out: Any = None, keepdims: bool = False, initial: Any = np._NoValue, where: Any = True) -> Any:  # noqa: A001
    """numpy.max: the greatest element, or `initial` if that is greater; NaN where there is one. Raises as min() does. See sum()."""
    return _reduce("max", a, axis, None, out, keepdims, initial, where)


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


@recorded("a", "out")
def transpose(a: Any, axes: Sequence[SupportsIndex] | None = None, out: Any = None) -> Any:
    """numpy.transpose, as a copy: a C-contiguous array whose k-th axis is axes[k] of `a`; None: all axes in reverse.

    Elements of 1, 2, 4, 8 and 16 bytes, copied bit by bit. One launch where the order exchanges two groups of
    neighbouring axes (every matrix, every batch of matrices, images from channels-first to channels-last) or where elements have
    4 or 8 bytes and at most six groups are left; other orders are copied by the array's own library.
    out: a C-contiguous array of that shape and type. Raises ValueError for axes that are no permutation.
    """
    given = Given(a)
    dimensions = len(given.shape)
    order = tuple(reversed(range(dimensions))) if axes is None else tuple(index(k) for k in axes)
    if sorted(k % dimensions if -dimensions <= k < dimensions else k for k in order) != list(range(dimensions)):
        raise ValueError("axes don't match array")
    order = tuple(k % dimensions for k in order)
    shape = tuple(given.shape[k] for k in order)
    into = _usable(out, shape, given.dtype, given)
    result = into or given.empty(shape, given.dtype)
    if given.array.size and not _permute(given, order, result):
        library = given.library
        moved = given.object.permute(order) if given.array.kind == "torch" else given.object.transpose(order)
        library.assign(result.object, moved)
    return out if into is not None else _finish(result, out, same_kind=True)


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
    wanted = promoted(*types)
    if wanted in ("float32", "float64"):
        return wanted, wanted
    if wanted in ("float16", "bfloat16"):
        return "float32", wanted
    return "float64", wanted


_largest_integer = {
    "bool": 1,
    **{f"int{bits}": 2 ** (bits - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": 2**bits - 1 for bits in (8, 16, 32, 64)},
}


def _sixteen_bits(given: Given) -> list[Given]:
    """Integers modulo 2**64 as four digits of base 2**16, the lowest first, in float64."""
    whole = _as_int64(given)
    return [Given((whole.object >> shift) & 0xFFFF).to("float64") for shift in (0, 16, 32, 48)]


def exact_integers(convolution, first: Given, second: Given, terms: int, wanted: str, fill: int = 0) -> Given:
    """convolution(first, second, fill) -> Given of float64, for sums of at most `terms` products of integers that wrap as NumPy's and SciPy's do."""
    if wanted == "bool":
        return convolution(first, second, fill).to("bool")
    bounds = [builtins.max(_largest_integer[first.dtype], abs(fill)), _largest_integer[second.dtype]]
    if bounds[0] * bounds[1] * terms > 2**53:  # then it is looked whether they are as large as their types allow
        bounds = [builtins.max(abs(int(one)) for one in _least_and_most(given)) for given in (first, second)]
        bounds[0] = builtins.max(bounds[0], abs(fill))
    if bounds[0] * bounds[1] * terms <= 2**53:
        return convolution(first, second, fill).to("int64").to(wanted)
    if terms > 2**21:
        raise ValueError(f"Sums of {terms} products of integers of 64 bits are not computed exactly; at most {2**21} are. Convert the arrays to float64.")
    total = None
    digits = _sixteen_bits(second)
    for i, one in enumerate(_sixteen_bits(first)):
        for j in range(4 - i):
            part = convolution(one, digits[j], (fill >> 16 * i) & 0xFFFF).to("int64").object << 16 * (i + j)
            total = part if total is None else total + part
    return Given(total).to(wanted)


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
    signal, kernel = _line(a, "a"), _line(v, "v")
    if signal.array.kind == "numpy":
        signal = _line(a, "a", kernel)
    kernel = _line(v, "v", signal)
    mode = _modes(mode)
    if signal.dtype in _complex_parts or kernel.dtype in _complex_parts:
        return _complex_conv1d(signal.numpy(), kernel.numpy(), mode, function, signal)
    computed, wanted = _computed_as(signal.dtype, kernel.dtype)
    n, k = signal.array.size, kernel.array.size
    length = {"full": n + k - 1, "same": n if n > k else k, "valid": abs(n - k) + 1}[mode]

    def convolution(signal: Given, kernel: Given, fill=0) -> Given:
        signal, kernel = signal.to(computed).contiguous(), kernel.to(computed).contiguous()
        result = signal.empty((length,), computed)
        problem = (("length", n), ("taps", k), ("function", function), ("mode", mode), ("dtype", _short[computed]))
        launch("conv1d", (signal, kernel, result), problem)
        return result

    if wanted.startswith(("float", "bfloat")):
        return convolution(signal, kernel).to(wanted).object
    return exact_integers(convolution, signal, kernel, builtins.min(n, k), wanted).object


def _complex_conv1d(signal, kernel, mode, function, like: Given):
    if function == "correlate":
        kernel = np.conj(kernel)

    def part(x, y):
        return _conv1d(np.ascontiguousarray(x), np.ascontiguousarray(y), mode, function)

    real = part(signal.real, kernel.real) - part(signal.imag, kernel.imag)
    imaginary = part(signal.real, kernel.imag) + part(signal.imag, kernel.real)
    both = (real + 1j * imaginary).astype(np.result_type(signal, kernel))
    return like.library.of_numpy(both, like.object)


@recorded("a", "v")
def convolve(a: Any, v: Any, mode: str | int = "full") -> Any:
    """numpy.convolve: the convolution of two one-dimensional arrays; mode is 'full', 'same' or 'valid'.

    float32 and float64 are computed as they are, float16 and bfloat16 in float32, integers in float64, and where their sums could
    pass 2**53 in ten parts, so that they wrap as NumPy's do; complex numbers by parts. Lists, and a NumPy array beside a GPU's, are copied to the other's
    device. An output's error is at most (n + 1) u sum|a v|. Raises ValueError for empty arrays or an unknown mode.
    """
    return _conv1d(a, v, mode, "convolve")


@recorded("a", "v")
def correlate(a: Any, v: Any, mode: str | int = "valid") -> Any:
    """numpy.correlate: the cross-correlation of two one-dimensional arrays, `v` conjugated. See convolve()."""
    return _conv1d(a, v, mode, "correlate")


_most_bins = 65536


@recorded("a")
def _counted(a, bins: int, function: str, lo: float = 0.0, hi: float = 1.0):
    given = _by_strides(Given(a))
    counts = given.empty((bins,), "int64")
    problem = (("function", function), ("length", given.array.size), ("bins", bins), ("dtype", _short[given.dtype]))
    launch("histogram", (given, counts), problem, (lo, hi) if function == "histogram" else ())
    return counts.object


@functools.lru_cache(maxsize=256)
def _edges(lo: float, hi: float, count: int, dtype) -> np.ndarray:
    return np.linspace(lo, hi, count + 1, dtype=dtype)


_edge_types: dict = {}  # of arrays that are counted as they are, by their dtypes


def _least_and_most(given: Given) -> list:
    """Both are under way before the first is waited for."""
    found = [one(given.object) for one in (min, max)]
    return [Given(one).numpy() for one in found]


def histogram(
    a: Any,
    bins: SupportsIndex | str | Sequence[float] | np.ndarray = 10,
    range: tuple[float, float] | Sequence[float] | None = None,  # noqa: A002
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, np.ndarray]:
    """numpy.histogram: counts of the values of `a` in bins of equal width, and the edges of the bins.

    a: float32, float64, int32, int64 and uint8 are counted as they are, uint64 as float64, other integers as int32 or int64, float16 and bfloat16 as
    float32 (NumPy has edges of float16 for them). bins: their number; edges of equal width, as numpy.linspace makes them; or the name of
    a rule of numpy.histogram_bin_edges, which then looks at a copy in ordinary memory. range: the limits;
    None: the least and the greatest value, which takes two more launches and waits for them; float32 values are counted as float64
    where a limit is of float64. density: divides by the number and the width.
    weights, bins of unequal width and more than 65536 bins are counted by the array's own library: NumPy, CuPy, or operators of PyTorch
    (TypeError for others).
    Returns (counts, edges): counts of int64 of the caller's kind, edges as NumPy array. Every value is in the bin in which NumPy
    has it with the limits as Python's floats: numpy.histogram(a, bins, (float(lo), float(hi))). (With limits of NumPy's types, and with those
    that it finds itself, NumPy computes the edges in these types, so that one may lie a unit in the last place elsewhere.)
    """
    edges_type = _edge_types.get(getattr(a, "dtype", None))
    if edges_type and weights is None and not density and type(bins) is int and type(range) is tuple and len(range) == 2:
        lo, hi = range  # the usual case, in few steps
        if type(lo) in (int, float) and type(hi) in (int, float) and -math.inf < lo < hi < math.inf and 0 < bins <= _most_bins:
            with contextlib.suppress(ValueError):  # said below
                lo, hi = float(lo), float(hi)
                return _counted(a, bins, "histogram", lo, hi), _edges(lo, hi, bins, edges_type).copy()
    given = Given(a)
    if weights is not None:
        return _histogram_of_library(given, bins, range, density, weights)
    if given.dtype == "bool":
        warnings.warn(f"Converting input from {given.dtype} to {np.uint8} for compatibility.", RuntimeWarning, stacklevel=2)
    if isinstance(bins, str):
        bins = np.histogram_bin_edges(given.numpy(), bins, range)
    given = _by_strides(given)
    given = given.to("float64") if given.dtype == "uint64" else _countable(given, ("float32", "float64", "int32", "int64", "uint8"))
    edges_type = np.float32 if given.dtype == "float32" else np.float64
    if str(getattr(a, "dtype", None)).removeprefix("torch.") == given.dtype:
        _edge_types[a.dtype] = edges_type
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
        count = index(bins)
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        if range is not None:
            lo, hi = range
            if given.dtype == "float32" and any(type_name(limit.dtype) == "float64" for limit in (lo, hi) if hasattr(limit, "dtype")):
                given, edges_type = given.to("float64"), np.float64  # as NumPy promotes them
            lo, hi = float(lo), float(hi)
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
    if count > _most_bins:
        if np.any(edges[:-1] >= edges[1:]):
            raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
        if given.array.kind == "numpy":
            return np.histogram(given.numpy(), count, (lo, hi), density)
        return _histogram_of_library(given, edges, None, density, None)
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
    """What the kernels do not count: weights, bins of unequal width, and very many."""
    kind = given.array.kind
    if kind in ("numpy", "other"):
        return np.histogram(given.numpy(), bins, limits, density, weights)
    if weights is not None:
        weights = Given(weights, given)
        if tuple(weights.shape) != tuple(given.shape):
            raise ValueError("weights should have the same shape as a.")
    if kind == "cupy":
        library, like = sys.modules["cupy"], given.object
        edges = bins if np.ndim(bins) == 0 else library.asarray(Given(bins, given).object)
        # By name: their order has changed from version to version.
        counts, edges = library.histogram(like, edges, limits, weights=None if weights is None else weights.object, density=density)
        if weights is not None and not density:
            counts = counts.astype(weights.object.dtype)  # NumPy's type
        return counts, edges.get()
    if kind != "torch":
        raise TypeError(
            f"Weights, bins of unequal width and more than {_most_bins} bins are counted by the array's own library, and {kind} has no such function; "
            "give an array of CuPy or PyTorch."
        )
    torch, x = sys.modules["torch"], given.object.reshape(-1)
    if np.ndim(bins) == 1:
        edges = Given(bins).numpy()
    else:
        ends = [float(x.min()), float(x.max())] if limits is None else []
        edges = np.histogram_bin_edges(np.array(ends, np.float32 if given.dtype == "float32" else np.float64), index(bins), limits)
    common = np.result_type(edges.dtype, "float32" if given.dtype in ("float16", "bfloat16") else given.dtype)
    there = torch.as_tensor(edges.astype(common), device=x.device)
    x = x.to(there.dtype)
    place = torch.searchsorted(there, x, right=True) - 1
    place = torch.where(x == there[-1], len(edges) - 2, place)
    inside = (place >= 0) & (place < len(edges) - 1)
    place = place[inside]
    if weights is None:
        counts = torch.bincount(place, minlength=len(edges) - 1)
    else:  # added as float64 and returned in the weights' type, as NumPy does
        weights = weights.object.reshape(-1)[inside]
        parts = [weights.real, weights.imag] if weights.is_complex() else [weights]
        sums = [torch.bincount(place, weights=part.to(torch.float64), minlength=len(edges) - 1) for part in parts]
        counts = (torch.complex(*sums) if weights.is_complex() else sums[0]).to(weights.dtype)
    if density:
        counts = counts / torch.as_tensor(np.diff(edges).astype(np.float64), device=x.device) / counts.sum()
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
    target = _countable_as.get(given.dtype)
    if target in allowed:
        return given.to(target)
    raise TypeError(f"Values of {given.dtype} cannot be counted; convert them to one of {', '.join(allowed)}.")


def bincount(x: Any, weights: Any = None, minlength: SupportsIndex = 0) -> Any:
    """numpy.bincount: counts[i] is how often i is in `x`, for i up to the greatest value, and at least minlength of them.

    x: one-dimensional; uint8 and int32 are counted as they are, other integers in a copy of int32. More than 65536
    counts, and weights, are added up by the array's own library: NumPy, CuPy or PyTorch (TypeError for others). The greatest value takes two more
    launches, which are waited for; of uint8 it is looked for in the counts, unless minlength is at least 256.
    Raises ValueError for negative values and for more than 2**32 counts, TypeError for values that are no integers.
    """
    given = Given(x)
    if weights is not None:
        return _bincount_of_library(given, weights, minlength)
    if len(given.shape) != 1:
        raise ValueError("object too deep for desired array" if len(given.shape) > 1 else "object of too small depth for desired array")
    minlength = index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if given.array.size == 0 and given.dtype == "float64":
        given = given.to("int32")  # an empty list
    if given.dtype.startswith(("float", "complex", "bfloat")):
        raise TypeError(f"Cannot cast array data from dtype('{given.dtype}') to dtype('int64') according to the rule 'safe'")
    given = given.contiguous()
    if given.dtype != "uint64":
        given = _countable(given, ("int32", "int64", "uint8"))
    count = minlength
    if given.dtype == "uint8" and given.array.size and minlength <= _most_bins:
        counts = _counted(given.object, builtins.max(minlength, 256), "bincount")
        if minlength >= 256:
            return counts
        return counts[: builtins.max(minlength, int(np.flatnonzero(Given(counts).numpy())[-1]) + 1)]
    if given.array.size:
        least, most = (int(one) for one in _least_and_most(given))
        if least < 0:
            raise ValueError("'list' argument must have no negative elements")
        count = builtins.max(most + 1, minlength)
    if count > 2**32:
        raise ValueError(f"bincount would return {count} counts; at most 2**32 are allowed.")
    if count == 0:
        return given.empty((0,), "int64").object
    if count > _most_bins:
        return _bincount_of_library(given.to("int64"), None, count)
    return _counted((given if given.dtype == "uint8" else given.to("int32")).object, count, "bincount")


def _bincount_of_library(given: Given, weights, minlength: int):
    kind = given.array.kind
    if kind == "numpy":
        return np.bincount(given.numpy(), weights, minlength)
    if kind not in ("cupy", "torch"):
        raise TypeError(
            f"weights= and more than {_most_bins} counts are added up by the array's own library, and {kind} has no such function; give an array "
            "of CuPy or PyTorch."
        )
    if weights is not None:
        weights = Given(weights, given)
        if weights.dtype.startswith("complex"):
            raise TypeError(f"Cannot cast array data from dtype('{weights.dtype}') to dtype('float64') according to the rule 'safe'")
        weights = weights.to("float64").object
    return sys.modules[kind].bincount(given.object, weights=weights, minlength=minlength)


def conv_covariance(input: Any, gamma: Any, mu: Any, c: Any) -> Any:  # noqa: A002
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
    if not is_array(input) or target.copied or not target.array.contiguous or target.array.readonly:
        raise ValueError(
            "conv_covariance works in place, so input must be a C-contiguous array that may be written, aligned and of the machine's byte order."
        )
    launch("conv_covariance", (target, *(one.contiguous() for one in others)), problem)
    return input
