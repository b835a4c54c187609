"""What each array library does in its own way, and which dispatcher serves an array."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import importlib
import inspect
import operator
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ._core import Array, Dispatcher, Memo, end_compilations, is_array, kind_of, work
from ._device import check_device, current_device, has_gpu, libraries_of_wheels, may_have_gpu, pays_on_gpu, warn_of_host_only_build

_Function = TypeVar("_Function", bound=Callable[..., Any])

atexit.register(end_compilations)

_dispatchers: dict[tuple, Dispatcher] = {}
_plans: dict[tuple, object] = {}
_lock = threading.Lock()
_most_plans = 4096
_host = -1
_host_with_compiler = -2


class _Log:
    """What a call launches, with which new arrays, and which number it made of an array without dimensions."""

    def __init__(self):
        self.launches, self.allocated, self.constants = [], [], []
        self.check = self.number = None


class _Recording(threading.local):
    log: _Log | None = None


_recording = _Recording()


class _NumPy:
    @staticmethod
    def module():
        """With where(), minimum() and so on."""
        return np

    @staticmethod
    def empty(shape, dtype, like):
        return np.empty(shape, _numpy_type(dtype))

    @staticmethod
    def allocator(like, shape, dtype):
        return functools.partial(np.empty, shape, _numpy_type(dtype))

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
        if array.ndim:
            return array
        number = array[()]
        if _recording.log is not None:
            _recording.log.number = (number, array)
        return number


class _Torch:
    @staticmethod
    def module():
        return sys.modules["torch"]

    @staticmethod
    def _type(dtype):
        return getattr(sys.modules["torch"], dtype)

    @staticmethod
    def empty(shape, dtype, like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    @staticmethod
    def allocator(like, shape, dtype):
        torch = sys.modules["torch"]  # whose empty_like() is twice as fast as its empty()
        return functools.partial(torch.empty_like, torch.empty((), dtype=_Torch._type(dtype), device=like.device).expand(shape))

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
        # PyTorch reads no negative strides, and warns of what is read-only.
        array = array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")
        return sys.modules["torch"].as_tensor(array, device=like.device)

    @staticmethod
    def to_numpy(array):
        torch = sys.modules["torch"]
        return (array.to(torch.float32) if array.dtype == torch.bfloat16 else array).detach().cpu().numpy()

    @staticmethod
    def assign(out, value):
        out.copy_(value)

    @staticmethod
    def result(array):
        return array


class _CuPy:
    @staticmethod
    def module():
        return sys.modules["cupy"]

    @staticmethod
    def empty(shape, dtype, like):
        cupy = sys.modules["cupy"]
        with like.device:
            return cupy.empty(shape, _numpy_type(dtype))

    @staticmethod
    def allocator(like, shape, dtype):
        cupy, device, dtype = sys.modules["cupy"], like.device, _numpy_type(dtype)
        if cupy.cuda.runtime.getDeviceCount() == 1:
            return functools.partial(cupy.ndarray, shape, dtype)

        def make():
            with device:
                return cupy.ndarray(shape, dtype)

        return make

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
    def module():
        raise TypeError("where=, initial= and the extremes of uint64 need an array library's own functions, and Numba has none; give an array of CuPy or PyTorch.")

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
    def module():
        return _Jax._numpy()

    @staticmethod
    def _numpy():
        return importlib.import_module("jax.numpy")

    @staticmethod
    def empty(shape, dtype, like):
        if dtype.endswith("64") and not importlib.import_module("jax").config.jax_enable_x64:
            raise TypeError(f'The result has the type {dtype}, which JAX has only with jax.config.update("jax_enable_x64", True).')
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
        return np.asarray(array.astype("float32") if array.dtype.name == "bfloat16" else array)

    @staticmethod
    def assign(out, value):
        raise ValueError("out= is an array of JAX, which never changes; leave it out, and use what is returned.")

    @staticmethod
    def result(array):
        return array


class _Other(_NumPy):
    """What lies on a GPU and is of a library that is not known here; results are NumPy's."""


_libraries = {"numpy": _NumPy, "torch": _Torch, "cupy": _CuPy, "numba": _Numba, "jax": _Jax, "other": _Other}


