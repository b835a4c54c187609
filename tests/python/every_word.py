# SPDX-License-Identifier: Apache-2.0
"""The table of public words: the forms of a call, and the expected result of each."""

import math
import warnings
from typing import Any

import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.special
import tunesmith
from drawn_forms import Call, Numbers, all_types, exact, integers, magnitude, parts, real_types, reals, units
from layers import affine, convolved
from test_settings import function_of

words: dict[str, Any] = {}


def word(*names):
    """Registers the function that draws forms of these words; it gets a Draw and the name."""

    def of(function):
        for name in names:
            words[name] = lambda draw, name=name: function(draw, name)
        return function

    return of


def by_sum(times, computed=None):
    """The error of that many units of the magnitudes' sum, and one unit of the result's rounding."""

    def error(expected, a, axis=None, keepdims=False, **rest):
        dtype = np.asarray(expected).dtype.name
        unit = units.get(dtype)
        if unit is None:
            return None
        computed_in = units[{"float16": "float32"}.get(dtype, dtype)]
        total = (
            np.sum(magnitude(a), axis=axis, keepdims=keepdims)
            if "where" not in rest
            else np.sum(magnitude(a), axis=axis, keepdims=keepdims, where=rest["where"])
        )
        return times * computed_in * total + unit * np.abs(exact(expected)) + tiny(dtype)

    return error


def tiny(dtype):
    return float(np.finfo(np.dtype(dtype)).smallest_subnormal) if np.dtype(dtype).kind == "f" else 0.0


def rounded(function):
    """NumPy's function in longer reals, rounded once to the type that NumPy's result has."""

    def expected(a, *args, **settings):
        plain = function(a, *args, **settings)
        if a.dtype.kind not in "fc":
            return plain
        wanted = np.asarray(plain).dtype if settings.get("dtype") is None else np.dtype(settings["dtype"])
        if settings.get("dtype") is not None and np.dtype(settings["dtype"]).kind not in "fc":
            return plain
        rest = {key: value for key, value in settings.items() if key != "dtype"}
        first = (
            a if settings.get("dtype") is None or wanted.itemsize >= a.dtype.itemsize else a.astype(wanted)
        )
        return np.asarray(function(exact(first), *args, **rest)).astype(wanted)

    def quiet(*args, **settings):
        with np.errstate(all="ignore"):
            return expected(*args, **settings)

    return quiet


finite = ("few", "wide", "time")


@word("sum", "mean")
def _(draw, name):
    dtype, shape = draw.dtype(*all_types), draw.shape(0)
    settings = {"axis": draw.axes(len(shape)), "keepdims": draw.chance(0.3)}
    if shape and draw.chance(0.15):
        settings["where"] = draw.random.random(shape[draw.between(0, len(shape) - 1) :]) < 0.6
    elif draw.chance(0.15) and dtype not in ("complex64", "complex128"):
        settings["dtype"] = draw.one_of("float32", "float64", *(() if name == "mean" else ("int64", "uint8")))
        if dtype in reals and settings["dtype"] in integers:
            del settings["dtype"]
    elif draw.chance(0.1) and name == "sum" and dtype in integers:
        settings["initial"] = draw.one_of(
            0, 1, np.iinfo(np.result_type(dtype, "u8" if dtype.startswith("u") else "i8")).max
        )

    def error(expected, a, axis=None, **rest):
        bound = by_sum(8)(expected, a, axis, **rest)
        if name == "sum" or bound is None:
            return bound
        with np.errstate(all="ignore"):
            return (
                by_sum(8)(expected, a, axis, **rest)
                / np.maximum(1, np.sum(np.ones(a.shape), axis=axis, keepdims=rest.get("keepdims", False)))
                + 2 * units[expected.dtype.name] * np.abs(exact(expected))
                + tiny(expected.dtype)
            )

    kinds = Numbers._field_defaults["kinds"] if dtype in integers else finite
    return Call(
        {"a": Numbers(shape, dtype, kinds)},
        settings,
        rounded(getattr(np, name)) if dtype not in integers or name == "sum" else _mean_of_integers,
        error,
        "out",
    )


def _mean_of_integers(a, **settings):
    return np.asarray(np.mean(a.astype(np.longdouble), **{**settings, "dtype": None})).astype(
        settings.get("dtype", "float64")
    )


def ordered(draw, least=0):
    return Numbers(draw.shape(least, empty=False), draw.dtype(*real_types))


@word("min", "max", "ptp")
def _(draw, name):
    numbers = ordered(draw)
    if name == "ptp":
        numbers = numbers._replace(dtype=draw.dtype(*integers, *reals))
    settings: dict[str, Any] = {"axis": draw.axes(len(numbers.shape)), "keepdims": draw.chance(0.3)}
    if name != "ptp" and numbers.dtype in integers and draw.chance(0.2):
        settings["initial"] = int(draw.values(numbers._replace(shape=()), draw.one_of(*numbers.kinds)))
        if draw.chance(0.5):
            settings["where"] = draw.random.random(numbers.shape) < 0.6
    return Call({"a": numbers}, settings, getattr(np, name), None, "out")


@word("argmin", "argmax")
def _(draw, name):
    numbers = ordered(draw, 1)
    settings = {"axis": draw.one_of(None, draw.axis(len(numbers.shape))), "keepdims": draw.chance(0.3)}
    return Call({"a": numbers}, settings, getattr(np, name), None, "out")


@word("min_max")
def _(draw, name):
    numbers = ordered(draw)
    settings = {"axis": draw.axes(len(numbers.shape))}
    return Call({"a": numbers}, settings, lambda a, axis: np.stack([a.min(axis), a.max(axis)], -1))


@word("any", "all", "count_nonzero")
def _(draw, name):
    dtype, shape = draw.dtype(*all_types), draw.shape(0)
    settings = {"axis": draw.axes(len(shape)), "keepdims": draw.chance(0.3)}

    def expected(a, axis, keepdims):
        found = getattr(np, name)(a, axis=axis, keepdims=keepdims)
        return np.asarray(found, np.int64) if name == "count_nonzero" else found

    return Call(
        {"a": Numbers(shape, dtype)}, settings, expected, None, None if name == "count_nonzero" else "out"
    )


@word("prod")
def _(draw, name):
    dtype, shape = draw.dtype("bool", *integers, *reals), draw.shape(0)
    settings = {"axis": draw.axes(len(shape)), "keepdims": draw.chance(0.3)}

    def error(expected, a, **rest):
        dtype = np.asarray(expected).dtype.name
        return (
            None
            if dtype not in units
            else (2 * a.size * units["float64" if dtype != "float16" else "float32"] + 2 * units[dtype])
            * np.abs(exact(expected))
            + a.size * tiny(dtype)
        )

    return Call(
        {"a": Numbers(shape, dtype, ("few", "wide", "ends") if dtype in integers else ("few", "wide"))},
        settings,
        rounded(np.prod),
        error,
        "out",
    )


