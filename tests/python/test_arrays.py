# SPDX-License-Identifier: Apache-2.0
"""Tests where the array of another library lies."""

import ctypes
import sys
import types

import dlpack_exchange as exchange
import numpy as np
import pytest
import tunesmith
from tunesmith import Array
from tunesmith._array_libraries import libraries
from tunesmith._core import kind_of, new_array


def test_a_numpy_array_is_read_without_a_copy():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    seen = Array(x[:, ::2, 1:])
    assert (seen.kind, seen.dtype, seen.itemsize, seen.device) == ("numpy", "float32", 4, -1)
    assert seen.pointer == x.ctypes.data + 4
    assert seen.shape == (2, 2, 3) and seen.strides == (12, 8, 1)
    assert seen.size == 12 and not seen.contiguous and not seen.readonly
    assert Array(x).contiguous and Array(x[:, :, :0]).contiguous and Array(x[:1]).contiguous
    assert Array(x[::-1]).strides == (-12, 4, 1)


@pytest.mark.parametrize(
    "name",
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split(),
)
def test_every_number_has_its_name(name):
    assert Array(np.zeros(3, name)).dtype == name


def test_it_keeps_the_array_alive():
    seen = Array(np.full(1000, 7.0))
    values = (ctypes.c_double * 1000).from_address(seen.pointer)
    np.zeros(1000)
    assert values[0] == 7 and values[999] == 7


def test_a_library_is_known_by_its_module():
    for module, kind in (
        ("torch", "torch"),
        ("cupy._core.core", "cupy"),
        ("numba.cuda", "numba"),
        ("numba_cuda_mlir.numba_cuda.cudadrv.devicearray", "numba"),
        ("jaxlib._jax", "jax"),
        (None, "other"),
        ("cupyx", "other"),
    ):
        assert kind_of(type("ndarray", (), {"__module__": module})()) == kind


@pytest.mark.parametrize("root", ["numba", "numba_cuda_mlir"])
def test_an_array_of_numba_gets_results_of_its_own_package(root, monkeypatch):
    package, cuda = types.ModuleType(root), types.ModuleType(f"{root}.cuda")
    cuda.device_array = lambda shape, dtype: (root, shape, dtype)
    monkeypatch.setitem(sys.modules, root, package)
    monkeypatch.setitem(sys.modules, f"{root}.cuda", cuda)
    like = type("DeviceNDArray", (), {"__module__": f"{root}.cudadrv.devicearray"})()
    assert libraries[kind_of(like)].empty((2, 3), "float32", like) == (root, (2, 3), np.float32)


def test_what_is_no_array_is_a_type_error():
    for value in (1, "text", None, [1, 2], object()):
        with pytest.raises(TypeError, match="is not an array"):
            Array(value)
    for dtype in ("datetime64[s]", "S3", ">f4", [("a", "f4")], object):
        with pytest.raises(TypeError):
            Array(np.zeros(2, dtype))
    with pytest.raises(TypeError, match=r"no buffer format \(datetime64\[s\]\)"):
        Array(np.zeros(2, "datetime64[s]"))
    with pytest.raises(TypeError, match="not a multiple"):
        Array(np.zeros(10, [("a", "f4"), ("b", "i1")])["a"])


def test_read_only_is_seen():
    x = np.zeros(3)
    x.flags.writeable = False
    assert Array(x).readonly and Array(b"bytes").readonly and not Array(bytearray(3)).readonly


