# SPDX-License-Identifier: Apache-2.0
"""Tests that a setting counts by its value, in every form that NumPy and SciPy take, in the first call and in remembered ones."""

import inspect
import operator

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.special
import tunesmith
from layers import affine, convolved

random = np.random.default_rng(23)
line = random.standard_normal(21).astype("f")
image = random.standard_normal((7, 9)).astype("f")
cube = random.standard_normal((3, 4, 5)).astype("f")
levels = random.integers(0, 20, 40).astype("i4")
mask = random.integers(1, 5, (3, 3)).astype("d")

# Public functions that take no arrays.
without_arrays = set(
    "capture current_device default_database describe device dispatcher first_device forget_dispatchers ops program replay report serve_reference serve_strategy set_device set_dispatcher show_config tune "
    "vectorize winners write_kernel".split()
)

# Their parameters are in tests of their own.
of_any_arrays = {"einsum", "filter_bank", "histogram2d", "reduction", "rows", "tensor"}


class Case:
    """A call of a function: `arrays` by name, two values of each setting, the other arguments that each setting needs, and outputs and
    refused parameters, which are not settings."""

    def __init__(self, reference, arrays, settings, needs=None, outputs=(), refused=()):
        self.reference, self.arrays, self.settings, self.needs, self.outputs = (
            reference,
            arrays,
            settings,
            needs or {},
            outputs,
        )
        self.refused = refused


def filters(name, **settings):
    weights = {
        "correlate": mask,
        "convolve": mask,
        "correlate1d": [1.0, 2, 4],
        "convolve1d": [1.0, 2, 4],
    }.get(name)
    arrays = {"input": image} | ({} if weights is None else {"weights": weights})
    settings = {"mode": ("reflect", "wrap"), "cval": (0.5, 3.0), "output": ("float32", "float64"), **settings}
    own = {"size": 3} if name == "uniform_filter1d" else {"sigma": 1.0} if name.startswith("gaussian") else {}
    needs = {key: own for key in settings if key not in own} | {"cval": {"mode": "constant", **own}}
    if weights is not None:
        settings["weights"] = (weights, np.multiply(weights, 2))
    return Case(getattr(scipy.ndimage, name), arrays, settings, needs)


def reduction(name, **settings):
    where = (image > 0, image < 0.5)
    return Case(
        getattr(np, name),
        {"a": image},
        {"axis": (0, 1), "keepdims": (False, True), "where": where, **settings},
        outputs=("out",),
    )


def statistic(name, reference=None, outputs=("out",), refused=("where",), **settings):
    settings = {"axis": (0, 1), "keepdims": (False, True), **settings}
    return Case(reference or getattr(np, name), {"a": image}, settings, outputs=outputs, refused=refused)


def pair(*functions):
    return lambda a, axis=None, **rest: np.stack(
        [one(a, axis, **(rest if one is np.var else {})) for one in functions], -1
    )


def scanned(a, function="sum", axis=-1, exclusive=False, dtype=None, reverse=False, identity=0):
    if reverse:
        return np.flip(scanned(np.flip(a, axis), function, axis, exclusive, dtype), axis)
    if function == "0 * a + b":  # the element before
        moved = np.roll(a, 1, axis)
        moved[..., 0] = identity
        return moved
    accumulate = {"sum": np.add, "product": np.multiply, "max": np.maximum}[function].accumulate
    found = accumulate(a, axis, dtype)
    if not exclusive:
        return found
    moved = np.roll(found, 1, axis)  # an exclusive sum begins with 0
    moved[(slice(None),) * (operator.index(axis) % found.ndim) + (0,)] = 0
    return moved


def counted(a, cumulative=False, **rest):
    counts, edges = np.histogram(a, **rest)
    return (np.cumsum(counts) if cumulative else counts), edges


