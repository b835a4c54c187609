# SPDX-License-Identifier: Apache-2.0
"""The arrays that are passed to a call."""

from __future__ import annotations

import operator

import numpy as np

from ._array_libraries import libraries
from ._call_log import recording
from ._core import Array, is_array, kind_of
from ._types import numpy_type, type_names


def _whole_elements(array: np.ndarray) -> tuple[np.ndarray, bool]:
    """The array if kernels can read it in place, else a copy: in the machine's byte order, aligned, whole elements apart."""
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


class _InHostMemory:
    """An array of another library in ordinary memory, for numpy.asarray()."""

    def __init__(self, seen: Array):
        self.seen = seen  # keeps the memory
        self.__array_interface__ = {
            "version": 3,
            "data": (seen.pointer, seen.readonly),
            "typestr": numpy_type(seen.dtype).str,
            "shape": seen.shape,
            "strides": tuple(stride * seen.itemsize for stride in seen.strides),
        }


def _readable(value) -> tuple[object, bool]:
    """The array that is read for this object, itself or a view of it; and True if that is a copy, because a kernel cannot read the object in
    place."""
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
        seen = Array(value)
        return (np.asarray(_InHostMemory(seen)) if seen.device < 0 else value), False
    try:
        return _whole_elements(np.asarray(view))
    except (ValueError, NotImplementedError) as error:
        raise TypeError(
            f"A value of the type {type(value).__name__} is not an array of numbers: {error}"
        ) from None


class InputArray:
    """An argument of a call: the object that is read for it, its memory, its library, and whether it is a copy."""

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
        self.array = Array(read)  # Array refuses masked arrays
        self.object = np.asarray(read) if self.array.kind == "numpy" else read
        self.library = libraries[self.array.kind]
        if self.array.pointer % min(self.array.itemsize, 8):  # a tensor that begins within another's element
            self.object, self.copied = self.library.copy(self.object), True
            self.array = Array(self.object)

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    def to(self, dtype: str) -> InputArray:
        """The array in that element type: itself, or a copy. Raises TypeError if imaginary parts would be lost."""
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
        """A new array of its library on its device."""
        made = InputArray(self.library.empty(tuple(shape), dtype, self.object))
        if recording.log is not None:
            recording.log.allocated.append(made)
        return made

    def constant(self) -> InputArray:
        """Notes that its contents follow from the values that a recorded call is known by: settings, numbers, weights."""
        if recording.log is not None:
            recording.log.constants.append(self)
        return self

    def numpy(self) -> np.ndarray:
        return self.library.to_numpy(self.object)


def chosen(mask: InputArray, yes: InputArray, no: InputArray) -> InputArray:
    """where() of two arrays of one dtype, by their bits: PyTorch has no where() for wider unsigned integers."""
    dtype = yes.dtype
    bits = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}.get(dtype)
    if bits:
        yes, no = yes.contiguous().viewed(bits), no.contiguous().viewed(bits)
    made = InputArray(yes.library.module().where(mask.object, yes.object, no.object))
    return made.viewed(dtype) if bits else made


def index(value) -> int:
    """operator.index() of a setting, which may be an array without dimensions of any library."""
    return operator.index(value if type(value) is int or not is_array(value) else InputArray(value).numpy())


def number_of(value):
    """A setting such as cval as a number: Python's or NumPy's, or an array of one element of any library."""
    if type(value) in (int, float, complex):
        return value
    found = InputArray(value).numpy()
    if found.size != 1:
        raise TypeError(f"A single number is needed, and {found.size} were given.")
    return found.reshape(())[()]


def added(first: InputArray, second: InputArray, operation=operator.add) -> InputArray:
    """The sum (or difference) in their own type; unsigned integers, which PyTorch does not add, are added by their bits."""
    dtype = first.dtype
    if not dtype.startswith("uint"):
        return InputArray(operation(first.object, second.object))
    signed = dtype.removeprefix("u")
    return InputArray(
        operation(first.contiguous().viewed(signed).object, second.contiguous().viewed(signed).object)
    ).viewed(dtype)


def _by_strides(given: InputArray) -> InputArray:
    """The same elements, in any order, without gaps."""
    array = given.array
    if array.contiguous:
        return given.reshaped((array.size,))
    order = sorted(range(len(array.shape)), key=lambda k: -array.strides[k])
    step = 1
    for k in reversed(order):
        if array.shape[k] != 1:
            if array.strides[k] != step:
                return given.contiguous().reshaped((array.size,))
            step *= array.shape[k]
    if array.kind in ("numpy", "cupy"):
        return InputArray(given.object.transpose(order).reshape(array.size))
    if array.kind == "torch":
        return InputArray(given.object.permute(order).reshape(array.size))
    return given.contiguous().reshaped((array.size,))
