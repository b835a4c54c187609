# SPDX-License-Identifier: Apache-2.0
"""The operations that each array library has in its own way."""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys

import numpy as np

from ._call_log import recording
from ._core import Array, kind_of, new_array
from ._types import numpy_type


class _NumPy:
    @staticmethod
    def module():
        """The module with where(), minimum() and so on."""
        return np

    @staticmethod
    def empty(shape, dtype, like):
        return np.empty(shape, numpy_type(dtype))

    @staticmethod
    def allocator(like, shape, dtype):
        return functools.partial(np.empty, shape, numpy_type(dtype))

    @staticmethod
    def cast(array, dtype):
        return np.asarray(array).astype(numpy_type(dtype))

    @staticmethod
    def copy(array):
        return np.array(array, order="C")

    @staticmethod
    def reshape(array, shape):
        return np.asarray(array).reshape(shape)

    @staticmethod
    def view(array, dtype):
        return np.asarray(array).view(numpy_type(dtype))

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
        if recording.log is not None:
            recording.log.number = (number, array)
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
        torch = sys.modules["torch"]  # its empty_like() is twice as fast as its empty()
        return functools.partial(
            torch.empty_like, torch.empty((), dtype=_Torch._type(dtype), device=like.device).expand(shape)
        )

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
        # PyTorch reads no negative strides, and warns about read-only arrays.
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
            return cupy.empty(shape, numpy_type(dtype))

    @staticmethod
    def allocator(like, shape, dtype):
        cupy, device, dtype = sys.modules["cupy"], like.device, numpy_type(dtype)
        if cupy.cuda.runtime.getDeviceCount() == 1:
            return functools.partial(cupy.ndarray, shape, dtype)

        def make():
            with device:
                return cupy.ndarray(shape, dtype)

        return make

    @staticmethod
    def cast(array, dtype):
        return array.astype(numpy_type(dtype))

    @staticmethod
    def copy(array):
        return array.copy(order="C")

    @staticmethod
    def reshape(array, shape):
        return array.reshape(shape)

    @staticmethod
    def view(array, dtype):
        return array.view(numpy_type(dtype))

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
    """Numba's device arrays cannot convert themselves, so types and orders must be those that an op takes."""

    @staticmethod
    def module():
        raise TypeError(
            "where=, initial= and the extremes of uint64 need an array library's own functions, and Numba has none; give an array of CuPy or PyTorch."
        )

    @staticmethod
    def _cuda(like):
        root = type(like).__module__.partition(".")[0]  # numba or numba_cuda_mlir
        return importlib.import_module(f"{root}.cuda")

    @staticmethod
    def empty(shape, dtype, like):
        return _Numba._cuda(like).device_array(shape, numpy_type(dtype))

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
        return array.view(numpy_type(dtype))

    @staticmethod
    def of_numpy(array, like):
        return _Numba._cuda(like).to_device(array)

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
            raise TypeError(
                f'The result has the type {dtype}, which JAX has only with jax.config.update("jax_enable_x64", True).'
            )
        # A fresh buffer that no other code has seen, so that it may be filled.
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
        raise ValueError(
            "out= is an array of JAX, which never changes; leave it out, and use what is returned."
        )

    @staticmethod
    def result(array):
        return array


class _Other(_NumPy):
    """Arrays on a GPU of an unknown library. Results are its own if its type has functions for that, else NumPy arrays, of which in_own_kind() makes
    arrays of that library."""

    @staticmethod
    def empty(shape, dtype, like):
        made = new_array(like, list(shape), dtype)
        return _NumPy.empty(shape, dtype, like) if made is None else made

    @staticmethod
    def allocator(like, shape, dtype):
        return functools.partial(_Other.empty, shape, dtype, like)

    @staticmethod
    def result(array):
        return _NumPy.result(array) if isinstance(array, np.ndarray) else array


def maker_of_own_kind(args, kwargs):
    """For the first array of an unknown library that can make arrays: a function that makes one of NumPy's, and all arguments; or None."""
    for value in (*args, *kwargs.values()):
        if kind_of(value) != "other":
            continue
        if hasattr(type(value), "__dlpack_c_exchange_api__"):
            return functools.partial(_by_functions_of_its_type, value), (*args, *kwargs.values())
        if hasattr(value, "__array_namespace__") and hasattr(value, "__dlpack__"):
            return functools.partial(_by_namespace, value), (*args, *kwargs.values())
    return None


def _by_namespace(array, value):
    made = array.__array_namespace__().from_dlpack(np.asarray(value))
    device = getattr(array, "device", None)
    return made if device is None or made.device == device else made.to_device(device)


def _by_functions_of_its_type(array, value):
    made = new_array(array, list(value.shape), value.dtype.name)
    place = None if made is None else Array(made)
    if place is None or place.device >= 0 or not place.contiguous:  # on a GPU kernels write to its arrays
        return value
    value = np.ascontiguousarray(value)
    ctypes.memmove(place.pointer, value.ctypes.data, value.nbytes)
    return made


def in_own_kind(value, found):
    """A new NumPy result as an array of the library that maker_of_own_kind() found, on that array's device; anything else as it is."""
    make, given = found
    if not isinstance(value, (np.ndarray, np.generic)) or any(value is one for one in given):
        return value
    return make(value)


libraries = {"numpy": _NumPy, "torch": _Torch, "cupy": _CuPy, "numba": _Numba, "jax": _Jax, "other": _Other}
