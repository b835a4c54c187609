"""A pytest plugin: other people's tests, unmodified, of functions that are replaced by Tunesmith's.

suites.toml names each suite's module, what is replaced in it, which of its tests are about that (by a regular expression), and which of
these are left out, each with its reason. Run by test_others.py, or by hand:
    TUNESMITH_SUITE=ndimage pytest -p substitute --pyargs scipy.ndimage.tests.test_filters
"""

import contextlib
import importlib
import os
import pathlib
import re

import pytest

try:
    import tomllib
except ImportError:
    import tomli as tomllib

suites = tomllib.loads((pathlib.Path(__file__).parent / "suites.toml").read_text())
suite = suites[os.environ["TUNESMITH_SUITE"]]
passed: list[str] = []


def pytest_configure(config):
    for place, names in suite.get("replaced", {}).items():
        module = importlib.import_module(place)
        for name, replacement in names.items():
            source, _, attribute = replacement.rpartition(".")
            function = getattr(importlib.import_module(source), attribute)
            with contextlib.suppress(ImportError, KeyError):  # where SciPy's tests look up which arrays a function takes
                table = importlib.import_module("scipy._lib._array_api").xp_capabilities_table
                table[function] = table[getattr(module, name)]
            setattr(module, name, function)


class Replacing:
    """A module but for some names."""

    def __init__(self, module, names):
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def replace_within(module):
    """In a test module of NumPy's, so that NumPy itself keeps its own functions."""
    found = {}
    for name, replacement in suite["replaced_within"].items():
        source, _, attribute = replacement.rpartition(".")
        found[name] = getattr(importlib.import_module(source), attribute)
        if hasattr(module, name):
            setattr(module, name, found[name])
    module.np = Replacing(module.np, found)


def short(item) -> str:
    return item.nodeid[item.nodeid.find("::") + 2 :]


def pytest_collection_modifyitems(config, items):
    about = re.compile(suite["about"])
    kept = [item for item in items if about.search(short(item))]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    for item in kept:
        for entry in suite.get("left_out", []):
            if re.search(entry["tests"], short(item)):
                item.add_marker(pytest.mark.skip(reason="left out: " + entry["why"]))
                entry["used"] = True
                break
    items[:] = kept
    if "replaced_within" in suite:
        for module in {item.module for item in kept}:
            replace_within(module)


def pytest_runtest_logreport(report):
    if report.when == "call" and report.outcome == "passed":
        passed.append(report.nodeid[report.nodeid.find("::") + 2 :])


def pytest_sessionfinish(session):
    unused = [entry["tests"] for entry in suite.get("left_out", []) if not entry.get("used")]
    if unused:
        print(f"\nsuites.toml leaves out tests that are not there: {unused}")
        session.exitstatus = 1
    if file := os.environ.get("TUNESMITH_PASSED"):
        pathlib.Path(file).write_text("".join(sorted(name + "\n" for name in passed)))
