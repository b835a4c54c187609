# SPDX-License-Identifier: Apache-2.0
"""A picture that has lost 30 % of its pixels, filtered by a Gaussian and by a median. Writes denoised.png, or the file that is given."""

import sys

import numpy as np
import scipy.ndimage
from compare import compare, on_gpu, save_gray, to_device, to_numpy
from tunesmith import ndimage

side = 1024 if on_gpu else 160
random = np.random.default_rng(5)
y, x = np.mgrid[:side, :side].astype(np.float32) / side
rings = np.hypot(y - 0.62, x - 0.6)
picture = 90 + 60 * x + 80 * (np.sin(40 * rings) > 0) * (rings < 0.33)  # a target before a gradient
picture[(abs(y - 0.2) < 0.12) & (abs(x - 0.25) < 0.15)] = 230  # a bright box with a thin frame
picture[(abs(y - 0.2) < 0.09) & (abs(x - 0.25) < 0.12)] = 40
noisy = picture.astype(np.uint8)
lost = random.random(noisy.shape) < 0.3
noisy[lost] = random.choice(np.uint8([0, 255]), lost.sum())

there = to_device(noisy)
denoised = {"the noise": noisy}
for name, step, off in (
    ("a Gaussian", lambda words, image: words.gaussian_filter(image, 1.5, output=np.float32), 1e-5),
    ("a median of 5 x 5", lambda words, image: words.median_filter(image, 5), 0),
):
    compare(
        f"{name}, {side} x {side}",
        lambda step=step: step(ndimage, there),
        lambda step=step: step(scipy.ndimage, noisy),
        off,
        "SciPy",
    )
    denoised[name] = to_numpy(step(ndimage, there))

errors = {name: np.abs(image.astype(np.float32) - picture).mean() for name, image in denoised.items()}
print("; ".join(f"{name} is off by {error:.1f} of 255" for name, error in errors.items()))
assert errors["a median of 5 x 5"] < 0.25 * errors["a Gaussian"]
between = np.full((side, 8), 255)
save_gray(
    sys.argv[1] if len(sys.argv) > 1 else "denoised.png",
    np.hstack([noisy, between, denoised["a Gaussian"], between, denoised["a median of 5 x 5"]]),
)
