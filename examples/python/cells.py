# SPDX-License-Identifier: Apache-2.0
"""A noisy picture of cells in uneven light: denoised, freed from the light, filled and measured, each step as in SciPy."""

import numpy as np
import scipy.ndimage
from compare import compare, on_gpu, to_device
from tunesmith import ndimage

random = np.random.default_rng(3)
height, width = (2048, 2048) if on_gpu else (96, 128)
y, x = np.mgrid[:height, :width].astype(np.float32)
picture = 0.5 * x / width + 0.2 * y / height  # the light
cells = np.zeros((height, width), bool)
for cy, cx in random.integers(14, (height - 14, width - 14), (height * width // 2000, 2)):
    distance = np.hypot(y - cy, x - cx)
    cells |= (distance < 8) & (distance > 2)  # with a hole
picture += cells + 0.1 * random.standard_normal(cells.shape, np.float32)
struck = random.random(cells.shape) < 0.05
picture[struck] = random.choice(np.float32([0, 2]), struck.sum())  # salt and pepper


def found(words, image):
    """The cells: the median-filtered image minus the light, above a threshold, without specks and holes."""
    quiet = words.median_filter(image, 3)
    spots = words.white_tophat(quiet, 19)
    return words.binary_fill_holes(words.binary_opening(spots > 0.5, iterations=2))


there = to_device(picture)
for name, step, tolerance in (
    ("median of 3 x 3", lambda words, image: words.median_filter(image, 3), 0),
    ("top hat of 19 x 19", lambda words, image: words.white_tophat(image, 19), 0),
    ("Laplacian of a Gaussian", lambda words, image: words.gaussian_laplace(image, 1.0), 1e-5),
    ("cells", lambda words, image: found(words, image) * 1, 0),
    ("light of the cells", lambda words, image: words.mean(image, found(words, image) * 1, [0, 1]), 1e-5),
):
    compare(
        name,
        lambda step=step: step(ndimage, there),
        lambda step=step: step(scipy.ndimage, picture),
        tolerance,
        "SciPy",
    )

inside = scipy.ndimage.binary_fill_holes(cells)
share = (found(scipy.ndimage, picture) == inside).mean()
assert share > 0.95, share  # the picture can be read
