# SPDX-License-Identifier: Apache-2.0
"""Tests that only the elements of an array count, not its form, also when the call is remembered."""

import ctypes
import importlib.util
import sys
import types

import numpy as np
import pytest
import scipy.ndimage
import tunesmith
from test_settings import agree, cases, function_of


class Subclass(np.ndarray):
    """A user's own."""


class Exported:
    """An array of an unknown library: it has only __dlpack__."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)


def memmap(array, path):
    found = np.memmap(path / f"array{len(list(path.iterdir()))}", array.dtype, "w+", shape=array.shape)
    found[...] = array
    return found


def misaligned(array):
    found = np.frombuffer(bytearray(array.nbytes + 1), array.dtype, offset=1).reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


def field(array):
    """A field of records whose size is not a multiple of an element's."""
    found = np.zeros(array.shape, [("one", array.dtype), ("other", "i1")])["one"]
    found[...] = array
    return found


def wide_field(array):
    """Aligned, but complex elements are one and a half elements apart."""
    found = np.zeros(array.shape, [("one", array.dtype), ("other", f"V{array.dtype.alignment}")])["one"]
    found[...] = array
    return found


def big_endian(array):
    return array.astype(array.dtype.newbyteorder(">"))


# Forms by name: made from NumPy's array and a folder; true if the form has elements of its own byte order, alignment and distance.
forms = {
    "another byte order": lambda array, path: big_endian(array),
    "a file": memmap,
    "a file of another byte order": lambda array, path: memmap(big_endian(array), path),
    "a subclass": lambda array, path: array.view(Subclass),
    "a subclass of another byte order": lambda array, path: big_endian(array).view(Subclass),
    "misaligned": lambda array, path: misaligned(array),
    "a field": lambda array, path: field(array),
    "a wide field": lambda array, path: wide_field(array),
    "backwards": lambda array, path: np.ascontiguousarray(array[::-1])[::-1],
    "a memoryview": lambda array, path: memoryview(array),
    "of ctypes": lambda array, path: np.ctypeslib.as_ctypes(array.copy()),
    "of DLPack": lambda array, path: Exported(array),
}
functions = [name for name, case in cases.items() if case.reference]


@pytest.mark.parametrize("form", forms)
def test_every_function_takes_it(form, tmp_path):
    for name in functions:
        case, function = cases[name], function_of(name)
        needs = {key: value for key, value in case.needs.get("mode", {}).items() if key in ("size", "sigma")}
        for factor in (1, 1, 2):  # plain first, so that the call is remembered
            arrays = {
                key: np.asarray(value) * np.asarray(value).dtype.type(factor)
                for key, value in case.arrays.items()
            }
            expected = case.reference(**arrays, **needs)
            if name == "histogram":  # the limits are its own
                expected = tuple(map(np.asarray, expected))
            agree(function(**arrays, **needs), expected, name)
            given = {key: forms[form](np.ascontiguousarray(value), tmp_path) for key, value in arrays.items()}
            agree(function(**given, **needs), expected, f"{name} of {form}")
    scaled = tunesmith.vectorize("x * 2 + y")
    for factor in (1.0, 1.0, 3.0):
        x = np.arange(12.0).reshape(3, 4) * factor
        agree(scaled(x, x), x * 3, "vectorize")
        agree(scaled(forms[form](x, tmp_path), x), x * 3, f"vectorize of {form}")


