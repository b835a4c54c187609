# SPDX-License-Identifier: Apache-2.0
"""Tests that the package's functions ask for the same stored problem as a caller that describes the same arrays by their strides."""

import numpy as np
import pytest
import tunesmith
from tunesmith import _expressions, _scans, _statistics


@pytest.fixture
def asked(monkeypatch):
    """The problems that functions would launch."""
    found = []
    for module in (_expressions, _scans, _statistics):
        monkeypatch.setattr(
            module, "launch", lambda op, arrays, problem, **_: found.append((op, dict(problem)))
        )
    return found


@pytest.fixture(scope="module")
def host():
    return tunesmith.Dispatcher("host", database="", compile="never")


def drawn_view(random, rank):
    """A view of an array whose last axis is contiguous, with gaps, axes of one element and windows that overlap."""
    shape = tuple(int(n) for n in random.integers(1, 5, rank))
    strides, step = [1], shape[-1]
    for extent in reversed(shape[:-1]):
        step += int(random.integers(3)) * int(random.random() < 0.4)
        strides.insert(0, max(1, step - int(random.random() < 0.1)))
        step = strides[0] * extent
    memory = np.ones(sum((n - 1) * s for n, s in zip(shape, strides)) + 1, "f")
    return np.lib.stride_tricks.as_strided(memory, shape, [4 * s for s in strides]), strides


def test_an_axis_of_a_view_is_one_problem(asked, host):
    random = np.random.default_rng(1)
    for _ in range(300):
        view, (outer_stride, stride, _) = drawn_view(random, 3)
        outer, length, inner = view.shape
        extents = {
            "outer": outer,
            "length": length,
            "inner": inner,
            "outer_stride": outer_stride,
            "stride": stride,
        }
        for function, more in ((tunesmith.cumsum, {}), (tunesmith.var, {"function": "var"})):
            asked.clear()
            function(view, axis=1)
            ((op, problem),) = asked
            assert host.plan(op, **problem).problem == host.plan(op, **extents, **more).problem, (
                view.shape,
                extents,
            )


def test_operands_that_are_views_are_one_problem(asked, host):
    random = np.random.default_rng(2)
    total = tunesmith.vectorize("a + b")
    for _ in range(300):
        one, strides = drawn_view(random, int(random.integers(1, 5)))
        other = np.ones(
            [n if random.random() < 0.6 else 1 for n in one.shape[int(random.integers(one.ndim)) :]], "f"
        )
        shape = np.broadcast_shapes(one.shape, other.shape)
        asked.clear()
        total(one, other)
        ((op, problem),) = asked
        problem["function"] = "add"  # the library has its kernels
        described = {
            "shape": "x".join(map(str, shape)),
            "a": "x".join(map(str, one.shape)) + ":" + "x".join(map(str, strides)),
            "b": "x".join(map(str, other.shape)),
        }
        stored = host.plan(op, function="add", **described).problem
        assert host.plan(op, **problem).problem == stored, described
