# SPDX-License-Identifier: Apache-2.0
"""Several threads in what the package keeps between calls: plans, recorded calls, types of arrays, weights. Threads change places after each few
instructions here."""

import contextlib
import pickle
import sys
import threading
import types

import numpy as np
import pytest
import tunesmith
from tunesmith import _core, _expressions, _image_sums


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


factor = 0  # read by the kernel


@tunesmith.vectorize
def scaled(x):
    return factor * x + 1


def test_a_number_outside_of_a_function_changes_for_all_threads(monkeypatch):
    """Each thread gets the function of the present number, also while another one reads the function again."""
    arrays = [
        np.arange(5 + k, dtype=dtype) for k, dtype in enumerate(("float32", "float64", "int32", "int64"))
    ]

    def call(x):
        def once():
            np.testing.assert_array_equal(scaled(x), factor * x + 1)

        return once

    run_in_threads(*map(call, arrays))
    for k in range(1, 30):
        monkeypatch.setattr(sys.modules[__name__], "factor", k % 3)
        run_in_threads(*map(call, arrays))
        assert pickle.loads(pickle.dumps(scaled)).expression == scaled.expression


def test_a_thread_calls_a_function_that_another_one_reads_again(monkeypatch):
    x = np.arange(7, dtype="f")
    monkeypatch.setattr(sys.modules[__name__], "factor", 3)
    scaled(x)
    monkeypatch.setattr(sys.modules[__name__], "factor", 4)
    make, found = _expressions.Memo, []

    def make_slowly(*given):
        monkeypatch.setattr(_expressions, "Memo", make)
        run_in_threads(lambda: found.append(scaled(x)))
        return make(*given)

    monkeypatch.setattr(_expressions, "Memo", make_slowly)
    for one in (scaled(x), *found):
        np.testing.assert_array_equal(one, 4 * x + 1)
    assert len(found) == 1


def test_a_number_changes_while_threads_call_the_function(monkeypatch):
    """Each result is that of one of its numbers, and the last one counts when nothing changes any more."""
    x = np.arange(6, dtype="f")
    possible = [(k * x + 1).tolist() for k in range(3)]
    done = threading.Event()

    def change():
        k = 0
        while not done.is_set():
            monkeypatch.setattr(sys.modules[__name__], "factor", k % 3)
            k += 1

    def call():
        for _ in range(60):
            assert scaled(x).tolist() in possible and "a" in scaled.expression and scaled.inputs == ("x",)

    changing = threading.Thread(target=change)
    changing.start()
    try:
        run_in_threads(*[call] * 4)
    finally:
        done.set()
        changing.join()
    monkeypatch.setattr(sys.modules[__name__], "factor", 2)
    run_in_threads(*[lambda: np.testing.assert_array_equal(scaled(x), 2 * x + 1)] * 4)


def test_a_function_meets_more_types_than_are_kept_in_threads(monkeypatch):
    monkeypatch.setattr(_expressions, "_most_types", 2)
    add = tunesmith.vectorize(lambda x, y: x + y)

    def call():
        for k in range(30):
            x = np.arange(4, dtype=("int8", "uint8", "int16", "float32")[k % 4])
            assert (found := add(x, k % 5)).dtype == (x + k % 5).dtype or x.dtype.itemsize < 4
            np.testing.assert_array_equal(found, x.astype(found.dtype) + k % 5)

    run_in_threads(*[call] * 4)


def test_threads_plan_the_same_new_problems():
    dispatcher = tunesmith.Dispatcher("host", database="", compile="never", cache_folder="")
    found = [[] for _ in range(4)]

    def plan_all(its):
        def plan():
            for k in range(1, 40):
                plan = dispatcher.plan("transpose", height=k, width=7)
                x = np.arange(7 * k, dtype="f").reshape(k, 7)
                out = np.empty((7, k), "f")
                plan.launch(x, out)
                np.testing.assert_array_equal(out, x.T)
                its.append((plan.problem, plan.template, plan.config, plan.arguments, plan.explain()))
                assert (
                    dispatcher.summary()
                    and dispatcher.device
                    and dispatcher.explain("transpose", plan.problem)
                )

        return plan

    run_in_threads(*map(plan_all, found))
    assert all(its == found[0] for its in found)
    assert sum(one["launches"] for one in dispatcher.summary()) == 4 * 39


def test_threads_call_known_and_new_problems_while_the_dispatcher_is_replaced():
    mask = np.array([[1, 2, 1], [0, 1, 0]], "f")
    others = [tunesmith.Dispatcher("host", database="", compile="never", cache_folder="") for _ in range(2)]
    place = tunesmith.current_device()
    done = threading.Event()

    def call(seed):
        word = ("host", "auto")[seed % 2]

        def run():
            random = np.random.default_rng(seed)
            for k in range(30):
                height, width = (6, 9) if k % 2 else random.integers(4, 24, 2)
                image = random.integers(0, 9, (height, width)).astype("f")
                np.testing.assert_array_equal(tunesmith.sum(image, axis=k % 2), image.sum(k % 2))
                np.testing.assert_array_equal(tunesmith.transpose(image), image.T)
                np.testing.assert_array_equal(tunesmith.cumsum(image, axis=1), image.cumsum(1))
                np.testing.assert_array_equal(
                    tunesmith.histogram(image, 9, (0.0, 9.0))[0], np.histogram(image, 9, (0.0, 9.0))[0]
                )
                with tunesmith.device(word):
                    assert tunesmith.current_device() == word
                    turned = tunesmith.ndimage.correlate(image.T.copy(), mask.T.copy())
                np.testing.assert_array_equal(tunesmith.ndimage.correlate(image, mask), turned.T)
                assert tunesmith.current_device() == place

        return run

    def replace():
        k = 0
        while not done.is_set():
            tunesmith.set_dispatcher(others[k % 2])
            k += 1

    replacing = threading.Thread(target=replace)
    replacing.start()
    try:
        run_in_threads(*map(call, range(4)))
    finally:
        done.set()
        replacing.join()
        tunesmith.forget_dispatchers()


def test_threads_change_the_lists_that_they_give():
    """Settings that another thread changes meanwhile: each call sees one of their states, or refuses it."""
    image = np.arange(35, dtype="f").reshape(5, 7)
    size, extents = [3, 3], {"i": 2}
    done = threading.Event()

    def change():
        k = 0
        while not done.is_set():
            k += 1
            size[0] = 1 + 2 * (k % 2)
            size.append(3)
            size.pop()
            extents["j"] = 1
            del extents["j"]

    def call():
        for _ in range(60):
            with contextlib.suppress(ValueError, TypeError, RuntimeError):
                tunesmith.ndimage.uniform_filter(image, size)
            with contextlib.suppress(ValueError, TypeError, RuntimeError):
                found = tunesmith.tensor("out[y,x] += a[2*y+i,x]", image, extents=extents)
                np.testing.assert_array_equal(found, image[:4:2] + image[1:5:2])

    changing = threading.Thread(target=change)
    changing.start()
    try:
        run_in_threads(*[call] * 3)
    finally:
        done.set()
        changing.join()