@pytest.mark.parametrize("form", [name for name in forms if name != "of ctypes"])
def test_results_go_there(form, tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    for function, argument, expected in (
        (tunesmith.sum, "out", x.sum()),
        (lambda x, out: tunesmith.sum(x, axis=0, out=out), "out", x.sum(axis=0)),
        (tunesmith.transpose, "out", x.T),
        (tunesmith.vectorize("x + 1"), "out", x + 1),
        (lambda x, output: tunesmith.ndimage.uniform_filter(x, 1, output=output), "output", x),
    ):
        for _ in range(3):
            plain = np.zeros(np.shape(expected))
            if form in ("backwards", "a file", "a file of another byte order") and plain.ndim == 0:
                continue
            out = forms[form](plain, tmp_path)
            assert function(x, **{argument: out}) is out
            found = out.array if form == "of DLPack" else np.asarray(out)
            np.testing.assert_array_equal(found, expected)


def test_arrays_of_ctypes():
    """Arrays whose buffers name no strides."""
    assert tunesmith.sum((ctypes.c_float * 3)(1, 2, 3)) == 6
    assert tunesmith.sum((ctypes.c_int32 * 3).from_buffer(bytearray(12))) == 0
    seen = tunesmith.Array((ctypes.c_double * 3 * 4)())
    assert seen.shape == (4, 3) and seen.strides == (3, 1) and seen.contiguous
    assert tunesmith.Array(ctypes.c_float(3)).shape == () and tunesmith.sum(ctypes.c_float(3)) == 3
    assert tunesmith.sum((ctypes.c_float.__ctype_be__ * 3)(1, 2, 3)) == 6
    plan = tunesmith.dispatcher("host").plan("reduce", length=3)
    total = (ctypes.c_float * 1)()
    plan.launch((ctypes.c_float * 3)(1, 2, 3), total)
    assert total[0] == 6


def test_masks_and_matrices_are_refused():
    masked = np.ma.array([1, 2, 99], mask=[0, 0, 1])
    x = np.array([1, 2, 99])
    for function in (
        *(
            tunesmith.sum,
            tunesmith.mean,
            tunesmith.min,
            tunesmith.max,
            tunesmith.transpose,
            tunesmith.histogram,
            tunesmith.bincount,
        ),
        lambda x: tunesmith.convolve(x, [1, 2]),
        lambda x: tunesmith.ndimage.uniform_filter(x, 3),
        tunesmith.vectorize("x + 1"),
        tunesmith.Array,
    ):
        function(x)
        function(x)  # remembered
        for one in (masked, masked.astype(">i8"), masked[::-1]):
            with pytest.raises(TypeError, match="masked array was given"):
                function(one)
    with pytest.raises(TypeError, match="numpy.asarray"):
        tunesmith.sum(np.asmatrix(np.eye(2)))
    with pytest.raises(TypeError, match="masked"):
        tunesmith.sum(x, out=np.ma.array(0))


def test_missing_values_of_pandas():
    class Series:
        """The methods that pandas and xarray share."""

        def __init__(self, values):
            self.values = np.array(values)

        def __array__(self, dtype=None, copy=None):
            return self.values

        def isnull(self):
            return np.isnan(self.values)

    assert tunesmith.sum(Series([1.0, 2.0])) == 3
    for function in (tunesmith.sum, tunesmith.mean, tunesmith.min, tunesmith.max):
        with pytest.raises(TypeError, match="Series has missing values"):
            function(Series([1.0, np.nan]))


def test_errors_are_sentences():
    class Nowhere(Exported):
        def __dlpack_device__(self):
            return "nowhere"

    class Interface:
        def __init__(self, **fields):
            self.__cuda_array_interface__ = {
                "typestr": "<f4",
                "shape": (3,),
                "data": (0, False),
                "version": 3,
                **fields,
            }

    class Traced:
        def __dlpack__(self):
            raise AssertionError

    x = np.ones((3, 3), "f")
    for call, error, words in (
        (lambda: tunesmith.sum(None), TypeError, "type NoneType is not an array"),
        (lambda: tunesmith.sum({}), TypeError, "type dict is not an array"),
        (lambda: tunesmith.sum("abc"), TypeError, "type str is not an array"),
        (lambda: tunesmith.sum(["a", "b"]), TypeError, "type list is not an array"),
        (lambda: tunesmith.sum(np.array([1, None])), TypeError, "array of object cannot be used"),
        (lambda: tunesmith.sum(np.ones(2, np.longdouble)), TypeError, "float128 cannot be used"),
        (lambda: tunesmith.sum(x, dtype="M8[s]"), TypeError, "not known here; allowed are bool"),
        (lambda: tunesmith.sum(x, axis=0, out=[1, 2, 3]), TypeError, "type list; it must be an array"),
        (
            lambda: tunesmith.ndimage.uniform_filter(x, output=[1]),
            TypeError,
            "type list; it must be an array",
        ),
        (lambda: tunesmith.sum(Nowhere(x)), TypeError, "'nowhere', which is not a pair"),
        (lambda: tunesmith.sum(Traced()), TypeError, "lies nowhere"),
        (lambda: tunesmith.sum(Interface(typestr="<fx")), TypeError, '"<fx" cannot be used'),
        (lambda: tunesmith.sum(Interface(shape="a")), TypeError, "cannot be read"),
        (lambda: tunesmith.sum(Interface(data=3)), TypeError, "cannot be read"),
        (
            lambda: tunesmith.dispatcher("host").plan("reduce", length=2**80),
            ValueError,
            "1208925819614629174706176; whole numbers from",
        ),
        (
            lambda: tunesmith.ndimage.gaussian_filter(x, 1, radius=1.1),
            ValueError,
            "nonnegative integer; it is 1.1",
        ),
        (lambda: tunesmith.ndimage.gaussian_filter(x, 1, order=0.5), ValueError, "whole; it is 0.5"),
        (
            lambda: tunesmith.ndimage.convolve1d(x, [1, 2, 3], axis=2),
            np.exceptions.AxisError,
            "out of bounds",
        ),
        (lambda: tunesmith.bincount(np.array([2**63 - 1])), ValueError, "9223372036854775808 counts"),
        (lambda: tunesmith.bincount(np.array([2**64 - 1], "u8")), ValueError, "18446744073709551616 counts"),
    ):
        with pytest.raises(error, match=words):
            call()


def pytorch(monkeypatch):
    """Three functions: NumPy's array to a tensor, a tensor to one whose negation is not yet done, a tensor to NumPy's. PyTorch, or a stand-in."""
    if importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
        return torch.from_numpy, torch._neg_view, lambda one: one.resolve_neg().numpy()

    class Tensor:
        requires_grad = is_cuda = False
        is_cpu, device = True, "cpu"

        def __init__(self, array, negative=False):
            self.array, self.negative, self.dtype, self.shape = (
                array,
                negative,
                f"torch.{array.dtype.name}",
                array.shape,
            )

        def is_neg(self):
            return self.negative

        def is_complex(self):
            return self.array.dtype.kind == "c"

        def is_conj(self):
            return False

        def resolve_conj(self):
            return self

        def resolve_neg(self):
            return Tensor(-self.array) if self.negative else self

        def data_ptr(self):
            return self.array.ctypes.data

        def stride(self):
            return tuple(step // self.array.itemsize for step in self.array.strides)

        def reshape(self, shape):
            return Tensor(self.array.reshape(shape))

        def expand(self, shape):
            return Tensor(np.broadcast_to(self.array, shape))

    Tensor.__module__ = "torch"
    module = types.SimpleNamespace(
        float32="float32",
        empty=lambda shape, dtype, device: Tensor(np.empty(shape, dtype)),
        empty_like=lambda one: Tensor(np.empty(one.shape, one.array.dtype)),
        is_grad_enabled=lambda: True,
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return Tensor, lambda one: Tensor(one.array, True), lambda one: one.resolve_neg().array


def test_views_that_pytorch_negates_later(monkeypatch):
    give, negated, numbers = pytorch(monkeypatch)
    minus = tunesmith.vectorize("x * 2")
    for factor in (1, 2, 3):
        x = np.arange(35, dtype="f").reshape(5, 7) * factor
        for _ in range(2):
            for array, tensor in ((x, give(x)), (-x, negated(give(x)))):
                np.testing.assert_allclose(numbers(tunesmith.sum(tensor)), array.sum(), rtol=1e-5)
                np.testing.assert_allclose(numbers(tunesmith.max(tensor, axis=1)), array.max(axis=1))
                np.testing.assert_allclose(numbers(tunesmith.transpose(tensor)), array.T)
                np.testing.assert_allclose(numbers(minus(tensor)), array * 2)
    with pytest.raises(TypeError, match="resolve_neg"):
        tunesmith.Array(negated(give(x)))


real_functions = "argmin argmax ptp prod min_max mean_var cumprod softmax log_softmax logsumexp normalize layer_norm rms_norm".split()
complex_functions = [
    name for name in functions if name not in ("min", "max", "histogram", "bincount", *real_functions)
]


@pytest.mark.parametrize("name", real_functions)
def test_complex_numbers_are_refused_where_they_are_not_computed(name):
    """They are never computed without their imaginary parts."""
    case = cases[name]
    for key in case.arrays:
        arrays = {**case.arrays, key: case.arrays[key].astype("complex64")}
        with pytest.raises(TypeError, match="complex"):
            function_of(name)(**arrays)


def check_conjugates(name, device):
    torch = pytest.importorskip("torch")
    case, function = cases[name], function_of(name)
    needs = {key: value for key, value in case.needs.get("mode", {}).items() if key in ("size", "sigma")}
    for factor in (1, 1, 2):
        arrays = {
            key: (np.asarray(value) * (1 + 2j) * factor).astype("complex64")
            for key, value in case.arrays.items()
        }
        expected = case.reference(**{key: value.conj() for key, value in arrays.items()}, **needs)
        plain = {key: torch.from_numpy(value.conj()).to(device) for key, value in arrays.items()}
        lazy = {key: torch.from_numpy(value).to(device).conj() for key, value in arrays.items()}
        for given in (plain, lazy, lazy):
            np.testing.assert_allclose(function(**given, **needs).cpu(), expected, rtol=1e-4, atol=1e-4)
    v = torch.complex(torch.zeros(4), torch.ones(4)).to(device).conj().imag
    assert function_of("max")(v) == -1 and tunesmith.histogram(v, 2)[1][0] < -1


@pytest.mark.parametrize("name", complex_functions)
def test_views_that_pytorch_conjugates_later(name):
    check_conjugates(name, "cpu")


def check_rarer_calls(give, numbers):
    random = np.random.default_rng(29)
    x = random.standard_normal((13, 17)).astype("f")
    mask = x > 0.25
    for _ in range(2):
        for there in (give(mask), mask):
            found = tunesmith.sum(give(x), axis=1, where=there, initial=2)
            np.testing.assert_allclose(numbers(found), x.sum(axis=1, where=mask, initial=2), rtol=1e-4)
            np.testing.assert_allclose(
                numbers(tunesmith.mean(give(x), axis=0, where=there)), x.mean(axis=0, where=mask), rtol=1e-4
            )
            np.testing.assert_allclose(
                numbers(tunesmith.max(give(x), where=there, initial=-1)), x.max(where=mask, initial=-1)
            )
        np.testing.assert_array_equal(
            numbers(tunesmith.mean(give(x * 10), axis=1, dtype=int)), (x * 10).mean(axis=1, dtype=int)
        )
        for kind in ("uint8", "uint16", "uint32", "uint64", "int32"):
            whole = np.abs(x * 60).astype(kind)
            for function in ("sum", "min", "max"):
                expected = getattr(whole, function)(axis=1, initial=90, where=mask)
                np.testing.assert_array_equal(
                    numbers(getattr(tunesmith, function)(give(whole), axis=1, initial=90, where=mask)),
                    expected,
                )
            np.testing.assert_array_equal(
                numbers(tunesmith.mean(give(whole), axis=1, dtype=kind)), whole.mean(axis=1, dtype=kind)
            )
        labels = random.integers(0, 10**6, 500)
        np.testing.assert_array_equal(numbers(tunesmith.bincount(give(labels))), np.bincount(labels))
        counts, edges = tunesmith.histogram(give(x), 70000, (-4.0, 4.0))
        np.testing.assert_array_equal(numbers(counts), np.histogram(x, 70000, (-4.0, 4.0))[0])
        large = labels.astype("u8") + np.uint64(2**63)
        for function in ("sum", "min", "max", "mean"):
            np.testing.assert_allclose(
                numbers(getattr(tunesmith, function)(give(large))).astype("u8"),
                getattr(large, function)().astype("u8"),
                rtol=1e-12,
            )
        np.testing.assert_array_equal(
            numbers(tunesmith.histogram(give(large), 9, (0.0, 2.0**64))[0]),
            np.histogram(large, 9, (0.0, 2.0**64))[0],
        )
        wide = random.integers(-(2**62), 2**62, 30)
        np.testing.assert_array_equal(
            numbers(tunesmith.convolve(give(wide), give(wide[:5]))), np.convolve(wide, wide[:5])
        )
        for kind in ("uint8", "uint16", "uint32", "uint64"):
            cut = tunesmith.ndimage.correlate1d(give(x), [1.0, 2, 3], output=kind)
            np.testing.assert_array_equal(
                numbers(cut), scipy.ndimage.correlate1d(x, [1.0, 2, 3], output=kind)
            )
        np.testing.assert_array_equal(
            numbers(tunesmith.ndimage.uniform_filter(give(mask), 3)), scipy.ndimage.uniform_filter(mask, 3)
        )


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_rarer_calls(library):
    check_rarer_calls(
        (lambda array: array) if library == "numpy" else pytest.importorskip("torch").from_numpy, np.asarray
    )


def test_pytorchs_types_parameters_and_places():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    for dtype in (torch.float64, "float64", "f8", np.float64):
        assert tunesmith.sum(x, dtype=dtype).dtype == torch.float64
        assert tunesmith.ndimage.gaussian_filter(x, 1, output=dtype).dtype == torch.float64
        assert tunesmith.vectorize("x + 1")(x, dtype=dtype).dtype == torch.float64
    assert tunesmith.sum(x, dtype=torch.bfloat16).dtype == torch.bfloat16
    weights = torch.nn.Parameter(torch.ones(2, 2))
    with pytest.raises(TypeError, match="detach"):
        tunesmith.ndimage.correlate(x, weights)
    with torch.no_grad():
        np.testing.assert_allclose(tunesmith.ndimage.correlate(x, weights)[1, 1], 8)
    out = torch._neg_view(torch.zeros(3))
    for _ in range(3):
        assert tunesmith.sum(x, axis=0, out=out) is out
        assert out.tolist() == [3, 5, 7]
    assert tunesmith.correlate([1.0, 2, 3], torch.ones(2)).tolist() == [3, 5]


def test_bfloat16_everywhere():
    torch = pytest.importorskip("torch")
    for name in functions:
        case, function = cases[name], function_of(name)
        if name in ("bincount", "histogram"):
            continue
        needs = {key: value for key, value in case.needs.get("mode", {}).items() if key in ("size", "sigma")}
        arrays = {key: np.rint(np.asarray(value, "f") * 8) / 8 for key, value in case.arrays.items()}  # exact
        expected = case.reference(**arrays, **needs)
        found = function(
            **{key: torch.from_numpy(value).bfloat16() for key, value in arrays.items()}, **needs
        )
        assert found.dtype == torch.bfloat16, name
        np.testing.assert_allclose(found.float(), expected, rtol=2**-7, atol=0.2, err_msg=name)