class Exported:
    """An array of another library that offers only DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.asked = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return self.array.__dlpack__(**keywords)


class OlderExported(Exported):
    def __dlpack__(self, *, stream=None):
        self.asked.append({"stream": stream})
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Exported, OlderExported])
def test_dlpack_of_any_version_is_read(kind):
    x = np.arange(12.0).reshape(3, 4)
    exported = kind(x.T)
    seen = Array(exported)
    assert (seen.kind, seen.dtype, seen.shape, seen.strides) == ("other", "float64", (4, 3), (1, 4))
    assert seen.pointer == x.ctypes.data
    assert len(exported.asked) == 1 and (
        kind is OlderExported or exported.asked[0] == {"max_version": (1, 1)}
    )
    x.flags.writeable = False
    if kind is Exported:
        assert Array(Exported(x)).readonly


@pytest.mark.parametrize("kind", [exchange.Foreign, exchange.Newer])
def test_arrays_whose_type_has_functions_for_dlpack(kind):
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    seen = Array(kind(x.T))
    assert (seen.kind, seen.dtype, seen.shape, seen.strides) == ("other", "float32", (4, 3), (1, 4))
    assert (seen.pointer, seen.device, seen.readonly) == (x.ctypes.data, -1, False)
    assert len(exchange.lent) == 1
    del seen
    assert not exchange.lent  # what was lent is given back
    on_gpu = Array(kind(x, device_type=2))
    assert (on_gpu.device, on_gpu.stream) == (0, 4096)  # its own stream
    del on_gpu
    exchange.state["flags"] = 1
    try:
        assert Array(kind(x)).readonly
    finally:
        exchange.state["flags"] = 0


def test_results_are_made_by_the_functions_of_an_array_s_type():
    x = np.arange(12.0).reshape(3, 4)
    for function in (
        lambda a: tunesmith.sum(a, axis=0),
        lambda a: tunesmith.sum(a),
        lambda a: tunesmith.argmax(a, 1),
        lambda a: tunesmith.einsum("ij,kj->ik", a, a),
        lambda a: tunesmith.vectorize("a > 3")(a),
        lambda a: tunesmith.ndimage.gaussian_filter(a, 1.0),
        lambda a: tunesmith.ndimage.sobel(a),
    ):
        for _ in range(2):
            found, expected = function(exchange.Foreign(x)), function(x)
            assert type(found) is exchange.Foreign and found.array.dtype == np.asarray(expected).dtype
            np.testing.assert_array_equal(found.array, expected)
    made = new_array(exchange.Foreign(x, device_type=2), [2, 5], "int64")  # on the same device
    assert (made.device_type, made.array.shape, made.array.dtype) == (2, (2, 5), np.int64)
    exchange.state["refuse"] = "nothing is left"
    try:
        with pytest.raises(RuntimeError, match="Foreign made no array.*MemoryError: nothing is left"):
            new_array(exchange.Foreign(x), [2], "int64")
    finally:
        exchange.state["refuse"] = ""
    assert new_array(x, [2], "int64") is None
    assert not exchange.lent


def test_another_kind_of_device_is_a_type_error():
    with pytest.raises(TypeError, match="type 8"):
        Array(Exported(np.zeros(3), device=(8, 0)))


def test_what_dlpack_raises_is_raised():
    class Broken(Exported):
        def __dlpack__(self, **keywords):
            raise BufferError("not now")

    with pytest.raises(BufferError, match="not now"):
        Array(Broken(np.zeros(3)))


def test_pytorch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4).T
    seen = Array(x)
    assert (seen.kind, seen.dtype, seen.shape, seen.strides, seen.device) == (
        "torch",
        "bfloat16",
        (4, 3),
        (1, 4),
        -1,
    )
    with pytest.raises(TypeError, match="detach"):
        Array(torch.zeros(2, requires_grad=True))
    total = tunesmith.sum(torch.arange(10.0))
    assert isinstance(total, torch.Tensor) and total.shape == () and total == 45
    assert tunesmith.sum(x).dtype == torch.bfloat16


def test_jax_arrays():
    numpy = pytest.importorskip("jax.numpy")
    x = numpy.arange(10.0)
    seen = Array(x)
    assert seen.kind == "jax" and seen.readonly
    total = tunesmith.transpose(x.reshape(2, 5))
    assert type(total) is type(x) and total.shape == (5, 2) and (total == x.reshape(2, 5).T).all()


class Namespace:
    """The array API's namespace of a library that this package does not know."""

    @staticmethod
    def from_dlpack(array):
        return Unknown(np.from_dlpack(array), "first")


class Unknown:
    """Its array. It lies in ordinary memory, and says that it lies on a device of its own."""

    def __init__(self, array, device):
        self.array, self.device = array, device

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self, api_version=None):
        return Namespace

    def to_device(self, device):
        return Unknown(self.array, device)


def test_arrays_of_an_unknown_library_get_results_of_their_kind():
    x = np.arange(12.0).reshape(3, 4)
    given = Unknown(x, "second")
    for function in (
        lambda a: tunesmith.sum(a, axis=0),
        lambda a: tunesmith.sum(a),  # NumPy's number becomes an array without dimensions
        lambda a: tunesmith.softmax(a, axis=0),
        lambda a: tunesmith.transpose(a),
        lambda a: tunesmith.einsum("ij,kj->ik", a, a),
        lambda a: tunesmith.tensor("y[j] += x[i,j]", x=a),
        lambda a: tunesmith.vectorize("a * 2")(a),
        lambda a: tunesmith.ndimage.gaussian_filter(a, 1.0),
        lambda a: tunesmith.ndimage.morphological_gradient(a, size=3),  # calls other functions
        lambda a: tunesmith.ndimage.maximum(a),
        lambda a: tunesmith.argmax(a, 1),
    ):
        for _ in range(2):  # also when the call is repeated
            found = function(given)
            assert type(found) is Unknown and found.device == "second"
            expected = function(x)
            assert found.array.dtype == np.asarray(expected).dtype
            np.testing.assert_array_equal(found.array, expected)
    out = np.empty(4)
    assert tunesmith.sum(given, axis=0, out=out) is out and (out == x.sum(0)).all()
    assert type(tunesmith.sum(x, axis=0)) is np.ndarray
    with pytest.raises(TypeError, match="sum\\(\\) has no dim="):
        tunesmith.sum(given, dim=0)
    assert type(tunesmith.ndimage.maximum(x)) is np.float64
