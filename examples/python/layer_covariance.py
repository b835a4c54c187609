# SPDX-License-Identifier: Apache-2.0
"""The covariance that a convolution adds to its output: a sum in seven dimensions."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

random = np.random.default_rng(4)
batch, channels_in, channels_out, side, mask = (5, 3, 6, 12, 5) if on_gpu else (1, 2, 2, 6, 3)
out = side - mask + 1
mu = random.random((batch, channels_in, side, side), np.float32)
gamma = random.random((batch, channels_in, side, side, channels_in, side, side), np.float32)
c = random.random(channels_out, np.float32)
shape = (batch, channels_out, out, out, channels_out, out, out)


def in_numpy() -> np.ndarray:
    second = np.einsum("bixy,bist->bixyst", mu, mu) + np.einsum("bixyist->bixyst", gamma)
    total = np.zeros((batch, out, out, out, out))
    for k in range(mask):
        for m in range(mask):
            total += second[:, :, k : k + out, m : m + out, k : k + out, m : m + out].sum(axis=1)
    result = np.zeros(shape)
    for channel in range(channels_out):
        result[:, channel, :, :, channel] = c[channel] * total
    return result


mu_on_device, gamma_on_device, c_on_device = to_device(mu), to_device(gamma), to_device(c)
compare(
    f"conv_covariance to {shape}",
    lambda: tunesmith.conv_covariance(
        to_device(np.zeros(shape, np.float32)), gamma_on_device, mu_on_device, c_on_device
    ),
    in_numpy,
    1e-5,
)
