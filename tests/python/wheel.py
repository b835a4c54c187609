# SPDX-License-Identifier: Apache-2.0
"""Tests that an installed wheel is complete and works; scripts/wheels.sh runs it in an environment with nothing else."""

import importlib.metadata
import math
import pathlib
import pickle
import sys

import numpy as np
import tunesmith

folder = pathlib.Path(tunesmith.__file__).parent
assert "site-packages" in folder.parts, folder
names = {file.name for file in folder.iterdir()}
assert sys.version_info < (3, 12) or "t" in sys.abiflags or "_core.abi3.so" in names, names
assert {"py.typed", "_core.pyi", "tunesmith", "ndimage.py", "signal.py", "torch_ops.py"} <= names, names
assert importlib.metadata.version("tunesmith") == tunesmith.__version__
assert (
    importlib.metadata.entry_points(group="console_scripts")["tunesmith"].value == "tunesmith.__main__:main"
)
wheel = next(file for file in importlib.metadata.files("tunesmith") if file.name == "WHEEL").read_text()
assert "Tag: cp3" in wheel and "manylinux_2_35" in wheel and "Root-Is-Purelib: false" in wheel, wheel


@tunesmith.vectorize
def density(x, sigma):
    return math.exp(-0.5 * (x / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


x = np.linspace(-2, 2, 1000, dtype=np.float32).reshape(20, 50)
expected = np.exp(-0.5 * (x / 1.5) ** 2) / (1.5 * np.sqrt(2 * np.pi))
for f in (density, pickle.loads(pickle.dumps(density))):
    np.testing.assert_allclose(f(x, 1.5), expected, rtol=1e-5)
both = tunesmith.vectorize(lambda a: a + 1), tunesmith.vectorize(lambda a: a * 10)
assert [f(2) for f in both] == [3, 20]
np.testing.assert_allclose(tunesmith.sum(x, axis=0), x.sum(0), rtol=1e-4, atol=1e-5)
np.testing.assert_array_equal(tunesmith.transpose(x), x.T)
np.testing.assert_array_equal(tunesmith.histogram(x, 10, (-2.0, 2.0))[0], np.histogram(x, 10, (-2.0, 2.0))[0])
smooth = tunesmith.ndimage.uniform_filter(x, 3)
np.testing.assert_allclose(smooth[5, 5], x[4:7, 4:7].mean(), rtol=1e-5)
assert tunesmith.signal.convolve2d(x, np.ones((2, 2))).shape == (21, 51)
print(tunesmith.show_config("dicts"))
