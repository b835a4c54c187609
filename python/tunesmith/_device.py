# SPDX-License-Identifier: Apache-2.0
"""The device for arrays in ordinary memory: the switch, the rule of "auto", and the devices that this build can use."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import glob
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._core import Dispatcher, __version__, cuda_version, default_database, first_device

_default_device = "auto"
_device: contextvars.ContextVar[str | None] = contextvars.ContextVar("tunesmith_device", default=None)

# The emulator takes about a nanosecond per byte and two per operation, so this is a millisecond of its time;
# a call on a GPU, with its memory, its copies and its wait, takes a few tenths of one.
least_work = 1 << 20


def pays_on_gpu(byte_count: float, operations: float) -> bool:
    """The rule of "auto": True if a launch that moves this many bytes and does this many operations goes to a GPU, if there is one."""
    return byte_count + 2 * operations >= least_work


def set_device(device: str) -> None:
    """Chooses the device for arrays in ordinary memory (NumPy's, PyTorch's on the CPU) from now on, in all threads.

    device: "auto" (at first): the first GPU, if there is one and the bytes that a launch moves and twice its operations are
    together 2**20 or more, else as "host"; "host", an emulator of a GPU on the processor, which is exact and mostly slower than NumPy; or "cuda" or
    "cuda:1". On a GPU each launch copies its arrays there and its results back, and waits for them. Kernels for arrays on
    a GPU always run there. Raises ValueError for another word, and for "cuda" if there is no GPU.

    >>> tunesmith.set_device('host')
    >>> tunesmith.current_device()
    'host'
    """
    global _default_device
    check_is_there(device)
    _default_device = device


@contextlib.contextmanager
def device(name: str) -> Iterator[None]:
    """`with tunesmith.device("cuda"):` is set_device() until the end of the block, only in this thread (this context). Raises as that
    does.

    >>> with tunesmith.device('host'):
    ...     print(tunesmith.sum([1, 2, 3]))
    6
    """
    check_is_there(name)
    token = _device.set(name)
    try:
        yield
    finally:
        _device.reset(token)


def current_device() -> str:
    """The word of the enclosing block of device(), else that of set_device(): "auto" at first. It raises nothing.

    >>> with tunesmith.device('host'):
    ...     print(tunesmith.current_device())
    host
    """
    return _device.get() or _default_device


def check_device(name: str) -> None:
    if name not in ("auto", "host", "cuda") and not (name.startswith("cuda:") and name[5:].isdigit()):
        raise ValueError(f'The device is "{name}"; allowed are auto, host, cuda and cuda:N.')


def check_is_there(name: str) -> None:
    """Refuses a GPU if there is no driver. It does not start CUDA, which a child process could not use after fork(): with a driver, the first call
    finds out."""
    check_device(name)
    if name.startswith("cuda") and not may_have_gpu():
        Dispatcher(name)  # its error says why there is no GPU


@functools.lru_cache(maxsize=1)
def has_driver() -> bool:
    """True if the files of an NVIDIA driver exist; CUDA is not started for that."""
    return any(os.path.exists(file) for file in ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"))


def may_have_gpu() -> bool:
    return cuda_version != "" and has_driver()


@functools.lru_cache(maxsize=1)
def has_gpu() -> bool:
    return may_have_gpu() and first_device() == "cuda"


@functools.lru_cache(maxsize=1)
def warn_of_host_only_build() -> None:
    """Warns once, when the emulator is first used, if there is a GPU that this build cannot use."""
    if cuda_version == "" and has_driver():
        warnings.warn(
            "This machine has an NVIDIA driver, but this build of tunesmith has no CUDA, so its kernels run on the slow emulator. "
            "Install it again where the CUDA toolkit is, or with the packages nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-nvrtc "
            "(docs/python.md).",
            RuntimeWarning,
            stacklevel=2,
        )


def libraries_of_wheels() -> list[str]:
    """NVRTC of the wheel nvidia-cuda-nvrtc."""
    found = importlib.util.find_spec("nvidia")
    folders = (found.submodule_search_locations or []) if found else []
    return [
        file
        for folder in folders
        for file in sorted(glob.glob(os.path.join(folder, "*", "lib", "libnvrtc.so.1[23]")), reverse=True)
    ]


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Prints the facts of this build: its version, CUDA's, the driver, the GPU, NVRTC of a wheel, the rule and the database.

    mode: "stdout", or "dicts" to return it as a dict. Raises ValueError for another word.

    >>> tunesmith.show_config('dicts')['tunesmith'] == tunesmith.__version__
    True
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f'The mode is "{mode}"; allowed are stdout and dicts.')
    config = {
        "tunesmith": __version__,
        "built with CUDA": cuda_version or "no: the host is the only device",
        "NVIDIA driver": "yes" if has_driver() else "no",
        "first device": first_device(),
        "NVRTC of a wheel": next(iter(libraries_of_wheels()), "none"),
        "arrays in ordinary memory": current_device(),
        "database": default_database(),
        "NumPy": np.__version__,
        "Python": sys.version.split()[0],
    }
    if mode == "dicts":
        return config
    for name, value in config.items():
        print(f"{name + ':':27}{value}")
    return None
