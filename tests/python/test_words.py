# SPDX-License-Identifier: Apache-2.0
"""Tests NumPy's words against NumPy, over random shapes, types and axes."""

import math
import warnings

import numpy as np
import pytest
import tunesmith
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

few = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
real_types = ("float32", "float64")
all_types = (*real_types, "int32", "int64", "int8", "int16", "uint8", "uint16", "uint32", "bool", "float16")
shapes = arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=9)


def numbers(shape, dtype, seed):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if np.dtype(dtype).kind == "u":
        return random.integers(0, 100, shape).astype(dtype)
    return (random.standard_normal(shape) * 30).astype(dtype)


def agree(found, expected, dtype):
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    # NumPy sums float16 in float16, pair by pair, and float32 in float32.
    tolerance = {"float16": 4e-3, "float32": 3e-6, "complex64": 3e-6}.get(dtype, 1e-13)
    scale = 30 * max(np.size(expected), 8) if np.asarray(expected).dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@few
@given(
    st.data(),
    shapes,
    st.sampled_from(all_types),
    st.sampled_from(("sum", "mean", "min", "max")),
    st.booleans(),
    st.integers(0, 99),
)
def test_reductions(data, shape, dtype, function, keepdims, seed):
    x = numbers(shape, dtype, seed)
    if data.draw(st.booleans()):
        x = x.T
    if data.draw(st.booleans()):
        x = x[::-1]
    axis = data.draw(
        st.none() | st.integers(-x.ndim, x.ndim - 1) | st.sets(st.integers(0, x.ndim - 1)).map(tuple)
    )
    expected = getattr(np, function)(x, axis=axis, keepdims=keepdims)
    agree(getattr(tunesmith, function)(x, axis=axis, keepdims=keepdims), expected, dtype)


def test_sums_as_float64_are_those_of_converted_arrays():
    for dtype in ("float32", "int32", "int64"):
        x = numbers((4, 50, 6), dtype, 1)
        for axis in (None, 0, 1, 2, (0, 2)):
            for function in ("sum", "mean"):
                found = getattr(tunesmith, function)(x, axis, dtype="float64")
                np.testing.assert_allclose(
                    found,
                    getattr(np, function)(x, axis, dtype="float64"),
                    rtol=1e-12,
                    atol=1e-12,
                    strict=True,
                )


def test_reductions_of_nothing_and_of_nan():
    assert tunesmith.sum(np.zeros((0, 3))) == 0 and tunesmith.sum(np.zeros((0, 3)), axis=0).tolist() == [
        0,
        0,
        0,
    ]
    assert tunesmith.sum(np.zeros((3, 0)), axis=0).shape == (0,)
    assert np.isnan(tunesmith.mean(np.zeros(0)))
    for function in (tunesmith.min, tunesmith.max):
        with pytest.raises(ValueError, match="zero-size"):
            function(np.zeros((3, 0)), axis=1)
        assert np.isnan(function(np.array([1, np.nan, 2])))
    assert tunesmith.sum(5) == 5 and tunesmith.sum([[1, 2], [3, 4]], axis=1).tolist() == [3, 7]
    assert tunesmith.sum(np.full(3, 2**62)) == np.sum(np.full(3, 2**62))
    z = np.arange(12).reshape(3, 4) * (1 + 2j)
    np.testing.assert_allclose(tunesmith.sum(z, axis=1), z.sum(axis=1))
    np.testing.assert_allclose(tunesmith.mean(z.T), z.mean())


def test_a_result_is_put_into_out():
    x = numbers((5, 6), "float32", 1)
    out = np.empty(5, "f")
    assert tunesmith.sum(x, axis=1, out=out) is out
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-5)
    wider = np.empty(5)
    assert tunesmith.sum(x, axis=1, out=wider) is wider
    np.testing.assert_allclose(wider, x.sum(axis=1), rtol=1e-5)
    turned = np.empty((6, 5), "f")
    assert tunesmith.transpose(x, out=turned) is turned and (turned == x.T).all()
    with pytest.raises(ValueError, match="shape"):
        tunesmith.sum(x, axis=1, out=np.empty(6, "f"))


