# SPDX-License-Identifier: Apache-2.0
"""Annotations for type checkers: every public function has them, and mypy finds wrong words and missing arguments."""

import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tunesmith

public = [(f"tunesmith.{name}", getattr(tunesmith, name)) for name in tunesmith.__all__]
public += [
    (f"tunesmith.{part}.{name}", getattr(getattr(tunesmith, part), name))
    for part in ("ndimage", "signal")
    for name in getattr(tunesmith, part).__all__
]
functions = {name: one for name, one in public if inspect.isfunction(one)}


def test_every_public_function_is_annotated():
    assert len(functions) > 30
    for name, function in functions.items():
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name
        assert all(one.annotation is not inspect.Parameter.empty for one in signature.parameters.values()), (
            name
        )
        assert function.__doc__, name
    assert (pathlib.Path(tunesmith.__file__).parent / "py.typed").exists()


def test_docstrings_of_functions_of_arrays_say_what_is_raised():
    needed = {"weights": [1.0], "sigma": 1.0, "size": 3, "rank": 1, "percentile": 20, "derivative": None, "derivative2": None, "bins": 3, "min": 0, "max": 1, "v": [1.0], "y": [1.0],
              "in2": [[1.0]], "column_masks": [[1.0]], "row_masks": [[1.0]], "gamma": 1.0, "mu": 1.0, "c": 1.0,
              "b": 1.0, "w": 1.0}  # fmt: skip
    checked = 0
    for name, function in functions.items():
        first, *others = inspect.signature(function).parameters.values() or [None]
        if first is None or first.name not in ("input", "a", "x", "in1", "image"):
            continue
        checked += 1
        assert "Raises" in function.__doc__ and re.search("array|float|integer", function.__doc__), name
        more = {
            one.name: needed[one.name]
            for one in others
            if one.default is one.empty and one.kind == one.POSITIONAL_OR_KEYWORD
        }
        if "size" in (one.name for one in others):
            more["size"] = 3
        axis = next((one.name for one in others if one.name in ("axis", "axes")), None)
        for given in (
            {first.name: np.array([["a", "b"]])},
            *(
                [{first.name: np.ones((3, 4)), axis: 9}]
                if axis and name not in ("tunesmith.transpose", "tunesmith.permute")
                else []
            ),
        ):
            try:
                function(**more | given)
            except Exception as error:
                named = {one.__name__ for one in type(error).__mro__} & set(
                    re.findall(r"\w+Error", function.__doc__)
                )
                assert named, f"{name} raises {error!r}, which its docstring does not name"
            else:
                raise AssertionError(f"{name} takes {given}")
    assert checked > 70


def test_mypy_finds_what_is_wrong(tmp_path):
    pytest.importorskip("mypy")
    right = [
        "tunesmith.sum(x, axis=(0, 1), keepdims=True, initial=0.0, where=x > 0)",
        "tunesmith.mean([[1, 2]], 0, where=True)",
        "tunesmith.ndimage.gaussian_filter(x, [1, 2], mode=['wrap', 'nearest'], axes=(0, 1))",
        "tunesmith.signal.convolve2d(x, [[1, 2]], boundary='symm')",
        "tunesmith.histogram(x, bins=10, range=(0, 1))[1].shape",
        "tunesmith.vectorize(lambda a: a + 1)(x, out=x)",
        "tunesmith.vectorize(inputs=('a', 'b'))",
        "tunesmith.tune('conv2d', {'height': 3}, budget=3, seed=5)",
        "tunesmith.winners('conv2d')",
        "tunesmith.set_device('auto')",
        "tunesmith.Dispatcher('host', compile='now').plan('conv2d', height=3)",
    ]
    wrong = [
        "tunesmith.median(x)",
        "tunesmith.ndimage.zoom(x, 2)",
        "tunesmith.sum(x, nonsense=3)",
        "tunesmith.sum()",
        "tunesmith.max(x, dtype='f4')",
        "tunesmith.transpose(x, 1.5)",
        "tunesmith.ndimage.gaussian_filter(x)",
        "tunesmith.ndimage.correlate(x, [[1]], mode=1)",
        "tunesmith.ndimage.uniform_filter1d(x, 3, axis='last')",
        "tunesmith.signal.correlate2d(x)",
        "tunesmith.convolve(x, x, method='fft')",
        "tunesmith.bincount(x, minlength=1.5)",
        "tunesmith.conv_covariance(x, x, x)",
        "tunesmith.vectorize(3)",
        "tunesmith.vectorize('a + b')(x, x, where=x)",
        "tunesmith.winners(device=3)",
        "tunesmith.set_device(0)",
        "tunesmith.report(format='html')",
        "tunesmith.Dispatcher('host').plan()",
    ]
    file = tmp_path / "calls.py"
    lines = ["import numpy as np", "import tunesmith", "x = np.ones((3, 4))", *right, *wrong]
    file.write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "MYPYPATH": str(pathlib.Path(tunesmith.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)],
                         cwd=tmp_path, env=environment, capture_output=True, text=True)  # fmt: skip
    found = {
        int(line.split(":")[1])
        for line in run.stdout.splitlines()
        if line.startswith(str(file.name)) or line.startswith(str(file))
    }
    first = 4 + len(right)
    assert found == set(range(first, first + len(wrong))), run.stdout + run.stderr
