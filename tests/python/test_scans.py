# SPDX-License-Identifier: Apache-2.0
"""Scans against NumPy: values, element types, axes, views, settings, and refusals."""

import numpy as np
import pytest
import tunesmith
from drawn_forms import real_types

random = np.random.default_rng(3)
# These are in the order of tunesmith.scan's words.
accumulates = {
    "sum": np.add.accumulate,
    "product": np.multiply.accumulate,
    "max": np.maximum.accumulate,
    "min": np.minimum.accumulate,
    "any": np.logical_or.accumulate,
    "all": np.logical_and.accumulate,
}


def made(dtype, shape):
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("float"):
        return random.uniform(0.5, 1.5, shape).astype(dtype)
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def agree(found, wanted):
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(found, wanted, rtol=2e-2 if wanted.dtype == np.float16 else 1e-4)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", real_types)
@pytest.mark.parametrize("function", accumulates)
def test_every_type_gives_what_numpy_gives(function, dtype):
    for a, axis in ((made(dtype, (3, 20, 4)), 1), (made(dtype, 70), 0)):
        agree(tunesmith.scan(a, function, axis), accumulates[function](a, axis))


@pytest.mark.parametrize("dtype", real_types)
def test_exclusive_extremes_begin_with_the_ends_of_the_type(dtype):
    first = {"b": lambda: (False, True), "f": lambda: (-np.inf, np.inf)}.get(
        np.dtype(dtype).kind, lambda: (np.iinfo(dtype).min, np.iinfo(dtype).max)
    )()
    a = made(dtype, 3)
    for function, end in zip(("max", "min"), first):
        for reverse in (False, True):
            found = tunesmith.scan(a, function, exclusive=True, reverse=reverse)
            wanted = accumulates[function](np.append(np.array([end], dtype), a[::-1] if reverse else a))[:3]
            agree(found, wanted[::-1] if reverse else wanted)
            assert dtype != "bool" or found.view(np.uint8).max() <= 1  # whole truth values


def test_axes_and_views():
    a = made("float32", (6, 7, 8))
    for view in (
        a,
        a[::2],
        a[:, ::3],
        a[:, 1:5, 2:6],
        a[..., ::2],
        a[::-1],
        a.T,
        a.transpose(1, 0, 2),
        a[:, :1],
        a[1:1],
        a[2, 3, 4],
    ):
        agree(tunesmith.cumsum(view), np.cumsum(view))
        for axis in range(-view.ndim, view.ndim):
            agree(tunesmith.cumsum(view, axis), np.cumsum(view, axis))
            agree(tunesmith.cumprod(view, axis=axis), np.cumprod(view, axis=axis))


def test_settings():
    a = made("int32", (5, 40))
    for dtype in ("int32", "uint8", "float32", "int64", "float64"):
        agree(tunesmith.cumsum(a, 1, dtype), np.cumsum(a, 1, dtype))
    for dtype in ("int64", "float64", "int16"):
        out, wanted = np.empty((5, 40), dtype), np.empty((5, 40), dtype)
        if dtype == "int64":
            assert tunesmith.cumsum(a, 0, out=out) is out
        else:
            tunesmith.cumsum(a, 0, out=out)
        np.cumsum(a, 0, out=wanted)
        agree(out, wanted)
    b = made("float64", (4, 9)) + 1j * made("float64", (4, 9))
    agree(tunesmith.cumsum(b, 1), np.cumsum(b, 1))
    agree(tunesmith.cumsum([1, 2, 3]), np.cumsum([1, 2, 3]))
    agree(tunesmith.cumsum(np.float32(2)), np.cumsum(np.float32(2)))


def test_exclusive():
    a = np.array([[3, 1, 2], [5, 7, 4]], np.int32)
    agree(tunesmith.scan(a, exclusive=True), np.array([[0, 3, 4], [0, 5, 12]]))
    agree(tunesmith.scan(a, "product", 0, exclusive=True), np.array([[1, 1, 1], [3, 1, 2]]))
    agree(
        tunesmith.scan(a.astype("f4"), "max", exclusive=True),
        np.array([[-np.inf, 3, 3], [-np.inf, 5, 7]], "f4"),
    )
    agree(tunesmith.scan(a.astype("u8"), "max", exclusive=True), np.array([[0, 3, 3], [0, 5, 7]], "u8"))
    agree(
        tunesmith.scan(a > 3, "all", None, exclusive=True),
        np.array([True, False, False, False, False, False]),
    )


def test_reverse():
    for dtype, function, axis in (
        ("int32", "sum", 0),
        ("float32", "max", 1),
        ("uint64", "min", 2),
        ("bool", "any", None),
    ):
        a = made(dtype, (3, 20, 4))
        flat = a if axis is not None else a.ravel()
        wanted = np.flip(accumulates[function](np.flip(flat, axis or 0), axis or 0), axis or 0)
        agree(tunesmith.scan(a, function, axis, reverse=True), wanted)
    agree(tunesmith.scan(np.array([3, 1, 2]), exclusive=True, reverse=True), np.array([3, 2, 0]))


