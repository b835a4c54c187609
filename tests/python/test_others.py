# SPDX-License-Identifier: Apache-2.0
"""Runs other projects' tests, unmodified, with functions replaced by Tunesmith's: others/suites.toml lists the suites, others/passed.txt the tests
that passed.

With TUNESMITH_TEST_TURN a third of the suites run. Those that take minutes (`long`) run with TUNESMITH_TEST_OTHERS=long. Those that no package
installs are read from checkouts in the folder TUNESMITH_TEST_CHECKOUTS, named as in the suite."""

import collections
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from turns import in_turn

scipy = pytest.importorskip("scipy")
tomllib = pytest.importorskip("tomllib")

here = pathlib.Path(__file__).parent / "others"
suites = tomllib.loads((here / "suites.toml").read_text())
versions = f"NumPy {numpy.__version__}, SciPy {scipy.__version__}"


def totals(found: dict) -> tuple[int, int]:
    lines = [line.split() for name, lines in found.items() if name for line in lines]
    return sum(int(line[-2]) for line in lines), sum(int(line[-1]) for line in lines)


def known() -> dict:
    """The passed tests of each suite, lines such as "TestConvolve::test_mode 1 1", and the versions for which they were noted."""
    found, name = {}, ""
    for line in (here / "passed.txt").read_text().splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            found[name] = []
        elif line:
            found.setdefault(name, []).append(line)
    return found


@pytest.mark.parametrize("suite", in_turn(suites, 3))
def test_they_pass(suite, tmp_path):
    modules = suites[suite]["module"]
    modules = [modules] if isinstance(modules, str) else modules
    if "checkout" in suites[suite]:
        checkout = pathlib.Path(os.environ.get("TUNESMITH_TEST_CHECKOUTS", ""), suites[suite]["checkout"])
        if not (checkout / modules[0]).exists():
            pytest.skip(f"there is no checkout {checkout} (TUNESMITH_TEST_CHECKOUTS)")
        modules = [str(checkout / one) for one in modules]
        found_version = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True
        ).stdout[:10]
        options = ["--rootdir", str(checkout), "-c", os.devnull, *suites[suite].get("options", [])]
    else:
        package = modules[0].split(".")[0]
        found_version = pytest.importorskip(package).__version__
        checkout, options = "", ["--pyargs"]
    if suites[suite].get("long") and os.environ.get("TUNESMITH_TEST_OTHERS") != "long":
        pytest.skip("it takes minutes: TUNESMITH_TEST_OTHERS=long runs it")
    file = tmp_path / "passed"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{here}{os.pathsep}{os.environ.get('PYTHONPATH', '')}{checkout and os.pathsep}{checkout}",
        "TUNESMITH_SUITE": suite,
        "TUNESMITH_PASSED": str(file),
        "TUNESMITH_CHECKOUT": str(checkout),
        "ARRAY_API_TESTS_MODULE": "array_api",
        # The kernel clears arrays of 2 GiB, which takes most of the time: freed memory is used again.
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(2**40),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "substitute", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, *options, *modules], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    tests = file.read_text().splitlines()
    names = collections.Counter(name.removesuffix(" launches").split("[")[0] for name in tests)
    launching = collections.Counter(
        name.split("[")[0].removesuffix(" launches") for name in tests if name.endswith(" launches")
    )
    lines = [f"{name} {count} {launching[name]}" for name, count in sorted(names.items())]
    if os.environ.get("TUNESMITH_UPDATE_PASSED"):
        found = {**known(), suite: lines}
        total, kernels = totals(found)
        found[""] = [f"What passed of other people's tests (test_others.py), with {versions}: {total} tests, of which {kernels} launch a kernel.",
                     "By name: how many passed, and how many of these launch a kernel; the others check refusals, empty arrays and functions beside ours."]  # fmt: skip
        (here / "passed.txt").write_text(
            "\n\n".join("\n".join(([f"[{name}]"] if name else []) + rest) for name, rest in found.items())
            + "\n"
        )
    elif versions in known()[""][0] and suites[suite].get("version") in (None, found_version):
        assert lines == known()[suite]
    else:
        assert lines


def test_the_pages_say_how_many():
    total, kernels = totals(known())
    assert f"{total} tests, of which {kernels} launch a kernel" in known()[""][0]
    page = (here.parents[2] / "docs" / "python.md").read_text()
    assert (
        f"{total} of SciPy's, NumPy's, scikit-image's, CuPy's\nand the array API's own tests" in page
        and f"{kernels} of them launch a kernel" in page
    )
