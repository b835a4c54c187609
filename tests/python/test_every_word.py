# SPDX-License-Identifier: Apache-2.0
"""Every public word, in any form of its arrays, against NumPy and SciPy: each call is made twice with new numbers, so that the second is served from
the record of the first. New memory is poisoned, and memory around an array has to stay unchanged.

A form has a shape (with axes of one element and of none), an element type, a layout (orders of axes, steps, mirrors, repetitions, 0 to 15 bytes off an
aligned address) and numbers (few different ones, all of a type's range, the ends of it, nanoseconds since 1970). TUNESMITH_TEST_FORMS: the number for
each word, of which a third has its turn with TUNESMITH_TEST_TURN; TUNESMITH_TEST_SEED: the seed, for other forms. The forms are drawn in drawn_forms.py; every_word.py has the table of words.
"""

import os
import zlib

import numpy as np
import pytest
import tunesmith
from drawn_forms import Draw, Layout, difference, parts, poisoned
from every_word import words
from test_settings import function_of, without_arrays
from tunesmith import _array_libraries, _call_log, _types
from turns import in_turn

forms_of_a_word = range(int(os.environ.get("TUNESMITH_TEST_FORMS", 60)))
if "TUNESMITH_TEST_FORMS" not in os.environ:
    forms_of_a_word = in_turn(forms_of_a_word, 3)
first_seed = int(os.environ.get("TUNESMITH_TEST_SEED", 0))

runs: list[int] = []  # an entry for each call whose own code runs, though it could be recorded


@pytest.fixture(scope="module", autouse=True)
def memory():
    """New NumPy arrays for results are filled with poison."""

    def empty(shape, dtype):
        return poisoned(np.empty(shape, _types.numpy_type(dtype)))

    numpys, begin = _array_libraries._NumPy, _call_log.Log.__init__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_call_log.Log, "__init__", lambda self: (runs.append(1), begin(self))[1])
        patch.setattr(numpys, "empty", staticmethod(lambda shape, dtype, like: empty(shape, dtype)))
        patch.setattr(
            numpys, "allocator", staticmethod(lambda like, shape, dtype: lambda: empty(shape, dtype))
        )
        tunesmith.forget_dispatchers()
        yield
    tunesmith.forget_dispatchers()


def attempt(function, /, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:  # any exception
        return error


def compared(call, found, expected, copies) -> str | None:
    """The fault of a call's result, if there is one."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        return (
            None
            if isinstance(found, Exception) and isinstance(expected, Exception)
            else f"{found!r}, not {expected!r}"
        )
    if call.same is not None:
        found, expected = call.same(found), call.same(expected)
    errors = None if call.error is None else call.error(expected, **copies, **call.settings)
    ours, theirs = parts(found), parts(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    errors = errors if isinstance(errors, list) else [errors] * len(ours)
    return next((one for one in map(difference, ours, theirs, errors) if one), None)


def check(name: str, seed: int) -> tuple[list[str], bool]:
    """Makes a form and calls it twice. Returns the sentences on faults, and true if the second call ran none of the function's own code."""
    draw = Draw(seed)
    call = words[name](draw)
    layouts = {key: Layout(draw, len(one.shape)) for key, one in call.arrays.items()}
    has_out, wrong = call.out is not None and draw.chance(0.3), []
    for turn in (1, 2):
        kinds = {key: draw.one_of(*one.kinds) for key, one in call.arrays.items()}
        values = {key: draw.values(one, kinds[key]) for key, one in call.arrays.items()}
        made = {key: layouts[key].made(draw, one) for key, one in values.items()}
        copies = {key: array.copy(order="C") for key, (array, _) in made.items()}
        expected = attempt(call.expected, **copies, **call.settings)
        if has_out and not isinstance(expected, Exception):
            values["out"] = poisoned(np.empty(np.shape(expected), np.asarray(expected).dtype))
            layouts.setdefault("out", Layout(draw, np.ndim(expected), is_out=True))
            made["out"] = layouts["out"].made(draw, values["out"])
        before = {key: memory.copy() for key, (_, memory) in made.items()}
        given = {call.out if key == "out" else key: array for key, (array, _) in made.items()}
        runs.clear()
        found = attempt(call.ours or function_of(name), **given, **call.settings)
        said = compared(call, found, expected, copies)
        if "out" in made:
            made["out"][0][...] = values["out"]  # elements around it are unchanged
        if said is None and any(not np.array_equal(made[key][1], memory) for key, memory in before.items()):
            said = "memory of an argument has changed"
        if said is not None:
            shown = {
                key: f"{kinds.get(key, '')} {one.dtype}{one.shape} strides {one.strides} at {one.ctypes.data % 16}"
                for key, (one, _) in made.items()
            }
            wrong.append(f"call {turn} of {name}, seed {seed}: {said}; {shown}, {call.settings}")
    return wrong, not runs and not isinstance(found, Exception)


def test_no_word_is_missing():
    public = {
        prefix + name
        for prefix, module in (
            ("", tunesmith),
            ("ndimage.", tunesmith.ndimage),
            ("signal.", tunesmith.signal),
        )
        for name in module.__all__
    }
    callable_ones = {
        name for name in public if callable(function_of(name)) and not isinstance(function_of(name), type)
    }
    assert callable_ones - (without_arrays - {"vectorize"}) == set(words)


@pytest.mark.parametrize("name", words)
@pytest.mark.filterwarnings("ignore")
def test_both_calls_are_right(name):
    start = first_seed * 1_000_003 + zlib.crc32(name.encode()) % 1_000_000
    found = [check(name, seed) for seed in (start + form for form in forms_of_a_word)]
    wrong = [sentence for sentences, _ in found for sentence in sentences]
    assert not wrong, "\n".join([f"{len(wrong)} calls are wrong, such as", *wrong[:5]])
    if (
        len(forms_of_a_word) >= 60
        and not name.startswith("ndimage.generic")
        and tunesmith.current_device() == "host"
    ):
        assert any(served for _, served in found), "no second call is served from what the first one recorded"
