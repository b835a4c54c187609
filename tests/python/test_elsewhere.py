# SPDX-License-Identifier: Apache-2.0
"""Tests names that the package lacks: they behave as in any module, and a sentence says what to use instead."""

import contextlib
import importlib
import math
import operator
import re

import numpy as np
import pytest
import tunesmith
from tunesmith import _core
from tunesmith._elsewhere import elsewhere

modules = {name: importlib.import_module(name) for name in elsewhere}


def test_they_are_asked_for_as_of_any_module():
    for module, names in elsewhere.items():
        for name in [*names, "nonsense"]:
            assert not hasattr(modules[module], name) and getattr(modules[module], name, 3) == 3
            with pytest.raises(ImportError):
                exec(f"from {module} import {name}")
            with pytest.raises(AttributeError, match=name):
                getattr(modules[module], name)
    with pytest.raises(
        NotImplementedError,
        match=r"tunesmith has no median\(\); use the array's own library; tunesmith.ndimage.median_filter\(\)",
    ):
        operator.attrgetter("median")(tunesmith)
    for module, name, instead in (
        ("tunesmith", "gaussian_filter", "tunesmith.ndimage.gaussian_filter()"), ("tunesmith.ndimage", "softmax", "tunesmith.softmax()"),
        ("tunesmith.signal", "exp", "tunesmith.vectorize()"), ("tunesmith", "maximum", "tunesmith.vectorize()"), ("tunesmith.signal", "maximum", "tunesmith.ndimage.maximum()"),
        ("tunesmith", "medfilt", "tunesmith.ndimage.median_filter(mode='constant')"), ("tunesmith", "zeros", "the array's own library"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=re.escape(f"{module} has no {name}(); use {instead}")):
            getattr(modules[module], name)


def test_a_misspelled_name_gets_the_right_one():
    for module, name, right in (
        ("tunesmith", "sofmax", "tunesmith.softmax"),
        ("tunesmith", "gausian_filter", "tunesmith.ndimage.gaussian_filter"),
        ("tunesmith.ndimage", "maximums", "tunesmith.ndimage.maximum"),
    ):
        with pytest.raises(
            AttributeError, match=f"module '{module}' has no attribute '{name}'; did you mean {right}\\?"
        ):
            getattr(modules[module], name)


def test_each_op_has_a_function_or_a_sentence():
    for name in tunesmith.ops():
        assert (
            hasattr(tunesmith, name) or name in elsewhere["tunesmith"] or hasattr(tunesmith.ndimage, name)
        ), name


def first_call(text):
    """The first call in a sentence, as an expression."""
    at = text.index("tunesmith.")
    for end in (one.end() for one in re.finditer(r"\)", text)):
        with contextlib.suppress(SyntaxError):
            return compile(text[at:end], text, "eval")
    raise AssertionError(text)


def test_what_the_sentences_say_is_there():
    for text in (text for names in elsewhere.values() for text in names.values()):
        for path in re.findall(r"\btunesmith(?:\.\w+)+", text):
            assert operator.attrgetter(path.removeprefix("tunesmith."))(tunesmith)
        for line in re.findall(r"'(\w+\[.*?)'", text):
            assert _core.tensor_arrays(line)
    a, b, x = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4), np.array([3.0, np.nan, -4])
    right = {
        **{name: (getattr(np, name), given) for name, given in {"dot": (a, b), "outer": (a[0], b[0]), "vdot": (a[0], a[1]), "trace": (b[:, :3],), "inner": (a, a)}.items()},
        **{name: (getattr(np, name), given) for name, given in {"vecdot": (a, a), "matvec": (a, a[0]), "vecmat": (b[:, 0], b)}.items() if hasattr(np, name)},
        **{name: (getattr(np, name), (x,)) for name in ("nansum", "nanmean", "nanmin", "nanmax")},
    }  # fmt: skip
    for name, (function, given) in right.items():
        found = eval(
            first_call(elsewhere["tunesmith"][name]),
            {"tunesmith": tunesmith, "math": math, **dict(zip("ab", given))},
        )
        np.testing.assert_allclose(found, function(*given))
    for name in ("clip", "elementwise", "gelu", "relu", "sigmoid", "where"):
        assert isinstance(
            eval(first_call(elsewhere["tunesmith"][name].split(", as in ")[1]), {"tunesmith": tunesmith}),
            tunesmith.Vectorized,
        )