def test_expressions():
    nan = np.nan
    a = np.array([[nan, 1, nan, nan], [2, nan, 3, nan]], np.float32)
    agree(tunesmith.scan(a, "b == b ? b : a"), np.array([[nan, 1, 1, 1], [2, 2, 3, 3]], np.float32))
    agree(
        tunesmith.scan(a, "b == b ? b : a", reverse=True),
        np.array([[1, 1, nan, nan], [2, 3, 3, nan]], np.float32),
    )
    b = made("float64", (5, 6, 70))
    for axis in (0, 1, 2):
        agree(
            tunesmith.scan(b, "max(a, b) + log1p(exp(-abs(a - b)))", axis), np.logaddexp.accumulate(b, axis)
        )
    c = np.array([65536, 65536, 3], np.int32)
    agree(tunesmith.scan(c, "a * b"), np.array([65536, 0, 0], np.int32))
    agree(
        tunesmith.scan(c, "min(a, b)", exclusive=True, identity=2**31 - 1),
        np.array([2**31 - 1, 65536, 65536], np.int32),
    )
    agree(tunesmith.scan([1, 2], "a + b", dtype="float32"), np.array([1, 3], np.float32))
    out = np.empty(3, np.int32)
    assert tunesmith.scan(c, "max(a, b)", out=out) is out and out[2] == 65536


def test_float32_is_summed_as_float64():
    a = np.array([2**24, 1, 1, 0.5], np.float32)
    agree(tunesmith.cumsum(a, dtype="float64"), np.cumsum(a, dtype="float64"))
    agree(tunesmith.scan(a, exclusive=True, dtype=np.float64), np.array([0, 2**24, 2**24 + 1, 2**24 + 2.0]))
    b = made("float32", (3, 50))[:, ::2]
    out = np.empty((3, 25))
    assert tunesmith.cumsum(b, 1, "float64", out) is out
    np.testing.assert_allclose(out, np.cumsum(b, 1, "float64"), rtol=0, atol=2**-48)
    agree(tunesmith.cumprod(a[:2], dtype="f8"), np.array([2.0**24, 2.0**24]))


def test_repeated_calls_read_their_arrays():
    for shape in ((300,), (3, 100)):
        for _ in range(3):
            a = made("float32", shape)
            agree(tunesmith.cumsum(a, 0), np.cumsum(a, 0))


def test_refusals():
    a = np.ones((2, 3), np.float32)
    with pytest.raises(np.exceptions.AxisError):
        tunesmith.cumsum(a, 2)
    with pytest.raises(np.exceptions.AxisError):
        tunesmith.cumsum(np.float32(1), 1)
    with pytest.raises(ValueError, match="allowed are sum, product"):
        tunesmith.scan(a, "mean")
    with pytest.raises(ValueError, match="not associative"):
        tunesmith.scan(a, "a - b")
    with pytest.raises(ValueError, match="identity= is None"):
        tunesmith.scan(a, "a + b", exclusive=True)
    with pytest.raises(ValueError, match="has to change nothing"):
        tunesmith.scan(a, "a * b", exclusive=True, identity=0)
    with pytest.raises(ValueError, match="identity= is 0"):
        tunesmith.scan(a, "max", exclusive=True, identity=0)
    with pytest.raises(TypeError, match="not uint8"):
        tunesmith.scan(a.astype("u1"), "a + b")
    with pytest.raises(TypeError, match="complex"):
        tunesmith.cumprod(a.astype("c8"))
    with pytest.raises(ValueError, match="out= has the shape"):
        tunesmith.cumsum(a, 0, out=np.empty(3, np.float32))


# NumPy adds and multiplies in the output's type.
@pytest.mark.parametrize("function", ["cumsum", "cumprod", "sum", "prod"])
@pytest.mark.parametrize("dtype", ["uint16", "int64", "uint64", "float32", "float16", "bool"])
def test_outputs_of_more_numbers(function, dtype):
    x = np.random.default_rng(5).integers(1, 3000, (5, 40)).astype(dtype) / (1000 if "f" in dtype else 1)
    x = x.astype(dtype)
    for type_of_output in ("float64", "float32", ">f8"):
        for axis in (0, 1, None):
            there, expected = (
                np.zeros_like(getattr(np, function)(x, axis), type_of_output) for _ in range(2)
            )
            there, expected = np.asarray(there), np.asarray(expected)
            with np.errstate(over="ignore"):
                getattr(np, function)(x, axis=axis, out=expected)
            if not np.isfinite(expected).all():
                continue
            assert getattr(tunesmith, function)(x, axis=axis, out=there) is there
            np.testing.assert_allclose(there, expected, rtol=1e-4 if type_of_output == "float32" else 1e-12)
