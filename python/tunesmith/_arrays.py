"""What each array library does in its own way, and which dispatcher serves an array."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import glob
import importlib
import importlib.util
import os
import sys
import threading

import numpy as np

from ._core import Array, Dispatcher, is_array

_device = contextvars.ContextVar("tunesmith_device", default="host")
_dispatchers: dict[tuple, Dispatcher] = {}
_plans: dict[tuple, object] = {}
_lock = threading.Lock()
_most_plans = 4096
_host = -1
_host_with_compiler = -2


class _NumPy:
    @staticmethod
    def empty(shape, dtype, like):
        return np.empty(shape, _numpy_type(dtype))

    @staticmethod
    def cast(array, dtype):
        return np.asarray(array).astype(_numpy_type(dtype))

    @staticmethod
    def copy(array):
        return np.array(array, order="C")

    @staticmethod
    def reshape(array, shape):
        return np.asarray(array).reshape(shape)

    @staticmethod
    def view(array, dtype):
        return np.asarray(array).view(_numpy_type(dtype))

    @staticmethod
    def of_numpy(array, like):
        return array

    @staticmethod
    def to_numpy(array):
        return np.asarray(array)

    @staticmethod
    def assign(out, value):
        out[...] = value

    @staticmethod
    def result(array):
        return array[()] if array.ndim == 0 else array


class _Torch:
    @staticmethod
    def _type(dtype):
        return getattr(sys.modules["torch"], dtype)

    @staticmethod
    def empty(shape, dtype, like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    @staticmethod
    def cast(array, dtype):
        return array.to(_Torch._type(dtype))

    @staticmethod
    def copy(array):
        return array.clone(memory_format=sys.modules["torch"].contiguous_format)

    @staticmethod
    def reshape(array, shape):
        return array.reshape(shape)

    @staticmethod
    def view(array, dtype):
        return array.view(_Torch._type(dtype))

    @staticmethod
    def of_numpy(array, like):
        return sys.modules["torch"].as_tensor(array, device=like.device)

    @staticmethod
    def to_numpy(array):
        return array.cpu().numpy()

    @staticmethod
    def assign(out, value):
        out.copy_(value)

    @staticmethod
    def result(array):
        return array


class _CuPy:
    @staticmethod
    def empty(shape, dtype, like):
        cupy = sys.modules["cupy"]
        with like.device:
            return cupy.empty(shape, _numpy_type(dtype))

    @staticmethod
    def cast(array, dtype):
        return array.astype(_numpy_type(dtype))

    @staticmethod
    def copy(array):
        return array.copy(order="C")

    @staticmethod
    def reshape(array, shape):
        return array.reshape(shape)

    @staticmethod
    def view(array, dtype):
        return array.view(_numpy_type(dtype))

    @staticmethod
    def of_numpy(array, like):
        with like.device:
            return sys.modules["cupy"].asarray(array)

    @staticmethod
    def to_numpy(array):
        return array.get()

    @staticmethod
    def assign(out, value):
        out[...] = value

    @staticmethod
    def result(array):
        return array


class _Numba:
    """Numba's device arrays convert nothing themselves, so types and orders must be those that an op takes."""

    @staticmethod
    def _cuda():
        return importlib.import_module("numba.cuda")

    @staticmethod
    def empty(shape, dtype, like):
        return _Numba._cuda().device_array(shape, _numpy_type(dtype))

    @staticmethod
    def cast(array, dtype):
        raise TypeError(
            f"A Numba device array of {np.dtype(array.dtype).name} would have to become {dtype}, and Numba has no "
            "conversion on the device; convert it first, or give an array of CuPy or PyTorch."
        )

    @staticmethod
    def copy(array):
        raise ValueError("The Numba device array is not C-contiguous; make a contiguous one first.")

    @staticmethod
    def reshape(array, shape):
        return array.reshape(shape)

    @staticmethod
    def view(array, dtype):
        return array.view(_numpy_type(dtype))

    @staticmethod
    def of_numpy(array, like):
        return _Numba._cuda().to_device(array)

    @staticmethod
    def to_numpy(array):
        return array.copy_to_host()

    @staticmethod
    def assign(out, value):
        out.copy_to_device(value)

    @staticmethod
    def result(array):
        return array


class _Jax:
    @staticmethod
    def _numpy():
        return importlib.import_module("jax.numpy")

    @staticmethod
    def empty(shape, dtype, like):
        # A fresh buffer, which nobody else has seen, so that it may be filled.
        return _Jax._numpy().empty(shape, dtype, device=like.device).block_until_ready()

    @staticmethod
    def cast(array, dtype):
        return array.astype(dtype)

    @staticmethod
    def copy(array):
        return array  # always row-major

    @staticmethod
    def reshape(array, shape):
        return array.reshape(shape)

    @staticmethod
    def view(array, dtype):
        return array.view(dtype)

    @staticmethod
    def of_numpy(array, like):
        return importlib.import_module("jax").device_put(array, like.device)

    @staticmethod
    def to_numpy(array):
        return np.asarray(array)

    @staticmethod
    def assign(out, value):
        raise ValueError("out= is an array of JAX, which never changes; leave it out, and use what is returned.")

    @staticmethod
    def result(array):
        return array


class _Other(_NumPy):
    """Objects with __dlpack__ of libraries that are not known here; their results are NumPy's."""


