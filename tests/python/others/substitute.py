# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that runs other projects' tests, unmodified, with functions replaced by Tunesmith's.

suites.toml names each suite's module, the functions replaced in it, the tests of these functions (by a regular expression), and those of
them that are left out, by their names (`tests`) or by the sentence that they fail with (`says`), each with its reason. With a stand-in a
passed test counts only if it called one of Tunesmith's functions. Run by test_others.py, or by hand:
    TUNESMITH_SUITE=ndimage pytest -p substitute --pyargs scipy.ndimage.tests.test_filters
With TUNESMITH_TEST_DEVICE=cuda on a GPU, and with TUNESMITH_TEST_ARRAYS=cupy or torch in such arrays: NumPy's arrays are converted to them, and
results back.
"""

import contextlib
import functools
import importlib
import os
import pathlib
import re

import numpy
import pytest
import stand_ins
import tunesmith

try:
    import tomllib
except ImportError:
    import tomli as tomllib

suites = tomllib.loads((pathlib.Path(__file__).parent / "suites.toml").read_text())
suite = suites[os.environ["TUNESMITH_SUITE"]]
passed: list[str] = []
calls: list[str] = []  # of our functions, by name
called: set[str] = set()  # the tests that call one of our functions
launched: set[str] = set()  # the tests within which a kernel was launched
library = os.environ.get("TUNESMITH_TEST_ARRAYS")


def to_gpu(value):
    if not isinstance(value, numpy.ndarray):
        return value
    if library == "cupy":
        return importlib.import_module("cupy").asarray(value)
    return importlib.import_module("torch").from_numpy(value.copy()).cuda()


def from_gpu(value):
    if isinstance(value, tuple):
        return tuple(from_gpu(one) for one in value)
    if isinstance(value, numpy.ndarray) and value.dtype == object:  # the elements are arrays
        found = numpy.empty(value.shape, object)
        for place in numpy.ndindex(value.shape):
            found[place] = from_gpu(value[place])
        return found
    for name in ("get", "cpu"):
        if hasattr(value, name):
            found = numpy.asarray(getattr(value, name)())
            return found[()] if found.ndim == 0 else found
    return value


def in_library(function):
    """The function with arrays of a GPU's library in place of NumPy's, if the library is used."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        out = next(
            (kwargs[name] for name in ("out", "output") if isinstance(kwargs.get(name), numpy.ndarray)), None
        )
        try:
            there, named = [to_gpu(one) for one in args], {name: to_gpu(one) for name, one in kwargs.items()}
        except (TypeError, ValueError, RuntimeError):  # elements or strides that the library lacks
            return function(*args, **kwargs)
        found = from_gpu(function(*there, **named))
        if out is None:
            return found
        out[...] = found
        return out

    return call


def replacement_of(name: str):
    source, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(source), attribute)
    if library:
        function = in_library(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    return call


def replacements(names, module) -> dict:
    """The replacements in a module: a dict of names, or the name of a package whose functions replace those of the same name."""
    if isinstance(names, str):
        package = importlib.import_module(names)
        names = {name: f"{names}.{name}" for name in package.__all__ if hasattr(module, name)}
    return {name: replacement_of(replacement) for name, replacement in names.items()}


def replace() -> None:
    """Replaces functions in modules: now, before a conftest imports them."""
    if "stand_in" in suite:
        getattr(stand_ins, suite["stand_in"])(pathlib.Path(os.environ["TUNESMITH_CHECKOUT"]))
    for place, names in suite.get("replaced", {}).items():
        module = importlib.import_module(place)
        for name, function in replacements(names, module).items():
            # SciPy's tests look up there which arrays a function takes.
            with contextlib.suppress(ImportError, KeyError):
                table = importlib.import_module("scipy._lib._array_api").xp_capabilities_table
                table[function] = table[getattr(module, name)]
            setattr(module, name, function)


replace()


def pytest_configure(config):
    device = os.environ.get("TUNESMITH_TEST_DEVICE", "")
    tunesmith.set_device(device or "host")
    if device:
        # A better kernel that is ready midway may round differently.
        tunesmith.set_dispatcher(tunesmith.Dispatcher(device, compile="now"))


class Replacing:
    """A module in which some names are replaced."""

    def __init__(self, module, names):
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def replace_within(module):
    """Replaces functions in a test module of NumPy's only, so that NumPy itself keeps its own functions."""
    found = {}
    for name, replacement in suite["replaced_within"].items():
        found[name] = replacement_of(replacement)
        if hasattr(module, name):
            setattr(module, name, found[name])
    module.np = Replacing(module.np, found)


def replace_parameters(item):
    """Replaces parameters of tests that are NumPy's functions (`parameters`)."""
    own = {
        id(getattr(numpy, name)): replacement_of(replacement)
        for name, replacement in suite["replaced_within"].items()
    }
    for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
        item.callspec.params[name] = own.get(id(value), value)


def short(item) -> str:
    return item.nodeid[item.nodeid.find("::") + 2 :]


def pytest_collection_modifyitems(config, items):
    about = re.compile(suite["about"])
    kept = [item for item in items if about.search(short(item))]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    for item in kept:
        for entry in suite.get("left_out", []):
            if "tests" in entry and re.search(entry["tests"], short(item)):
                item.add_marker(pytest.mark.skip(reason="left out: " + entry["why"]))
                entry["used"] = True
                break
    items[:] = kept
    if "replaced_within" in suite:
        for module in {item.module for item in kept}:
            replace_within(module)
        for item in kept if suite.get("parameters") else ():
            replace_parameters(item)


def launches() -> int:
    return sum(
        usage["launches"] for one in tunesmith._dispatchers._dispatchers.values() for usage in one.summary()
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    before = launches()
    calls.clear()
    yield
    if calls:
        called.add(item.nodeid)
    if launches() > before:
        launched.add(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails with one of the sentences of `left_out` is left out."""
    report = (yield).get_result()
    for entry in suite.get("left_out", []) if report.failed and report.when == "call" else ():
        if "says" in entry and re.search(entry["says"], str(call.excinfo.value)):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, "left out: " + entry["why"])
            entry["used"] = True
            break


def pytest_runtest_logreport(report):
    counts = report.nodeid in called or "stand_in" not in suite
    if report.when == "call" and report.outcome == "passed" and counts:
        passed.append(
            report.nodeid[report.nodeid.find("::") + 2 :] + (" launches" if report.nodeid in launched else "")
        )


def pytest_sessionfinish(session):
    unused = [
        entry.get("tests") or entry["says"] for entry in suite.get("left_out", []) if not entry.get("used")
    ]
    if unused:
        print(f"\nsuites.toml leaves out tests that are not there: {unused}")
        session.exitstatus = 1
    if file := os.environ.get("TUNESMITH_PASSED"):
        pathlib.Path(file).write_text("".join(sorted(name + "\n" for name in passed)))
