# SPDX-License-Identifier: Apache-2.0
"""tunesmith.ndimage and tunesmith.signal against SciPy, over random shapes, types, modes and origins."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import tunesmith
from tunesmith import ndimage, signal

modes = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
types = ("float32", "float64", "uint8", "int16", "int32", "uint16", "complex64", "int64", "int8", "bool")


def image_of(random, shape, dtype):
    x = random.standard_normal(shape) * 40
    if dtype == "bool":
        return x > 0
    return (np.abs(x) if dtype.startswith("u") else x).astype(dtype)


def agree(found, expected, tolerance=1e-5):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=50 * tolerance)


@pytest.mark.parametrize("seed", range(60))
def test_filters_are_scipys(seed):
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(1, 4))
    shape, mask_shape = tuple(random.integers(1, 9, dimensions)), tuple(random.integers(1, 5, dimensions))
    dtype, mode, cval = types[seed % len(types)], modes[seed % len(modes)], (0.0, 1.5)[seed % 2]
    x = image_of(random, shape, dtype)
    weights = (
        random.integers(-2, 3, mask_shape).astype(float)
        if seed % 3 == 0
        else random.standard_normal(mask_shape)
    )
    # The order of SciPy's sums decides where an integer is cut off; with whole weights nothing is cut off.
    output = (None, np.float32, np.float64)[seed % 3] if np.dtype(dtype).kind in "iub" else None
    origin = [int(random.integers(-(extent // 2), (extent - 1) // 2 + 1)) for extent in mask_shape]
    if np.dtype(dtype).kind in "ub" and output is None:
        weights = np.abs(weights)
    for name in ("correlate", "convolve"):
        expected = getattr(scipy.ndimage, name)(x, weights, output, mode, cval, origin)
        agree(getattr(ndimage, name)(x, weights, output, mode, cval, origin), expected)
    axis = int(random.integers(-dimensions, dimensions))
    line = np.ravel(weights)
    for name in ("correlate1d", "convolve1d"):
        shift = int(random.integers(-(line.size // 2) + 1, (line.size - 1) // 2 + 1)) if line.size > 2 else 0
        expected = getattr(scipy.ndimage, name)(x, line, axis, output, mode, cval, shift)
        agree(getattr(ndimage, name)(x, line, axis, output, mode, cval, shift), expected)
    if np.dtype(dtype).kind in "fc":
        for order in (0, seed % 4):
            expected = scipy.ndimage.gaussian_filter(x, 0.3 + seed / 30, order, mode=mode, cval=cval)
            agree(ndimage.gaussian_filter(x, 0.3 + seed / 30, order, mode=mode, cval=cval), expected, 1e-4)
    if dtype != "bool":
        expected = scipy.ndimage.uniform_filter(x, 1 + seed % 5, mode=mode, cval=cval)
        agree(ndimage.uniform_filter(x, 1 + seed % 5, mode=mode, cval=cval), expected)


derivatives = {
    "sobel": lambda of, x, axis, mode: of.sobel(x, axis, mode=mode),
    "prewitt": lambda of, x, axis, mode: of.prewitt(x, axis, mode=mode),
    "gaussian_filter1d": lambda of, x, axis, mode: of.gaussian_filter1d(x, 1.3, axis, 1, mode=mode),
    "of third order": lambda of, x, axis, mode: of.gaussian_filter1d(x, 1.3, axis, 3, mode=mode),
    "gaussian_filter": lambda of, x, axis, mode: of.gaussian_filter(
        x, 1.3, [int(k == axis) for k in range(x.ndim)], mode=mode
    ),
    "of a wide Gaussian": lambda of, x, axis, mode: of.gaussian_filter(
        x, 7.0, [int(k == axis) for k in range(x.ndim)], mode=mode
    ),
    "gaussian_gradient_magnitude": lambda of, x, axis, mode: of.gaussian_gradient_magnitude(
        x, 1.5, mode=mode
    ),
    "correlate1d": lambda of, x, axis, mode: of.correlate1d(
        x, [-0.3, 0.7, 0, -0.7, 0.3], axis, mode=mode, origin=1
    ),
    "convolve1d": lambda of, x, axis, mode: of.convolve1d(
        x, [0.1, -0.3, 0, 0.3, -0.1], axis, mode=mode, cval=x.flat[0]
    ),
    # SciPy's results are not exactly 0.
    "of even masks": lambda of, x, axis, mode: of.correlate1d(x, [-0.3, -0.7, 0.7, 0.3], axis, mode=mode),
}


@pytest.mark.parametrize("name", derivatives)
def test_derivatives_of_flat_areas_are_exactly_0(name):
    """SciPy subtracts both sides before it multiplies; in another order ridges are found where there are none."""
    call = derivatives[name]
    for shape in ((40,), (15, 14), (5, 6, 7)):
        for dtype, value in (("f4", 0.1), ("f4", 255), ("f8", 1 / 3), ("f8", -7e5), ("f2", 0.1)):
            x = np.full(shape, value, dtype)
            for axis in range(len(shape)):
                for mode in ("reflect", "constant", "mirror", "wrap"):
                    if mode == "constant" and name != "convolve1d":
                        continue
                    assert not call(ndimage, x, axis, mode).any(), (shape, dtype, value, axis, mode)
                    if dtype != "f2" and name != "of even masks":
                        assert not call(scipy.ndimage, x, axis, mode).any()
    x = np.random.default_rng(3).random((24, 30), np.float32)
    x[:, 12:] = 0.1
    for axis in (0, 1):
        found, expected = call(ndimage, x, axis, "nearest"), call(scipy.ndimage, x, axis, "nearest")
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        reach = 12 + (28 if name == "of a wide Gaussian" else 7)
        assert not found[:, reach:].any()


def test_a_gaussian_leaves_equal_integers_as_they_are():
    """SciPy's sums of weights may be a last bit below 1, so that 7 becomes 5."""
    for dtype, values in (
        ("bool", (1,)),
        ("uint8", (7, 255)),
        ("int16", (-300, 32767)),
        ("uint16", (65535,)),
        ("int32", (-7, 10**9)),
        ("int64", (10**12,)),
    ):
        for value in values:
            x = np.full((7, 6), value, dtype)
            for sigma in (0.3, 0.5, 1.0, 2.0, 3.0, 5.5):
                for found in (ndimage.gaussian_filter(x, sigma), ndimage.gaussian_filter1d(x, sigma, 0)):
                    np.testing.assert_array_equal(found, x, strict=True)