def normed(x, normalized_shape=None, weight=None, bias=None, eps=1e-5, centered=True):
    axes = (
        (-1,)
        if normalized_shape is None
        else tuple(
            -1 - k
            for k, one in enumerate(np.ravel(np.array(normalized_shape, object)))
            if operator.index(one)
        )
    )
    x = x - x.mean(axes, keepdims=True) if centered else x
    y = x / np.sqrt((x * x).mean(axes, keepdims=True) + float(eps))
    return ((y if weight is None else y * weight) + (0 if bias is None else bias)).astype(x.dtype)


def normalized(x, axis=-1, p=2.0, eps=1e-12):
    norm = np.linalg.norm(x, float(p), operator.index(axis), True)
    return x / np.maximum(norm, np.float32(float(eps)))


def finished(function):
    """With what becomes of each sum."""

    def layer(*arrays, finish="out", out_dtype=None, accuracy="full", **rest):
        found = function(*arrays, **{key: one for key, one in rest.items() if key != "bias"})
        found = found if out_dtype is None else found.astype(out_dtype)
        return {"out": found, "max(out, 0)": np.maximum(found, 0), "2 * out": 2 * found}[str(finish)]

    def call(**given):
        names = ("a", "b") if "a" in given else ("x", "w", "bias")
        arrays = [np.asarray(given.pop(name)) for name in names if name in given]
        given = {key: one if key != "channels" else str(one) for key, one in given.items()}
        return layer(*arrays, **given)

    return call


