# SPDX-License-Identifier: Apache-2.0
"""Tests the device for arrays in ordinary memory, and the facts of the build."""

import warnings

import numpy as np
import pytest
import tunesmith
from tunesmith import _device, _dispatchers, _recording


@pytest.fixture
def one_gpu(monkeypatch):
    """Pretends that there is a GPU: its plans are made for the host, and noted."""
    planned = []
    host = tunesmith.Dispatcher("host", host_binaries=True)

    def dispatcher(ordinal):
        planned.append(ordinal)
        return host

    tunesmith.forget_dispatchers()
    for module in (_device, _recording):
        monkeypatch.setattr(module, "may_have_gpu", lambda: True)
    for name, value in (
        ("_dispatcher", dispatcher),
        ("has_gpu", lambda: True),
        ("may_have_gpu", lambda: True),
    ):
        monkeypatch.setattr(_dispatchers, name, value)
    yield planned
    monkeypatch.undo()
    tunesmith.forget_dispatchers()


def test_the_rule():
    assert (
        not _device.pays_on_gpu(0, 0)
        and not _device.pays_on_gpu(2**20 - 1, 0)
        and not _device.pays_on_gpu(0, 2**19 - 1)
    )
    assert (
        _device.pays_on_gpu(2**20, 0) and _device.pays_on_gpu(0, 2**19) and _device.pays_on_gpu(2**19, 2**18)
    )


def test_large_work_goes_to_a_gpu_and_small_work_does_not(one_gpu):
    small, large = np.ones(1000, "f"), np.ones((600, 700), "f")
    with tunesmith.device("auto"):
        for _ in range(2):
            assert tunesmith.sum(small) == 1000 and tunesmith.sum(large) == 420000
            assert type(tunesmith.transpose(large)) is np.ndarray
    assert one_gpu == [-1, 0, 0] * 2
    with tunesmith.device("host"):
        tunesmith.sum(large)
        assert one_gpu.pop() == -1
    with tunesmith.device("cuda:1"):
        tunesmith.sum(small)
        assert one_gpu.pop() == 1
    with tunesmith.device("auto"):  # again by the rule, whatever was done elsewhere
        tunesmith.sum(large)
    assert one_gpu == [-1, 0, 0] * 2 + [0]


def test_without_a_gpu_auto_is_the_host(monkeypatch):
    monkeypatch.setattr(_dispatchers, "has_gpu", lambda: False)
    with tunesmith.device("auto"):
        assert tunesmith.current_device() == "auto"
        assert tunesmith.sum(np.ones((600, 700), "f")) == 420000
        assert _dispatchers._key("auto") == -1
    for wrong in ("gpu", "cuda:", "cuda:x", ""):
        with pytest.raises(ValueError, match="allowed are auto, host, cuda and cuda:N"):
            tunesmith.set_device(wrong)


def test_a_build_without_cuda_says_so_where_a_gpu_is(monkeypatch, capsys):
    monkeypatch.setattr(_device, "cuda_version", "")
    monkeypatch.setattr(_device, "has_driver", lambda: True)
    _device.warn_of_host_only_build.cache_clear()
    tunesmith.forget_dispatchers()
    with pytest.warns(RuntimeWarning, match="this build of tunesmith has no CUDA") as caught:
        tunesmith.sum(np.ones(7, "f"))
        tunesmith.min(np.ones(7, "f"))
    assert len(caught) == 1
    tunesmith.show_config()
    assert "built with CUDA:           no: the host is the only device" in capsys.readouterr().out
    monkeypatch.undo()
    _device.warn_of_host_only_build.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if tunesmith.show_config("dicts")["built with CUDA"][0].isdigit():
            _device.warn_of_host_only_build()
    with pytest.raises(ValueError, match="allowed are stdout and dicts"):
        tunesmith.show_config("json")
