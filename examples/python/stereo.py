# SPDX-License-Identifier: Apache-2.0
"""Depth from two pictures that hold nothing but noise: block matching, in one line. Writes stereo.png, or the file that is given."""

import sys

import numpy as np
import tunesmith
from compare import compare, on_gpu, save_gray, to_device, to_numpy
from numpy.lib.stride_tricks import sliding_window_view

height, width, window, most = (540, 960, 9, 32) if on_gpu else (96, 144, 7, 12)


def dots_and_depth() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two pictures of a ball above steps: the right one shows each dot of the left one `depth` pixels further left."""
    random = np.random.default_rng(7)
    y, x = np.mgrid[:height, :width]
    depth = 2 + (4 * x // width) * most // 12
    ball = 1 - ((x - width / 2) ** 2 + (y - height / 2) ** 2) / (0.4 * height) ** 2
    depth = np.where(
        ball > 0, np.round(most * (0.5 + 0.42 * np.sqrt(np.maximum(ball, 0)))).astype(int), depth
    )
    right = random.random((height, width + most), np.float32)
    left = right[y, x - depth + most]
    return left, right, depth


left, right, depth = dots_and_depth()
arrays = {"left": to_device(left), "right": to_device(right)}


def costs():
    line = f"cost[d,y,x] += abs(left[y+i,x+j] - right[y+i,x+j-d+{most}])"
    return tunesmith.tensor(line, **arrays, extents={"i": window, "j": window, "d": most})


def costs_in_numpy() -> np.ndarray:
    found = []
    for d in range(most):
        difference = np.abs(left - right[:, most - d : most - d + width])
        found.append(sliding_window_view(difference, (window, window)).sum((2, 3)))
    return np.stack(found)


compare(f"block matching of {left.shape} over {most} depths", costs, costs_in_numpy, 1e-5)
matched = to_numpy(costs()).argmin(0)
rim = window // 2
right_ones = (matched == depth[rim : height - rim, rim : width - rim]).mean()
print(f"{100 * right_ones:.0f} % of the pixels have their depth")
assert right_ones > 0.85
gray = np.full((height, 2 * width + 8), 255)
gray[:, :width] = 255 * left
gray[rim : height - rim, width + 8 + rim : 2 * width + 8 - rim] = 40 + matched * 200 // most
save_gray(sys.argv[1] if len(sys.argv) > 1 else "stereo.png", gray)