type_names = (
    "bool",
    *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def type_name(dtype) -> str:
    """An element type's name, "float32", of what its library calls it: numpy.float32, "f4", torch.float32, float."""
    if is_torch_type(dtype) or isinstance(dtype, str) and dtype == "bfloat16":
        name = str(dtype).removeprefix("torch.")
    else:
        name = np.dtype(dtype).name
    if name not in type_names:
        raise TypeError(f"The element type {dtype} is not known here; allowed are {', '.join(type_names)}.")
    return name


def is_torch_type(dtype) -> bool:
    return type(dtype).__name__ == "dtype" and type(dtype).__module__ == "torch"


def promoted(*names: str) -> str:
    """The type of a result of such arrays, as NumPy has it; with bfloat16 as PyTorch has it."""
    others = [name for name in names if name != "bfloat16"]
    if len(others) == len(names):
        return np.result_type(*map(np.dtype, names)).name
    wide = [name for name in others if name.startswith(("float", "complex"))]
    return np.result_type(np.float32, *map(np.dtype, wide)).name if wide else "bfloat16"


def _whole_elements(array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The array if kernels can read it where it lies, else a copy: of the machine's byte order, aligned, whole elements apart."""
    dtype = array.dtype
    if dtype.name not in type_names:
        raise TypeError(f"An array of {dtype} cannot be used; allowed are {', '.join(name for name in type_names if name != 'bfloat16')}.")
    if dtype.isnative and array.flags.aligned and not any(stride % dtype.itemsize for stride in array.strides):
        return array, False
    return array.astype(dtype.newbyteorder("="), order="C"), True


def _readable(value) -> tuple[object, bool]:
    """What is read for this object, itself or a view of it; and whether it is a copy, as a kernel cannot read it where it lies."""
    kind = kind_of(value)
    if kind == "torch" and (value.is_neg() or value.is_complex() and value.is_conj()):
        return value.resolve_conj().resolve_neg(), True
    if kind == "numpy":
        return _whole_elements(np.asarray(value) if isinstance(value, np.generic) else value)
    if kind != "other":
        return value, False
    try:
        view = memoryview(value)
    except TypeError:
        on_host = hasattr(value, "__dlpack__") and Array(value).device < 0
        return (np.from_dlpack(value) if on_host else value), False
    try:
        return _whole_elements(np.asarray(view))
    except (ValueError, NotImplementedError) as error:
        raise TypeError(f"A value of the type {type(value).__name__} is not an array of numbers: {error}") from None


def _numpy_type(name: str) -> np.dtype:
    if name == "bfloat16":
        raise TypeError("NumPy has no bfloat16; use an array of PyTorch or JAX.")
    return np.dtype(name)


class Given:
    """An argument of a call: the object that is read for it, where that lies, its library, and whether it is a copy."""

    __slots__ = ("object", "array", "library", "copied")

    def __init__(self, value, like: "Given | None" = None):
        if not is_array(value):
            what, value = type(value).__name__, np.asarray(value)
            if value.dtype.kind not in "biufc":
                raise TypeError(f"A value of the type {what} is not an array of numbers; NumPy makes an array of {value.dtype} of it.")
        self._take(value)
        if like is not None and self.array.kind != like.array.kind:
            if self.array.kind != "numpy":
                raise TypeError(
                    f"Arrays of {self.array.kind} and of {like.array.kind} were given together; give both as one "
                    "library's, or the smaller one as a list or NumPy array."
                )
            self._take(like.library.of_numpy(self.object, like.object))

    def _take(self, value):
        read, self.copied = _readable(value)
        self.array = Array(read)  # which refuses masked arrays
        self.object = np.asarray(read) if self.array.kind == "numpy" else read
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
        made = Given(self.library.empty(tuple(shape), dtype, self.object))
        if _recording.log is not None:
            _recording.log.allocated.append(made)
        return made

    def constant(self) -> "Given":
        """Says that its contents follow from what a recorded call is known by: settings, numbers, weights."""
        if _recording.log is not None:
            _recording.log.constants.append(self)
        return self

    def numpy(self) -> np.ndarray:
        return self.library.to_numpy(self.object)


def chosen(mask: Given, yes: Given, no: Given) -> Given:
    """where() of two arrays of one dtype, by their bits: PyTorch has none of wider unsigned integers."""
    dtype = yes.dtype
    bits = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}.get(dtype)
    if bits:
        yes, no = yes.contiguous().viewed(bits), no.contiguous().viewed(bits)
    made = Given(yes.library.module().where(mask.object, yes.object, no.object))
    return made.viewed(dtype) if bits else made


def index(value) -> int:
    """operator.index() of a setting, which may be an array without dimensions of any library."""
    return operator.index(value if type(value) is int or not is_array(value) else Given(value).numpy())


def _key(name: str) -> int:
    """The ordinal of a device's word; of "auto" that of the first GPU, where there is one."""
    check_device(name)
    if name == "auto":
        return 0 if has_gpu() else _host
    return _host if name == "host" else int(name[5:] or 0)


def _load_nvrtc() -> None:
    """NVRTC of the wheel nvidia-cuda-nvrtc where there is no toolkit: once loaded, the library finds it by its name."""
    for file in libraries_of_wheels():
        with contextlib.suppress(OSError):
            ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
            return


def dispatcher(device: str | None = None) -> Dispatcher:
    """The dispatcher that the functions of this package share for a device: "host", "cuda" or "cuda:1"; None: that of
    set_device(), of "auto" the first GPU's where there is one. It is made when it is first asked for. Raises ValueError for another word, RuntimeError where the device
    cannot be used."""
    return _dispatcher(_key(device or current_device()))


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
                    warn_of_host_only_build()
                    # An emulator needs no better kernels; only an expression has none before it is compiled.
                    compile = "never" if ordinal == _host else "background"
                    found = Dispatcher("host", host_binaries=True, compile=compile)
                _dispatchers[ordinal] = found
    return found


def set_dispatcher(dispatcher: Dispatcher) -> None:
    """Makes it the one that the functions of this package share for its device, such as one with another database or with compile="now"."""
    with _lock:
        for ordinal in (dispatcher.cuda_ordinal,) if dispatcher.cuda_ordinal >= 0 else (_host, _host_with_compiler):
            _dispatchers[ordinal] = dispatcher
        _plans.clear()
        Memo.forget()


def forget_dispatchers() -> None:
    """Makes the shared dispatchers again at their next use, so that they read the database again, as after tune()."""
    with _lock:
        _dispatchers.clear()
        _plans.clear()
        Memo.forget()


def plan(op: str, device: int, problem: tuple) -> object:
    """The plan for ((name, value), ...) on a CUDA device's ordinal, or -1 for memory of the host."""
    place = device if device >= 0 else current_device()
    key = (op, place, problem)
    found = _plans.get(key)
    if found is None:
        if place == "auto":
            device = _key(place) if may_have_gpu() and pays_on_gpu(*work(op, str_of(problem))) else _host
        elif device < 0:
            device = _key(place)
        ordinal = _host_with_compiler if device == _host and op == "elementwise" else device
        found = _dispatcher(ordinal).plan(op, **dict(problem))
        if len(_plans) >= _most_plans:
            _plans.clear()
        _plans[key] = found
    return found


def str_of(problem: tuple) -> str:
    return " ".join(f'{name}="{value}"' if " " in str(value) else f"{name}={value}" for name, value in problem)


def _device_of_recorded() -> str:
    """Calls on ordinary memory are recorded, and repeated, where the emulator is sure to do them."""
    now = current_device()
    return "host" if now == "auto" and not may_have_gpu() else now


def launch(op: str, arrays: tuple, problem: tuple, numbers: tuple = ()) -> None:
    """Launches the op's plan for the problem on these (Given, or None)."""
    device = next((one.array.device for one in arrays if one is not None), _host)
    found = plan(op, device, problem)
    seen = tuple(None if one is None else one.array for one in arrays)
    found._launch(*seen, numbers=numbers)
    if _recording.log is not None:
        _recording.log.launches.append((found, seen, numbers))


def run_recorded(memo: Memo, function, args: tuple, kwargs: dict):
    """function(*args, **kwargs), or what it launched when it was last called with such arguments: then that is all that is done."""
    if _recording.log is not None:  # within another one
        return function(*args, **kwargs)
    done = memo.launch(args, kwargs, _device_of_recorded)
    if done is not NotImplemented:
        return done
    log = _recording.log = _Log()
    try:
        value = function(*args, **kwargs)
    finally:
        _recording.log = None
    if log.launches:
        is_number = log.number is not None and log.number[0] is value
        memo.record(
            args,
            kwargs,
            log.launches,
            [one.array for one in log.allocated],
            [one.array for one in log.constants],
            _allocator,
            _device_of_recorded,
            log.check,
            log.number[1] if is_number else value,
            is_number,
        )
    return value


def _allocator(like, shape, dtype):
    return _libraries[kind_of(like)].allocator(like, shape, dtype)


def check_each_time(check) -> None:
    """check(result) -> bool is asked after each recorded call too; False: then the function itself is run."""
    if _recording.log is not None:
        _recording.log.check = check


def recorded(*arrays: str, by_content: tuple[str, ...] = ()) -> Callable[[_Function], _Function]:
    """For a function whose launches depend on the types and shapes of the parameters named as `arrays` and on the values of all others.

    The first call with such arguments runs the function. If all that it did was to launch kernels on its arguments, new arrays and constants, later
    calls do just that, without Python code in between. by_content: parameters such as weights, whose elements count too, unless they lie on a GPU.
    """

    def decorate(function: _Function) -> _Function:
        names = list(inspect.signature(function).parameters)
        memo = Memo(names, [names.index(name) for name in arrays], [names.index(name) for name in by_content])

        @functools.wraps(function)
        def call(*args, **kwargs):
            return run_recorded(memo, function, args, kwargs)

        return call  # type: ignore[return-value]

    return decorate