@pytest.mark.parametrize("seed", range(40))
def test_convolutions_of_two_images_are_scipys(seed):
    random = np.random.default_rng(seed)
    first = image_of(
        random, random.integers(1, 8, 2), ("float32", "float64", "complex128", "int32")[seed % 4]
    )
    second = image_of(
        random, random.integers(1, 8, 2), ("float64", "float32", "int16", "complex64")[seed // 4 % 4]
    )
    for name in ("convolve2d", "correlate2d"):
        for mode in ("full", "same", "valid"):
            boundary, value = ("fill", "wrap", "symm")[seed % 3], (0, 2.5)[seed % 2]
            try:
                expected = getattr(scipy.signal, name)(first, second, mode, boundary, value)
            except ValueError:
                with pytest.raises(ValueError, match="valid"):
                    getattr(signal, name)(first, second, mode, boundary, value)
                continue
            single = expected.dtype in (np.float32, np.complex64)
            agree(
                getattr(signal, name)(first, second, mode, boundary, value),
                expected,
                1e-3 if single else 1e-9,
            )


def test_the_smaller_image_may_be_the_first():
    random = np.random.default_rng(13)
    for name in ("convolve2d", "correlate2d"):
        for first in ("float64", "complex128"):
            for second in ("float64", "complex128"):
                x, y = (
                    random.standard_normal(shape)
                    + (1j * random.standard_normal(shape) if dtype[0] == "c" else 0)
                    for shape, dtype in (((2, 3), first), ((4, 5), second))
                )
                for _ in range(2):
                    agree(
                        getattr(signal, name)(x, y, "valid"),
                        getattr(scipy.signal, name)(x, y, "valid"),
                        1e-12,
                    )


def test_axes_outputs_and_places():
    random = np.random.default_rng(7)
    x = random.standard_normal((4, 5, 6)).astype("f")
    weights = random.standard_normal((2, 3))
    for axes in ((0, 1), (2, 0), (-1, -2), (1, 2)):
        agree(ndimage.correlate(x, weights, axes=axes), scipy.ndimage.correlate(x, weights, axes=axes))
    agree(
        ndimage.gaussian_filter(x, (1, 2), axes=(0, 2)), scipy.ndimage.gaussian_filter(x, (1, 2), axes=(0, 2))
    )
    out = np.zeros_like(x)
    assert ndimage.gaussian_filter(x, 1, output=out) is out
    agree(out, scipy.ndimage.gaussian_filter(x, 1))
    expected = scipy.ndimage.uniform_filter(x, 3)
    assert ndimage.uniform_filter(x, 3, output=x) is x  # in place
    agree(x, expected)
    turned = x.transpose(2, 0, 1)[::-1]
    agree(
        ndimage.correlate1d(turned, [1, 2, 3], axis=1), scipy.ndimage.correlate1d(turned, [1, 2, 3], axis=1)
    )
    assert ndimage.correlate(np.zeros((0, 3)), np.ones((3, 3))).shape == (0, 3)
    assert ndimage.gaussian_filter(np.ones(5), 0) is not None


@pytest.mark.parametrize("seed", range(30))
def test_nothing_comes_through_a_weight_of_zero(seed):
    """In correlate and convolve; along one axis all weights count, as in SciPy."""
    random = np.random.default_rng(seed)
    dimensions = 1 + seed % 3
    shape = tuple(random.integers(4, 9, dimensions))
    weights = random.integers(-1, 2, tuple(random.integers(1, 4, dimensions))).astype(float)
    mode, cval = modes[seed % len(modes)], (0.0, np.nan, np.inf, -1.0)[seed % 4]
    dtype = ("float32", "float64")[seed // 3 % 2]
    # The same calls with and without them, remembered calls too.
    for gaps in ((), (np.nan,), (np.inf, np.nan), (np.inf, -np.inf), ()):
        x = random.standard_normal(shape).astype(dtype)
        for gap in gaps:
            x[tuple(random.integers(0, extent) for extent in shape)] = gap
        with np.errstate(all="ignore"):
            for name in ("correlate", "convolve"):
                expected = getattr(scipy.ndimage, name)(x, weights, mode=mode, cval=cval)
                agree(getattr(ndimage, name)(x, weights, mode=mode, cval=cval), expected)
                out = np.empty_like(x)
                assert getattr(ndimage, name)(x, weights, out, mode, cval) is out
                agree(out, expected)
            line = np.ravel(weights)[:3]
            agree(
                ndimage.correlate1d(x, line, mode=mode, cval=cval),
                scipy.ndimage.correlate1d(x, line, mode=mode, cval=cval),
            )


def test_sums_of_nothing_are_zero():
    x = np.full((3, 4, 5), np.nan)
    for dtype in ("float32", "float64", "complex64"):
        for _ in range(20):
            np.full(x.shape, np.nan)  # memory that a result may be made in
            agree(
                ndimage.correlate(x.astype(dtype), np.zeros((2, 2, 2))),
                scipy.ndimage.correlate(x.astype(dtype), np.zeros((2, 2, 2))),
            )
    agree(ndimage.correlate(x[0], np.zeros((0, 3))), np.zeros((4, 5)))


def test_the_least_weights_count_as_zero_as_in_scipy():
    x = np.ones(5)
    for weight in (1e-17, 2e-16, 3e-16, -1e-17):
        agree(ndimage.correlate(x, [weight] * 3), scipy.ndimage.correlate(x, [weight] * 3), 1e-20)
        agree(ndimage.correlate1d(x, [weight] * 3), scipy.ndimage.correlate1d(x, [weight] * 3), 1e-20)


def test_truth_values_are_cut_as_scipys():
    random = np.random.default_rng(3)
    for shape in ((25,), (9, 11)):
        x = random.random(shape) < 0.5
        for weights in (np.ones(3), [0.5, 0.25, 0.125], [-0.5, -0.6, -1], [256, 0, 0], [300, 1, 1]):
            agree(ndimage.correlate1d(x, weights), scipy.ndimage.correlate1d(x, weights))
            out, expected = np.zeros(shape, bool), np.zeros(shape, bool)
            values = random.standard_normal(shape) * 3
            scipy.ndimage.correlate1d(values, weights, output=expected)
            agree(ndimage.correlate1d(values, weights, output=out), expected)
        agree(ndimage.gaussian_filter(x, 1), scipy.ndimage.gaussian_filter(x, 1))
        agree(ndimage.uniform_filter(x, 3), scipy.ndimage.uniform_filter(x, 3))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap_as_scipys(dtype):
    random = np.random.default_rng(5)
    for bits in (4, 7, 31, 40, 63):
        info = np.iinfo(dtype)
        low, high = max(info.min, -(2**bits)), min(info.max, 2**bits)
        first, second = (
            random.integers(low, high, shape, dtype, endpoint=True) for shape in ((5, 6), (3, 2))
        )
        for name in ("convolve2d", "correlate2d"):
            for mode in ("full", "same", "valid"):
                for boundary in ("fill", "wrap"):
                    expected = getattr(scipy.signal, name)(first, second, mode, boundary, 3)
                    found = getattr(signal, name)(first, second, mode, boundary, 3)
                    assert found.dtype == expected.dtype
                    np.testing.assert_array_equal(found, expected)


def test_what_scipy_refuses_is_refused():
    x = np.zeros((4, 5))
    for call, error in (
        (lambda: ndimage.correlate(x, [1, 2]), RuntimeError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), mode="no"), RuntimeError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), origin=2), ValueError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), origin=(0, -2)), ValueError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), origin=(0, 0, 0)), RuntimeError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), output=np.zeros((4, 4))), RuntimeError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)), axes=(0, 2)), ValueError),
        (lambda: ndimage.correlate(x, np.ones((3, 3)) * 1j, output=np.zeros((4, 5))), RuntimeError),
        (lambda: ndimage.correlate1d(x, []), RuntimeError),
        (lambda: ndimage.correlate1d(x, [1, 2, 3], axis=2), ValueError),
        (lambda: ndimage.convolve1d(x, [1, 2], origin=1), ValueError),
        (lambda: ndimage.gaussian_filter(x, 1, order=-1), ValueError),
        (lambda: ndimage.gaussian_filter(x, 1, radius=-1), ValueError),
        (lambda: ndimage.uniform_filter1d(x, 0), RuntimeError),
        (lambda: ndimage.uniform_filter1d(x, 3, origin=2), ValueError),
        (lambda: signal.convolve2d(x, np.ones(3)), ValueError),
        (lambda: signal.convolve2d(x, x, mode="most"), ValueError),
        (lambda: signal.convolve2d(x, x, boundary="most"), ValueError),
        (lambda: signal.convolve2d(x, x, fillvalue=[1, 2]), ValueError),
    ):
        with pytest.raises(error):
            call()