@word("var", "std", "mean_var")
def _(draw, name):
    dtype, shape = draw.dtype(*(real_types if name == "mean_var" else all_types)), draw.shape(0)
    settings: dict[str, Any] = {"axis": draw.axes(len(shape)), "ddof": draw.one_of(0, 0, 1)}
    if name != "mean_var":
        settings["ddof"] = draw.one_of(0, 0, 1, 0.5)
        settings["keepdims"] = draw.chance(0.3)
        if draw.chance(0.15) and not dtype.startswith("complex"):
            settings["where"] = draw.random.random(shape) < 0.7
    result = {"complex64": "float32"}.get(dtype, dtype if dtype in reals else "float64")
    wide = np.clongdouble if dtype.startswith("complex") else np.longdouble

    def expected(a, axis, ddof, keepdims=False, where=True):
        with np.errstate(all="ignore"):
            x = a.astype(wide)
            variance = np.var(x, axis=axis, ddof=ddof, keepdims=keepdims, where=where)
            found = {
                "var": lambda: variance,
                "std": lambda: np.sqrt(variance),
                "mean_var": lambda: np.stack([np.mean(x, axis), variance], -1),
            }[name]()
        return np.asarray(found).astype(result)

    def error(expected, a, axis, ddof, keepdims=False, where=True):
        unit = units[{"float16": "float32"}.get(result, result)]
        with np.errstate(all="ignore"):
            x = a.astype(wide)
            count = np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=keepdims)
            scale = count / np.maximum(count - ddof, 1)
            variance, square = (
                np.var(x, axis=axis, keepdims=keepdims, where=where),
                np.mean(np.abs(x) ** 2, axis=axis, keepdims=keepdims, where=where),
            )
            rounding = (
                units["float64"] * np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0)
                if dtype.endswith("int64")
                else 0
            )
            off = scale * rounding * (2 * np.sqrt(variance) + rounding)
            off = (
                off
                + scale * (16 * unit * variance + 256 * unit**2 * square)
                + units[result] * scale * variance
                + tiny(result)
            )
            if name == "std":
                root = np.sqrt(np.maximum(scale * variance, 0))
                off = (
                    np.where(root > 0, np.minimum(off / np.maximum(root, 1e-300), np.sqrt(off)), np.sqrt(off))
                    + 4 * units[result] * root
                )
            if name == "mean_var":
                off = np.stack(
                    [
                        8 * unit * np.mean(np.abs(x), axis=axis)
                        + 2 * units[result] * np.abs(np.mean(x, axis=axis)),
                        off,
                    ],
                    -1,
                )
        return off

    return Call(
        {"a": Numbers(shape, dtype, finite)}, settings, expected, error, None if name == "mean_var" else "out"
    )


@word("norm")
def _(draw, name):
    shape = draw.shape(1, 3)
    dtype = draw.dtype(*all_types)
    axis = draw.one_of(
        None,
        draw.axis(len(shape)),
        draw.axis(len(shape)),
        tuple(int(k) for k in draw.random.permutation(len(shape))[:2]),
    )
    is_matrix = isinstance(axis, tuple) and len(axis) == 2
    if axis is None:
        word = None
    elif dtype.startswith("complex"):
        word = draw.one_of(None, "fro") if is_matrix else draw.one_of(None, 2)
    else:
        word = (
            draw.one_of(None, "fro", 1, -1, np.inf, -np.inf)
            if is_matrix
            else draw.one_of(None, 0, 1, 2, np.inf, -np.inf, 3)
        )
    settings = {"ord": word, "axis": axis, "keepdims": draw.chance(0.3)}
    result = {"complex64": "float32", "complex128": "float64"}.get(
        dtype, dtype if dtype in reals else "float64"
    )

    def expected(x, **rest):
        with np.errstate(all="ignore"):
            wide = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)
            return np.asarray(np.linalg.norm(wide, **rest)).astype(result)

    def error(expected, x, **rest):
        unit = units[{"float16": "float32"}.get(result, result)]
        return (
            (16 if word != 3 else 40) * unit * np.abs(exact(expected))
            + units[result] * np.abs(exact(expected))
            + tiny(result)
        )

    return Call({"x": Numbers(shape, dtype, finite)}, settings, expected, error)


def accumulated(name):
    return {
        "sum": np.add,
        "product": np.multiply,
        "max": np.maximum,
        "min": np.minimum,
        "any": np.logical_or,
        "all": np.logical_and,
    }[name].accumulate


@word("cumsum", "cumprod", "scan")
def _(draw, name):
    shape = draw.shape()
    function = {"cumsum": "sum", "cumprod": "product"}.get(name) or draw.one_of(
        "sum", "product", "max", "min", "any", "all"
    )
    dtype = draw.dtype(*real_types, *(("complex64", "complex128") if function == "sum" else ()))
    axis = draw.one_of(None, draw.axis(len(shape)), draw.axis(len(shape)))
    settings: dict[str, Any] = {"axis": axis}
    if name == "scan":
        settings |= {"function": function, "exclusive": draw.chance(0.4), "reverse": draw.chance(0.4)}
    elif draw.chance(0.2) and dtype in ("bool", "float32", *integers):
        settings["dtype"] = "float64"

    def expected(a, axis, function=function, exclusive=False, reverse=False, dtype=None):
        a = a if dtype is None else a.astype(dtype)
        a, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
        if reverse:
            return np.flip(expected(np.flip(a, axis), axis, function, exclusive), axis)
        with np.errstate(all="ignore"):
            plain = accumulated(function)(
                a,
                axis,
                np.result_type(a, np.uint64 if a.dtype.kind == "u" else np.int64)
                if a.dtype.kind in "biu" and function in ("sum", "product")
                else None,
            )
            wanted = plain.dtype
            if a.dtype.kind in "fc" and function in ("sum", "product"):
                plain = accumulated(function)(exact(a), axis)
            if exclusive:
                plain = np.roll(plain, 1, axis)
                first = (slice(None),) * (axis % a.ndim) + (slice(0, 1),)
                limits = {"f": lambda: (-np.inf, np.inf), "b": lambda: (False, True)}.get(
                    a.dtype.kind, lambda: (np.iinfo(a.dtype).min, np.iinfo(a.dtype).max)
                )
                plain[first] = (
                    {"sum": 0, "product": 1, "any": False, "all": True}[function]
                    if function not in ("max", "min")
                    else limits()[function == "min"]
                )
            return plain.astype(wanted)

    def error(expected_, a, axis, **rest):
        dtype = expected_.dtype.name
        if dtype not in units or function not in ("sum", "product"):
            return None
        unit = units[{"float16": "float32"}.get(dtype, dtype)]
        if function == "product":
            return (4 * a.size * unit + 2 * units[dtype]) * np.abs(exact(expected_)) + a.size * tiny(dtype)
        flat = magnitude(a).reshape(-1) if axis is None else magnitude(a)
        total = np.sum(flat, axis=0 if axis is None else axis, keepdims=True)
        count = flat.shape[0 if axis is None else axis]
        return (
            min(count, 256 + count / 1024) * unit * total
            + units[dtype] * np.abs(exact(expected_))
            + tiny(dtype)
        )

    kinds = finite if function in ("sum", "product") else Numbers._field_defaults["kinds"]
    if function == "product" and dtype in reals:
        kinds = ("few",)
    if dtype in integers and (function != "product" or "dtype" not in settings):
        kinds = Numbers._field_defaults["kinds"]
    elif "dtype" in settings:
        kinds = ("few",)
    return Call({"a": Numbers(shape, dtype, kinds)}, settings, expected, error, "out")


relative = {"float64": 1e-12, "float32": 4e-6, "float16": 4e-3}


def near(expected, *_, **__):
    """The tolerance of the words of rows."""
    tolerance = relative[np.asarray(expected).dtype.name]
    return tolerance * (1 + np.abs(exact(expected)))


def real_of(x):
    return x.dtype if x.dtype.kind == "f" else np.dtype("float64")


def axes_of_rows(draw, dimensions):
    found = draw.axes(dimensions)
    return found if found != () else None


