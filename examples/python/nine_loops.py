# SPDX-License-Identifier: Apache-2.0
"""Nine loops in one line: the covariance that a convolution adds to its output, asked for by somebody who had only the loops."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device
from numpy.lib.stride_tricks import sliding_window_view

random = np.random.default_rng(5)
batch, channels_out, channels_in, side, mask = (2, 3, 3, 18, 3) if on_gpu else (1, 2, 2, 5, 3)
mu = random.random((batch, channels_in, side, side))
gamma = random.random((batch, channels_in, side, side, channels_in, side, side))
c = random.random(channels_out)
out = side - mask + 1
shape = (batch, channels_out, out, out, channels_out, out, out)


def nine_loops() -> np.ndarray:
    result = np.zeros(shape)
    for b in range(batch):
        for q in range(channels_out):
            for y in range(out):
                for x in range(out):
                    for v in range(out):
                        for u in range(out):
                            for k in range(channels_in):
                                for i in range(mask):
                                    for j in range(mask):
                                        result[b, q, y, x, q, v, u] += c[q] * (
                                            mu[b, k, y + i, x + j] * mu[b, k, v + i, u + j]
                                            + gamma[b, k, y + i, x + j, k, v + i, u + j]
                                        )
    return result


def in_numpy() -> np.ndarray:
    means = sliding_window_view(mu, (mask, mask), (2, 3))
    pairs = sliding_window_view(gamma, (mask,) * 4, (2, 3, 5, 6))
    total = np.einsum("bkyxij,bkvuij->byxvu", means, means) + np.einsum("bkyxkvuijij->byxvu", pairs)
    result = np.zeros(shape)
    for q in range(channels_out):
        result[:, q, :, :, q] = c[q] * total
    return result


arrays = {"c": to_device(c), "mu": to_device(mu), "gamma": to_device(gamma)}


def one_line():
    line = "out[b,q,y,x,q,v,u] += c[q] * (mu[b,k,y+i,x+j] * mu[b,k,v+i,u+j] + gamma[b,k,y+i,x+j,k,v+i,u+j])"
    return tunesmith.tensor(line, **arrays, extents={"i": mask, "j": mask})


if not on_gpu:  # here the loops take only seconds
    compare(f"nine loops to {shape}", one_line, nine_loops, 1e-12, "the loops")
compare(f"nine loops to {shape}", one_line, in_numpy, 1e-12)
