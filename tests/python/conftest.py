"""Every test has a database and a cache of its own."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    os.environ["TUNESMITH_DB"] = str(home / "tunesmith.db")
    os.environ["XDG_CACHE_HOME"] = str(home / "cache")
    os.umask(0o077)
