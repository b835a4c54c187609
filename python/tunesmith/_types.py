# SPDX-License-Identifier: Apache-2.0
"""Element types: their names here, in their libraries and in the ops' problems, and the type of a result of several."""

from __future__ import annotations

import numpy as np

from ._core import dtype_words, parameter_words

type_names = (
    "bool",
    *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)


def type_name(dtype) -> str:
    """An element type's name, "float32", from its name in a library: numpy.float32, "f4", torch.float32, float."""
    if is_torch_type(dtype) or isinstance(dtype, str) and dtype == "bfloat16":
        name = str(dtype).removeprefix("torch.")
    else:
        name = np.dtype(dtype).name
    if name not in type_names:
        raise TypeError(f"The element type {dtype} is not known here; allowed are {', '.join(type_names)}.")
    return name


def is_torch_type(dtype) -> bool:
    return type(dtype).__name__ == "dtype" and type(dtype).__module__ == "torch"


def type_of_output(own: str, out) -> str | None:
    """The type of `out` if that is float32 or float64 and has more numbers than `own`, since NumPy adds and multiplies in it; else None."""
    there = type_name(out.dtype) if hasattr(out, "dtype") else None
    reals = ("float16", "bfloat16", "float32", "float64")
    if there not in reals[2:] or own.startswith("complex"):
        return None
    return there if own not in reals or reals.index(own) < reals.index(there) else None


def promoted(*names: str) -> str:
    """The type of a result of such arrays, as in NumPy; with bfloat16 as in PyTorch."""
    others = [name for name in names if name != "bfloat16"]
    if len(others) == len(names):
        return np.result_type(*map(np.dtype, names)).name
    wide = [name for name in others if name.startswith(("float", "complex"))]
    return np.result_type(np.float32, *map(np.dtype, wide)).name if wide else "bfloat16"


def numpy_type(name: str) -> np.dtype:
    if name == "bfloat16":
        raise TypeError("NumPy has no bfloat16; use an array of PyTorch or JAX.")
    return np.dtype(name)


def types_of(op: str) -> dict[str, str]:
    """The element types that the op's arrays may have, by NumPy's names, as its problems have them."""
    names = {word: name for name, word in dtype_words.items()}
    return {names[word]: word for word in parameter_words(op, "dtype")}


_complex_parts = {"complex64": "float32", "complex128": "float64"}
_kinds = ("bool", "uint", "int", "float", "complex")


def _kind(dtype: str) -> int:
    return _kinds.index(dtype.rstrip("0123456789").replace("bfloat", "float"))
