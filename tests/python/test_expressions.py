"""tunesmith.vectorize against NumPy."""

import math

import numpy as np
import pytest

import tunesmith

SCALE = 2.5


def test_an_expression_takes_any_names():
    distance = tunesmith.vectorize("sqrt(rho1 * rho1 + rho2 * rho2 - 2 * rho1 * rho2 * cos(theta1 - theta2))")
    assert distance.inputs == ("rho1", "rho2", "theta1", "theta2")
    random = np.random.default_rng(1)
    r1, r2, t1, t2 = random.random((4, 50, 3))
    np.testing.assert_allclose(distance(r1, r2, t1, t2), np.sqrt(r1**2 + r2**2 - 2 * r1 * r2 * np.cos(t1 - t2)), rtol=1e-9, atol=1e-9)
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
    with pytest.raises(ValueError, match="has no source that can be read; give an expression as text"):
        tunesmith.vectorize(names["typed"])


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
        y = x

    def defaults(x, y=1):
        return x + y

    for function, words in ((loops, "for _ in"), (calls, "open"), (unknown, "never_defined"), (bits, "operator"), (nothing, "returns nothing"), (defaults, "positional")):
        with pytest.raises(ValueError, match=words) as caught:
            tunesmith.vectorize(function)
        assert "test_expressions.py" in str(caught.value) and "line " in str(caught.value)


def test_wrong_expressions():
    for text, words in (("x + * x", "value was expected"), ("2 + 3", "no input"), ("a+b+c+d+e+f+g", "more than 6"), ("system(x)", "system")):
        with pytest.raises(ValueError, match=words):
            tunesmith.vectorize(text)(np.ones(2))
    with pytest.raises(ValueError, match="none of its inputs"):
        tunesmith.vectorize("x + y", inputs=("x",))
    with pytest.raises(TypeError, match="takes 2"):
        tunesmith.vectorize("x + y")(1)
    with pytest.raises(ValueError, match="broadcast"):
        tunesmith.vectorize("x + y")(np.ones(2), np.ones(3))