@word("softmax", "log_softmax", "logsumexp")
def _(draw, name):
    shape = draw.shape(empty=False)
    settings: dict[str, Any] = {"axis": axes_of_rows(draw, len(shape))}
    numbers = Numbers(shape, draw.dtype("int8", "uint8", "int32", *reals), ("few", "wide"))
    arrays = {"x": numbers}
    if name == "logsumexp":
        settings["keepdims"] = draw.chance(0.3)
        if draw.chance(0.4):
            arrays["b"] = Numbers(
                tuple(1 if draw.chance(0.3) else extent for extent in shape), "uint8", ("few",)
            )
            settings["return_sign"] = draw.chance(0.5)
        else:
            arrays["x"] = numbers._replace(kinds=("few", "wide", "infinite"))

    def expected(x, **settings):
        found = getattr(scipy.special, name)(x.astype(np.float64), **settings)
        if "b" in arrays:  # SciPy has -inf where all factors are 0, and NaN where it has broadcast them
            none = np.all(
                np.broadcast_to(settings["b"], x.shape) == 0, settings["axis"], keepdims=settings["keepdims"]
            )
            found = (
                tuple(np.where(none, *one) for one in zip((-np.inf, 0.0), found))
                if settings["return_sign"]
                else np.where(none, -np.inf, found)
            )
        wanted = (
            real_of(x)
            if "b" not in arrays
            else np.result_type(x, np.uint8)
            if x.dtype.kind == "f"
            else np.float64
        )
        return (
            tuple(np.asarray(one).astype(wanted) for one in found)
            if isinstance(found, tuple)
            else np.asarray(found).astype(wanted)
        )

    return Call(
        arrays,
        settings,
        expected,
        lambda found, **_: [near(one) for one in parts(found)],
        None if settings.get("return_sign") else "out",
    )


@word("normalize")
def _(draw, name):
    shape = draw.shape(empty=False)
    settings = {"axis": draw.axis(len(shape)), "p": draw.one_of(1, 2.0, 3.0, np.inf)}

    def expected(x, axis, p):
        wide = x.astype(np.longdouble)
        return (wide / np.maximum(np.linalg.norm(wide, p, axis, True), 1e-12)).astype(real_of(x))

    return Call(
        {"x": Numbers(shape, draw.dtype("int16", *reals), ("few", "wide"))}, settings, expected, near, "out"
    )


@word("layer_norm", "rms_norm")
def _(draw, name):
    shape = draw.shape(empty=False)
    rank = draw.between(1, len(shape))
    dtype = draw.dtype("int32", *reals)
    arrays = {"x": Numbers(shape, dtype, ("few", "wide"))}
    weights = ["weight", *(["bias"] if name == "layer_norm" else [])]
    for one in weights:
        if draw.chance(0.5):
            arrays[one] = Numbers(shape[-rank:], dtype, ("few", "wide"))
    settings = {"normalized_shape": shape[-rank:], "eps": draw.one_of(0.5, 0.01)}

    def expected(x, normalized_shape, eps, weight=None, bias=None):
        axes = tuple(range(-len(normalized_shape), 0))
        wide = x.astype(np.longdouble)
        wide = wide - wide.mean(axes, keepdims=True) if name == "layer_norm" else wide
        y = wide / np.sqrt((wide * wide).mean(axes, keepdims=True) + eps)
        return ((y if weight is None else y * weight) + (0 if bias is None else bias)).astype(real_of(x))

    def error(expected, x, weight=None, bias=None, **rest):
        scale = 1 if weight is None else 10 * magnitude(weight).max(initial=1)
        return near(expected) * 4 * scale + relative[expected.dtype.name] * (
            0 if bias is None else magnitude(bias).max(initial=0)
        )

    return Call(arrays, settings, expected, error, "out")


@word("rows")
def _(draw, name):
    shape = draw.shape(empty=False)
    dtype = draw.dtype("int32", *reals)
    text, arrays, function = draw.one_of(
        ("y = x / (1 + sum(abs(x)))", {"x": shape}, lambda x: x / (1 + np.abs(x).sum(-1, keepdims=True))),
        ("y = max(x) - min(x * w)", {"x": shape, "w": shape[-1:]}, lambda x, w: x.max(-1) - (x * w).min(-1)),
        (
            "m = max(abs(x)); y = x - m",
            {"x": shape},
            lambda x: (np.abs(x).max(-1), x - np.abs(x).max(-1, keepdims=True)),
        ),
        ("y = x - s + w", {"x": shape, "s": (*shape[:-1], 1), "w": shape[-1:]}, lambda x, s, w: x - s + w),
    )

    def expected(**given):
        found = function(**{key: one.astype(np.longdouble) for key, one in given.items()})
        wanted = real_of(next(iter(given.values())))
        return (
            tuple(one.astype(wanted) for one in found)
            if isinstance(found, tuple)
            else np.asarray(found).astype(wanted)
        )

    def error(expected, x, **rest):
        scale = 1 + max(float(magnitude(one).max(initial=0)) for one in (x, *rest.values())) ** 2
        return relative[real_of(x).name] * scale

    arrays = {key: Numbers(one, dtype, ("few", "wide")) for key, one in arrays.items()}
    return Call(
        arrays,
        {},
        expected,
        error,
        None if ";" in text else "out",
        lambda **given: tunesmith.rows(text, **given),
    )


@word("transpose", "permute")
def _(draw, name):
    shape, dtype = draw.shape(most=5), draw.dtype(*all_types)
    if draw.chance(0.5):
        shape = (*shape, draw.one_of(2, 3, 4))  # channels
    order = tuple(int(k) for k in draw.random.permutation(len(shape)))
    if draw.chance(0.4) and len(shape) > 1:
        order = (*(int(k) for k in draw.random.permutation(len(shape) - 1)), len(shape) - 1)
    settings = {"axes": draw.one_of(None, order, order)}

    def expected(a, axes):
        return np.ascontiguousarray(np.transpose(a, axes)).reshape(
            [a.shape[k] for k in (axes or range(a.ndim)[::-1])]
        )

    key = "a" if name == "transpose" else "x"
    return Call(
        {key: Numbers(shape, dtype)}, settings, lambda axes, **given: expected(given[key], axes), None, "out"
    )


def wraps(function):
    """The expected result for integers of any size, in NumPy's own arithmetic, which wraps around."""

    def expected(**given):
        with np.errstate(all="ignore"):
            return function(**given)

    return expected


def both_types(draw, among=real_types):
    first = draw.dtype(*among)
    return first, first if draw.chance(0.5) else draw.dtype(*among)


@word("convolve", "correlate")
def _(draw, name):
    first, second = both_types(draw)
    n, k = draw.between(1, 20), draw.between(1, 20)
    wanted = np.result_type(first, second)

    def expected(a, v, mode):
        wide = np.longdouble if wanted.kind == "f" else wanted
        return getattr(np, name)(a.astype(wide), v.astype(wide), mode).astype(wanted)

    def error(expected, a, v, mode):
        if wanted.kind != "f":
            return None
        unit = units[{"float16": "float32"}.get(wanted.name, wanted.name)]
        total = getattr(np, name)(
            magnitude(a).astype(np.longdouble), magnitude(v).astype(np.longdouble), mode
        )
        return (
            (min(a.size, v.size) + 1) * unit * total
            + units[wanted.name] * np.abs(exact(expected))
            + tiny(wanted)
        )

    kinds = Numbers._field_defaults["kinds"] if wanted.kind != "f" else ("few", "wide")
    mixed = wanted.kind == "f" and (first in integers or second in integers)
    kinds = ("few",) if mixed else kinds
    return Call(
        {"a": Numbers((n,), first, kinds), "v": Numbers((k,), second, kinds)},
        {"mode": draw.one_of("full", "same", "valid")},
        wraps(expected),
        error,
    )


