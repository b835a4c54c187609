# SPDX-License-Identifier: Apache-2.0
"""Convolutions of an image: a random 13x13 mask, a 3x3 mask on a large image, a Gaussian; with SciPy's boundaries."""

import numpy as np
import scipy.ndimage
import tunesmith
from compare import compare, on_gpu, to_device

random = np.random.default_rng(2)


def image_of(height: int, width: int) -> np.ndarray:
    return random.random((height, width) if on_gpu else (height // 4, width // 4), np.float32)


small, large = image_of(200, 200), image_of(1000, 2000)
mask = random.random((13, 13), np.float32) / 169
on_device, large_on_device = to_device(small), to_device(large)

for mode in ("constant", "reflect"):
    compare(
        f"convolve {small.shape} with 13x13, {mode}",
        lambda mode=mode: tunesmith.ndimage.convolve(on_device, mask, mode=mode),
        lambda mode=mode: scipy.ndimage.convolve(small, mask, mode=mode),
        1e-5,
        "SciPy",
    )
box = np.full((3, 3), 1 / 9, np.float32)
compare(
    f"correlate {large.shape} with 3x3",
    lambda: tunesmith.ndimage.correlate(large_on_device, box, mode="nearest"),
    lambda: scipy.ndimage.correlate(large, box, mode="nearest"),
    1e-5,
    "SciPy",
)
compare(
    f"gaussian_filter {large.shape}",
    lambda: tunesmith.ndimage.gaussian_filter(large_on_device, 2.0),
    lambda: scipy.ndimage.gaussian_filter(large, 2.0),
    1e-5,
    "SciPy",
)
