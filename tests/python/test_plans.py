# SPDX-License-Identifier: Apache-2.0
"""Tests dispatchers and plans, used directly."""

import threading

import numpy as np
import pytest
import tunesmith
from tunesmith import _core
from tunesmith._types import types_of


@pytest.fixture(scope="module")
def host():
    return tunesmith.Dispatcher("host", database="", compile="never")


def test_a_plan_launches(host):
    plan = host.plan("conv2d", height=5, width=7, mask_height=3, mask_width=3)
    assert plan.op == "conv2d" and "height=5" in plan.problem and plan.match == "base"
    assert [one[:3] for one in plan.arguments] == [
        ("image", "input", "float32"),
        ("mask", "input", "float32"),
        ("output", "output", "float32"),
    ]
    image, mask, output = np.ones((5, 7), "f"), np.ones((3, 3), "f"), np.empty((5, 7), "f")
    plan.launch(image, mask, output)
    assert output[2, 2] == 9 and output[0, 0] == 4
    assert "base" in plan.explain() and "base" in repr(plan)
    text = "height=5 width=7 mask_height=3 mask_width=3"
    assert host.plan("conv2d", text).problem == plan.problem
    assert host.plan("conv2d", "height=5 width=7", mask_height=3, mask_width=3).problem == plan.problem
    assert "conv2d" in host.explain("conv2d", text)
    assert any(usage["op"] == "conv2d" and usage["launches"] == 1 for usage in host.summary())


def test_the_packages_own_problems_are_pairs_or_texts(host):
    fields = {"expression": "y = x - max(x)", "rows": 7, "columns": np.int64(2), "dtype": "f64"}
    plan = host.plan("rows", **fields)
    for problem in (tuple(fields.items()), plan.problem):
        assert host._plan("rows", problem).problem == plan.problem
        assert _core.work("rows", problem) == _core.work("rows", plan.problem)


def test_the_words_of_a_parameter_are_the_ops():
    for op, contract in tunesmith.ops().items():
        for name, parameter in contract["parameters"].items():
            assert _core.parameter_words(op, name) == parameter.get("words", [])
        if op != "transpose":  # transpose moves bits of any type
            assert list(types_of(op).values()) == contract["parameters"]["dtype"]["words"], op
    with pytest.raises(
        ValueError, match="The op reduce has no parameter colour; its parameters are outer, length, "
    ):
        _core.parameter_words("reduce", "colour")
    with pytest.raises(ValueError, match="conv3d"):
        _core.parameter_words("conv3d", "dtype")


def test_wrong_problems_are_value_errors(host):
    for op, problem in (
        ("conv3d", ""),
        ("conv2d", "height=5"),
        ("conv2d", "height=-1 width=3 mask_height=1 mask_width=1"),
        ("reduce", "length=x"),
    ):
        with pytest.raises(ValueError, match=r"\."):
            host.plan(op, problem)
    with pytest.raises(TypeError, match="truth value"):
        host.plan("reduce", length=True)
    with pytest.raises(ValueError, match="sometimes"):
        tunesmith.Dispatcher("host", compile="sometimes")
    with pytest.raises(ValueError, match="gpu"):
        tunesmith.Dispatcher("gpu")


def test_arrays_that_cannot_be_are_refused_and_nothing_is_written(host):
    plan = host.plan("reduce", outer=3, length=4)
    x, y = np.ones((3, 4), "f"), np.full(3, -1, "f")
    read_only = y.copy()
    read_only.flags.writeable = False
    unaligned = np.zeros(17, np.uint8)[1:13].view("f")
    for arrays, error, words in (
        ((x,), TypeError, "takes 2 arrays"),
        ((x, y, y), TypeError, "takes 2 arrays"),
        ((x.astype("d"), y), TypeError, "float64"),
        ((x, [0, 0, 0]), TypeError, "not an array"),
        ((x[:2], y), ValueError, "32 bytes"),
        ((np.ones((3, 8), "f")[:, ::2], y), ValueError, "contiguous"),
        ((x[::-1], y), ValueError, "negative stride"),
        ((x, read_only), ValueError, "read-only"),
        ((x, unaligned), ValueError, "multiple"),
        ((None, y), ValueError, "null"),
        ((x, x.reshape(-1)[:3]), ValueError, "overlap"),
    ):
        with pytest.raises(error, match=words):
            plan.launch(*arrays)
    assert (y == -1).all()
    plan.launch(x, y)
    assert (y == 4).all()


