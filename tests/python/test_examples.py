# SPDX-License-Identifier: Apache-2.0
"""Every example of examples/python (with TUNESMITH_TEST_TURN every third) runs, and finds its results right."""

import os
import pathlib
import subprocess
import sys

import pytest
from turns import in_turn

folder = pathlib.Path(__file__).parents[2] / "examples/python"
needs = {"cells": "scipy", "image_convolution": "scipy", "torch_convolution": "torch"}


names = sorted(file.stem for file in folder.glob("*.py") if file.stem != "compare")


@pytest.mark.parametrize("name", in_turn(names, 3))
def test_it_agrees(name, tmp_path):
    if name in needs:
        pytest.importorskip(needs[name])
    run = subprocess.run(
        [sys.executable, str(folder / f"{name}.py")],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "agrees with" in run.stdout
