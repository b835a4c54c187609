# SPDX-License-Identifier: Apache-2.0
"""A Gaussian blur of a picture, and of every second pixel of it, in a line of index notation each."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device
from numpy.lib.stride_tricks import sliding_window_view

random = np.random.default_rng(6)
image = random.random((1080, 1920) if on_gpu else (60, 80), np.float32)
radius, sigma = 6, 2.0
g = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2).astype(np.float32)
g /= g.sum()
padded = np.pad(image, radius, mode="symmetric")
weights, on_device = to_device(g), to_device(padded)


def in_numpy() -> np.ndarray:
    rows = sliding_window_view(padded, g.size, 0) @ g
    return sliding_window_view(rows, g.size, 1) @ g


compare(
    f"Gaussian of {image.shape}",
    lambda: tunesmith.tensor("out[y,x] += g[i] * g[j] * image[y+i,x+j]", g=weights, image=on_device),
    in_numpy,
    1e-5,
)
compare(
    "every second pixel of it",
    lambda: tunesmith.tensor("out[y,x] += g[i] * g[j] * image[2*y+i,2*x+j]", g=weights, image=on_device),
    lambda: in_numpy()[::2, ::2],
    1e-5,
)
