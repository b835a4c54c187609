# SPDX-License-Identifier: Apache-2.0
"""Convolutions of two images, with the signatures of scipy.signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, number_of
from ._convolutions import exact_integers
from ._elsewhere import missing
from ._image_sums import by_parts, filter_last_two
from ._recording import recorded
from ._types import _complex_parts, promoted

__all__ = ["convolve2d", "correlate2d"]


if not TYPE_CHECKING:  # a checker would take any name

    def __getattr__(name: str) -> NoReturn:
        missing(__name__, name)


def __dir__() -> list[str]:
    return __all__


_boundaries = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "reflect",
    "symmetric": "reflect",
}


def _two(in1, in2, mode, boundary, fillvalue, word):
    if mode not in ("full", "same", "valid"):
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if boundary not in _boundaries:
        raise ValueError(
            "Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm')."
        )
    try:
        fillvalue = number_of(fillvalue)
    except TypeError:
        raise ValueError("`fillvalue` must be scalar or an array with one element.") from None
    image, second = InputArray(in1), InputArray(in2)
    wanted = promoted(image.dtype, second.dtype)
    weights = second.numpy()
    if not len(image.shape) == weights.ndim == 2:
        raise ValueError(
            f"{'convolve2d' if word == 'convolution' else 'correlate2d'} inputs must both be 2-D arrays"
        )
    turned = False
    if mode == "valid":
        larger = [a >= b for a, b in zip(image.shape, weights.shape)]
        smaller = [a <= b for a, b in zip(image.shape, weights.shape)]
        if not all(larger):
            if not all(smaller):
                raise ValueError(
                    "For 'valid' mode, one must be at least as large as the other in every dimension"
                )
            image, weights = InputArray(weights, image), image.numpy()
            turned = word == "correlation"  # the result of the exchanged pair is reversed
    if image.array.size == 0 or weights.size == 0:
        raise ValueError("convolve2d inputs must have at least one element.")
    if word == "correlation":
        weights = weights.conj()
    if np.iscomplexobj(fillvalue) and wanted not in _complex_parts:
        raise ValueError("could not cast `fillvalue` directly to the output type (it was complex).")
    if wanted != "bfloat16":
        fillvalue = np.asarray(fillvalue).astype(wanted)[()]
    origins = [-1 if mode == "same" and extent % 2 == 0 else 0 for extent in weights.shape]

    def real(one: InputArray, mask, value, kind: str):
        sums = "float32" if kind in ("float32", "float16", "bfloat16") else "float64"
        return filter_last_two(
            one,
            np.asarray(mask, np.float64),
            mode=word,
            boundary=_boundaries[boundary],
            value=value,
            size=mode,
            origins=origins,
            sums=sums,
        ).object

    if wanted in _complex_parts:
        found = InputArray(by_parts(real, image, weights, fillvalue, wanted))
    elif wanted.startswith(("float", "bfloat")):
        found = InputArray(real(image, weights, float(np.real(fillvalue)), wanted)).to(wanted)
    else:

        def convolution(one: InputArray, mask: InputArray, value: int) -> InputArray:
            return InputArray(real(one, mask.numpy(), float(value), wanted))

        found = exact_integers(convolution, image, InputArray(weights), weights.size, wanted, int(fillvalue))
    if not turned:
        return found.object
    return image.library.of_numpy(np.ascontiguousarray(found.numpy()[::-1, ::-1]), image.object)


@typed.of_in1
@recorded("in1", by_content=("in2",))
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """scipy.signal.convolve2d: the convolution of two images.

    in1, in2: arrays of two dimensions; in2 is copied to the device of in1. mode: full, same (the centre, of in1's size) or valid.
    boundary: fill (with fillvalue), wrap or symm. float32, float16 and bfloat16 are summed in float32, all other types in float64, integers whose
    sums could pass 2**53 in ten parts, so that they wrap as SciPy's do. Returns an array of in1's kind, of the promoted type. Raises ValueError.

    >>> tunesmith.signal.convolve2d([[1.0, 2.0]], [[1.0, 1.0]])
    array([[1., 3., 2.]])
    """
    return _two(in1, in2, mode, boundary, fillvalue, "convolution")


@typed.of_in1
@recorded("in1", by_content=("in2",))
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """scipy.signal.correlate2d: convolve2d() with in2 reversed and conjugated; parameters, types and errors as there.

    >>> tunesmith.signal.correlate2d([[1.0, 2.0]], [[1.0, 2.0]], mode='valid')
    array([[5.]])
    """
    return _two(in1, in2, mode, boundary, fillvalue, "correlation")
