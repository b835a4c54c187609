# SPDX-License-Identifier: Apache-2.0
"""The arguments of a call, which dispatcher serves them, and calls that are repeated."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import inspect
import operator
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ._core import Array, Dispatcher, Memo, Plan, end_compilations, is_array, kind_of, work
from ._device import (
    check_device,
    current_device,
    has_gpu,
    libraries_of_wheels,
    may_have_gpu,
    pays_on_gpu,
    warn_of_host_only_build,
)
from ._libraries import Log, libraries, recording, type_names

_Function = TypeVar("_Function", bound=Callable[..., Any])

atexit.register(end_compilations)

_dispatchers: dict[tuple, Dispatcher] = {}
_lock = threading.Lock()
_host = -1
_host_with_compiler = -2


def _whole_elements(array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The array if kernels can read it where it lies, else a copy: of the machine's byte order, aligned, whole elements apart."""
    dtype = array.dtype
    if dtype.name not in type_names:
        raise TypeError(
            f"An array of {dtype} cannot be used; allowed are {', '.join(name for name in type_names if name != 'bfloat16')}."
        )
    if (
        dtype.isnative
        and array.flags.aligned
        and not any(stride % dtype.itemsize for stride in array.strides)
    ):
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
        raise TypeError(
            f"A value of the type {type(value).__name__} is not an array of numbers: {error}"
        ) from None


class InputArray:
    """An argument of a call: the object that is read for it, where that lies, its library, and whether it is a copy."""

    __slots__ = ("object", "array", "library", "copied")

    def __init__(self, value, like: InputArray | None = None):
        if not is_array(value):
            what, value = type(value).__name__, np.asarray(value)
            if value.dtype.kind not in "biufc":
                raise TypeError(
                    f"A value of the type {what} is not an array of numbers; NumPy makes an array of {value.dtype} of it."
                )
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
        self.library = libraries[self.array.kind]
        if self.array.pointer % min(
            self.array.itemsize, 8
        ):  # a tensor that begins between two elements' places
            self.object, self.copied = self.library.copy(self.object), True
            self.array = Array(self.object)

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    def to(self, dtype: str) -> InputArray:
        """Of that element type: itself, or a copy. Raises TypeError where imaginary parts would be lost."""
        if self.array.dtype.startswith("complex") and not dtype.startswith("complex"):
            raise TypeError(
                f"An array of {self.array.dtype} was given where {dtype} is computed; take its real or imaginary part, or its magnitude."
            )
        return self if self.array.dtype == dtype else InputArray(self.library.cast(self.object, dtype))

    def contiguous(self) -> InputArray:
        """Row-major without gaps: itself, or a copy."""
        return self if self.array.contiguous else InputArray(self.library.copy(self.object))

    def viewed(self, dtype: str) -> InputArray:
        return InputArray(self.library.view(self.object, dtype))

    def reshaped(self, shape) -> InputArray:
        return InputArray(self.library.reshape(self.object, tuple(shape)))

    def empty(self, shape, dtype: str) -> InputArray:
        """A new array beside it."""
        made = InputArray(self.library.empty(tuple(shape), dtype, self.object))
        if recording.log is not None:
            recording.log.allocated.append(made)
        return made

    def constant(self) -> InputArray:
        """Says that its contents follow from what a recorded call is known by: settings, numbers, weights."""
        if recording.log is not None:
            recording.log.constants.append(self)
        return self

    def numpy(self) -> np.ndarray:
        return self.library.to_numpy(self.object)


def chosen(mask: InputArray, yes: InputArray, no: InputArray) -> InputArray:
    """where() of two arrays of one dtype, by their bits: PyTorch has none of wider unsigned integers."""
    dtype = yes.dtype
    bits = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}.get(dtype)
    if bits:
        yes, no = yes.contiguous().viewed(bits), no.contiguous().viewed(bits)
    made = InputArray(yes.library.module().where(mask.object, yes.object, no.object))
    return made.viewed(dtype) if bits else made


def index(value) -> int:
    """operator.index() of a setting, which may be an array without dimensions of any library."""
    return operator.index(value if type(value) is int or not is_array(value) else InputArray(value).numpy())


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
        for ordinal in (
            (dispatcher.cuda_ordinal,) if dispatcher.cuda_ordinal >= 0 else (_host, _host_with_compiler)
        ):
            _dispatchers[ordinal] = dispatcher
        Memo.forget()


def forget_dispatchers() -> None:
    """Makes the shared dispatchers again at their next use, so that they read the database again, as after tune()."""
    with _lock:
        _dispatchers.clear()
        Memo.forget()


def plan(op: str, device: int, problem: str | tuple, needs_compiler: bool = False) -> Plan:
    """The plan for a problem's text or ((name, value), ...) on a CUDA device's ordinal, or -1 for memory of the host.

    needs_compiler: the problem has a caller's own function, for which the library has no kernels.
    """
    if device < 0:
        place = current_device()
        if place != "auto":
            device = _key(place)
        elif may_have_gpu() and pays_on_gpu(*work(op, problem)):
            device = _key(place)
    return _dispatcher(_host_with_compiler if device == _host and needs_compiler else device)._plan(
        op, problem
    )


def _device_of_recorded() -> str:
    """Calls on ordinary memory are recorded, and repeated, where the emulator is sure to do them."""
    now = current_device()
    return "host" if now == "auto" and not may_have_gpu() else now


def launch(
    op: str, arrays: tuple, problem: str | tuple, numbers: tuple = (), *, needs_compiler: bool = False
) -> None:
    """Launches the op's plan for the problem on these (InputArray, or None); see plan()."""
    device = next((one.array.device for one in arrays if one is not None), _host)
    found = plan(op, device, problem, needs_compiler)
    seen = tuple(None if one is None else one.array for one in arrays)
    found._launch(*seen, numbers=numbers)
    if recording.log is not None:
        recording.log.launches.append((found, seen, numbers))


def run_recorded(memo: Memo, function, args: tuple, kwargs: dict):
    """function(*args, **kwargs), or what it launched when it was last called with such arguments: then that is all that is done."""
    if recording.log is not None:  # within another one
        return function(*args, **kwargs)
    done = memo.launch(args, kwargs, _device_of_recorded)
    if done is not NotImplemented:
        return done
    log = recording.log = Log()
    try:
        value = function(*args, **kwargs)
    finally:
        recording.log = None
    if log.launches and log.only_launches:
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
    return libraries[kind_of(like)].allocator(like, shape, dtype)


def check_each_time(check) -> None:
    """check(result) -> bool is asked after each recorded call too; False: then the function itself is run."""
    if recording.log is not None:
        recording.log.check = check


def recorded(*arrays: str, by_content: tuple[str, ...] = ()) -> Callable[[_Function], _Function]:
    """For a function whose launches depend on the types and shapes of the parameters named as `arrays`, those of *args and **kwargs among them, and
    on the values of all others.

    The first call with such arguments runs the function. If all that it did was to launch kernels on its arguments, new arrays and constants, later
    calls do just that, without Python code in between. by_content: parameters such as weights, whose elements count too, unless they lie on a GPU.
    """

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters.values()
        names = [one.name for one in parameters]
        more = next((k for k, one in enumerate(parameters) if one.kind is one.VAR_POSITIONAL), -1)
        read = [
            k
            for k, one in enumerate(parameters)
            if one.name in arrays or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        memo = Memo(names, read, [names.index(name) for name in by_content], more)

        @functools.wraps(function)
        def call(*args, **kwargs):
            return run_recorded(memo, function, args, kwargs)

        return call  # type: ignore[return-value]

    return decorate
