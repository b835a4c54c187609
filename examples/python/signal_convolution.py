# SPDX-License-Identifier: Apache-2.0
"""numpy.convolve of a long signal with a short kernel."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

random = np.random.default_rng(1)
signal, kernel = random.random(1_000_000 if on_gpu else 20_000), random.random(5)
x, k = to_device(signal), to_device(kernel)

for mode in ("valid", "same", "full"):
    compare(
        f"convolve, {mode}",
        lambda mode=mode: tunesmith.convolve(x, k, mode),
        lambda mode=mode: np.convolve(signal, kernel, mode),
        1e-14,
    )