extremes = {"initial": (-0.5, 0.25)}
dtypes = {"dtype": ("float64", "int32")}
per_axis = {"axes": ((0, 1), (1,)), "origin": (0, 1)}
cases = {
    "sum": reduction("sum", initial=(2, 5), **dtypes),
    "mean": reduction("mean", **dtypes),
    "min": reduction("min", **extremes),
    "max": reduction("max", **extremes),
    "argmin": statistic("argmin", refused=()),
    "argmax": statistic("argmax", refused=()),
    "ptp": statistic("ptp", refused=()),
    "any": statistic("any"),
    "all": statistic("all"),
    "count_nonzero": statistic("count_nonzero", outputs=(), refused=()),
    "prod": statistic("prod", refused=("initial", "where"), **dtypes),
    "var": statistic(
        "var",
        refused=("mean",),
        where=(image > 0, image < 0.5),
        ddof=(1, 2),
        correction=(1, 2),
        dtype=("float64", "float32"),
    ),
    "std": statistic(
        "std",
        refused=("mean",),
        where=(image > 0, image < 0.5),
        ddof=(1, 2),
        correction=(1, 2),
        dtype=("float64", "float32"),
    ),
    "min_max": Case(pair(np.min, np.max), {"a": image}, {"axis": (0, 1)}),
    "mean_var": Case(
        pair(np.mean, np.var), {"a": image}, {"axis": (0, 1), "ddof": (1, 2)}, refused=("dtype",)
    ),
    "norm": Case(
        np.linalg.norm,
        {"x": image},
        {"ord": (1, 2), "axis": (0, 1), "keepdims": (False, True)},
        {"ord": {"axis": 0}},
    ),
    "cumsum": Case(np.cumsum, {"a": image}, {"axis": (0, 1), **dtypes}, outputs=("out",)),
    "cumprod": Case(np.cumprod, {"a": image}, {"axis": (0, 1), **dtypes}, outputs=("out",)),
    "scan": Case(
        scanned,
        {"a": image},
        {
            "function": ("product", "max"),
            "axis": (0, 1),
            "exclusive": (False, True),
            "reverse": (False, True),
            "identity": (0.5, 3.0),
            **dtypes,
        },
        needs={"identity": {"function": "0 * a + b", "exclusive": True}},
        outputs=("out",),
    ),
    "softmax": Case(
        lambda x, axis=-1: scipy.special.softmax(x, operator.index(axis)),
        {"x": image},
        {"axis": (0, 1)},
        outputs=("out",),
    ),
    "log_softmax": Case(
        lambda x, axis=-1: scipy.special.log_softmax(x, operator.index(axis)),
        {"x": image},
        {"axis": (0, 1)},
        outputs=("out",),
    ),
    "logsumexp": Case(
        lambda x, axis=-1, **rest: scipy.special.logsumexp(x, operator.index(axis), **rest),
        {"x": image},
        {
            "axis": (0, 1),
            "keepdims": (False, True),
            "b": (np.abs(image), np.abs(image) * 2),
            "return_sign": (False, True),
        },
        outputs=("out",),
    ),
    "normalize": Case(
        normalized, {"x": image}, {"axis": (0, 1), "p": (1, 2), "eps": (2, 5)}, outputs=("out",)
    ),
    "layer_norm": Case(
        normed,
        {"x": image},
        {
            "normalized_shape": ((9,), (7, 9)),
            "weight": (image[0], image[1]),
            "bias": (image[2], image[3]),
            "eps": (1, 2),
        },
        outputs=("out",),
    ),
    "rms_norm": Case(
        lambda x, **rest: normed(x, **{"eps": 2.0**-23, **rest}, centered=False),
        {"x": image},
        {"normalized_shape": ((9,), (7, 9)), "weight": (image[0], image[1]), "eps": (1, 2)},
        outputs=("out",),
    ),
    "transpose": Case(np.transpose, {"a": cube}, {"axes": ((0, 2, 1), (2, 0, 1))}, outputs=("out",)),
    "permute": Case(
        lambda x, axes=(2, 1, 0): np.transpose(x, axes),
        {"x": cube},
        {"axes": ((0, 2, 1), (2, 0, 1))},
        outputs=("out",),
    ),
    "convolve": Case(np.convolve, {"a": line, "v": line[:4]}, {"mode": ("full", "same")}),
    "correlate": Case(np.correlate, {"a": line, "v": line[:4]}, {"mode": ("full", "same")}),
    "matmul": Case(
        finished(lambda a, b: np.matmul(a, b)),
        {"a": cube, "b": cube[0].T},
        {
            "finish": ("max(out, 0)", "2 * out"),
            "out_dtype": ("float64", "float32"),
            "accuracy": ("tf32", "full"),
        },
        outputs=("out",),
    ),
    "linear": Case(
        finished(affine),
        {"x": cube, "w": cube[1]},
        {
            "bias": (image[0, :4], image[1, :4]),
            "finish": ("max(out, 0)", "2 * out"),
            "out_dtype": ("float64", "float32"),
            "accuracy": ("tf32", "full"),
        },
        outputs=("out",),
    ),
    "conv": Case(
        finished(convolved),
        {"x": cube, "w": cube[..., :2]},
        {
            "bias": (image[0, :3], image[1, :3]),
            "stride": (1, 2),
            "padding": (1, 2),
            "dilation": (2, 3),
            "channels": ("first", "last"),
            "finish": ("max(out, 0)", "2 * out"),
            "out_dtype": ("float64", "float32"),
            "accuracy": ("tf32", "full"),
        },
        needs={"channels": {"x": cube[:, :3, :3], "w": cube[:2, :3, :2]}},
        outputs=("out",),
        refused=("groups",),  # two of them do not fit the same arrays
    ),
    "histogram": Case(
        counted,
        {"a": image},
        {
            "bins": (5, 8),
            "range": ((-1.0, 1.0), (0.0, 2.0)),
            "density": (False, True),
            "weights": (np.ones_like(image), image),
            "cumulative": (False, True),
        },
        {
            "bins": {"range": (-1.0, 1.0)},
            "density": {"range": (-1.0, 1.0)},
            "cumulative": {"range": (-1.0, 1.0)},
        },
    ),
    "bincount": Case(
        lambda x, **rest: np.bincount(x, **rest),
        {"x": levels},
        {"minlength": (25, 30), "weights": (levels * 1.0, levels * 2.0)},
    ),
    "conv_covariance": Case(None, dict.fromkeys(("input", "gamma", "mu", "c")), {}),
    "ndimage.correlate": filters("correlate", **per_axis),
    "ndimage.convolve": filters("convolve", **per_axis),
    "ndimage.correlate1d": filters("correlate1d", axis=(0, 1), origin=(0, 1)),
    "ndimage.convolve1d": filters("convolve1d", axis=(0, 1), origin=(0, 1)),
    "ndimage.uniform_filter1d": filters("uniform_filter1d", size=(2, 3), axis=(0, 1), origin=(0, 1)),
    "ndimage.uniform_filter": filters("uniform_filter", size=(2, 3), axes=((0, 1), (1,)), origin=(0, 1)),
    "ndimage.gaussian_filter1d": filters(
        "gaussian_filter1d", sigma=(1, 2), axis=(0, 1), order=(0, 1), truncate=(2.0, 3.0), radius=(1, 2)
    ),
    "ndimage.gaussian_filter": filters(
        "gaussian_filter", sigma=(1, 2), axes=((0, 1), (1,)), order=(0, 1), truncate=(2.0, 3.0), radius=(1, 2)
    ),
    **{
        f"signal.{name}": Case(
            getattr(scipy.signal, name),
            {"in1": image, "in2": mask},
            {
                "mode": ("full", "same"),
                "boundary": ("fill", "wrap"),
                "fillvalue": (0.5, 2.0),
                "in2": (mask, mask * 2),
            },
        )
        for name in ("convolve2d", "correlate2d")
    },
}
for one in cases.values():
    for extreme in ("min", "max"):
        if one.reference is getattr(np, extreme):
            one.needs["where"] = {"initial": 0.125}
