# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays, element by element, from Python functions of arithmetic; sums and histograms."""

import math

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

random = np.random.default_rng(3)
n = 10_000_000 if on_gpu else 20_000


@tunesmith.vectorize
def polar_distance(rho1, theta1, rho2, theta2):
    x = rho1 * math.cos(theta1) - rho2 * math.cos(theta2)
    y = rho1 * math.sin(theta1) - rho2 * math.sin(theta2)
    return math.sqrt(x * x + y * y)


@tunesmith.vectorize
def gaussian_pdf(x, mean, sigma):
    return math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


rho1, theta1, rho2, theta2 = random.random((4, n)) * 3
on_device = [to_device(one) for one in (rho1, theta1, rho2, theta2)]


def polar_in_numpy():
    x = rho1 * np.cos(theta1) - rho2 * np.cos(theta2)
    y = rho1 * np.sin(theta1) - rho2 * np.sin(theta2)
    return np.sqrt(x * x + y * y)


compare(f"polar_distance of {n}", lambda: polar_distance(*on_device), polar_in_numpy, 1e-12)
x = random.standard_normal(n)
x_on_device = to_device(x)
compare(
    f"gaussian_pdf of {n}",
    lambda: gaussian_pdf(x_on_device, 0.0, 1.0),
    lambda: np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi),
    1e-12,
)
compare(f"sum of {n}", lambda: tunesmith.sum(x_on_device), lambda: np.sum(x), 1e-9)
table = x.reshape(-1, 100)
table_on_device = to_device(table)
compare(
    f"max of the columns of {table.shape}",
    lambda: tunesmith.max(table_on_device, axis=0),
    lambda: table.max(axis=0),
    0,
)
compare(
    f"transpose of {table.shape}", lambda: tunesmith.transpose(table_on_device), lambda: table.T.copy(), 0
)
compare(
    f"histogram of {n}",
    lambda: tunesmith.histogram(x_on_device, 100, (-3.0, 3.0))[0],
    lambda: np.histogram(x, 100, (-3.0, 3.0))[0],
    0,
)
colors = random.integers(0, 256, n).astype(np.uint8)
colors_on_device = to_device(colors)
compare(
    f"bincount of {n}",
    lambda: tunesmith.bincount(colors_on_device, minlength=256),
    lambda: np.bincount(colors, minlength=256),
    0,
)