def test_narrow_images_are_read_as_they_lie():
    x = np.arange(40, dtype=np.uint8).reshape(5, 8)
    with tunesmith.capture() as captured:
        ndimage.correlate(x, np.ones((3, 3)), output=np.float32)
        ndimage.correlate(x, np.ones((3, 3)))
        ndimage.correlate(x, np.full((3, 3), 1 / 9))
    used = sorted(one["problem"].split("dtype=")[1].split()[0] for one in captured.problems)
    assert used == ["f64", "u8"]


def test_origins_have_scipys_limits():
    """Also the origins of a reversed mask, and of windows of one element."""
    x = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5])
    calls = [
        lambda m, n, o: m.correlate1d(x, np.arange(1.0, n + 1), origin=o),
        lambda m, n, o: m.convolve1d(x, np.arange(1.0, n + 1), origin=o),
        lambda m, n, o: m.convolve(x, np.arange(1.0, n + 1), origin=o),
        lambda m, n, o: m.uniform_filter1d(x, n, origin=o),
        lambda m, n, o: m.minimum_filter1d(x, n, origin=o),
        lambda m, n, o: m.rank_filter(x, n // 2, size=n, origin=o),
    ]
    for number, call in enumerate(calls):
        for extent in range(1, 6):
            for origin in range(-4, 5):
                found = []
                for module in (ndimage, scipy.ndimage):
                    try:
                        found.append(call(module, extent, origin))
                    except ValueError as error:
                        assert "nvalid origin" in str(error)
                        found.append(None)
                assert (found[0] is None) == (found[1] is None), (number, extent, origin)
                if found[0] is not None:
                    np.testing.assert_allclose(
                        found[0], found[1], rtol=1e-12, err_msg=f"{number} {extent} {origin}"
                    )
