# SPDX-License-Identifier: Apache-2.0
"""A script for Kernel Tuner, with its kernel; `tunesmith describe --from kernel_tuner` makes a described .cu of it."""

import numpy as np
from kernel_tuner import tune_kernel

KERNEL = """
__global__ void scaled_sum(float* out, const float* a, const float* b, float scale, int n) {
  int i = blockIdx.x * block_size_x * per_thread + threadIdx.x;
  for (int k = 0; k < per_thread; ++k, i += block_size_x)
    if (i < n) out[i] = a[i] + scale * b[i];
}
"""


def tune():
    n = 1_000_000
    a = np.random.randn(n).astype(np.float32)
    b = np.random.randn(n).astype(np.float32)
    tune_kernel(
        "scaled_sum",
        KERNEL,
        n,
        [np.zeros_like(a), a, b, np.float32(0.5), np.int32(n)],
        {"block_size_x": [32 * i for i in range(1, 9)], "per_thread": [1, 2, 4]},
        grid_div_x=["block_size_x", "per_thread"],
        answer=[a + np.float32(0.5) * b, None, None, None, None],
        metrics={"GB/s": lambda p: 12 * n / 1e9 / (p["time"] / 1000)},
    )


if __name__ == "__main__":
    tune()
