# SPDX-License-Identifier: Apache-2.0
"""Wraps a public function: the error for a keyword that it does not have, which names the one that other libraries' users mean, and for
functions that are not recorded the kind of the result."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._array_libraries import in_own_kind, maker_of_own_kind
from ._call_log import recording

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Keywords of PyTorch, CuPy, OpenCV, scikit-image and TensorFlow, and those here that mean the same, the first that the function has.
_same = {
    "axes": ("axis",),
    "axis": ("axes",),
    "border": ("mode", "boundary"),
    "border_mode": ("mode", "boundary"),
    "boundary": ("mode",),
    "cval": ("fillvalue", "value"),
    "dim": ("axis", "axes", "normalized_shape"),
    "dims": ("axes", "axis"),
    "equation": ("subscripts",),
    "fill_value": ("cval", "fillvalue", "value"),
    "kernel": ("weights", "w", "v", "in2"),
    "kernel_size": ("size",),
    "keepdim": ("keepdims",),
    "keep_dims": ("keepdims",),
    "ksize": ("size",),
    "mask": ("weights", "where", "footprint"),
    "max": ("range",),
    "min": ("range",),
    "mode": ("boundary",),
    "out": ("output",),
    "output": ("out",),
    "padding_mode": ("mode", "boundary"),
    "selem": ("footprint", "structure"),
    "unbiased": ("ddof",),
    "weight": ("weights", "w"),
    "weights": ("w", "v", "in2"),
}
_arrays = ("a", "x", "input", "image", "img", "in1", "array", "arr", "tensor", "src", "self")


def _instead(word: str, names: list[str], given: Mapping[str, Any], count: int) -> str | None:
    """The parameter that the word means. names: the function's parameters; given, count: the call's keywords, and how many others it has."""
    for other in _same.get(word, ()):
        if other in names and other not in given:
            return other
    if word in _arrays and count == 0 and names and names[0] not in given:
        return names[0]
    return next(
        iter(difflib.get_close_matches(word, [one for one in names if one not in given], 1, 0.7)), None
    )


def explain_keywords(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises TypeError if a keyword is none of the function's parameters; for calls that have failed."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    word = next((word for word in kwargs if word not in names), None)
    if word is None:
        return
    instead = _instead(word, names, kwargs, len(args))
    raise TypeError(
        f"{function.__name__}() has no {word}=; "
        + (f"use {instead}=." if instead else f"its parameters are {', '.join(names)}.")
    ) from None


def with_explained_keywords(function: _Function) -> _Function:
    """The function, with both; recorded functions have them already."""
    if hasattr(function, "__wrapped__"):
        return function

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            if recording.inside or (found := maker_of_own_kind(args, kwargs)) is None:
                return function(*args, **kwargs)
            recording.inside = True
            try:
                return in_own_kind(function(*args, **kwargs), found)
            finally:
                recording.inside = False
        except TypeError:
            explain_keywords(function, args, kwargs)
            raise

    return call  # type: ignore[return-value]
