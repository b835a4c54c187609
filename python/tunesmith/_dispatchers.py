# SPDX-License-Identifier: Apache-2.0
"""The dispatchers that the functions of this package share, and launches of their plans."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import threading

from ._call_log import recording
from ._core import Dispatcher, Memo, Plan, end_compilations, work
from ._device import (
    check_device,
    current_device,
    has_gpu,
    libraries_of_wheels,
    may_have_gpu,
    pays_on_gpu,
    warn_of_host_only_build,
)

atexit.register(end_compilations)


_dispatchers: dict[tuple, Dispatcher] = {}
_lock = threading.Lock()
_host = -1
_host_with_compiler = -2


def _key(name: str) -> int:
    """The ordinal of a device's word; for "auto" that of the first GPU, if there is one."""
    check_device(name)
    if name == "auto":
        return 0 if has_gpu() else _host
    return _host if name == "host" else int(name[5:] or 0)


def _load_nvrtc() -> None:
    """Loads NVRTC of the wheel nvidia-cuda-nvrtc if there is no toolkit: once loaded, the library finds it by its name."""
    for file in libraries_of_wheels():
        with contextlib.suppress(OSError):
            ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
            return


def dispatcher(device: str | None = None) -> Dispatcher:
    """The dispatcher that the functions of this package share for a device: "host", "cuda" or "cuda:1"; None: that of
    set_device(), for "auto" the first GPU's if there is one. It is made when it is first asked for. Raises ValueError for another word, RuntimeError
    if the device cannot be used.

    >>> tunesmith.dispatcher('host').cuda_ordinal
    -1
    """
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
                    # An emulator needs no better kernels; only an expression has no kernel before it is
                    # compiled.
                    compile = "never" if ordinal == _host else "background"
                    found = Dispatcher("host", host_binaries=True, compile=compile)
                _dispatchers[ordinal] = found
    return found


def set_dispatcher(dispatcher: Dispatcher) -> None:
    """Makes this dispatcher the one that the functions of this package share for its device, for example one with another database or with
    compile="now". Raises TypeError for anything else.

    >>> tunesmith.set_dispatcher(tunesmith.Dispatcher('host', compile='never'))
    """
    with _lock:
        for ordinal in (
            (dispatcher.cuda_ordinal,) if dispatcher.cuda_ordinal >= 0 else (_host, _host_with_compiler)
        ):
            _dispatchers[ordinal] = dispatcher
        Memo.forget()


def forget_dispatchers() -> None:
    """Makes the shared dispatchers again at their next use, so that they read the database again, as after tune(). It raises nothing.

    >>> tunesmith.forget_dispatchers()
    """
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


def launch(
    op: str, arrays: tuple, problem: str | tuple, numbers: tuple = (), *, needs_compiler: bool = False
) -> None:
    """Launches the op's plan for the problem on these arrays (InputArray, or None); see plan()."""
    device = next((one.array.device for one in arrays if one is not None), _host)
    found = plan(op, device, problem, needs_compiler)
    seen = tuple(None if one is None else one.array for one in arrays)
    found._launch(*seen, numbers=numbers)
    if recording.log is not None:
        recording.log.launches.append((found, seen, numbers))
