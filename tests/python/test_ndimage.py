# SPDX-License-Identifier: Apache-2.0
"""Tests the words of tunesmith.ndimage that are composed of others, against SciPy's, over random shapes, types, modes and settings."""

import inspect
import pathlib
import re

import numpy as np
import pytest
import scipy.ndimage
import tunesmith
from tunesmith import ndimage
from tunesmith._elsewhere import elsewhere

modes = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-constant")
types = (
    "float32",
    "float64",
    "uint8",
    "int16",
    "int32",
    "uint16",
    "complex64",
    "int64",
    "int8",
    "bool",
    "uint32",
)


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
    # The order of SciPy's sums decides where an integer is cut off.
    if np.dtype(output or dtype).kind in "fc":
        calls += [("gaussian_laplace", (sigma,)), ("gaussian_gradient_magnitude", (sigma,))]
    for name, settings in calls:
        expected = getattr(scipy.ndimage, name)(x, *settings, output, edges, cval)
        single = expected.dtype in (np.float32, np.complex64)
        agree(
            getattr(ndimage, name)(x, *settings, output, edges, cval),
            expected,
            2e-4 if single else 1e-9,
            2e-3 if single else 1e-9,
        )


def test_derivatives_of_two_dimensions_take_one_launch():
    x = np.random.default_rng(1).random((20, 30), np.float32)
    cube = x.reshape(5, 12, 10)
    for call, count in (
        (lambda: ndimage.sobel(x), 1),
        (lambda: ndimage.prewitt(x.astype(np.uint8), 0), 1),
        (lambda: ndimage.laplace(x), 1),
        (lambda: ndimage.gaussian_laplace(x, 1.5), 1),
        (lambda: ndimage.gaussian_filter(x, 1.0), 1),
        (lambda: ndimage.uniform_filter(x, 5), 1),
        (lambda: ndimage.gaussian_filter(x, 3.0), 1),
        (lambda: ndimage.gaussian_laplace(x, 3.0), 1),
        (lambda: ndimage.gaussian_gradient_magnitude(x, 1.0), 1),
        (lambda: ndimage.gaussian_gradient_magnitude(cube, 1.0, axes=(0, 1)), 1),  # ten channels
        # Two derivatives, and the root.
        (lambda: ndimage.gaussian_gradient_magnitude(x, 1.0, mode=("reflect", "wrap")), 3),
        (lambda: ndimage.laplace(cube), 2),
        # The second derivative along the first axis, and all others, each along the last two together.
        (lambda: ndimage.gaussian_laplace(cube, 1.0), 4),
    ):
        with tunesmith.capture() as captured:
            call()
        assert sum(one["launches"] for one in captured.problems) == count
    assert ndimage.sobel(x, output=x) is x


def test_gradients_are_taken_along_the_axes_alone():
    """SciPy 1.17 smooths along the other axes too."""
    x = np.random.default_rng(2).standard_normal((3, 8, 9))
    for axes, axis in (((1, 2), 0), ((0, -1), 1)):
        for name, settings in (
            ("gaussian_gradient_magnitude", (1.0,)),
            ("gaussian_laplace", (1.0,)),
            ("laplace", ()),
        ):
            found = getattr(ndimage, name)(x, *settings, axes=axes)
            expected = [getattr(scipy.ndimage, name)(one, *settings) for one in np.moveaxis(x, axis, 0)]
            agree(np.moveaxis(found, axis, 0), np.stack(expected), 1e-9, 1e-12)


def test_functions_of_python_along_each_axis():
    x = np.random.default_rng(3).standard_normal((7, 9)).astype("f")
    out = np.zeros_like(x)

    def second(input, axis, output, mode, cval, factor, shift=0):
        return ndimage.correlate1d(input, [factor, -2 * factor, factor], axis, output, mode, cval, shift)

    for name in ("generic_laplace", "generic_gradient_magnitude"):
        expected = getattr(scipy.ndimage, name)(
            x, second, None, ["wrap", "nearest"], 0.0, (0.5,), {"shift": 1}
        )
        agree(
            getattr(ndimage, name)(x, second, None, ["wrap", "nearest"], 0.0, (0.5,), {"shift": 1}),
            expected,
            1e-5,
            1e-5,
        )
        assert getattr(ndimage, name)(x, second, out, extra_arguments=(1.0,)) is out
        agree(out, getattr(scipy.ndimage, name)(x, second, extra_arguments=(1.0,)), 1e-5, 1e-5)
        agree(getattr(ndimage, name)(x, second, axes=()), x)