def test_a_words_result_is_as_large_as_what_is_written(host):
    plan, x = host.plan("reduce", outer=3, length=4), tunesmith.Array(np.ones((3, 4), "f"))
    for y in (np.zeros(4, "f"), np.zeros((3, 2), "f"), np.zeros(6, "f")[::2]):
        with pytest.raises(
            RuntimeError, match=r"writes 12 bytes without gaps; this is a mistake in tunesmith"
        ):
            plan._launch(x, tunesmith.Array(y))
        assert not y.any()
    with pytest.raises(ValueError, match="8 bytes; the plan's problem"):
        plan._launch(x, tunesmith.Array(np.zeros(2, "f")))


def test_numbers_stand_in_a_launch(host):
    plan = host.plan("histogram", length=4, bins=2)
    values, counts = np.array([0.1, 0.9, 1.5, 3.0], "f"), np.empty(2, np.int64)
    plan.launch(values, counts)
    assert counts.tolist() == [1, 1]
    plan.launch(values, counts, numbers=[0, 4])
    assert counts.tolist() == [3, 1]
    with pytest.raises(ValueError):
        plan.launch(values, counts, numbers=[4, 0])
    with pytest.raises(ValueError):
        plan.launch(values, counts, numbers=[1])


class CoreStream:
    """As cuda.core's streams; PyTorch has a property in place of the method."""

    def __init__(self, told):
        self.told = told

    def __cuda_stream__(self):
        return self.told


class PropertyStream:
    __cuda_stream__ = (0, 0)


def test_a_stream_may_be_given_by_its_protocol(host):
    plan = host.plan("transpose", height=2, width=3)
    x, y = np.arange(6, dtype="f").reshape(2, 3), np.zeros((3, 2), "f")
    for stream in (None, 0, np.int64(0), CoreStream((0, 0)), PropertyStream()):
        y[...] = 0
        plan.launch(x, y, stream=stream)
        assert (y == x.T).all()
    for wrong, words in (
        ("0", "stream is a str; give a stream's handle"),
        (-1, "stream is a int"),
        (CoreStream((1, 0)), r"gave \(1, 0\); version 0"),
        (CoreStream(0), "gave 0; version 0"),
    ):
        y[...] = 0
        with pytest.raises(TypeError, match=words):
            plan.launch(x, y, stream=wrong)
        assert not y.any()


def test_zero_sizes_do_nothing(host):
    host.plan("transpose", height=0, width=5).launch(None, None)
    host.plan("transpose", height=0, width=5).launch(np.empty((0, 5), "f"), np.empty((5, 0), "f"))


def test_threads_share_a_plan(host):
    plan = host.plan("elementwise", function="add", shape="1000")
    wrong = []

    def work(k):
        a, out = np.full(1000, k, "f"), np.empty(1000, "f")
        for _ in range(50):
            plan.launch(a, a, None, None, None, None, out)
            if not (out == 2 * k).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_shared_dispatcher_and_the_device():
    assert tunesmith.dispatcher("host") is tunesmith.dispatcher()
    with pytest.raises(ValueError, match="gpu"):
        tunesmith.set_device("gpu")
    with pytest.raises(ValueError, match="cuda:x"), tunesmith.device("cuda:x"):
        pass
    assert set(tunesmith.ops()) >= {
        "conv1d",
        "conv2d",
        "transpose",
        "elementwise",
        "reduce",
        "histogram",
        "conv_covariance",
    }
    assert tunesmith.ops()["reduce"]["parameters"]["function"]["words"][:6] == [
        "sum",
        "min",
        "max",
        "mean",
        "argmin",
        "argmax",
    ]


@pytest.mark.skipif(tunesmith.first_device() == "cuda", reason="there is a GPU")
def test_without_a_gpu_the_error_says_so():
    with pytest.raises((RuntimeError, ValueError), match="CUDA"):
        tunesmith.Dispatcher("cuda")
    before = tunesmith.current_device()
    for use in (tunesmith.set_device, lambda word: tunesmith.device(word).__enter__()):
        for word in ("cuda", "cuda:1"):
            with pytest.raises(
                ValueError,
                match=f"There is no device {word if word != 'cuda' else 'cuda:0'}, only the host. There is no CUDA device",
            ):
                use(word)
    assert tunesmith.current_device() == before
    assert tunesmith.sum(np.ones(3)) == 3