@few
@given(
    st.data(),
    shapes,
    st.sampled_from((*all_types, "uint64", "complex128")),
    st.sampled_from(("sum", "mean", "min", "max")),
    st.booleans(),
    st.integers(0, 99),
)
def test_where_and_initial(data, shape, dtype, function, keepdims, seed):
    x = numbers(shape, "complex128" if dtype == "complex128" else dtype, seed)
    if dtype == "complex128" and function in ("min", "max"):
        return
    axis = data.draw(
        st.none() | st.integers(-x.ndim, x.ndim - 1) | st.sets(st.integers(0, x.ndim - 1)).map(tuple)
    )
    settings = {"axis": axis, "keepdims": keepdims}
    if function != "mean" and data.draw(st.booleans()):
        settings["initial"] = data.draw(
            st.sampled_from((0, 3, np.float32(2.5), np.int64(7), np.array(5.0), True))
        )
    if data.draw(st.booleans()) and ("initial" in settings or function in ("sum", "mean")):
        settings["where"] = (
            np.random.default_rng(seed).random(shape[data.draw(st.integers(0, len(shape) - 1)) :]) < 0.7
        )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(np, function)(x, **settings)
        for _ in range(2):
            agree(getattr(tunesmith, function)(x, **settings), expected, dtype)
            agree(
                getattr(tunesmith, function)(x.tolist(), **settings),
                getattr(np, function)(x.tolist(), **settings),
                dtype,
            )


def test_where_and_initial_refuse():
    x = np.arange(6.0).reshape(2, 3)
    for call, error in (
        (lambda library: library.min(x, where=x > 2), ValueError),
        (lambda library: library.sum(x, where=np.ones((2, 2, 3), bool)), ValueError),
        (lambda library: library.sum(x.astype("i4"), initial=2**70), OverflowError),
        (lambda library: library.max(x.astype("u1"), initial=-1), OverflowError),
        (lambda library: library.sum(x, initial=[1, 2]), (TypeError, ValueError)),
        (lambda library: library.sum(np.zeros(0), initial=None), ValueError),
    ):
        for library in (np, tunesmith):
            with pytest.raises(error):
                call(library)
    assert tunesmith.min(np.zeros((0, 3)), axis=0, initial=2.5).tolist() == [2.5] * 3
    assert tunesmith.sum(np.zeros((0, 3)), initial=2) == 2
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(tunesmith.mean(x, where=False))
    out = np.empty(3)
    assert tunesmith.sum(x, axis=0, where=x > 1, initial=1, out=out) is out
    np.testing.assert_array_equal(out, np.sum(x, axis=0, where=x > 1, initial=1))


def test_outputs_and_sums_of_another_type_are_numpys():
    for dtype in ("float32", "float64", "int32", "uint8", "int8"):
        x = np.arange(1, 13).reshape(3, 4).astype(dtype) * np.dtype(dtype).type(
            1.3 if dtype.startswith("f") else 11
        )
        for function in ("sum", "mean", "min", "max"):
            for other in ("float32", "float64", "int64", "int32", "int16", "uint8", "bool"):
                expected, found = np.zeros(4, other), np.zeros(4, other)
                # NumPy lets the sum wrap in such an output.
                if function == "mean" and not other.startswith("float"):
                    with pytest.raises(TypeError, match="same_kind"):
                        tunesmith.mean(x, axis=0, out=found)
                    continue
                getattr(np, function)(x, axis=0, out=expected)
                for _ in range(2):
                    assert getattr(tunesmith, function)(x, axis=0, out=found) is found
                    np.testing.assert_allclose(
                        found, expected, rtol=1e-6, err_msg=f"{function} of {dtype} into {other}"
                    )
            for other in ("float32", "float64", "int64", "int32", "int16", "uint8", "bool"):
                if function in ("sum", "mean"):
                    agree(
                        getattr(tunesmith, function)(x, 0, other),
                        getattr(np, function)(x, 0, other),
                        "float32",
                    )
    # A user's own ufunc, like NumPy's ufuncs, cuts nothing.
    half = tunesmith.vectorize("x * 1.5")
    for _ in range(2):
        with pytest.raises(TypeError, match="same_kind"):
            half(np.ones(3), out=np.ones(3, "i4"))
        half(np.ones(3), out=np.ones(3, "f4"))