real_types = ("float32", "float64", "uint8", "int16", "int32", "uint16", "int64", "int8", "bool", "uint32")


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def drawn(seed: int):
    """A generator, an image, a window's extents and origins, and settings. SciPy reads out of bounds if a window is longer than the image, and
    ignores the footprint of one axis; so images have at least two axes."""
    random = np.random.default_rng(seed)
    dimensions, dtype = int(random.integers(2, 4)), real_types[seed % len(real_types)]
    x = image_of(random, tuple(random.integers(3, 9, dimensions)), dtype)
    if dtype not in ("bool", "float32", "float64"):
        x = (x // 2 + 20 * dtype.startswith("u")).astype(dtype)  # nothing leaves the type's range
    extents = tuple(int(one) for one in random.integers(1, 4, dimensions))
    origin = [int(random.integers(-(extent // 2), (extent - 1) // 2 + 1)) for extent in extents]
    cval = float(random.choice([20 * dtype.startswith("u"), 20, 21.5]))
    return (
        random,
        x,
        extents,
        {
            "mode": str(random.choice(modes)),
            "cval": cval,
            "origin": origin,
            "output": (None, None, np.float32, np.float64)[seed % 4],
        },
    )


@pytest.mark.parametrize("seed", range(40))
def test_ranks_and_grey_morphology_are_scipys(seed):
    random, x, extents, settings = drawn(seed)
    footprint, structure = random.random(extents) < 0.6, random.integers(-3, 4, extents).astype(float)
    footprint.flat[0] = True
    for window in (
        {"size": extents},
        {"footprint": footprint},
        {"structure": structure},
        {"structure": structure, "footprint": footprint},
    ):
        calls = [(name, ()) for name in ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing")]
        if "structure" in window:
            if x.dtype == bool:
                with pytest.raises(TypeError, match="truth values"):
                    ndimage.grey_erosion(x, **window)
                continue
        else:
            calls += [
                ("minimum_filter", ()),
                ("maximum_filter", ()),
                ("median_filter", ()),
                ("percentile_filter", (float(random.uniform(-100, 100)),)),
            ]
            calls += [("rank_filter", (rank,)) for rank in (0, -1)]
        if settings["output"] is None:
            calls += [("white_tophat", ()), ("black_tophat", ())]
            calls += (
                [("morphological_gradient", ()), ("morphological_laplace", ())] if x.dtype != bool else []
            )
        for name, given in calls:
            same(
                getattr(ndimage, name)(x, *given, **window, **settings),
                getattr(scipy.ndimage, name)(x, *given, **window, **settings),
            )
    if extents[-1] > 1:
        line = {**settings, "origin": settings["origin"][-1]}
        for name in ("minimum_filter1d", "maximum_filter1d"):
            same(
                getattr(ndimage, name)(x, extents[-1], **line),
                getattr(scipy.ndimage, name)(x, extents[-1], **line),
            )


def test_a_median_of_one_axis_keeps_its_footprint():
    x = np.random.default_rng(5).standard_normal(20)
    for window in (np.array([1, 0, 1, 1, 0], bool), np.ones(30, bool)):
        padded = np.pad(x, (window.size // 2, window.size), "symmetric")
        expected = [np.sort(padded[k : k + window.size][window])[window.sum() // 2] for k in range(x.size)]
        same(ndimage.median_filter(x, footprint=window), np.array(expected))


def test_boundaries_and_outputs_of_each_axis():
    x = np.random.default_rng(6).integers(0, 200, (7, 9)).astype(np.int16)
    settings = {"size": (3, 4), "mode": ("wrap", "nearest"), "origin": (0, -1)}
    for name in ("minimum_filter", "maximum_filter", "grey_opening"):
        for output in (None, np.uint8, np.float32):  # the first type cuts results between the axes
            for cval in (0, -5, 300.5):
                for mode in (settings["mode"], "constant"):
                    same(
                        getattr(ndimage, name)(x, **{**settings, "mode": mode}, output=output, cval=cval),
                        getattr(scipy.ndimage, name)(
                            x, **{**settings, "mode": mode}, output=output, cval=cval
                        ),
                    )
    assert ndimage.median_filter(x, 3, output=x) is x
    with tunesmith.capture() as captured:
        ndimage.maximum_filter(x, (3, 5))
        ndimage.binary_dilation(x > 50, np.ones((3, 3)), iterations=5)  # a box of a box is a box
    assert sum(one["launches"] for one in captured.problems) == 2


def test_infinities_beside_a_structure_with_gaps():
    x = np.array([[np.inf, 1, 2, -np.inf], [3, 4, np.inf, 5]])
    structure, footprint = np.array([[1.0, 2, 3]]), np.array([[True, False, True]])
    for name in ("grey_erosion", "grey_dilation"):
        same(
            getattr(ndimage, name)(x, footprint=footprint, structure=structure),
            getattr(scipy.ndimage, name)(x, footprint=footprint, structure=structure),
        )


@pytest.mark.parametrize("seed", range(40))
def test_binary_morphology_is_scipys(seed):
    random, x, extents, settings = drawn(seed)
    x = (random.random(x.shape) < 0.7).astype(x.dtype)
    mask, border = (random.random(x.shape) < 0.7) if seed % 2 else None, int(random.integers(0, 2))
    for structure in (None, random.random(extents) < 0.6, np.ones(extents, bool)):
        origin = 0 if structure is None else settings["origin"]
        common = {"structure": structure, "origin": origin}
        for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
            given = {
                **common,
                "iterations": int(random.choice([1, 2, 3])),
                "border_value": border,
                "mask": mask,
            }
            same(getattr(ndimage, name)(x, **given), getattr(scipy.ndimage, name)(x, **given))
        same(
            ndimage.binary_hit_or_miss(x, structure, origin1=origin),
            scipy.ndimage.binary_hit_or_miss(x, structure, origin1=origin),
        )
        # These iterations end.
        if (
            structure is None
            or structure[tuple(extent // 2 + shift for extent, shift in zip(extents, origin))]
        ):
            same(ndimage.binary_fill_holes(x, **common), scipy.ndimage.binary_fill_holes(x, **common))
            same(
                ndimage.binary_propagation(x > 0, mask=mask, **common),
                scipy.ndimage.binary_propagation(x > 0, mask=mask, **common),
            )


def test_a_long_way_is_propagated_to_its_end():
    mask = np.zeros((41, 41), bool)
    mask[::2] = True
    mask[1::4, -1] = mask[3::4, 0] = True  # a snake of 800 steps
    start = np.zeros_like(mask)
    start[0, 0] = True
    same(ndimage.binary_propagation(start, mask=mask), mask)
    for n in (1, 2, 3):
        for connectivity in (1, 2, 3):
            base = scipy.ndimage.generate_binary_structure(n, connectivity)
            same(ndimage.generate_binary_structure(n, connectivity), base)
            for iterations in (1, 2, 4):
                found, expected = (
                    one.iterate_structure(base, iterations, 1) for one in (ndimage, scipy.ndimage)
                )
                same(found[0], expected[0])
                assert iterations == 1 or list(found[1]) == list(expected[1])


def test_what_scipy_refuses_of_windows_is_refused():
    x = np.zeros((4, 5))
    for call, error in (
        (lambda: ndimage.minimum_filter(x), RuntimeError),
        (lambda: ndimage.minimum_filter(x, footprint=np.zeros((3, 3))), ValueError),
        (lambda: ndimage.maximum_filter(x, 3, origin=2), ValueError),
        (lambda: ndimage.maximum_filter(x * 1j, 3), TypeError),
        (lambda: ndimage.maximum_filter(x, 3, mode="no"), RuntimeError),
        (lambda: ndimage.minimum_filter1d(x, 0), RuntimeError),
        (lambda: ndimage.minimum_filter1d(x, 3, axis=2), np.exceptions.AxisError),
        (lambda: ndimage.rank_filter(x, 9, 3), RuntimeError),
        (lambda: ndimage.rank_filter(x, 1.0, 3), TypeError),
        (lambda: ndimage.percentile_filter(x, 101, 3), RuntimeError),
        (lambda: ndimage.median_filter(x, footprint=np.ones(3)), RuntimeError),
        (lambda: ndimage.median_filter(x, 3, mode=("wrap", "nearest")), RuntimeError),
        (lambda: ndimage.grey_erosion(x), ValueError),
        (lambda: ndimage.binary_erosion(x, np.ones(3)), RuntimeError),
        (lambda: ndimage.binary_erosion(x, np.ones((0, 3))), RuntimeError),
        (lambda: ndimage.binary_erosion(x, mask=np.ones((4, 4))), RuntimeError),
        (lambda: ndimage.binary_erosion(x, iterations=1.5), TypeError),
        (lambda: ndimage.binary_erosion(x, output=x * 1j), TypeError),
    ):
        with pytest.raises(error):
            call()


reductions = ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median")


def near(found, expected):
    assert np.shape(found) == np.shape(expected)
    single = np.asarray(found).dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, expected, 1e-4 if single else 1e-6, 1e-4)


@pytest.mark.parametrize("seed", range(50))
def test_measurements_are_scipys(seed):
    random = np.random.default_rng(seed)
    dimensions, dtype = int(random.integers(1, 4)), (*real_types, "complex64")[seed % 11]
    x = (
        image_of(random, tuple(random.integers(1, 9, dimensions)), dtype)
        if dtype != "complex64"
        else image_of(random, (4, 5), dtype) * (1 + 2j)
    )
    if dtype.startswith("float"):
        x += np.arange(x.size).reshape(x.shape)  # no number occurs twice
    labels = random.integers(-2, 4, x.shape) if seed % 3 else random.choice([0.5, 1, 2.5], x.shape)
    labels.flat[0] = 1
    several = np.array([[1, 7], [3, 0]]) if seed % 3 else np.array([2.5, 0.5, 4, 1])
    present = [one for one in several.ravel() if (labels == one).any()]
    for given in ((), (labels,), (labels, 1), (labels, present), (labels[..., :1],)):
        if len(given) == 1 and not (given[0] > 0).any():
            continue
        is_group = len(given) == 2 and given[1] is present
        for name in reductions if dtype != "complex64" else ("sum", "mean", "variance"):
            if (
                dtype == "complex64"
                and is_group
                or dtype == "bool"
                and name in ("variance", "standard_deviation")
            ):
                continue  # SciPy raises an error there
            near(getattr(ndimage, name)(x, *given), getattr(scipy.ndimage, name)(x, *given))
        if dtype == "complex64":
            continue
        if dtype.startswith("float"):
            assert np.array_equal(
                ndimage.minimum_position(x, *given), scipy.ndimage.minimum_position(x, *given)
            )
            for found, expected in zip(ndimage.extrema(x, *given), scipy.ndimage.extrema(x, *given)):
                near(found, expected)
        total = scipy.ndimage.sum(x, *given)
        if np.abs(total).min() > 1:
            near(ndimage.center_of_mass(x, *given), scipy.ndimage.center_of_mass(x, *given))
        if dtype != "bool":
            found, expected = (one.histogram(x, -50, 100, 7, *given) for one in (ndimage, scipy.ndimage))
            assert all(np.array_equal(a, b) for a, b in zip(np.atleast_1d(found), np.atleast_1d(expected)))
    if dtype != "complex64":
        for name in ("sum", "minimum", "maximum"):  # 0 for missing labels
            near(getattr(ndimage, name)(x, labels, several), getattr(scipy.ndimage, name)(x, labels, several))
        assert [one is None for one in ndimage.histogram(x, 0, 9, 3, labels, several).ravel()] == [
            not (labels == one).any() for one in several.ravel()
        ]


def test_an_index_of_a_histogram_needs_labels():
    for one in (2, [1, 2]):
        for module in (ndimage, scipy.ndimage):
            with pytest.raises(ValueError, match="labels"):
                module.histogram(np.arange(5), 0, 5, 3, None, one)


def test_the_first_of_equal_elements_and_nan():
    x = np.array([[3.0, 1, 1], [4, 4, 2]])
    assert ndimage.minimum_position(x) == (0, 1) and ndimage.maximum_position(x) == (1, 0)
    assert ndimage.minimum_position(x, np.array([0, 0, 1])) == (0, 2)  # the labels are broadcast
    x[1, 1] = np.nan
    assert (
        np.isnan(ndimage.median(x)) and np.isnan(ndimage.minimum(x)) and ndimage.minimum_position(x) == (1, 1)
    )
    assert np.isnan(ndimage.median(np.zeros(0)))
    with np.errstate(all="ignore"):
        assert (
            np.isnan(ndimage.mean(x, np.zeros_like(x)))
            and np.isnan(ndimage.variance(x, x, 77))
            and ndimage.sum(x, x, 77) == 0
        )
        assert (
            np.isnan(ndimage.median(x, np.ones_like(x), [2]))
            and np.isnan(ndimage.mean(x, np.ones_like(x), [2])).all()
        )
    for wrong in (
        lambda: ndimage.sum(x, np.ones(2)),
        lambda: ndimage.minimum_position(x, x, 77),
        lambda: ndimage.minimum(x, x, 77),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_what_is_not_there_says_what_to_use():
    """docs/ndimage.md lists all of SciPy's functions; those that Tunesmith lacks raise NotImplementedError."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "ndimage.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", page, re.M))
    assert set(rows) == set(scipy.ndimage.__all__) and len(ndimage.__all__) >= 45
    for name, text in rows.items():
        if name in ndimage.__all__:
            assert callable(getattr(ndimage, name)) and not text.startswith("no:"), name
            ours, theirs = (
                list(inspect.signature(getattr(one, name)).parameters) for one in (ndimage, scipy.ndimage)
            )
            assert ours[: len([one for one in theirs if one != "kwargs"])] == [
                one for one in theirs if one != "kwargs"
            ], name
        else:
            with pytest.raises(NotImplementedError, match=name) as error:
                getattr(ndimage, name)
            instead = elsewhere["tunesmith.ndimage"][name]
            assert text == "no: " + instead and instead in str(error.value)
    assert not hasattr(ndimage, "nonsense")
