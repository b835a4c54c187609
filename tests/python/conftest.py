# SPDX-License-Identifier: Apache-2.0
"""Every test has a database and a cache of its own. TUNESMITH_TEST_DEVICE=cuda: NumPy's arrays go to a GPU (words, filters, expressions, others)."""

import os

import pytest
import tunesmith


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    os.environ["TUNESMITH_DB"] = str(home / "tunesmith.db")
    os.environ["XDG_CACHE_HOME"] = str(home / "cache")
    os.umask(0o077)
    device = os.environ.get("TUNESMITH_TEST_DEVICE", "")
    tunesmith.set_device(device or "host")  # also where there is a GPU
    if device:
        # A better kernel that is ready midway may round differently.
        tunesmith.set_dispatcher(tunesmith.Dispatcher(device, compile="now"))
