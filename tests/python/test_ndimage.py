"""The words of tunesmith.ndimage that are made of others, against SciPy's, over random shapes, types, modes and settings."""

import numpy as np
import pytest
import scipy.ndimage

import tunesmith
from tunesmith import ndimage

modes = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant")
types = ("float32", "float64", "uint8", "int16", "int32", "uint16", "complex64", "int64", "int8", "bool", "uint32")


def image_of(random, shape, dtype):
    x = random.standard_normal(shape) * 40
    if dtype == "bool":
        return x > 0
    return (np.abs(x) if dtype.startswith("u") else x).astype(dtype)


def agree(found, expected, relative=0.0, absolute=0.0):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=relative, atol=absolute)


@pytest.mark.parametrize("seed", range(120))
def test_derivatives_are_scipys(seed):
    random = np.random.default_rng(seed)
    dimensions = int(random.integers(1, 4))
    dtype, cval = types[seed % len(types)], float(random.choice([0, 1.5]))
    x = image_of(random, tuple(random.integers(1, 9, dimensions)), dtype)
    edges = [str(one) for one in random.choice(modes, dimensions)] if seed % 2 else str(random.choice(modes))
    output = (None, np.float32, np.float64)[seed % 3] if dtype != "complex64" else None
    axis, sigma = int(random.integers(-dimensions, dimensions)), float(random.uniform(0.3, 2))
    calls = [("sobel", (axis,)), ("prewitt", (axis,)), ("laplace", ())]
    if np.dtype(output or dtype).kind in "fc":  # where an integer is cut off, the order of SciPy's sums decides
        calls += [("gaussian_laplace", (sigma,)), ("gaussian_gradient_magnitude", (sigma,))]
    for name, settings in calls:
        expected = getattr(scipy.ndimage, name)(x, *settings, output, edges, cval)
        single = expected.dtype in (np.float32, np.complex64)
        agree(getattr(ndimage, name)(x, *settings, output, edges, cval), expected, 2e-4 if single else 1e-9, 2e-3 if single else 1e-9)


def test_derivatives_of_two_dimensions_take_one_launch():
    x = np.random.default_rng(1).random((20, 30), np.float32)
    for call, count in (
        (lambda: ndimage.sobel(x), 1),
        (lambda: ndimage.prewitt(x.astype(np.uint8), 0), 1),
        (lambda: ndimage.laplace(x), 1),
        (lambda: ndimage.gaussian_laplace(x, 1.5), 1),
        (lambda: ndimage.gaussian_filter(x, 1.0), 1),
        (lambda: ndimage.uniform_filter(x, 5), 1),
        (lambda: ndimage.gaussian_gradient_magnitude(x, 1.0), 3),  # two derivatives and the root
    ):
        with tunesmith.capture() as captured:
            call()
        assert sum(one["launches"] for one in captured.problems) == count
    assert ndimage.sobel(x, output=x) is x


def test_gradients_are_taken_along_the_axes_alone():
    """SciPy 1.17 smooths along the others too."""
    x = np.random.default_rng(2).standard_normal((3, 8, 9))
    for axes, axis in (((1, 2), 0), ((0, -1), 1)):
        for name, settings in (("gaussian_gradient_magnitude", (1.0,)), ("gaussian_laplace", (1.0,)), ("laplace", ())):
            found = getattr(ndimage, name)(x, *settings, axes=axes)
            expected = [getattr(scipy.ndimage, name)(one, *settings) for one in np.moveaxis(x, axis, 0)]
            agree(np.moveaxis(found, axis, 0), np.stack(expected), 1e-9, 1e-12)


def test_functions_of_python_along_each_axis():
    x = np.random.default_rng(3).standard_normal((7, 9)).astype("f")
    out = np.zeros_like(x)

    def second(input, axis, output, mode, cval, factor, shift=0):
        return ndimage.correlate1d(input, [factor, -2 * factor, factor], axis, output, mode, cval, shift)

    for name in ("generic_laplace", "generic_gradient_magnitude"):
        expected = getattr(scipy.ndimage, name)(x, second, None, ["wrap", "nearest"], 0.0, (0.5,), {"shift": 1})
        agree(getattr(ndimage, name)(x, second, None, ["wrap", "nearest"], 0.0, (0.5,), {"shift": 1}), expected, 1e-5, 1e-5)
        assert getattr(ndimage, name)(x, second, out, extra_arguments=(1.0,)) is out
        agree(out, getattr(scipy.ndimage, name)(x, second, extra_arguments=(1.0,)), 1e-5, 1e-5)
        agree(getattr(ndimage, name)(x, second, axes=()), x)
