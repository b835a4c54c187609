# SPDX-License-Identifier: Apache-2.0
"""Black letters on a page in uneven light, found by the mean of a large box around each pixel: four reads of an integral image, which two scans make."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

height, width, box = (4000, 3000, 129) if on_gpu else (200, 150, 25)
random = np.random.default_rng(4)
y, x = np.mgrid[:height, :width]
letters = (y // (box // 6) % 3 == 1) & (x // (box // 8) % 4 < 3) & (random.random((height, width)) < 0.97)
light = 60 + 180 * (x / width) * (0.4 + 0.6 * y / height)
page = (light * np.where(letters, 0.45, 1)).astype(np.uint8)


def integral(image):
    """The sum of all pixels above and to the left of each one, itself included: u64, so that nothing is rounded."""
    return tunesmith.cumsum(tunesmith.cumsum(image, axis=0), axis=1)


def letters_of(sums, image):
    """True where a pixel is darker than 0.8 times the mean of the box around it; pixels near the rim are left out."""
    inside = sums[box:, box:] - sums[:-box, box:] - sums[box:, :-box] + sums[:-box, :-box]
    rim = box // 2
    return image[rim + 1 : height - rim, rim + 1 : width - rim].astype(float) * box**2 < 0.8 * inside


there = to_device(page)
compare(f"the integral image of {page.shape}", lambda: integral(there), lambda: page.cumsum(0).cumsum(1), 0)
found = letters_of(np.asarray(integral(page)).astype(np.int64), page)
rim = box // 2
share = (found == letters[rim + 1 : height - rim, rim + 1 : width - rim]).mean()
one = max(((page > level) ^ letters).mean() for level in range(256))
print(f"{100 * share:.1f} % of the pixels are told right; the best single threshold tells {100 * one:.1f} %")
assert share > 0.99 and one < 0.95