for name in ("correlate", "convolve"):  # masks of one dimension, along one axis
    cases[f"ndimage.{name}"].needs["axes"] = {"weights": [1.0, 2, 4]}
    cases[f"ndimage.{name}"].settings["axes"] = ((0,), (1,))


def function_of(name):
    found = tunesmith
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_every_public_function_and_parameter_is_here():
    public = set()
    for prefix, module in (("", tunesmith), ("ndimage.", tunesmith.ndimage), ("signal.", tunesmith.signal)):
        for name in module.__all__:
            if prefix == "ndimage." and prefix + name not in cases:
                continue  # test_ndimage.py compares its parameters with SciPy's
            if (
                callable(getattr(module, name))
                and not isinstance(getattr(module, name), type)
                and name not in without_arrays | of_any_arrays
            ):
                public.add(prefix + name)
    assert public == set(cases)
    for name, case in cases.items():
        parameters = set(inspect.signature(function_of(name)).parameters)
        assert parameters == {*case.arrays, *case.settings, *case.outputs, *case.refused}, name


def forms(value):
    """The value in each form that a caller may give it in, by name."""
    yield "plain", value
    if isinstance(value, np.ndarray):
        yield "list", value.tolist()
        yield "float32", value.astype("f") if value.dtype != bool else value
    elif isinstance(value, str):
        yield "numpy.str_", np.str_(value)
        if value in ("float32", "float64", "int32"):
            yield "dtype", np.dtype(value)
            yield "type", getattr(np, value)
    elif isinstance(value, bool):
        yield "numpy.bool", np.bool_(value)
    elif isinstance(value, (int, float)):
        for kind in ("int8", "uint8", "int64", "float16", "float32", "float64"):
            if np.dtype(kind).type(value) == value:
                yield kind, np.dtype(kind).type(value)
                yield f"array of {kind}", np.array(value, kind)
                yield f"array of one {kind}", np.array([value], kind)
        yield "list", [value]
        yield "tuple", (value,)
    else:
        yield "list", list(value)
        yield "array", np.array(value)
        yield "array of float32", np.array(value, "f")
        yield "numbers of NumPy's", tuple(np.array(value))
        yield "arrays", [np.array(one) for one in value]


def agree(found, expected, what):
    for one, other in (
        zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
    ):
        assert np.shape(one) == np.shape(other), what
        assert np.asarray(one).dtype == np.asarray(other).dtype, what
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=what)


