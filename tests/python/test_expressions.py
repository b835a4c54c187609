# SPDX-License-Identifier: Apache-2.0
"""tunesmith.vectorize against NumPy."""

import ast
import copy
import functools
import inspect
import linecache
import math
import pickle
import warnings

import numpy as np
import pytest
import tunesmith

SCALE = 2.5
TWO = np.float64(2)


def test_an_expression_takes_any_names():
    distance = tunesmith.vectorize("sqrt(rho1 * rho1 + rho2 * rho2 - 2 * rho1 * rho2 * cos(theta1 - theta2))")
    assert distance.inputs == ("rho1", "rho2", "theta1", "theta2")
    random = np.random.default_rng(1)
    r1, r2, t1, t2 = random.random((4, 50, 3))
    np.testing.assert_allclose(
        distance(r1, r2, t1, t2), np.sqrt(r1**2 + r2**2 - 2 * r1 * r2 * np.cos(t1 - t2)), rtol=1e-9, atol=1e-9
    )
    ordered = tunesmith.vectorize("x - y", inputs=("y", "x"))
    assert ordered(1.0, 5.0) == 4
    named = tunesmith.vectorize("arctan2(y, 1e-3 + x2) * pi")
    np.testing.assert_allclose(named(r1, r2), np.arctan2(r1, 1e-3 + r2) * np.pi, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
def test_types_broadcasting_and_strides(dtype):
    f = tunesmith.vectorize("x * y + z")
    x = (np.arange(24) % 7).astype(dtype).reshape(2, 3, 4)
    for a, b, c in (
        (x, x, x),
        (x, x[0], x[:1, :1]),
        (x[:, :, ::2], x[:, :1, :2], x[0, 0, 0]),
        (x.transpose(2, 0, 1), x[0].T[:, None], 3),
        (x[::-1], 2, x),
        (x[:0], x[:0], x[:1]),
    ):
        expected = a * b + c
        found = f(a, b, c)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    out = np.empty_like(x)
    assert f(x, x, x, out=out) is out and (out == x * x + x).all()
    assert f(x, x, x, dtype="float64").dtype == np.float64


def test_types_are_promoted_as_by_numpy():
    f = tunesmith.vectorize("x + y")
    for a in ("int8", "uint16", "int32", "uint32", "int64", "float32", "float64", "bool"):
        for b in ("float32", "int32", "int64"):
            found = f(np.ones(3, a), np.ones(3, b))
            assert found.dtype == np.result_type(a, b) and (found == 2).all()
    assert f(np.ones(3, "f"), 2.5).dtype == np.float32 and f(np.ones(3, "i"), 2.5).dtype == np.float64
    with pytest.raises(TypeError, match="complex"):
        f(np.ones(3, complex), 1)


def test_a_python_function_of_arithmetic():
    @tunesmith.vectorize
    def density(x, mean, sigma):
        """The normal density."""
        z = (x - mean) / sigma
        value: float = np.exp(-0.5 * z**2)
        value /= sigma * math.sqrt(2 * math.pi)
        return value * SCALE if not (z > 3 or z < -3) else 0.0

    assert density.__doc__ == "The normal density." and density.__name__ == "density"
    x = np.linspace(-5, 5, 101)
    z = x / 1.5
    expected = np.where(np.abs(z) > 3, 0, np.exp(-0.5 * z**2) / (1.5 * np.sqrt(2 * np.pi)) * SCALE)
    np.testing.assert_allclose(density(x, 0.0, 1.5), expected, rtol=1e-12)
    half = tunesmith.vectorize(lambda n: n / 2)
    assert half(np.array([1, 2, 3])).tolist() == [0.5, 1, 1.5]
    remainder = tunesmith.vectorize(lambda a, b: a % b)
    np.testing.assert_allclose(remainder(np.array([-5.0, 5.0]), np.array([3.0, -3.0])), [1, -1])
    between = tunesmith.vectorize(lambda a, b: 0 <= a < b)
    assert between(np.array([-1.0, 1.0, 5.0]), 3.0).tolist() == [0, 1, 0]


def test_a_function_without_source_is_refused():
    names = {}
    exec("def typed(x): return 2 * x", names)
    with pytest.raises(
        ValueError,
        match="has no source that can be read: before Python 3.13 its prompt keeps none.*or give an expression as text",
    ):
        tunesmith.vectorize(names["typed"])


def test_a_function_is_read_however_its_statement_was_compiled(tmp_path):
    """Python 3.11 and later compile math.exp() differently if the import is compiled with it. Prompts and notebooks compile each statement
    separately."""
    text = "import math\nimport numpy as np\n\nf = lambda x: math.exp(x) + np.sqrt(x)\ndef g(x):\n    return math.sin(x) + math.pi\n"
    for mode in ("together", "apart"):
        name, names = f"<cell {mode}>", {}
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        for part in ast.parse(text).body if mode == "apart" else [None]:
            exec(
                compile(ast.Interactive([part]), name, "single") if part else compile(text, name, "exec"),
                names,
            )
        assert tunesmith.vectorize(names["f"])(0.0) == 1 and tunesmith.vectorize(names["g"])(0.0) == math.pi


def test_what_is_not_arithmetic_is_refused_with_its_line():
    def loops(x):
        for _ in range(3):
            x = x + 1
        return x

    def calls(x):
        return open(x)

    def unknown(x):
        return x + never_defined  # noqa: F821

    def bits(x):
        return x & 1

    def nothing(x):
        y = x  # noqa: F841

    def defaults(x, y=1):
        return x + y

    for function, words in (
        (loops, "for _ in"),
        (calls, "open"),
        (unknown, "never_defined"),
        (bits, "operator"),
        (nothing, "returns nothing"),
        (defaults, "positional"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            tunesmith.vectorize(function)
        assert "test_expressions.py" in str(caught.value) and "line " in str(caught.value)


def test_wrong_expressions():
    for text, words in (
        ("x + * x", "value was expected"),
        ("2 + 3", "no input"),
        ("a+b+c+d+e+f+g", "more than 6"),
        ("system(x)", "system"),
        ("foo(x)", r'"foo\(x\)" cannot be computed, with its inputs named a\. .*There is no function .foo'),
    ):
        with pytest.raises(ValueError, match=words):
            tunesmith.vectorize(text)
    with pytest.raises(ValueError, match="none of its inputs"):
        tunesmith.vectorize("x + y", inputs=("x",))
    with pytest.raises(TypeError, match="takes 2"):
        tunesmith.vectorize("x + y")(1)
    with pytest.raises(ValueError, match="broadcast"):
        tunesmith.vectorize("x + y")(np.ones(2), np.ones(3))


# Functions that a careless parser would misread: each is exact, or refused with its line.


def log(x):
    return x * 0 + 5


class Circle:
    pi = 3


def turned(function):
    @functools.wraps(function)
    def call(x):
        return -function(x)

    return call


def test_two_functions_on_a_line_are_told_apart():
    # fmt: off
    both = {"plus": tunesmith.vectorize(lambda x: x + 1), "times": tunesmith.vectorize(lambda x: x * 10)}; alike = [tunesmith.vectorize(lambda x: x + 1), tunesmith.vectorize(lambda y: y + 1.0)]  # noqa: E702
    last = tunesmith.vectorize(
        lambda x: x + 1)
    nested = tunesmith.vectorize((lambda k: lambda x: x * k)(7))
    # fmt: on
    assert (both["plus"](1), both["times"](1), alike[0](1), alike[1](1), last(1), nested(1)) == (
        2,
        10,
        2,
        2,
        2,
        7,
    )
    assert alike[0](1).dtype == np.int64 and alike[1](1).dtype == np.float64 and nested.inputs == ("x",)


def test_a_function_is_known_by_itself_not_by_its_name():
    from math import log as logarithm

    assert tunesmith.vectorize(lambda x: logarithm(x))(math.e) == pytest.approx(1)
    assert tunesmith.vectorize(lambda x: x * Circle.pi)(1.0) == 3
    assert tunesmith.vectorize(lambda pi: 2 * pi)(1.0) == 2

    @turned
    def decorated(x):
        return x

    for wrong, says in (
        (lambda x: log(x), "log.x.. calls a function of your own"),
        (lambda x: np.linalg.norm(x), "is not known here"),
        (lambda x: math.log(x, 2), "has 2 arguments, and 1 are needed"),
        (lambda x: round(x, 1), "has 2 arguments"),
        (lambda x: np.round(x, decimals=1), "named arguments"),
        (lambda x: sqrt(x), "not known here"),  # noqa: F821
        (lambda x: x + later, "later"),  # noqa: F821
        (decorated, "decorated"),
        (functools.partial(max, 1), "no source"),
        ("x".join, "no source"),
    ):
        with pytest.raises(ValueError, match=says) as caught:
            tunesmith.vectorize(wrong)
        assert says in ("decorated", "no source") or "test_expressions.py" in str(caught.value)

    def unassigned(x):
        y = z + x  # noqa: F821
        z = x  # noqa: F841
        return y

    with pytest.raises(ValueError, match="before it is assigned"):
        tunesmith.vectorize(unassigned)


def test_a_changed_file_is_not_read(tmp_path):
    file = tmp_path / "changed_later.py"
    file.write_text("def f(x):\n    return x + 1\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    file.write_text("def f(x):\n    return x + 2\n")
    with pytest.raises(ValueError, match="changed after it was loaded"):
        tunesmith.vectorize(names["f"])


def test_numbers_of_the_surroundings_may_change():
    global SCALE
    factor = 2
    f = tunesmith.vectorize(lambda x: x * factor + SCALE)
    x = np.ones(3)
    assert (f(x) == 4.5).all() and (f(x) == 4.5).all()
    factor = 3
    assert (f(x) == 5.5).all()
    before, SCALE = SCALE, 0
    try:
        assert (f(x) == 3).all()
    finally:
        SCALE = before
    kept = pickle.loads(pickle.dumps(f))
    assert (kept(x) == 5.5).all() and copy.deepcopy(f) is f and kept.inputs == f.inputs
    text = pickle.loads(pickle.dumps(tunesmith.vectorize("x - y", inputs=("y", "x"))))
    assert text(1.0, 5.0) == 4


def test_types_of_results_are_numpys():
    i, f, b = np.array([3, -4], "i4"), np.array([1.5, -2.5], "f4"), np.array([True, False])
    for function, arguments in (
        (lambda x: x > 0, (f,)),
        (lambda x, y: 0 < x <= y, (f, i)),
        (lambda x: not x, (f,)),
        (lambda x: x or 5.0, (np.array([0.0, 2.0]),)),
        (lambda x, y: x and y, (f, 2 * f)),
        (lambda x, y: x % y + 0.5, (i, np.array([5, 3], "i4"))),
        (lambda x: x % (x - 3) + 0.5, (i,)),
        (lambda x: np.sqrt(x), (np.abs(i),)),
        (lambda x: np.sqrt(x), (np.array([4, 9], "i1"),)),
        (lambda x: x * 0.5, (i,)),
        (lambda x: x**3, (i,)),
        (lambda x: x**0, (i,)),
        (lambda x: x // 3, (i,)),
        (lambda x: x % -3, (i,)),
        (lambda x: x // 0.1, (f.astype("f8"),)),
        (lambda x: x % 0.1, (np.array([1.0, -1.0, 0.3]),)),
        (lambda x: x - math.floor(x), (f,)),
        (lambda x: np.where(x > 0, 1, 0), (f,)),
        (lambda x, n: np.where(x > 0, n, 0), (f, i)),
        (lambda x: max(x, 1, 0.5), (f.astype("f8"),)),
        (lambda x: x > 2**40, (i,)),
        (lambda x, s: x if s > 1.5 else 0, (i, 1.7)),
        (lambda x, s: x * s, (f, np.float64(2))),
        (lambda x, s: x * s, (f, 2.0)),
        (lambda x: x / math.sqrt(2 * math.pi), (f,)),
        (lambda x: x * TWO, (f,)),
        (lambda c, x: x if c else -x, (b, i)),
        (lambda x, y: y, (f, i)),
        (lambda x: x + math.inf, (f,)),
        (lambda x: x + math.nan, (f,)),
    ):
        # One scalar at a time, since `if`, `and` and min() do not work on arrays.
        with np.errstate(divide="ignore"):
            each = [
                function(*(one[k] if isinstance(one, np.ndarray) else one for one in arguments))
                for k in range(2)
            ]
        expected = np.array(each)
        found = tunesmith.vectorize(function)(*arguments)
        assert found.dtype == expected.dtype, inspect.getsource(function)
        np.testing.assert_allclose(found[:2], expected, rtol=1e-6, atol=1e-9)
    constant = tunesmith.vectorize(lambda x: 0.1 if x > 0 else 0.3)(f)
    assert constant.dtype == np.float64 and constant.tolist() == [0.1, 0.3]


def test_what_no_kernel_computes_is_refused():
    i, f, b, large = (
        np.array([3, -4], "i4"),
        np.array([1.5, -2.5], "f4"),
        np.array([True, False]),
        np.array([2**63 + 1], "u8"),
    )
    for function, arguments, error, says in (
        (lambda x: x + 2**40, (i,), OverflowError, "out of bounds"),
        ("x + y", (i, 2**40), OverflowError, "out of bounds"),
        (lambda x, y: x + y, (i, 2**40), OverflowError, "out of bounds"),
        (lambda x: x + 1, (large,), TypeError, "uint64"),
        (lambda x: x > 1, (large,), TypeError, "uint64"),
        ("max(x, 1)", (large,), TypeError, "uint64"),
        (lambda x: round(x), (f,), TypeError, "whole numbers from real ones"),
        (lambda x, n: np.where(x > 0, n, 0), (f, i.astype("i8")), TypeError, "whole numbers from real ones"),
        (lambda x: (x > 0) + (x > 1), (f,), TypeError, "truth values"),
        (lambda x, y: x + y, (b, b), TypeError, "truth values"),
        (lambda x, n: x**n, (i, i), TypeError, "constant from 0 to 64"),
    ):
        with pytest.raises(error, match=says) as caught:
            tunesmith.vectorize(function)(*arguments)
        assert (
            error is OverflowError or isinstance(function, str) or "test_expressions.py" in str(caught.value)
        )
    assert tunesmith.vectorize(lambda x: x / 2)(large).tolist() == [2.0**62]


def test_functions_drawn_at_random_are_numpys(tmp_path):
    """Syntax trees of all operations, in one file of functions, against themselves computed with NumPy's scalars."""
    random = np.random.default_rng(11)
    binary = "{} + {}|{} - {}|{} * {}|{} / {}|{} % {}|{} // {}|min({}, {})|max({}, {})|np.minimum({}, {})|{} and {}|{} or {}|np.hypot({}, {})"
    unary = "-{}|abs({})|np.sqrt(abs({}))|math.exp(min({}, 3))|np.floor({})|{} ** 2|not {}|math.atan({})|{} - math.floor({})"
    truths = "{} < {}|{} >= {}|{} == {}|{} != {}|0 <= {} < {}"

    def drawn(depth, forms):
        if depth == 0:
            return random.choice(["x", "y", "n", "2", "0.75", "3", "K", "(-1)", "Circle.pi"])
        kind = random.integers(8)
        if forms is not None or kind == 0:
            form = random.choice((forms or truths).split("|"))
        elif kind == 1:
            return f"({drawn(depth - 1, None)} if {drawn(depth - 1, truths)} else {drawn(depth - 1, None)})"
        else:
            form = random.choice((unary if kind < 4 else binary).split("|"))
        operands = [drawn(depth - 1, None) for _ in range(form.count("{}"))]
        if "math.floor" in form:
            operands[1] = operands[0]
        return "(" + form.format(*operands) + ")"

    bodies = [f"{drawn(2 + k % 2, None)} + 0 * (x + y + n)" for k in range(24)]
    file = tmp_path / "drawn.py"
    # Two functions per line.
    file.write_text("import math\nimport numpy as np\nK = 1.25\nclass Circle: pi = 3\nall = [\n" + "".join(
        f"lambda x, y, n: {first}, lambda x, y, n: {second},\n" for first, second in zip(bodies[::2], bodies[1::2])) + "]\n")  # fmt: skip
    names = {"__name__": "drawn"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    arrays = [
        random.uniform(-3, 3, 40).astype("f8"),
        random.uniform(-3, 3, 40).astype("f8"),
        random.integers(-3, 4, 40).astype("i4"),
    ]
    computed = 0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for body, function in zip(bodies, names["all"], strict=True):
            try:
                expected = np.array([function(*each) for each in zip(*arrays)])
            except (TypeError, ZeroDivisionError, ValueError, OverflowError):
                continue  # the types are Python's numbers, or NumPy has no such function of truth values
            try:
                found = tunesmith.vectorize(function)(*arrays)
            except TypeError as refused:
                assert "truth values" in str(refused) or "boolean" in str(refused), body
                continue
            computed += 1
            # Otherwise the result has the type of one of the operands.
            one_type = not any(word in body for word in (" if ", " and ", " or ", "min(", "max("))
            assert found.dtype == expected.dtype if one_type else np.can_cast(expected.dtype, found.dtype), (
                body
            )
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7, err_msg=body)
    assert computed >= 16


def test_a_function_may_have_flags_of_later_pythons():
    def scaled(x):
        return 2 * x

    has_docstring = 0x4000000  # from Python 3.14 on
    scaled.__code__ = scaled.__code__.replace(co_flags=scaled.__code__.co_flags | has_docstring)
    assert tunesmith.vectorize(scaled)([1.0, 2.0]).tolist() == [2, 4]