@word("signal.convolve2d", "signal.correlate2d")
def _(draw, name):
    first, second = both_types(draw, real_types[1:])
    shape, small = draw.shape(2, 2, empty=False), (draw.between(1, 4), draw.between(1, 4))
    wanted = np.result_type(first, second)
    kinds = Numbers._field_defaults["kinds"] if wanted.kind != "f" else ("few", "wide")
    kinds = ("few",) if wanted.kind == "f" and (first in integers or second in integers) else kinds
    settings = {
        "mode": draw.one_of("full", "same", "valid"),
        "boundary": draw.one_of("fill", "wrap", "symm"),
        "fillvalue": draw.one_of(0, 0, 3),
    }

    def expected(in1, in2, **settings):
        wide = np.float64 if wanted.kind == "f" else wanted
        return getattr(scipy.signal, name.split(".")[1])(
            in1.astype(wide), in2.astype(wide), **settings
        ).astype(wanted)

    def error(expected, in1, in2, mode, boundary, fillvalue):
        if wanted.kind != "f":
            return None
        unit = units[{"float16": "float32"}.get(wanted.name, wanted.name)]
        most = max(float(magnitude(in1).max()), fillvalue) * float(magnitude(in2).sum()) + float(
            magnitude(in1).sum()
        ) * float(magnitude(in2).max())
        return 40 * unit * most + units[wanted.name] * np.abs(exact(expected))

    in2 = Numbers(small, second, kinds)
    if draw.chance(0.5):  # known by its elements
        return Call(
            {"in1": Numbers(shape, first, kinds)},
            settings | {"in2": draw.values(in2, kinds[0])},
            expected,
            error,
        )
    return Call({"in1": Numbers(shape, first, kinds), "in2": in2}, settings, expected, error)


