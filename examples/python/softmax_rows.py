# SPDX-License-Identifier: Apache-2.0
"""A softmax of rows, and a layer's normalisation with its weights, each as one line and one kernel; with an argument of seconds, as in
`python softmax_rows.py 20`, the kernel is tuned on the spot first."""

import sys

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

rows, columns = (65536, 768) if on_gpu else (60, 80)
random = np.random.default_rng(1)
x = 10 * random.standard_normal((rows, columns), np.float32)
weight, bias = random.random(columns, np.float32), random.random(columns, np.float32)
device_x, device_weight, device_bias = map(to_device, (x, weight, bias))

line = "y = exp(x - max(x)) / sum(exp(x - max(x)))"
if len(sys.argv) > 1:
    tunesmith.tune("rows", {"expression": line, "rows": rows, "columns": columns}, budget=float(sys.argv[1]))


def softmax_in_numpy() -> np.ndarray:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def layer_norm_in_numpy() -> np.ndarray:
    centered = x - x.mean(1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(1, keepdims=True) + 1e-5) * weight + bias


compare(f"softmax of the rows of {x.shape}", lambda: tunesmith.rows(line, x=device_x), softmax_in_numpy, 1e-5)
compare(
    f"layer_norm of {x.shape}",
    lambda: tunesmith.layer_norm(device_x, columns, device_weight, device_bias),
    layer_norm_in_numpy,
    1e-4,
)