def attempt(function, arguments):
    """The result, or the exception."""
    try:
        return function(**arguments)
    except Exception as error:  # any exception
        return error


settings = [(name, setting) for name, case in cases.items() for setting in case.settings]


@pytest.mark.parametrize(("name", "setting"), settings, ids=lambda one: one)
@pytest.mark.filterwarnings("ignore")
def test_another_value_is_another_call(name, setting):
    case, function = cases[name], function_of(name)
    first, second = (dict(forms(value)) for value in case.settings[setting])
    taken = 0
    for form in first:
        if form not in second:
            continue
        for value in (first[form], first[form], second[form], second[form], first["plain"]):
            arguments = {**case.arrays, **case.needs.get(setting, {}), setting: value}
            unsigned = setting == "radius" and form == "uint8"  # SciPy negates it, so that 1 becomes 255
            expected = attempt(case.reference, {**arguments, setting: int(value)} if unsigned else arguments)
            if isinstance(expected, Exception):
                continue
            taken += 1
            found = attempt(
                function,
                {key: one.copy() if isinstance(one, np.ndarray) else one for key, one in arguments.items()},
            )
            assert not isinstance(found, Exception), f"{name}, {setting}={value!r} ({form}): {found!r}"
            agree(found, expected, f"{name}, {setting}={value!r} ({form})")
    assert taken >= 5


def check_settings_of_a_library(name, give, numbers):
    """Numbers that are arrays of the library themselves, such as cval=image.mean(), on its own device."""
    case, function = cases[name], function_of(name)
    for setting, values in case.settings.items():
        # SciPy's radius is an int.
        if setting == "radius" or not all(type(value) in (int, float) for value in values):
            continue
        for value in (*values, *values):
            arguments = {**case.arrays, **case.needs.get(setting, {})}
            expected = case.reference(**arguments, **{setting: value})
            given = {
                key: give(one.copy()) if isinstance(one, np.ndarray) else one
                for key, one in arguments.items()
            }
            found = function(**given, **{setting: give(np.array(value))})
            found = tuple(map(numbers, found)) if isinstance(expected, tuple) else numbers(found)
            for one, other in (
                zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
            ):
                np.testing.assert_allclose(
                    one, other, rtol=1e-4, atol=1e-5, err_msg=f"{name}, {setting}={value}"
                )


@pytest.mark.parametrize("name", [name for name, case in cases.items() if case.reference])
def test_tensors_as_settings(name):
    torch = pytest.importorskip("torch")
    check_settings_of_a_library(name, torch.from_numpy, np.asarray)


def test_a_results_type_does_not_depend_on_earlier_calls():
    scaled = tunesmith.vectorize("x * y")
    for _ in range(2):
        for value in (
            2.0,
            np.float64(2),
            np.float32(2),
            np.float64(3),
            2,
            np.int64(2),
            np.array(3.0),
            np.array([2.0]),
            3.0,
            True,
        ):
            expected = line * value
            agree(scaled(line, value), expected, repr(value))
        for dtype in (
            "float64",
            "float32",
            np.float64,
            np.float32,
            np.dtype("f8"),
            np.dtype("f4"),
            "float64",
        ):
            agree(scaled(line, 2.0, dtype=dtype), np.multiply(line, 2.0, dtype=dtype), repr(dtype))
    for _ in range(2):
        for value in (2, np.float64(2), np.float32(2), np.array(2.0), np.int64(3)):
            agree(tunesmith.sum(image, initial=value), np.sum(image, initial=value), repr(value))


def test_the_first_images_value_is_not_kept():
    for _ in range(4):
        y = random.standard_normal((6, 6)).astype("f")
        expected = scipy.ndimage.gaussian_filter(y, 1, mode="constant", cval=y.min())
        np.testing.assert_allclose(
            tunesmith.ndimage.gaussian_filter(y, 1, mode="constant", cval=y.min()), expected, atol=1e-5
        )
