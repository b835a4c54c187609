# SPDX-License-Identifier: Apache-2.0
"""Tests the backend for scikit-image: its functions against NumPy's, and, where scikit-image is installed, that it finds and calls them."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tunesmith
from tunesmith import _skimage

repository = pathlib.Path(__file__).parents[2]
draw = np.random.default_rng(5)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64"])
def test_its_functions_are_those_of_the_same_names(dtype):
    a, b = (100 * draw.random((2, 9, 7))).astype(dtype)
    computed = "float32" if dtype in ("float16", "float32") else "float64"
    x, y = a.astype(computed), b.astype(computed)
    error = np.mean((x - y) ** 2, dtype=np.float64)
    assert _skimage.mean_squared_error(a, b) == pytest.approx(error, rel=1e-5)
    scales = {
        "euclidean": np.sqrt(np.mean(x * x, dtype=np.float64)),
        "Min-Max": x.max() - x.min(),
        "mean": x.mean(),
    }
    for name, scale in scales.items():
        found = _skimage.normalized_root_mse(a, b, normalization=name)
        assert found == pytest.approx(np.sqrt(error) / scale, rel=1e-5) and found.dtype == np.float64
    with pytest.raises(ValueError, match="same dimensions"):
        _skimage.mean_squared_error(a, b[:1])
    with pytest.raises(ValueError, match="Unsupported norm_type"):
        _skimage.normalized_root_mse(a, b, normalization="none")


def test_calls_are_taken_only_where_work_was_sent():
    name, x = "skimage.metrics:mean_squared_error", np.ones((3, 4))
    before = tunesmith.current_device()
    try:
        tunesmith.set_device("host")
        assert _skimage.can_has(name, x, image1=x)
        assert not _skimage.can_has(name, x, x + 1j) and not _skimage.can_has(name, x[:0], x[:0])
        assert not _skimage.can_has(name, [1.0], [2.0]) and not _skimage.can_has(name, np.array(["a"]), x)
        tunesmith.set_device("auto")
        assert not _skimage.can_has(name, x, x)
    finally:
        tunesmith.set_device(before)


@pytest.mark.skipif(importlib.util.find_spec("skimage") is None, reason="scikit-image is not installed")
def test_scikit_image_finds_it(tmp_path):
    points = re.search(
        r"(\[project\.entry-points\.skimage_backends\].*?)\n\n",
        (repository / "pyproject.toml").read_text(),
        re.S,
    )
    folder = tmp_path / "tunesmith-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tunesmith\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(
        points[1].replace("project.entry-points.", "").replace('"', "") + "\n"
    )
    code = """
import warnings, numpy as np, skimage.metrics, tunesmith
x, y = np.ones((5, 6), np.float32), np.zeros((5, 6), np.float32)
def dispatched(function, *args):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        value = function(*args)
    return value, [one for one in said if "'tunesmith' backend" in str(one.message)]
value, said = dispatched(skimage.metrics.mean_squared_error, x, y)
assert value == 1 and not said  # nothing says where work goes
tunesmith.set_device("host")
value, said = dispatched(skimage.metrics.mean_squared_error, x, y)
assert value == 1 and len(said) == 1
value, said = dispatched(skimage.metrics.normalized_root_mse, x, y)
assert value == 1 and len(said) == 1
"""
    path = os.pathsep.join([str(tmp_path), *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})