def test_a_number_has_an_axis():
    for function in ("sum", "min", "max"):
        for axis in (0, -1, None, ()):
            assert getattr(tunesmith, function)(5, axis=axis) == 5
        for axis in (1, (0,)):
            with pytest.raises(np.exceptions.AxisError):
                getattr(tunesmith, function)(5, axis=axis)
    with pytest.raises(np.exceptions.AxisError):
        tunesmith.mean(5, axis=0)


def test_integers_of_64_bits_without_a_sign():
    x = np.array([[1, 2**63 + 5, 7], [2**64 - 1, 2**63 - 1, 2**63]], "u8")
    for function in ("sum", "mean", "min", "max"):
        for axis in (None, 0, 1):
            agree(getattr(tunesmith, function)(x, axis), getattr(np, function)(x, axis), "float64")
    y = np.array([1, 2, 2**63 + 5, 2**64 - 1], "u8")
    for bins, limits in ((4, None), (4, (0, 2.0**64)), (7, (2.0**62, 2.0**63)), (70000, None)):
        counts, edges = tunesmith.histogram(y, bins, limits)
        expected, expected_edges = np.histogram(y, bins, limits or (float(y.min()), float(y.max())))
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(edges, expected_edges)
    assert tunesmith.bincount(np.array([1, 3, 3], "u8")).tolist() == [0, 1, 0, 2]
    with pytest.raises(TypeError, match="uint64"):
        tunesmith.vectorize("x + 1")(x)


def test_wrong_axes_and_types():
    x = np.zeros((2, 3))
    with pytest.raises(np.exceptions.AxisError):
        tunesmith.sum(x, axis=2)
    with pytest.raises(ValueError, match="duplicate"):
        tunesmith.sum(x, axis=(0, -2))
    with pytest.raises(TypeError):
        tunesmith.sum(x, axis=0.5)
    with pytest.raises(TypeError, match="complex"):
        tunesmith.min(x + 1j)
    with pytest.raises(TypeError):
        tunesmith.sum("text")
    with pytest.raises(ValueError, match="axes"):
        tunesmith.transpose(x, (0, 0))


@few
@given(
    st.data(),
    shapes,
    st.sampled_from(("uint8", "float16", "float32", "float64", "complex128", "int16")),
    st.integers(0, 99),
)
def test_transpose(data, shape, dtype, seed):
    x = numbers(shape, "float64", seed).astype(dtype)
    if data.draw(st.booleans()):
        x = x[::-1, ...]
    if data.draw(st.booleans()):
        x = x[..., ::2]
    axes = data.draw(st.none() | st.permutations(range(x.ndim)))
    found = tunesmith.transpose(x, axes)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.transpose(x, axes))


@few
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from((*real_types, "int32", "complex64", "bool", "float16")),
    st.sampled_from(real_types),
    st.sampled_from(("full", "same", "valid", 0, 1, 2)),
    st.sampled_from(("convolve", "correlate")),
    st.integers(0, 99),
)
def test_convolve_and_correlate(n, k, first, second, mode, function, seed):
    a, v = numbers(n, "float64", seed).astype(first), numbers(k, second, seed + 1)
    expected = getattr(np, function)(a, v, mode)
    found = getattr(tunesmith, function)(a, v, mode)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    tolerance = 1e-5 if "float64" not in (first, second) else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 900 * min(n, k))