_libraries = {"numpy": _NumPy, "torch": _Torch, "cupy": _CuPy, "numba": _Numba, "jax": _Jax, "other": _Other}


def _numpy_type(name: str) -> np.dtype:
    if name == "bfloat16":
        raise TypeError("NumPy has no bfloat16; use an array of PyTorch or JAX.")
    return np.dtype(name)


class Given:
    """An argument of a call: the object itself, where it lies, and its library."""

    __slots__ = ("object", "array", "library")

    def __init__(self, value, like: "Given | None" = None):
        if not is_array(value):
            value = np.asarray(value)
            if value.dtype.hasobject:
                raise TypeError(f"A value of the type {type(value).__name__} is no array of numbers.")
        self._take(value)
        if like is not None and self.array.kind != like.array.kind:
            if self.array.kind != "numpy":
                raise TypeError(
                    f"Arrays of {self.array.kind} and of {like.array.kind} were given together; give both as one "
                    "library's, or the smaller one as a list or NumPy array."
                )
            self._take(like.library.of_numpy(value, like.object))

    def _take(self, value):
        self.object = value
        if type(value) is np.ndarray and not value.dtype.isnative:
            self.object = value.astype(value.dtype.newbyteorder("="))
        elif isinstance(value, np.generic):
            self.object = np.asarray(value)
        self.array = Array(self.object)
        self.library = _libraries[self.array.kind]

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    def to(self, dtype: str) -> "Given":
        """Of that element type: itself, or a copy."""
        return self if self.array.dtype == dtype else Given(self.library.cast(self.object, dtype))

    def contiguous(self) -> "Given":
        """Row-major without gaps: itself, or a copy."""
        return self if self.array.contiguous else Given(self.library.copy(self.object))

    def viewed(self, dtype: str) -> "Given":
        return Given(self.library.view(self.object, dtype))

    def reshaped(self, shape) -> "Given":
        return Given(self.library.reshape(self.object, tuple(shape)))

    def empty(self, shape, dtype: str) -> "Given":
        """A new array beside it."""
        return Given(self.library.empty(tuple(shape), dtype, self.object))

    def numpy(self) -> np.ndarray:
        return self.library.to_numpy(self.object)


def set_device(device: str) -> None:
    """Where arrays in ordinary memory (NumPy's, PyTorch's on the CPU) are worked on from now on, in this context.

    device: "host" (at first), an emulator of a GPU on the processor, which is exact and slow; or "cuda" or "cuda:1": each
    call then copies its arrays to that GPU and its results back, and waits for them. Arrays on a GPU are always
    worked on there. Raises ValueError for another word.
    """
    _key(device)
    _device.set(device)


@contextlib.contextmanager
def device(name: str):
    """`with tunesmith.device("cuda"):` is set_device() until the end of the block."""
    _key(name)
    token = _device.set(name)
    try:
        yield
    finally:
        _device.reset(token)


def _key(name: str) -> tuple:
    if name == "host":
        return (-1,)
    if name == "cuda":
        return (0,)
    if name.startswith("cuda:") and name[5:].isdigit():
        return (int(name[5:]),)
    raise ValueError(f'The device is "{name}"; allowed are host, cuda and cuda:N.')


def _load_nvrtc() -> None:
    """NVRTC of the wheel nvidia-cuda-nvrtc where there is no toolkit: once loaded, the library finds it by its name."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or [] if found else []:
        for file in sorted(glob.glob(os.path.join(folder, "*", "lib", "libnvrtc.so.1[23]")), reverse=True):
            with contextlib.suppress(OSError):
                ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
                return


def dispatcher(device: str | None = None) -> Dispatcher:
    """The dispatcher that the functions of this package share for a device: "host", "cuda" or "cuda:1"; None: that of
    set_device(). It is made when it is first asked for. Raises ValueError for another word, RuntimeError where the device
    cannot be used."""
    return _dispatcher(*_key(device or _device.get()))


def _dispatcher(ordinal: int) -> Dispatcher:
    found = _dispatchers.get(ordinal)
    if found is None:
        with _lock:
            found = _dispatchers.get(ordinal)
            if found is None:
                if ordinal >= 0:
                    _load_nvrtc()
                    found = Dispatcher(f"cuda:{ordinal}")
                else:
                    # An emulator needs no better kernels; only an expression has none before it is compiled.
                    compile = "never" if ordinal == _host else "background"
                    found = Dispatcher("host", host_binaries=True, compile=compile)
                _dispatchers[ordinal] = found
    return found


def forget_dispatchers() -> None:
    """Makes the shared dispatchers anew at their next use, so that they read the database again, as after tune()."""
    with _lock:
        _dispatchers.clear()
        _plans.clear()


def plan(op: str, device: int, problem: tuple) -> object:
    """The plan for ((name, value), ...) on a CUDA device's ordinal, or -1 for memory of the host."""
    if device < 0:
        device = _key(_device.get())[0]
    key = (op, device, problem)
    found = _plans.get(key)
    if found is None:
        ordinal = _host_with_compiler if device == _host and op == "elementwise" else device
        found = _dispatcher(ordinal).plan(op, **dict(problem))
        if len(_plans) >= _most_plans:
            _plans.clear()
        _plans[key] = found
    return found
