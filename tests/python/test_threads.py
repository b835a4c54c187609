# SPDX-License-Identifier: Apache-2.0
"""Several threads in what the package keeps between calls: plans, recorded calls, types of arrays, weights. Threads change places after each few
instructions here."""

import sys
import threading
import types

import numpy as np
import pytest
import tunesmith
from tunesmith import _core, _image_sums


@pytest.fixture(autouse=True)
def often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_in_threads(*functions):
    """Runs the functions at the same time, and raises what one of them raised."""
    raised = []
    begin = threading.Barrier(len(functions))

    def guarded(function):
        begin.wait()
        try:
            function()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(one,)) for one in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def test_a_plan_is_replaced_while_threads_launch_it():
    dispatcher = tunesmith.Dispatcher("host", database="", compile="background", cache_folder="")
    plans = [dispatcher.plan("elementwise", function=f"a * {k} + b", shape="50") for k in range(2, 5)]

    def launch_all():
        a, out = np.arange(50, dtype="f"), np.empty(50, "f")
        for _ in range(100):
            for k, plan in enumerate(plans, 2):
                plan.launch(a, a, None, None, None, None, out)
                assert (out == (k + 1) * a).all() and plan.problem

    run_in_threads(*[launch_all] * 4)
    assert dispatcher.wait_until_ready(60)
    launch_all()
    assert not any(plan.outdated for plan in plans)


def test_recorded_calls_are_forgotten_while_threads_repeat_them():
    image = np.arange(120, dtype="f").reshape(10, 12)
    masks = [np.array([[0, k, 1]], "f") for k in range(4)]
    expected = [tunesmith.ndimage.correlate(image, mask) for mask in masks]
    done = threading.Event()

    def call(k):
        def repeat():
            for _ in range(100):
                found = tunesmith.ndimage.correlate(image, masks[k])
                np.testing.assert_array_equal(found, expected[k])
                np.testing.assert_array_equal(tunesmith.transpose(image), image.T)

        return repeat

    def forget():
        while not done.is_set():
            _core.Memo.forget()

    forgetting = threading.Thread(target=forget)
    forgetting.start()
    try:
        run_in_threads(*(call(k) for k in range(4)))
    finally:
        done.set()
        forgetting.join()


def test_threads_meet_more_types_than_are_kept():
    def meet():
        for k in range(200):
            kind = type(f"Own{k}", (np.ndarray,), {})  # a type that is gone after its turn
            assert _core.kind_of(np.zeros(3).view(kind)) == "numpy"
            assert _core.kind_of(types.SimpleNamespace()) == "other"

    run_in_threads(*[meet] * 4)


def test_threads_need_more_weights_than_are_kept(monkeypatch):
    class Copy:
        def __init__(self, mask, like):
            self.mask = mask

        def constant(self):
            return self.mask

    monkeypatch.setattr(_image_sums, "InputArray", Copy)
    monkeypatch.setattr(_image_sums, "_masks", type(_image_sums._masks)())
    like = types.SimpleNamespace(array=types.SimpleNamespace(kind="torch", device=0))
    masks = [np.full(3, k) for k in range(66)]  # two more than are kept

    def take():
        for _ in range(60):
            for mask in masks:
                assert (_image_sums._on_device(mask, like) == mask).all()

    run_in_threads(*[take] * 4)
    assert len(_image_sums._masks) <= 64