def test_convolve_refuses():
    for a, v, mode in (
        ([], [1], "full"),
        ([1], [], "full"),
        ([[1]], [1], "full"),
        ([1], [1], "most"),
        ([1], [1], 3),
    ):
        with pytest.raises(ValueError):
            tunesmith.convolve(a, v, mode)
    assert tunesmith.convolve([1, 2, 3], [0, 1, 0.5]).tolist() == [0, 1, 2.5, 4, 1.5]
    assert tunesmith.convolve([1, 2, 3], [1, 1]).dtype == np.int64


@few
@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from(("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")),
    st.integers(2, 64),
    st.integers(0, 99),
)
def test_integers_wrap(n, k, dtype, bits, seed):
    random = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2 ** (bits - 1))), min(info.max, 2 ** (bits - 1))
    a, v = (random.integers(low, high, count, dtype, endpoint=True) for count in (n, k))
    for function in ("convolve", "correlate"):
        expected, found = getattr(np, function)(a, v, "full"), getattr(tunesmith, function)(a, v, "full")
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_cumulative_counts():
    x = numbers(500, "float32", 6)
    for weights in (None, np.abs(x)):
        counts = np.cumsum(np.histogram(x, 9, (-1.0, 1.0), weights=weights)[0])
        found, edges = tunesmith.histogram(x, 9, (-1.0, 1.0), weights=weights, cumulative=True)
        np.testing.assert_allclose(found, counts, rtol=1e-6)
        np.testing.assert_array_equal(edges, np.histogram_bin_edges(x, 9, (-1.0, 1.0)))
        parts = tunesmith.histogram(x, 9, (-1.0, 1.0), True, weights, cumulative=True)[0]
        np.testing.assert_allclose(parts, counts / counts[-1], rtol=1e-6)


def test_many_bins():
    x = numbers(500, "float32", 6)
    for bins, limits, density in (
        (70000, (-50.0, 50.0), False),
        (100000, (-1.0, 90.0), True),
        (70000, None, False),
    ):
        counts, edges = tunesmith.histogram(x, bins, limits, density)
        expected, expected_edges = np.histogram(x, bins, limits or (float(x.min()), float(x.max())), density)
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(edges, expected_edges)
    for dtype in ("int32", "int64", "uint32"):
        labels = np.random.default_rng(3).integers(0, 10**6, 300).astype(dtype)
        np.testing.assert_array_equal(tunesmith.bincount(labels), np.bincount(labels))
        np.testing.assert_array_equal(
            tunesmith.bincount(labels % 9, minlength=70000), np.bincount(labels % 9, minlength=70000)
        )
    few_levels = labels.astype("u1")
    np.testing.assert_array_equal(
        tunesmith.bincount(few_levels, minlength=70000), np.bincount(few_levels, minlength=70000)
    )
    with pytest.raises(ValueError, match="Too many bins"):
        tunesmith.histogram(np.array([1, 1.0000001], "f"), 70000)


def test_a_histogram_of_a_narrow_range_is_numpys():
    """The kernel's estimate may be a bin off if a bin has less than some 4096 numbers: then it looks between the edges."""
    random = np.random.default_rng(5)
    for middle, dtype in ((1.7e9, "f8"), (1.0, "f8"), (-3e-9, "f8"), (1.0, "f4"), (2.0**60, "i8")):
        for doubles in (9, 400, 10**5):  # the range in doubles
            step = 1 if dtype == "i8" else np.spacing(np.dtype(dtype).type(middle))
            x = (middle + random.integers(0, doubles, 1000) * np.float64(step)).astype(dtype)
            if dtype == "i8":
                x = x + random.integers(0, doubles, 1000) * 256
            for weights in (None, random.integers(1, 9, 1000).astype("f4")):
                expected, edges = np.histogram(x, 8, (float(x.min()), float(x.max())), weights=weights)
                counts, own = tunesmith.histogram(x, 8, weights=weights)
                np.testing.assert_array_equal(counts, expected, strict=True)
                np.testing.assert_allclose(
                    own,
                    edges,
                    rtol=0,
                    atol=abs(np.spacing(edges[-1].astype(dtype if dtype == "f4" else "f8"))),
                )
                np.testing.assert_array_equal(
                    tunesmith.histogram(x, edges, weights=weights)[0],
                    np.histogram(x, edges, weights=weights)[0],
                )
    for none in ([2**53], [2**60, 2**60 + 1], [1.0, np.nextafter(1, 2)]):
        for library in (np, tunesmith):
            with pytest.raises(
                ValueError, match="Too many bins for data range. Cannot create 10 finite-sized bins"
            ):
                library.histogram(none)


