# SPDX-License-Identifier: Apache-2.0
"""argmin, argmax, moments, products, logical functions, ranges, norms and reductions of expressions against NumPy."""

import warnings

import numpy as np
import pytest
import tunesmith
from drawn_forms import real_types

random = np.random.default_rng(5)
numbers = ("argmin", "argmax", "var", "std", "prod", "any", "all", "count_nonzero", "ptp")


def made(dtype, shape):
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("float"):
        return random.uniform(0.5, 1.5, shape).astype(dtype)
    return random.integers(0, min(np.iinfo(dtype).max, 10**6), shape, dtype=dtype, endpoint=True)


def agree(found, wanted):
    assert np.shape(found) == np.shape(wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    if np.asarray(wanted).dtype.kind in "fc":
        np.testing.assert_allclose(
            found, wanted, rtol=2e-2 if np.asarray(wanted).dtype == np.float16 else 1e-5, atol=1e-7
        )
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", real_types)
@pytest.mark.parametrize("function", numbers)
def test_every_type_gives_what_numpy_gives(function, dtype):
    if function == "ptp" and dtype == "bool":
        pytest.skip("NumPy subtracts no booleans")
    for a, axis in ((made(dtype, (3, 20, 4)), 1), (made(dtype, 70), None)):
        agree(getattr(tunesmith, function)(a, axis), getattr(np, function)(a, axis))


def test_axes_and_views():
    a = made("float32", (4, 5, 6))
    a[1, 2] = 0
    for view in (a, a[::2], a[:, ::3], a[..., ::2], a[::-1], a.T, a.transpose(1, 0, 2), a[:, :1], a[2, 3, 4]):
        for axis in (None, *range(-view.ndim, view.ndim)):
            for keepdims in (False, True):
                for function in numbers:
                    found = getattr(tunesmith, function)(view, axis, keepdims=keepdims)
                    agree(found, getattr(np, function)(view, axis, keepdims=keepdims))
        if view.ndim == 3:
            for axis in ((0, 1), (1, 2), (0, 2), (2, 0), (0, 1, 2), ()):
                for function in ("var", "std", "prod", "any", "all", "count_nonzero", "ptp"):
                    agree(getattr(tunesmith, function)(view, axis), getattr(np, function)(view, axis))


def test_the_first_of_equals_and_the_first_nan_are_found():
    a = np.array(
        [
            [3, 7, 7, 1, 1],
            [np.nan, 9, np.nan, -9, 0],
            [-0.0, 0.0, -0.0, 0, 0],
            [-np.inf] * 5,
            [0, np.inf, np.nan, np.nan, 1],
        ]
    )
    for dtype in ("float32", "float64"):
        for function in ("argmin", "argmax"):
            agree(getattr(tunesmith, function)(a.astype(dtype), 1), getattr(np, function)(a.astype(dtype), 1))
            agree(
                getattr(tunesmith, function)(a.astype(dtype).T, 0),
                getattr(np, function)(a.astype(dtype).T, 0),
            )
            agree(getattr(tunesmith, function)(a.astype(dtype)), getattr(np, function)(a.astype(dtype)))
    with pytest.raises(ValueError, match="argmax of an empty sequence"):
        tunesmith.argmax(np.zeros((3, 0)), 1)


def test_a_variance_keeps_its_digits():
    x = (1e4 + random.standard_normal((3, 5000))).astype("float32")
    x[0, 0] = 0  # the first number, which is subtracted, is far from the mean
    x[2] = 1e4
    wanted = np.var(x.astype("float64"), 1)
    np.testing.assert_allclose(tunesmith.var(x, 1), wanted, rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(tunesmith.var(x.T.copy(), 0), wanted, rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(tunesmith.var(x, 1, dtype="float64"), wanted, rtol=1e-14)
    y = (1e8 + random.standard_normal(4000)).astype("float64")
    y[0] = -1e8
    np.testing.assert_allclose(
        tunesmith.var(y), np.var(y.astype(np.longdouble)).astype("float64"), rtol=1e-14
    )


def test_moments_settings():
    a = made("float32", (6, 7))
    for settings in (
        {"ddof": 1},
        {"ddof": 2, "axis": 0},
        {"correction": 1},
        {"dtype": "float64"},
        {"axis": 1, "dtype": "float64", "ddof": 1},
    ):
        agree(tunesmith.var(a, **settings), np.var(a, **settings))
        agree(tunesmith.std(a, **settings), np.std(a, **settings))
    out = np.empty(7, np.float32)
    assert tunesmith.var(a, 0, out=out) is out
    agree(out, np.var(a, 0))
    b = a + 1j * made("float32", (6, 7))
    agree(tunesmith.var(b, 1), np.var(b, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isnan(tunesmith.var(np.zeros(1), ddof=1))
    assert "Degrees of freedom" in str(caught[0].message)
    pair = tunesmith.mean_var(a, 1, ddof=1)
    agree(pair[:, 0], np.mean(a, 1))
    agree(pair[:, 1], np.var(a, 1, ddof=1))
    agree(tunesmith.mean_var(np.array([1, np.inf], np.float32)), np.array([np.inf, np.nan], np.float32))
    both = tunesmith.min_max(a, 0)
    agree(both[:, 0], a.min(0))
    agree(both[:, 1], a.max(0))


def test_products_leave_the_range_only_at_the_end():
    x = np.tile(np.array([1e30, 1e-30], np.float32), 500)
    assert tunesmith.prod(x) == pytest.approx(1, rel=1e-4)
    assert tunesmith.prod(np.float64(x) ** 10) == pytest.approx(1, rel=1e-3)
    assert tunesmith.prod(np.full(400, 10.0)) == np.inf and tunesmith.prod(np.full(400, 0.1)) == 0
    assert np.isnan(tunesmith.prod([np.inf, 0.0])) and tunesmith.prod(np.zeros(0)) == 1
    assert tunesmith.prod(np.full(3, 2.0**30, np.float32), dtype="float64") == 2.0**90


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "int64"])
def test_norms(dtype):
    a = made(dtype, (4, 5, 6))
    for order in (None, 2, 1, 0, np.inf, -np.inf, 3):
        for axis in (0, 1, 2, -1) if order != 3 else (1,):
            agree(
                tunesmith.norm(a, order, axis, keepdims=True), np.linalg.norm(a, order, axis, keepdims=True)
            )
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        for axes in ((0, 1), (2, 0), (1, 2)):
            agree(tunesmith.norm(a, order, axes), np.linalg.norm(a, order, axes))
    agree(tunesmith.norm(a), np.linalg.norm(a))
    agree(tunesmith.norm(a[0, 0] + 0j), np.linalg.norm(a[0, 0] + 0j))


def test_reductions_of_expressions():
    a, b = made("float32", (5, 40)), made("float32", (5, 1))
    agree(tunesmith.reduction("exp(a - b)", a, b, axis=1), np.exp(a - b).sum(1))
    agree(
        tunesmith.reduction("(a - b) ** 2", a, a[::-1], finish="sqrt(out)"),
        np.sqrt(((a - a[::-1]) ** 2).sum()),
    )
    agree(tunesmith.reduction("abs(a)", -a, function="max", axis=0, keepdims=True), a.max(0, keepdims=True))
    with pytest.raises(ValueError, match="2 arrays"):
        tunesmith.reduction("a + c", a, b)


def test_refusals():
    a = np.ones((2, 3), np.float32)
    for call in (
        lambda: tunesmith.var(a, mean=a),
        lambda: tunesmith.var(a + 1j, where=a > 0),
        lambda: tunesmith.any(a, where=a > 0),
        lambda: tunesmith.prod(a, initial=3),
        lambda: tunesmith.norm(a, 2, (0, 1)),
    ):
        with pytest.raises(NotImplementedError, match="multiply|choose|give|own library"):
            call()
    with pytest.raises(np.exceptions.AxisError):
        tunesmith.argmax(a, 2)
    with pytest.raises(TypeError, match="complex"):
        tunesmith.argmax(a.astype("c8"))
    with pytest.raises(ValueError, match="allowed are sum"):
        tunesmith.reduction("a", a, function="prod")


def test_narrow_types_are_read_in_place_and_rounded_once():
    large = np.full((40, 2000), 100.0, "f2")  # sums of rows are beyond the range of float16
    assert np.isinf(tunesmith.sum(large, axis=1)).all() and (tunesmith.mean(large, axis=1) == 100).all()
    for dtype in ("f4", "f8"):
        found = tunesmith.sum(large, axis=1, dtype=dtype)
        assert found.dtype == dtype and (found == 200_000).all()
    # Two groups of axes: what is between them is not rounded to 16 bits.
    cube = np.full((30, 3, 300), 1 / 3, "f2")
    assert tunesmith.sum(cube, axis=(0, 2)).tolist() == [np.float16(9000 * float(np.float16(1 / 3)))] * 3
    assert tunesmith.mean(cube, axis=(0, 2)).tolist() == [np.float16(1 / 3)] * 3
    ends = np.array([[-128, 127], [127, -128]], "i1")
    assert tunesmith.ptp(ends, axis=1).tolist() == [-1, -1] and tunesmith.argmin(ends, axis=1).tolist() == [
        0,
        1,
    ]
    for dtype in ("i1", "u1", "i2", "u2", "f2", "?"):
        values = (
            random.integers(-100, 100, (50, 70)) if dtype != "?" else random.random((50, 70)) < 0.5
        ).astype(dtype)
        with tunesmith.capture() as used:
            tunesmith.max(values, axis=0)
        word = {"i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16", "f2": "f16", "?": "u8"}[dtype]
        assert f"dtype={word} " in used.problems[0]["problem"] + " "


def test_axes_are_whole_numbers_within_the_dimensions():
    for function in (tunesmith.sum, tunesmith.max, tunesmith.var, tunesmith.prod, tunesmith.any, tunesmith.ptp, tunesmith.count_nonzero, tunesmith.argmax, tunesmith.cumsum):  # fmt: skip
        for axis in (True, np.True_, 1.0, "a"):
            with pytest.raises(TypeError):
                function(np.ones((2, 3)), axis)
            with pytest.raises(TypeError):
                function(np.float64(3), axis)
        for axis in (1, -2):
            with pytest.raises(np.exceptions.AxisError):
                function(np.float64(3), axis)
    for name in ("sum", "max", "prod", "any", "all", "ptp", "count_nonzero", "argmax"):
        ours, numpys = getattr(tunesmith, name), getattr(np, name)
        for axis in (0, -1):  # NumPy lets them pass
            found = ours(np.float64(3), axis, keepdims=True)
            assert np.shape(found) == () and found == numpys(np.float64(3), axis, keepdims=True)
