"""Convolutions of two images, with the signatures of scipy.signal."""

from __future__ import annotations

import numpy as np

from ._arrays import Given, recorded
from ._filters import by_parts, filter_last_two
from ._words import _complex_parts

__all__ = ["convolve2d", "correlate2d"]

_boundaries = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "reflect", "symmetric": "reflect"}


def _two(in1, in2, mode, boundary, fillvalue, word):
    if mode not in ("full", "same", "valid"):
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if boundary not in _boundaries:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    if np.size(fillvalue) != 1:
        raise ValueError("`fillvalue` must be scalar or an array with one element.")
    fillvalue = np.asarray(fillvalue).reshape(())[()]
    image = Given(in1)
    weights = Given(in2).numpy()
    if not len(image.shape) == weights.ndim == 2:
        raise ValueError(f"{'convolve2d' if word == 'convolution' else 'correlate2d'} inputs must both be 2-D arrays")
    turned = False
    if mode == "valid":
        larger = [a >= b for a, b in zip(image.shape, weights.shape)]
        smaller = [a <= b for a, b in zip(image.shape, weights.shape)]
        if not all(larger):
            if not all(smaller):
                raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
            image, weights = Given(weights, image), image.numpy()
            turned = word == "correlation"  # of the exchanged pair it is the other way around, conjugated
    if image.array.size == 0 or weights.size == 0:
        raise ValueError("convolve2d inputs must have at least one element.")
    if word == "correlation" and not turned:
        weights = weights.conj()
    wanted = np.result_type(image.dtype, weights.dtype).name
    if np.iscomplexobj(fillvalue) and wanted not in _complex_parts:
        raise ValueError("could not cast `fillvalue` directly to the output type (it was complex).")
    fillvalue = np.asarray(fillvalue).astype(wanted)[()]
    origins = [-1 if mode == "same" and extent % 2 == 0 else 0 for extent in weights.shape]

    def real(one: Given, mask, value, kind: str):
        sums = "float32" if kind in ("float32", "float16") else "float64"
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
        found = Given(by_parts(real, image, weights, fillvalue, wanted))
    else:
        found = Given(real(image, weights, float(np.real(fillvalue)), wanted)).to(wanted)
    if not turned:
        return found.object
    whole = found.numpy()[::-1, ::-1]
    return image.library.of_numpy(np.ascontiguousarray(whole.conj()), image.object)


@recorded("in2", "fillvalue")
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """scipy.signal.convolve2d: the convolution of two images.

    in1, in2: arrays of two dimensions; in2 is copied to the device of in1. mode: full, same (the centre, of in1's size) or valid.
    boundary: fill (with fillvalue), wrap or symm. float32 and float16 are summed in float32, all else in float64; integers are
    exact below 2**53. Returns an array of in1's kind, of the promoted type. Raises ValueError.
    """
    return _two(in1, in2, mode, boundary, fillvalue, "convolution")


@recorded("in2", "fillvalue")
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    """scipy.signal.correlate2d: convolve2d() with in2 turned around and conjugated."""
    return _two(in1, in2, mode, boundary, fillvalue, "correlation")