@few
@given(
    st.integers(1, 400),
    st.integers(1, 50),
    st.sampled_from(("float32", "float64", "int32", "uint8", "int16", "int64")),
    st.booleans(),
    st.integers(0, 99),
)
def test_histogram(n, bins, dtype, ranged, seed):
    x = numbers(n, "float64", seed).astype(dtype)
    limits = (-20.5, 30.25) if ranged else None
    counts, edges = tunesmith.histogram(x, bins, range=limits)
    if not ranged:
        low, high = float(x.min()), float(x.max())
        limits = (low, high) if low < high else (low - 0.5, low + 0.5)
    expected, expected_edges = np.histogram(x, bins, range=limits)
    assert counts.dtype == expected.dtype and edges.dtype == expected_edges.dtype
    np.testing.assert_array_equal(edges, expected_edges)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_counted_as_numpy_counts_them(seed):
    random = np.random.default_rng(seed)
    dtypes = ("float32", "float64", "int32", "uint8", "int64")
    x, y = (
        (random.random(seed * 5) * 7 - 3 * (dtype != "uint8")).astype(dtype)
        for dtype in (dtypes[seed % 5], dtypes[seed // 5 % 5])
    )
    x[::3] = np.rint(x[::3])  # on edges
    if seed % 4 == 1 and x.dtype.kind == "f":
        x[::7] = np.nan
    few = int(random.integers(1, 9))
    bins = (
        few,
        (few, int(random.integers(1, 300))),
        (np.array([-2, -1.5, 0, 3]), few),
        np.linspace(-2, 2, 9),
    )[seed % 4]
    limits = ((-2, 2), (-1, 3)) if seed % 4 == 1 else ((0, 3), None) if seed % 4 == 0 else None
    weights, density = random.random(x.size) if seed % 3 == 1 else None, seed % 3 == 2 and seed > 20
    with np.errstate(all="ignore"):
        found, expected = (of.histogram2d(x, y, bins, limits, density, weights) for of in (tunesmith, np))
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=0)


# NumPy rounds the edges between the extremes of half precision to it.
@pytest.mark.parametrize("dtype", ["float16", "uint8", "bool", "float32"])
def test_pairs_of_half_precision(dtype):
    random = np.random.default_rng(4)
    for n in (500, 1):
        x, y = (random.random(n) * 200 - 20).astype("float16"), np.rint(random.random(n) * 99).astype(dtype)
        for one, other in zip(tunesmith.histogram2d(x, y, (7, 9)), np.histogram2d(x, y, (7, 9))):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_pairs_that_cannot_be_counted():
    x = np.arange(5.0)
    for wrong in (
        lambda: tunesmith.histogram2d(x, x[:4]),
        lambda: tunesmith.histogram2d(x, x, 0),
        lambda: tunesmith.histogram2d(x, x, ([3, 2, 1], 2)),
        lambda: tunesmith.histogram2d(x, x, 3, ((2, 1), (0, 1))),
        lambda: tunesmith.histogram2d(x, x, 3, ((0, math.inf), (0, 1))),
        lambda: tunesmith.histogram2d(x, x, 3, ((0, 1),)),
        lambda: tunesmith.histogram2d(x, x, [5]),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError, match="complex"):
        tunesmith.histogram2d(x * 1j, x)


def test_histogram_and_bincount_refuse_what_would_be_wrong():
    for _ in range(3):  # the second and third take the fast path
        assert tunesmith.histogram(np.array([0.5, 2.0]), 2, (0, 4))[1].dtype == "f8"
        for limits in ((np.float64(0), np.float64(4)), (0, 4), (0.0, 4.0), [0, 4], (-0.0, 4)):
            x = numbers(100, "float32", 1)
            for array in (x, x[::3], x.reshape(10, 10).T, x.astype(">f4"), x.astype("f2"), x > 0):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    (counts, edges), (expected, expected_edges) = (
                        of.histogram(array, 7, limits) for of in (tunesmith, np)
                    )
                np.testing.assert_array_equal(counts, expected)
                np.testing.assert_allclose(edges, expected_edges, rtol=1e-3 if array.dtype == "f2" else 1e-6)
        edges[:] = 0
        for limits in ((4, 0), (0, math.inf), (math.nan, 1), (0, 10**400)):
            with pytest.raises((ValueError, OverflowError)):
                tunesmith.histogram(np.zeros(3, "f"), 7, limits)
        with pytest.raises(ValueError, match="Too many bins"):
            tunesmith.histogram(np.zeros(3, "f"), 50000, (1, 1.0000001))
        with pytest.raises(ValueError, match="positive"):
            tunesmith.histogram(np.zeros(3, "f"), 0, (0, 1))
    with pytest.raises(TypeError, match="complex"):
        tunesmith.histogram(np.array([0.1j, 0.2]))
    assert tunesmith.histogram(np.array([0.5, 2.0]), 2, (0, 4))[0].tolist() == [1, 1]
    for bins in (0, -1):
        with pytest.raises(ValueError):
            tunesmith.histogram(np.zeros(3, "f"), bins=bins)
    with pytest.raises(ValueError, match="finite"):
        tunesmith.histogram(np.array([0, np.inf], "f"))
    with pytest.raises(ValueError, match="larger"):
        tunesmith.histogram(np.zeros(3, "f"), range=(1, 0))
    for dtype in ("uint8", "int32", "int64", "int16"):
        x = np.random.default_rng(3).integers(0, 100, 500).astype(dtype)
        np.testing.assert_array_equal(tunesmith.bincount(x), np.bincount(x))
        np.testing.assert_array_equal(tunesmith.bincount(x, minlength=120), np.bincount(x, minlength=120))
    assert tunesmith.bincount([]).tolist() == [] and tunesmith.bincount([], minlength=2).tolist() == [0, 0]
    for x, error in (([-1, 1], ValueError), ([1.5], TypeError), ([[1]], ValueError), ([2**40], ValueError)):
        with pytest.raises(error):
            tunesmith.bincount(x)


@pytest.mark.parametrize("library", ["numpy", "torch", "cupy"])
def test_weights_and_bins_of_unequal_width(library):
    if library == "cupy":
        cupy = pytest.importorskip("cupy")
        if not cupy.cuda.is_available():
            pytest.skip("no GPU")
    give = {
        "numpy": lambda: np.asarray,
        "torch": lambda: pytest.importorskip("torch").from_numpy,
        "cupy": lambda: cupy.asarray,
    }[library]()
    back = (lambda array: array.get()) if library == "cupy" else np.asarray
    x, weights = numbers(300, "float32", 4), numbers(300, "float64", 5)
    whole = np.round(weights * 10).astype("int64")
    for bins, limits in (
        (7, None),
        (7, (-20.0, 20.0)),
        ([-30.0, -1, 0, 5, 40], None),
        ([-30, -1, 0, 5, 40], None),
    ):
        for each in (
            None,
            weights,
            weights.astype("float32"),
            whole,
            whole.astype("int16"),
            weights + 1j * weights[::-1],
        ):
            for density in (False, True):
                counts, edges = tunesmith.histogram(
                    give(x), bins, limits, density, None if each is None else give(each)
                )
                expected, expected_edges = np.histogram(x, bins, limits, density, each)
                assert type(counts) is type(give(x)) and back(counts).dtype == expected.dtype
                single = each is not None and each.dtype == "float32"
                np.testing.assert_allclose(
                    back(counts),
                    expected,
                    rtol=1e-6 if density or single else 1e-12,
                    atol=1e-4 if single else 1e-12,
                )
                np.testing.assert_allclose(edges, expected_edges, rtol=1e-6)
    # The two have different orders in memory; sums of whole numbers are exact.
    table, sums = (x.reshape(20, 15), whole.reshape(15, 20))
    for values, each in (
        (table, sums.T),
        (table.T, sums),
        (table[::2], sums.T[:10]),
        (np.abs(table).astype("uint8"), sums.T),
    ):
        for bins in (9, np.array([-7, 0.25, 0.25, 31.5]), np.array([-np.inf, 3, np.inf])):
            counts, expected = (
                of.histogram(a, bins, weights=w)[0]
                for of, a, w in ((tunesmith, give(values), give(each)), (np, values, each))
            )
            np.testing.assert_array_equal(back(counts), expected)
    counted = np.arange(300, dtype="int32") % 17
    for each in (weights, weights.astype("float32"), whole):
        counts, expected = tunesmith.bincount(give(counted), give(each), 20), np.bincount(counted, each, 20)
        assert back(counts).dtype == expected.dtype
        np.testing.assert_allclose(back(counts), expected, rtol=1e-12, atol=1e-12)
    for values in (x, x.astype("float64"), x.astype("float16"), x.astype("int64"), x.astype("int8")):
        for edges in (
            [-3, 0, 1, 9],
            np.array([-3.3, 0.1, 1.7, 9], "float32"),
            np.array([-3.3, 0.1, 1.7, 9]),
            np.array([-3, 0, 1, 9], "int16"),
        ):
            expected = np.histogram(values, edges)[0]
            np.testing.assert_array_equal(back(tunesmith.histogram(give(values), edges)[0]), expected)
    with pytest.raises(TypeError, match="Cannot cast array data"):
        tunesmith.bincount(give(counted), give(weights + 1j))
    with pytest.raises(ValueError, match="same shape"):
        tunesmith.histogram(give(x), 5, weights=give(weights[:3]))


def test_conv_covariance():
    n, i, o, h, w, p, q = 2, 2, 3, 5, 6, 2, 3
    random = np.random.default_rng(5)
    mu, gamma, c = random.random((n, i, h, w)), random.random((n, i, h, w, i, h, w)), random.random(o)
    rows, columns = h - p + 1, w - q + 1
    expected = random.random((n, o, rows, columns, o, rows, columns))
    found = expected.copy()
    for x, y, s, t in np.ndindex(rows, columns, rows, columns):
        first, second = mu[:, :, x : x + p, y : y + q], mu[:, :, s : s + p, t : t + q]
        total = (first * second).sum(axis=(1, 2, 3))
        for one, k, m in np.ndindex(i, p, q):
            total += gamma[:, one, x + k, y + m, one, s + k, t + m]
        for out in range(o):
            expected[:, out, x, y, out, s, t] += c[out] * total
    assert tunesmith.conv_covariance(found, gamma, mu, c) is found
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="do not agree"):
        tunesmith.conv_covariance(found, gamma, mu, c[:2])
    for copied in (found.astype(">f8"), found.tolist()):  # a result would not be the caller's array
        with pytest.raises(ValueError, match="in place"):
            tunesmith.conv_covariance(copied, gamma, mu, c)
    with pytest.raises(TypeError, match="float32"):
        tunesmith.conv_covariance(found, gamma.astype("f"), mu, c)
