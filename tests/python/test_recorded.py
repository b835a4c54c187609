# SPDX-License-Identifier: Apache-2.0
"""Tests that a recorded call does the same as the first one, with its own arrays."""

import numpy as np
import pytest
import scipy.ndimage
import tunesmith
from tunesmith import _call_log, _recording

random = np.random.default_rng(11)


def image(*shape, dtype="f"):
    return random.standard_normal(shape).astype(dtype)


@pytest.fixture
def count(monkeypatch):
    """A list with an entry for each call whose own code runs."""
    runs = []
    begin = _call_log.Log.__init__
    monkeypatch.setattr(_call_log.Log, "__init__", lambda self: (runs.append(1), begin(self))[1])
    return runs


cases = {
    "sum": lambda x: (tunesmith.sum(x, axis=1), x.sum(axis=1)),
    "sum of all": lambda x: (tunesmith.sum(x), x.sum()),
    "mean": lambda x: (tunesmith.mean(x, axis=(0, 1)), x.mean(axis=(0, 1))),
    "transpose": lambda x: (tunesmith.transpose(x), x.T),
    "convolve": lambda x: (tunesmith.convolve(x.reshape(-1), x[1]), np.convolve(x.reshape(-1), x[1])),
    "correlate": lambda x: (
        tunesmith.ndimage.correlate(x, np.eye(3), mode="wrap"),
        x + np.roll(x, (1, 1), (0, 1)) + np.roll(x, (-1, -1), (0, 1)),
    ),
    "einsum": lambda x: (tunesmith.einsum("ij,kj->ik", x, x[3:6]), x @ x[3:6].T),
    "einsum of lists": lambda x: (tunesmith.einsum(x, [0, 1], x[1], [1]), x @ x[1]),
    "matmul": lambda x: (tunesmith.matmul(x, x[3:6].T), x @ x[3:6].T),
    "linear": lambda x: (
        tunesmith.linear(x, x[3:6], x[1, :3], finish="max(out, 0)"),
        np.maximum(x @ x[3:6].T + x[1, :3], 0),
    ),
    "conv": lambda x: (
        tunesmith.conv(x[:, None], x[None, 1:2, :3]),
        np.stack([[np.correlate(row, x[1, :3])] for row in x]),
    ),
    "tensor": lambda x: (tunesmith.tensor("y[i] += x[i,j] * v[j]", x, x[1]), x @ x[1]),
    "tensor by names": lambda x: (
        tunesmith.tensor("y[j] += x[i,2*j+k]", x=x, extents={"k": 2, "j": 8}),
        x[:, :16].reshape(-1, 8, 2).sum((0, 2)),
    ),
    "rows": lambda x: (tunesmith.rows("y = x - mean(x)", x), x - x.mean(1, keepdims=True)),
    "rows by names": lambda x: (tunesmith.rows("m = max(x)", x=x), x.max(1)),
    "identity": lambda x: (tunesmith.ndimage.correlate1d(x, [0, 2.0, 0]), 2 * x),
}


@pytest.mark.parametrize("name", cases)
def test_the_second_call_only_launches(name, count):
    shape = (13 + len(name), 17)
    for _ in range(4):
        found, expected = cases[name](image(*shape))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        assert type(found) is type(expected) and found.dtype == expected.dtype
        assert len(count) == 1
    cases[name](image(shape[0], 18))  # another shape is another call
    assert len(count) == 2


def test_settings_contents_and_devices_count():
    x = image(9, 8)
    for weights in ([1.0, 0, 0], [0, 0, 1.0], np.array([1.0, 0, 0]), np.array([0, 0, 3.0])):
        for origin in (0, -1):
            for mode, cval in (("reflect", 0), ("constant", 0.0), ("constant", 5.0)):
                for _ in range(2):
                    expected = scipy.ndimage.correlate1d(x, weights, 0, mode=mode, cval=cval, origin=origin)
                    np.testing.assert_allclose(
                        tunesmith.ndimage.correlate1d(x, weights, 0, mode=mode, cval=cval, origin=origin),
                        expected,
                    )
    scaled = tunesmith.vectorize("x * y")
    for factor in (2.0, 3.0, 2.0, 2, True):
        np.testing.assert_array_equal(scaled(x, factor), x * np.float32(factor))


def test_which_array_is_which_is_not_mixed_up():
    f = tunesmith.vectorize("x - 2 * y")
    x, y, out = image(50), image(50), np.empty(50, "f")
    for a, b in ((x, x), (x, y), (y, x), (x, x), (y, y)):
        np.testing.assert_allclose(f(a, b), a - 2 * b)
    for a, b in ((x, y), (y, x), (x, x)):
        assert f(a, b, out=out) is out
        np.testing.assert_allclose(out, a - 2 * b)
    wide = np.empty(50)
    for a in (x, y, x):
        assert f(a, y, out=wide) is wide
        np.testing.assert_allclose(wide, a - 2 * y, rtol=1e-6)
    for a in (x, y):
        expected = a - 2 * y
        found = a.copy()
        assert f(found, y, out=found) is found  # in place
        np.testing.assert_allclose(found, expected)
    results = [tunesmith.sum(image(4, 5), axis=0) for _ in range(3)]
    assert len({one.ctypes.data for one in results}) == 3  # each is a new array


def test_errors_stay_errors():
    x, y = image(5, 6), np.empty(5, "f")
    tunesmith.sum(x, axis=1, out=y)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tunesmith.sum(x, axis=1, out=y)
    with pytest.raises(TypeError):
        tunesmith.sum(x, axis="no")


def test_memos_forget():
    x = image(6, 6)
    first = tunesmith.sum(x, axis=0)
    tunesmith.forget_dispatchers()
    np.testing.assert_array_equal(tunesmith.sum(x, axis=0), first)
    for n in range(1, 1200):  # more calls than are kept
        assert tunesmith.sum(x[:, :1], axis=-1, keepdims=bool(n % 2)).shape == ((6, 1) if n % 2 else (6,))
    for n in range(1, 300):
        assert tunesmith.sum(np.ones(n, "f")) == n


def test_a_call_is_not_recorded_if_another_thread_changes_its_setting():
    @_recording.recorded("x")
    def filtered(x, size):
        found = tunesmith.ndimage.uniform_filter(x, size)
        size[0] = 5  # as another thread may do now
        return found

    x = image(9, 11)
    for size in ([3, 3], [5, 3]):
        expected = scipy.ndimage.uniform_filter(x, size)
        np.testing.assert_allclose(filtered(x, size), expected, rtol=1e-4, atol=1e-5)