def limits_of(x):
    low, high = float(x.min()), float(x.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


@word("histogram")
def _(draw, name):
    shape, dtype = draw.shape(), draw.dtype(*real_types)
    bins = draw.one_of(
        draw.between(1, 20), draw.between(1, 20), np.array([-3.5, -1.0, 0, 2.5, 4.0, 1e6]), [-2, 0, 1, 3]
    )
    limits = (
        draw.one_of(None, (-20.5, 30.25), (0.0, 2.0**31), (-(2.0**63), 2.0**63))
        if isinstance(bins, int)
        else None
    )
    kinds = (
        ("few", "wide", "ends", *(() if limits is None else ("time",)))
        if dtype in integers
        else ("few", "wide")
    )
    if dtype in ("int64", "uint64") and draw.chance(0.3):
        bins, limits, kinds = (
            (1_700_000_000_000_000_000 + np.array([0, 500, 501, 1500])).astype(dtype),
            None,
            ("few", "ends", "time"),
        )
    settings = {"bins": bins, "range": limits}
    weights = (
        {"weights": Numbers(shape, draw.one_of("float64", "float32", "int64"), ("few",))}
        if draw.chance(0.2)
        else {}
    )

    def expected(a, bins, range, weights=None):
        if a.dtype == np.float16:
            a = a.astype(np.float32)
        if range is None and isinstance(bins, int):
            range = limits_of(a) if a.size else (0.0, 1.0)
        a = (
            a.astype(np.uint8)
            if a.dtype == bool
            else a.astype(np.float64)
            if a.dtype == np.uint64 and isinstance(bins, int)
            else a
        )
        return np.histogram(a, bins, range, weights=weights)

    def ours(a, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tunesmith.histogram(a, **settings)

    return Call({"a": Numbers(shape, dtype, kinds)} | weights, settings, expected, None, None, ours)


@word("histogram2d")
def _(draw, name):
    count, dtype = draw.between(0, 50), draw.one_of(*integers, "float32", "float64")
    bins = draw.one_of(draw.between(1, 9), (3, 8), (np.array([-2, -1.5, 0, 3]), 4))
    limits = draw.one_of(None, ((-2.0, 2.0), (-1.0, 3.5)))
    kinds = ("few", "wide", "ends") if dtype in integers else ("few", "wide")
    arrays = {key: Numbers((count,), dtype, kinds) for key in "xy"}
    if draw.chance(0.3):
        arrays["weights"] = Numbers((count,), draw.one_of("float32", "float64", "int32"), ("few",))
    return Call(arrays, {"bins": bins, "range": limits}, np.histogram2d)


@word("bincount")
def _(draw, name):
    count, dtype = draw.between(0, 60), draw.one_of(*integers)
    settings = {"minlength": draw.one_of(0, 3, 40)}
    weights = {"weights": Numbers((count,), "float64", ("few",))} if draw.chance(0.3) else {}

    def small(function):
        return lambda x, **rest: function(x & x.dtype.type(7), **rest)

    # Only the lowest bits, so that there are few counts; NumPy does not count uint64.
    numpys = small(lambda x, **rest: np.bincount(x.astype(np.int64), **rest))
    return Call(
        {"x": Numbers((count,), dtype)} | weights,
        settings,
        numpys,
        None,
        None,
        lambda x, **rest: tunesmith.bincount(x & x.dtype.type(7), **rest),
    )


_subscripts = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ii->i",
    "ij->ji",
    "ij->i",
    "i,i->",
    "ij,ij->j",
    "...i,...i->...",
    "i,j->ij",
    "ij,j,jk->ki",
    "ijk->",
    "ii",
)


@word("einsum")
def _(draw, name):
    text = draw.one_of(*_subscripts)
    dtype = draw.dtype(*integers, *reals)
    extents = {letter: draw.one_of(0, 1, 2, 3, 4, 5, 9) if draw.chance(0.9) else 33 for letter in "bijk"}
    lead = draw.shape(0, 2, empty=False) if "..." in text else ()
    terms = text.partition("->")[0].split(",")
    shapes = [
        (*(lead if "..." in term else ()), *(extents[letter] for letter in term.replace("...", "")))
        for term in terms
    ]
    names = [f"x{k}" for k in range(len(shapes))]
    is_real = dtype in reals

    def expected(**given):
        found = np.einsum(text, *(one.astype(np.longdouble) if is_real else one for one in given.values()))
        return np.array(found).astype(dtype)

    def error(expected, **given):
        if not is_real:
            return None
        total = np.einsum(text, *(magnitude(one) for one in given.values()))
        count = math.prod(extents.values())
        return (
            (count + 4) * units[{"float16": "float32"}.get(dtype, dtype)] * total
            + units[dtype] * np.abs(exact(expected)) * 2
            + 2 * tiny(dtype)
        )

    kinds = ("few", "wide") if is_real else Numbers._field_defaults["kinds"]
    arrays = {
        key: Numbers(shape, dtype, kinds if dtype != "float16" else ("few",))
        for key, shape in zip(names, shapes)
    }

    def ours(out=None, **given):
        return tunesmith.einsum(text, *given.values(), out=out)

    return Call(arrays, {}, wraps(expected), error, "out", ours)


@word("tensor")
def _(draw, name):
    dtype = draw.dtype("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", *reals)
    n, m = draw.one_of(4, 5, 8, 17), draw.one_of(4, 6, 9)
    window = np.lib.stride_tricks.sliding_window_view
    text, shapes, extents, function = draw.one_of(
        (
            "out[y,x] += a[y+i,x+j] * b[i,j]",
            ((n, m), (3, 2)),
            {},
            lambda a, b: (window(a, b.shape) * b).sum((-2, -1), dtype=a.dtype),
        ),
        (
            "out[y,x] max= a[2*y+i,2*x+j]",
            ((n, m),),
            {"i": 2, "j": 2},
            lambda a: window(a, (2, 2))[::2, ::2].max((-2, -1)),
        ),
        ("out[x] min= a[y,x]", ((n, m),), {}, lambda a: a.min(0)),
        ("out[i,j] = a[i] * b[j]", ((n,), (m,)), {}, lambda a, b: a[:, None] * b),
        ("out[i,i] = a[i]", ((n,),), {}, lambda a: np.diag(a)),
        ("out[y,x] = a[y,9-x]", ((n, 10),), {"x": 10}, lambda a: a[:, ::-1]),
    )
    is_real = dtype in reals

    def expected(**given):
        with np.errstate(all="ignore"):
            return np.array(
                function(*(one.astype(np.longdouble) if is_real else one for one in given.values()))
            ).astype(dtype)

    def error(expected, **given):
        most = math.prod(max(1.0, float(magnitude(one).max(initial=0))) for one in given.values())
        return (
            None
            if not is_real
            else 8 * units[{"float16": "float32"}.get(dtype, dtype)] * 6 * most
            + units[dtype] * np.abs(exact(expected))
        )

    kinds = (
        (("few", "wide") if dtype != "float16" else ("few",)) if is_real else Numbers._field_defaults["kinds"]
    )
    arrays = {key: Numbers(shape, dtype, kinds) for key, shape in zip("ab", shapes)}
    return Call(
        arrays,
        {},
        expected,
        error,
        None if "[i,i]" in text else "out",
        lambda out=None, **given: tunesmith.tensor(text, **given, extents=extents, out=out),
    )


def drawn_layer(draw):
    """Shapes of the arrays of a call of conv(), and settings that fit them."""
    count, groups = draw.between(1, 3), draw.one_of(1, 1, 1, 2, 3)
    inputs, outputs = draw.one_of(1, 1, 2, 3), draw.one_of(1, 1, 2, 3)
    taps = [draw.one_of(1, 2, 3, 3, 5 if count < 3 else 2) for _ in range(count)]
    image = [draw.between(1, 9 if count < 3 else 5) for _ in range(count)]
    settings: dict[str, Any] = {"groups": groups, "channels": draw.one_of("first", "last")}
    if draw.chance(0.5):
        settings["dilation"] = draw.one_of(2, tuple(draw.between(1, 3) for _ in range(count)))
    kind = draw.one_of("none", "number", "numbers", "pairs", "same", "valid")
    if kind == "number":
        settings["padding"] = draw.between(0, 3)
    elif kind == "numbers":
        settings["padding"] = tuple(draw.between(0, 3) for _ in range(count))
    elif kind == "pairs":
        settings["padding"] = tuple((draw.between(0, 3), draw.between(0, 3)) for _ in range(count))
    elif kind != "none":
        settings["padding"] = kind
    if kind != "same" and draw.chance(0.5):
        settings["stride"] = draw.one_of(2, tuple(draw.between(1, 4) for _ in range(count)))
    batch, channel = draw.one_of((), (1,), (2,), (3,)), (groups * inputs,)
    x = (*batch, *image, *channel) if settings["channels"] == "last" else (*batch, *channel, *image)
    return {"x": x, "w": (groups * outputs, inputs, *taps), "bias": (groups * outputs,)}, settings


def drawn_product(draw, name):
    """The same of matmul() and linear()."""
    rows, depth, columns = (draw.one_of(0, 1, 2, 3, 5, 8) if draw.chance(0.95) else 33 for _ in range(3))
    lead = draw.shape(0, 2, empty=False)
    if name == "linear":
        return {"x": (*lead, depth), "w": (rows, depth), "bias": (rows,)}, {}
    other = tuple(1 if draw.chance(0.3) else extent for extent in lead)[draw.between(0, len(lead)) :]
    lead, other = draw.one_of((lead, other), (other, lead))
    return {
        "a": (depth,) if draw.chance(0.15) else (*lead, rows, depth),
        "b": (depth,) if draw.chance(0.15) else (*other, depth, columns),
    }, {}


finishes = {
    None: lambda y: y,
    "out": lambda y: y,
    "max(out, 0)": lambda y: np.maximum(y, 0),
    "2 * out - 1": lambda y: 2 * y - 1,
}


@word("matmul", "linear", "conv")
def _(draw, name):
    shapes, settings = drawn_layer(draw) if name == "conv" else drawn_product(draw, name)
    if draw.chance(0.5):
        shapes.pop("bias", None)
    dtype = draw.dtype(*integers, *reals)
    is_real = dtype in reals
    finish = draw.one_of(None, *(finishes if is_real else (None, "out")))
    function = {"matmul": lambda a, b: np.matmul(a, b), "linear": affine, "conv": convolved}[name]

    def expected(finish, **given):
        wide = {
            key: one.astype(np.longdouble) if isinstance(one, np.ndarray) and is_real else one
            for key, one in given.items()
        }
        return np.asarray(finishes[finish](function(**wide))).astype(dtype)[()]

    def error(expected, finish, **given):
        if not is_real:
            return None
        total = function(
            **{k: magnitude(one) if isinstance(one, np.ndarray) else one for k, one in given.items()}
        )
        count = shapes["a"][-1] if name == "matmul" else math.prod(shapes["w"][1:])
        return (
            2 * (count + 6) * units[{"float16": "float32"}.get(dtype, dtype)] * (total + 1)
            + units[dtype] * np.abs(exact(expected)) * 2
            + 2 * tiny(dtype)
        )

    kinds = ("few", "wide") if is_real else Numbers._field_defaults["kinds"]
    arrays = {
        key: Numbers(shape, dtype, kinds if dtype != "float16" else ("few",)) for key, shape in shapes.items()
    }
    return Call(arrays, {**settings, "finish": finish}, expected, error, "out")


@word("reduction")
def _(draw, name):
    shape, dtype = draw.shape(1, 3, empty=False), draw.one_of("float32", "float64", "int32", "int64")
    other = tuple(1 if draw.chance(0.3) else extent for extent in shape)[draw.between(0, len(shape) - 1) :]
    settings = {
        "function": draw.one_of("sum", "max", "min"),
        "axis": draw.axes(len(shape)),
        "keepdims": draw.chance(0.3),
    }

    def expected(a, b, function, **rest):
        with np.errstate(all="ignore"):
            wide = a.dtype if a.dtype.kind == "i" else np.longdouble
            terms = a.astype(wide) * 2 - b.astype(wide)
            return np.asarray(
                getattr(np, function)(terms, **rest, **({"dtype": wide} if function == "sum" else {}))
            ).astype(a.dtype)

    def error(expected, a, b, axis, **rest):
        if dtype not in reals:
            return None
        return (a.size + 4) * units[dtype] * (2 * magnitude(a).max() + magnitude(b).max()) * a.size

    kinds = Numbers._field_defaults["kinds"] if dtype not in reals else ("few", "wide")
    arrays = {"a": Numbers(shape, dtype, kinds), "b": Numbers(other, dtype, kinds)}
    return Call(
        arrays,
        settings,
        expected,
        error,
        None,
        lambda a, b, **rest: tunesmith.reduction("2 * a - b", a, b, **rest),
    )


_vectorized: dict[str, Any] = {}


@word("vectorize")
def _(draw, name):
    """One text of two types: each is compiled."""
    shape, dtype = draw.shape(), draw.one_of("float32", "int64")
    other = tuple(1 if draw.chance(0.3) else extent for extent in shape)[draw.between(0, len(shape) - 1) :]
    function = _vectorized.setdefault("one", tunesmith.vectorize("max(x, y) - min(x, y) * 2"))
    kinds = ("few", "wide") if dtype == "float32" else Numbers._field_defaults["kinds"]

    def expected(x, y):
        with np.errstate(over="ignore"):
            return (np.maximum(exact(x), exact(y)) - np.minimum(exact(x), exact(y)) * 2).astype(dtype)

    def error(expected, x, y):
        return (
            None
            if dtype == "int64"
            else 3 * units["float32"] * (2 * magnitude(x) + 2 * magnitude(y)) + np.zeros(expected.shape)
        )

    arrays = {"x": Numbers(shape, dtype, kinds), "y": Numbers(other, dtype, kinds)}
    return Call(arrays, {}, expected, error, "out", lambda x, y, **rest: function(x, y, **rest))


modes = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant", "grid-mirror", "grid-wrap")


@word("filter_bank")
def _(draw, name):
    shape, dtype = (
        draw.shape(2, 4, empty=False),
        draw.dtype("bool", "int8", "uint8", "int16", "uint16", "int32", *reals),
    )
    count, sides = draw.between(1, 3), (draw.one_of(1, 2, 3), draw.one_of(1, 3, 4))
    settings = {
        "results": draw.one_of("each", "sum", "norm"),
        "boundary": draw.one_of(*modes[:5]),
        "value": draw.one_of(0.0, 1.5),
    }
    wanted = "float32" if dtype in ("uint8", "uint16", "int16", "float32", "float16") else "float64"

    def expected(image, column_masks, row_masks, results, boundary, value):
        lead = (1,) * (image.ndim - 2)
        each = [
            scipy.ndimage.correlate(
                image.astype("f8"),
                np.outer(c, r).astype("f8").reshape(*lead, c.size, r.size),
                mode=boundary,
                cval=value,
            )
            for c, r in zip(column_masks, row_masks)
        ]
        return {
            "each": lambda: np.array(each),
            "sum": lambda: sum(each),
            "norm": lambda: np.sqrt(sum(one * one for one in each)),
        }[results]().astype(wanted)

    def error(expected, image, column_masks, row_masks, value, **rest):
        scale = max(float(magnitude(image).max()), value) * float(
            magnitude(column_masks).sum() * magnitude(row_masks).sum()
        )
        return 60 * units[wanted] * scale

    masks = {
        "column_masks": Numbers((count, sides[0]), "float32", ("few",)),
        "row_masks": Numbers((count, sides[1]), "float32", ("few",)),
    }
    images = {"image": Numbers(shape, dtype, ("few", "wide"))}
    if draw.chance(0.5):  # known by their elements
        return Call(
            images, settings | {key: draw.values(one, "few") for key, one in masks.items()}, expected, error
        )
    return Call(images | masks, settings, expected, error)


@word("conv_covariance")
def _(draw, name):
    n, i, o, h, w, p, q = (
        draw.between(1, 2),
        draw.between(1, 2),
        draw.between(1, 2),
        *(draw.between(2, 4) for _ in range(2)),
        *(draw.between(1, 2) for _ in range(2)),
    )
    rows, columns = h - p + 1, w - q + 1
    dtype = draw.one_of("float32", "float64")
    shapes = {
        "input": (n, o, rows, columns, o, rows, columns),
        "gamma": (n, i, h, w, i, h, w),
        "mu": (n, i, h, w),
        "c": (o,),
    }

    def expected(input, gamma, mu, c):
        found = input.astype(np.longdouble)
        for x, y, s, t in np.ndindex(rows, columns, rows, columns):
            total = np.sum(
                exact(mu[:, :, x : x + p, y : y + q]) * exact(mu[:, :, s : s + p, t : t + q]), axis=(1, 2, 3)
            )
            for one, k, m in np.ndindex(i, p, q):
                total = total + exact(gamma[:, one, x + k, y + m, one, s + k, t + m])
            for out in range(o):
                found[:, out, x, y, out, s, t] += exact(c[out]) * total
        return found.astype(dtype)

    def ours(input, **rest):
        return tunesmith.conv_covariance(np.array(input, order="C"), **rest)

    def error(expected, input, gamma, mu, c):
        return (
            40
            * units[dtype]
            * (
                magnitude(input).max()
                + magnitude(c).max() * i * p * q * (magnitude(mu).max() ** 2 + magnitude(gamma).max())
            )
        )

    return Call(
        {key: Numbers(shape, dtype, ("few", "wide")) for key, shape in shapes.items()},
        {},
        expected,
        error,
        None,
        ours,
    )


# scipy.ndimage


def image(draw, types=real_types, least=1, most=3, kinds=("few", "wide"), empty=False):
    return Numbers(draw.shape(least, most, empty), draw.dtype(*types), kinds)


def of_scipy(name):
    """SciPy's function; reals of 16 and 32 bits are converted to float64 and back."""
    function = getattr(scipy.ndimage, name.split(".")[1])

    def expected(input, *args, **settings):
        if input.dtype in (np.float16, np.float32):
            return np.asarray(function(input.astype(np.float64), *args, **settings)).astype(input.dtype)
        return function(input, *args, **settings)

    return expected


def by_order(name):
    """SciPy's rank filters read integers of 64 bits as float64: here they are replaced by their ranks first."""
    plain = of_scipy(name)

    def expected(input, cval=0, **settings):
        if input.dtype not in (np.int64, np.uint64):
            return plain(input, cval=cval, **settings)
        known = np.unique(np.append(input.reshape(-1), np.array(cval, input.dtype)))
        codes = np.searchsorted(known, input).astype(np.int32)
        return known[plain(codes, cval=int(np.searchsorted(known, np.array(cval, input.dtype))), **settings)]

    return expected


def morphology(name):
    plain = name.split(".")[1]
    made_of = {
        "white_tophat": lambda given, of: given - of("grey_opening"),
        "black_tophat": lambda given, of: of("grey_closing") - given,
        "morphological_gradient": lambda given, of: of("grey_dilation") - of("grey_erosion"),
        "morphological_laplace": lambda given, of: of("grey_dilation") + of("grey_erosion") - given - given,
    }

    def expected(input, **settings):
        if plain not in made_of or input.dtype not in (np.int64, np.uint64):
            return by_order(name)(input, **settings)
        return made_of[plain](input, lambda one: by_order(f"ndimage.{one}")(input, **settings))

    return expected


def off(weight):
    """An error of some roundings of the greatest element, `weight` times; an error of one if integers are cut."""

    def error(expected, input, cval=0.0, **rest):
        dtype, most = expected.dtype.name, max(float(magnitude(input.astype("f8")).max(initial=0)), abs(cval))
        if dtype not in units:
            return 0 if dtype == "bool" else 1 + math.floor(64 * units["float64"] * weight * most)
        unit = units[{"float16": "float32"}.get(dtype, dtype)]
        return 64 * unit * weight * most + (32 if dtype == "float16" else 2) * units[dtype] * (
            np.abs(exact(expected)) + (most if dtype == "float16" else 0)
        )

    return error


def edges(draw, shape, per_axis=False):
    found = {"mode": draw.one_of(*modes)}
    if per_axis and draw.chance(0.3):
        found["mode"] = [draw.one_of(*modes) for _ in shape]
    if draw.chance(0.5):
        found["cval"] = draw.one_of(0.0, 3.0)
    return found


def some_axes(draw, dimensions):
    """Axes in any order; None: all."""
    chosen = tuple(int(k) for k in draw.random.permutation(dimensions)[: draw.between(1, dimensions)])
    return draw.one_of(None, None, chosen)


smooth_types = ("int8", "int16", "int32", "uint8", "uint16", "uint32", *reals)


@word("ndimage.correlate", "ndimage.convolve", "ndimage.correlate1d", "ndimage.convolve1d")
def _(draw, name):
    numbers = image(draw, smooth_types, kinds=("few",), empty=True)
    if numbers.dtype in reals:
        numbers = numbers._replace(kinds=("few", "wide"))
    is_line = name.endswith("1d")
    axes = some_axes(draw, len(numbers.shape)) if not is_line else None
    extents = [draw.between(1, 4) for _ in (numbers.shape if axes is None else axes)][
        : 1 if is_line else None
    ]
    weights = draw.random.integers(0 if numbers.dtype.startswith("u") else -2, 4, extents).astype("f8")
    weights = weights * draw.one_of(1, 1, 0.37) if numbers.dtype in reals else weights
    settings = {"weights": weights, **edges(draw, numbers.shape)}
    if is_line:
        settings["axis"] = draw.axis(len(numbers.shape))
    elif axes is not None:
        settings["axes"] = axes
    if draw.chance(0.3):
        shifts = [draw.between(-((extent - 1) // 2), (extent - 1) // 2) for extent in extents]
        settings["origin"] = shifts[0] if is_line else shifts
    return Call({"input": numbers}, settings, of_scipy(name), off(float(np.abs(weights).sum())), "output")


@word(
    "ndimage.uniform_filter",
    "ndimage.uniform_filter1d",
    "ndimage.gaussian_filter",
    "ndimage.gaussian_filter1d",
)
def _(draw, name):
    numbers = image(draw, (*smooth_types, "int64"), kinds=("few", "wide", "ends", "time"))
    if numbers.dtype in reals:
        numbers = numbers._replace(kinds=("few", "wide"))
    elif numbers.dtype == "int64":
        numbers = numbers._replace(kinds=("few", "time"))
    is_line = name.endswith("1d")
    settings = edges(draw, numbers.shape, not is_line)
    settings["size" if "uniform" in name else "sigma"] = (
        draw.between(1, 5) if "uniform" in name else draw.one_of(0.4, 1.0, 1.7)
    )
    if is_line:
        settings["axis"] = draw.axis(len(numbers.shape))
    elif not isinstance(settings["mode"], list):
        settings["axes"] = some_axes(draw, len(numbers.shape))
    if "gaussian" in name and numbers.dtype in reals and draw.chance(0.3):
        settings["order"] = draw.between(0, 3)
    steps = 2 * len(numbers.shape)

    def error(expected, input, **rest):
        one = off(1 if not settings.get("order") else 40.0 ** len(input.shape))(expected, input, **rest)
        return one * (1 if expected.dtype.kind == "f" else steps)

    return Call({"input": numbers}, settings, of_scipy(name), error, "output")


@word(
    "ndimage.sobel",
    "ndimage.prewitt",
    "ndimage.laplace",
    "ndimage.gaussian_laplace",
    "ndimage.gaussian_gradient_magnitude",
)
def _(draw, name):
    is_gaussian = "gaussian" in name
    numbers = image(draw, ("float32", "float64") if is_gaussian else smooth_types, kinds=("few",))
    if numbers.dtype in ("float32", "float64"):
        numbers = numbers._replace(kinds=("few", "wide"))
    settings = edges(draw, numbers.shape, True)
    if numbers.dtype not in reals:
        settings.pop("cval", None)
    if is_gaussian:
        settings["sigma"] = draw.one_of(0.5, 1.0, 1.6)
    elif name != "ndimage.laplace":
        settings["axis"] = draw.axis(len(numbers.shape))
    return Call({"input": numbers}, settings, of_scipy(name), off(4.0 ** len(numbers.shape)), "output")


def _second(input, axis, output, mode, cval, factor):
    return tunesmith.ndimage.correlate1d(input, [factor, -2 * factor, factor], axis, output, mode, cval)


@word("ndimage.generic_laplace", "ndimage.generic_gradient_magnitude")
def _(draw, name):
    numbers = image(draw, ("float32", "float64"))
    settings = {**edges(draw, numbers.shape), "extra_arguments": (0.5,)}

    def theirs(input, axis, output, mode, cval, factor):
        return scipy.ndimage.correlate1d(input, [factor, -2 * factor, factor], axis, output, mode, cval)

    def expected(input, **settings):
        return of_scipy(name)(input, theirs, **settings)

    return Call(
        {"input": numbers},
        settings,
        expected,
        off(8.0 * len(numbers.shape)),
        None,
        lambda input, **rest: function_of(name)(input, _second, **rest),
    )


def window(draw, shape, structures=False):
    """SciPy reads out of bounds if a window is longer than the image."""
    extents = tuple(draw.between(1, max(1, min(extent, 3))) for extent in shape)
    footprint = draw.random.random(extents) < 0.7
    footprint.flat[0] = True
    found = draw.one_of({"size": extents}, {"size": extents}, {"footprint": footprint})
    if structures and draw.chance(0.3):
        found = {"structure": draw.random.integers(-2, 3, extents).astype(float)}
    found["origin"] = [draw.between(-(extent // 2), (extent - 1) // 2) for extent in extents]
    return found


def along(draw, settings, numbers):
    """A window along some axes, in any order; SciPy takes those of a footprint in ascending order."""
    dimensions = len(numbers.shape)
    axes = some_axes(draw, dimensions)
    if axes is None:
        return settings
    chosen = sorted(axes) if "size" not in settings else axes
    kept = slice(None)
    changed = {"axes": axes, "origin": [settings["origin"][k] for k in axes]}
    if "size" in settings:
        changed["size"] = [settings["size"][k] for k in axes]
    else:
        key = "footprint" if "footprint" in settings else "structure"
        others = tuple(k for k in range(dimensions) if k not in chosen)
        changed[key] = settings[key][tuple(0 if k in others else kept for k in range(dimensions))]
        if len(axes) == dimensions:
            changed["origin"] = settings["origin"]
        if not changed[key].any() and key == "footprint":
            return settings
    return settings | changed


rank_kinds = ("few", "wide", "ends", "time")


def constant(draw, dtype):
    return draw.one_of(
        0,
        0,
        1,
        100,
        *(
            (1_700_000_000_000_000_001, np.iinfo(dtype).max)
            if dtype.endswith("64") and dtype in integers
            else ()
        ),
    )


@word(
    "ndimage.minimum_filter",
    "ndimage.maximum_filter",
    "ndimage.median_filter",
    "ndimage.rank_filter",
    "ndimage.percentile_filter",
)
def _(draw, name):
    numbers = image(draw, least=2, kinds=rank_kinds)
    if numbers.dtype in reals:
        # SciPy orders NaN, and zeros of both signs, in another way.
        numbers = numbers._replace(kinds=("wide", "infinite"))
    settings = {
        **along(draw, window(draw, numbers.shape), numbers),
        "mode": draw.one_of(*modes),
        "cval": constant(draw, numbers.dtype),
    }
    if name.endswith("rank_filter"):
        settings["rank"] = draw.one_of(0, -1)
    if "percentile" in name:
        settings["percentile"] = draw.one_of(0, 30, 50.0, 100)
    return Call({"input": numbers}, settings, by_order(name), None, "output")


@word("ndimage.minimum_filter1d", "ndimage.maximum_filter1d")
def _(draw, name):
    numbers = image(draw, kinds=rank_kinds)
    if numbers.dtype in reals:
        numbers = numbers._replace(kinds=("wide", "infinite"))
    axis = draw.axis(len(numbers.shape))
    settings = {
        "size": draw.between(1, max(1, numbers.shape[axis])),
        "axis": axis,
        "mode": draw.one_of(*modes),
        "cval": constant(draw, numbers.dtype),
    }
    return Call({"input": numbers}, settings, by_order(name), None, "output")


@word(
    *(
        f"ndimage.{name}"
        for name in (
            "grey_erosion",
            "grey_dilation",
            "grey_opening",
            "grey_closing",
            "white_tophat",
            "black_tophat",
            "morphological_gradient",
            "morphological_laplace",
        )
    )
)
def _(draw, name):
    is_made = "tophat" in name or "morphological" in name
    numbers = image(draw, real_types[1:], least=2, kinds=rank_kinds)
    if numbers.dtype in reals:
        numbers = numbers._replace(kinds=("wide",) if is_made else ("wide", "infinite"))
    settings = {
        **along(
            draw, window(draw, numbers.shape, structures=numbers.dtype not in ("int64", "uint64")), numbers
        ),
        "mode": draw.one_of(*modes),
        "cval": draw.one_of(0, 0, 1),
    }
    if "structure" in settings and numbers.dtype not in reals:  # nothing leaves the type's range
        numbers = numbers._replace(kinds=("few",), dtype=numbers.dtype.removeprefix("u"))

    def error(expected, input, **rest):
        return (
            8 * units[expected.dtype.name] * float(magnitude(input).max())
            if expected.dtype.kind == "f" and (is_made or "structure" in settings)
            else None
        )

    return Call({"input": numbers}, settings, morphology(name), error, "output")


@word(
    *(
        f"ndimage.binary_{name}"
        for name in ("erosion", "dilation", "opening", "closing", "hit_or_miss", "propagation", "fill_holes")
    )
)
def _(draw, name):
    numbers = image(draw, least=2, kinds=("few", "wide", "ends"))
    extents = tuple(draw.between(1, max(1, min(extent, 3))) for extent in numbers.shape)
    structure = draw.random.random(extents) < 0.7
    structure[tuple(extent // 2 for extent in extents)] = True
    settings: dict[str, Any] = {
        "structure1" if "hit" in name else "structure": draw.one_of(None, structure, np.ones(extents, bool))
    }
    arrays = {"input": numbers}
    if name.split("_")[1] in ("erosion", "dilation", "opening", "closing"):
        settings |= {"iterations": draw.one_of(1, 1, 2, 3), "border_value": draw.one_of(0, 1)}
        if "opening" in name:
            settings["iterations"] = 1  # more of them make SciPy write past its memory
    if "fill" not in name and "hit" not in name and draw.chance(0.3) and "opening" not in name:
        arrays["mask"] = Numbers(numbers.shape, "bool")
    return Call(
        arrays,
        settings,
        lambda input, **given: getattr(scipy.ndimage, name.split(".")[1])(input != 0, **given),
    )


def extremes(part, *which):
    if part.size == 0:
        raise ValueError("nothing has no extreme")
    return [getattr(part, one)() for one in which]


def middle(part):
    return np.median(part.astype(np.longdouble)) if part.size else np.nan


def places(part, shape):
    return [np.sum(part * where) / np.sum(part) for where in np.indices(shape)]


# Results of the elements that count.
measured = {
    "sum": lambda part: np.sum(part),
    "sum_labels": lambda part: np.sum(part),
    "mean": lambda part: np.mean(part.astype(np.longdouble)),
    "variance": lambda part: np.var(part.astype(np.longdouble)),
    "standard_deviation": lambda part: np.std(part.astype(np.longdouble)),
    "minimum": lambda part: extremes(part, "min"),
    "maximum": lambda part: extremes(part, "max"),
    "median": middle,
    "minimum_position": lambda part: extremes(part, "min"),
    "maximum_position": lambda part: extremes(part, "max"),
    "extrema": lambda part: extremes(part, "min", "max", "min", "max"),
    "histogram": lambda part: np.histogram(
        part.astype("f4") if part.dtype == np.float16 else part, 7, (-50.0, 100.0)
    )[0],
    "center_of_mass": None,
}


@word(*(f"ndimage.{name}" for name in measured))
def _(draw, name):
    plain = name.split(".")[1]
    numbers = image(
        draw,
        real_types[1:] if plain in ("variance", "standard_deviation", "histogram") else real_types,
        kinds=rank_kinds,
    )
    if numbers.dtype in reals:
        numbers = numbers._replace(kinds=("wide",))
    form, base, index = draw.one_of("none", "labels", "one", "several"), 0, None
    if plain == "center_of_mass":
        numbers = numbers._replace(
            kinds=("few", "time"),
            dtype=draw.one_of("bool", "uint8", "uint16", "uint64", "int64", "float32", "float64"),
        )
    arrays = {"input": numbers}
    if form != "none":
        arrays["labels"] = Numbers(
            numbers.shape, draw.one_of("int8", "int32", "int64", "uint8", "uint64", "float32"), ("few",)
        )
        base = (
            draw.one_of(0, 1_700_000_000_000_000_000)
            if arrays["labels"].dtype.endswith("64") and form != "labels"
            else 0
        )
    if form == "one":
        index = draw.between(0, 3) + base
    elif form == "several":
        index = (
            np.array([[1, 3], [2, 0]], "u8" if base else "i8") + np.uint64(base)
            if base
            else np.array([[1, 3], [2, 0]])
        )[: draw.between(1, 2)]
        index = index[0] if draw.chance(0.7) or plain == "center_of_mass" else index
    limits = {"min": -50, "max": 100.0, "bins": 7} if plain == "histogram" else {}

    def of(part, given):
        if plain != "center_of_mass":
            return measured[plain](part)
        return places(np.where(part, given, 0).astype(np.longdouble), given.shape)

    def expected(input, labels=None):
        labels = None if labels is None else labels + labels.dtype.type(base)
        counted = np.ones(input.shape, bool) if labels is None else labels > 0 if index is None else None
        with np.errstate(all="ignore"):
            if counted is not None:
                return of(counted if plain == "center_of_mass" else input[counted], input)
            found = []
            for one in np.atleast_1d(index).reshape(-1):
                counted = labels == one
                if plain == "histogram" and not counted.any():
                    found.append(None)
                elif form == "several" and not counted.any() and plain in ("minimum", "maximum"):
                    found.append(0)
                elif form == "several" and not counted.any() and ("position" in plain or plain == "extrema"):
                    raise ValueError("what is nowhere has no place")
                else:
                    part = counted if plain == "center_of_mass" else input[counted]
                    found.append(
                        of(
                            part.astype("f8") if form == "several" and plain.startswith("sum") else part,
                            input,
                        )
                    )
            return [list(one) for one in zip(*found)] if plain == "extrema" else found

    def ours(input, labels=None):
        settings = dict(limits) if index is None else {**limits, "index": index}
        if labels is not None:
            settings["labels"] = labels + labels.dtype.type(base) if base else labels
        if (
            form == "several"
            and ("position" in plain or plain == "extrema")
            and not all((settings["labels"] == one).any() for one in index.reshape(-1))
        ):
            raise ValueError("not asked for")
        found = function_of(name)(input, **settings)
        if plain == "extrema":  # another of equal elements may be meant
            found = [
                *found[:2],
                *([input[one] for one in found[k]] if form == "several" else input[found[k]] for k in (2, 3)),
            ]
        elif "position" in plain:
            found = [input[one] for one in found] if form == "several" else input[found]
        return found

    def error(expected, input, **rest):
        most, count = float(magnitude(input).max(initial=0)), input.size
        unit = units[input.dtype.name if input.dtype.kind == "f" else "float64"]
        return {
            "variance": lambda: 64 * unit * count * most * most,
            "standard_deviation": lambda: math.sqrt(64 * unit * count) * most,
            "center_of_mass": lambda: (
                64
                * count
                * max(input.shape)
                * unit
                * most
                / max(
                    float(np.abs(np.sum(exact(input).astype(np.longdouble))))
                    if form == "none"
                    else 1e-6 * most,
                    1e-6 * most,
                    1e-300,
                )
            ),
            "sum": lambda: 64 * unit * most * count if input.dtype.kind == "f" or form == "several" else 0,
        }.get(
            "sum" if plain.startswith("sum") else plain,
            lambda: 64 * unit * most * count if plain in ("mean", "median") else 0,
        )()

    return Call(
        arrays,
        {},
        expected,
        error,
        None,
        ours,
        lambda found: [
            one
            for part in parts(found)
            for one in ([None] if part is None else np.asarray(part, "f8").reshape(-1))
        ],
    )


@word("ndimage.generate_binary_structure")
def _(draw, name):
    return Call(
        {},
        {"rank": draw.between(0, 4), "connectivity": draw.between(0, 4)},
        scipy.ndimage.generate_binary_structure,
    )


@word("ndimage.iterate_structure")
def _(draw, name):
    extents = tuple(draw.one_of(1, 3) for _ in range(draw.between(1, 3)))
    structure = draw.random.random(extents) < 0.7
    structure[tuple(extent // 2 for extent in extents)] = True
    return Call(
        {}, {"structure": structure, "iterations": draw.between(1, 3)}, scipy.ndimage.iterate_structure
    )
