# SPDX-License-Identifier: Apache-2.0
"""The types of functions of arrays for a type checker: NumPy's array gives numpy.ndarray, and an array of PyTorch, CuPy or JAX gives one of its own class.

Each decorator is named for the function's first parameter; the others stay as they are annotated. Lists, numbers and what a checker does not know
give Any, and so does a reduction of all of a NumPy array, which is a NumPy number or, with keepdims, an array. (With an axis of a one-dimensional
array it is a number too, which a checker cannot see; numbers of NumPy have an array's methods.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, SupportsIndex, TypeVar, overload

import numpy as np

from ._keywords import with_explained_keywords

NumPy = np.ndarray[Any, Any]
_P = ParamSpec("_P")
_Axes = SupportsIndex | tuple[SupportsIndex, ...] | list[int]
Plain = NumPy | Sequence[Any] | complex


class OwnKind(Protocol):
    """An array whose library exchanges arrays by DLPack, such as torch.Tensor, cupy.ndarray and jax.Array. (One of an unknown library without
    the array API's namespace gets NumPy's arrays; a checker takes it for one of its own kind.)"""

    @property
    def __dlpack__(self) -> Callable[..., Any]: ...
    @property
    def __dlpack_device__(self) -> Callable[..., Any]: ...


ArrayT = TypeVar("ArrayT", bound=OwnKind)
# It returns a function like the one that it is given; the decorators below name its type.
_explained: Callable[[Any], Any] = with_explained_keywords


class _OfA(Protocol[_P]):
    @overload
    def __call__(self, a: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, a: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, a: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfX(Protocol[_P]):
    @overload
    def __call__(self, x: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, x: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfInput(Protocol[_P]):
    @overload
    def __call__(self, input: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, input: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, input: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfImage(Protocol[_P]):
    @overload
    def __call__(self, image: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, image: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, image: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfIn1(Protocol[_P]):
    @overload
    def __call__(self, in1: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, in1: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, in1: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _Measurement(Protocol[_P]):
    @overload
    def __call__(self, input: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    @overload
    def __call__(self, input: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, input: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _Reduction(Protocol[_P]):
    @overload
    def __call__(self, a: NumPy, axis: None = None, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    @overload
    def __call__(self, a: NumPy, axis: _Axes, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(
        self, a: ArrayT, axis: _Axes | None = None, *args: _P.args, **kwargs: _P.kwargs
    ) -> ArrayT: ...
    @overload
    def __call__(self, a: object, axis: _Axes | None = None, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _Norm(Protocol):
    @overload
    def __call__(self, x: NumPy, ord: Any = None, axis: None = None, keepdims: bool = False) -> Any: ...
    @overload
    def __call__(self, x: NumPy, ord: Any = None, *, axis: _Axes, keepdims: bool = False) -> NumPy: ...
    @overload
    def __call__(self, x: NumPy, ord: Any, axis: _Axes, keepdims: bool = False) -> NumPy: ...
    @overload
    def __call__(
        self, x: ArrayT, ord: Any = None, axis: _Axes | None = None, keepdims: bool = False
    ) -> ArrayT: ...
    @overload
    def __call__(
        self, x: object, ord: Any = None, axis: _Axes | None = None, keepdims: bool = False
    ) -> Any: ...


class _OfAAndB(Protocol[_P]):
    @overload
    def __call__(self, a: NumPy, b: Plain, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, a: Plain, b: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, a: Plain, b: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, a: ArrayT, b: object, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, a: object, b: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfAAndV(Protocol[_P]):
    @overload
    def __call__(self, a: NumPy, v: Plain, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, a: Plain, v: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, a: Plain, v: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, a: ArrayT, v: object, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, a: object, v: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _OfXAndW(Protocol[_P]):
    @overload
    def __call__(self, x: NumPy, w: Plain, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x: Plain, w: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x: Plain, w: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, x: ArrayT, w: object, *args: _P.args, **kwargs: _P.kwargs) -> ArrayT: ...
    @overload
    def __call__(self, x: object, w: object, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...


class _Histogram(Protocol[_P]):
    @overload
    def __call__(self, a: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> tuple[NumPy, NumPy]: ...
    @overload
    def __call__(self, a: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> tuple[ArrayT, NumPy]: ...
    @overload
    def __call__(self, a: object, *args: _P.args, **kwargs: _P.kwargs) -> tuple[Any, NumPy]: ...


class _Histogram2d(Protocol[_P]):
    @overload
    def __call__(self, x: NumPy, *args: _P.args, **kwargs: _P.kwargs) -> tuple[NumPy, NumPy, NumPy]: ...
    @overload
    def __call__(self, x: ArrayT, *args: _P.args, **kwargs: _P.kwargs) -> tuple[ArrayT, NumPy, NumPy]: ...
    @overload
    def __call__(self, x: object, *args: _P.args, **kwargs: _P.kwargs) -> tuple[Any, NumPy, NumPy]: ...


def of_a(function: Callable[Concatenate[Any, _P], Any]) -> _OfA[_P]:
    return _explained(function)


def of_x(function: Callable[Concatenate[Any, _P], Any]) -> _OfX[_P]:
    return _explained(function)


def of_input(function: Callable[Concatenate[Any, _P], Any]) -> _OfInput[_P]:
    return _explained(function)


def of_image(function: Callable[Concatenate[Any, _P], Any]) -> _OfImage[_P]:
    return _explained(function)


def of_in1(function: Callable[Concatenate[Any, _P], Any]) -> _OfIn1[_P]:
    return _explained(function)


def measurement(function: Callable[Concatenate[Any, _P], Any]) -> _Measurement[_P]:
    return _explained(function)


def reduction(function: Callable[Concatenate[Any, Any, _P], Any]) -> _Reduction[_P]:
    return _explained(function)


def norm(function: Callable[..., Any]) -> _Norm:
    return _explained(function)


def of_a_and_b(function: Callable[Concatenate[Any, Any, _P], Any]) -> _OfAAndB[_P]:
    return _explained(function)


def of_a_and_v(function: Callable[Concatenate[Any, Any, _P], Any]) -> _OfAAndV[_P]:
    return _explained(function)


def of_x_and_w(function: Callable[Concatenate[Any, Any, _P], Any]) -> _OfXAndW[_P]:
    return _explained(function)


def histogram(function: Callable[Concatenate[Any, _P], Any]) -> _Histogram[_P]:
    return _explained(function)


def histogram2d(function: Callable[Concatenate[Any, _P], Any]) -> _Histogram2d[_P]:
    return _explained(function)
