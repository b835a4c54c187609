# SPDX-License-Identifier: Apache-2.0
"""Rows against NumPy in double precision, SciPy and PyTorch's own definitions: words, expressions, axes, views, types, and refusals."""

import numpy as np
import pytest
import scipy.special
import tunesmith

random = np.random.default_rng(5)
tolerance = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3}


def made(*shape, dtype="float32"):
    return random.standard_normal(shape).astype(dtype)


def agree(found, wanted, dtype=None):
    assert isinstance(found, (np.ndarray, np.generic)) and found.shape == np.shape(wanted)
    assert found.dtype == (dtype or found.dtype)
    np.testing.assert_allclose(
        found, wanted, rtol=tolerance[found.dtype.name], atol=tolerance[found.dtype.name]
    )


words = {
    "softmax": scipy.special.softmax,
    "log_softmax": scipy.special.log_softmax,
    "logsumexp": scipy.special.logsumexp,
}


@pytest.mark.parametrize("word", words)
@pytest.mark.parametrize("dtype", tolerance)
def test_words_are_scipys(word, dtype):
    function, reference = getattr(tunesmith, word), words[word]
    a = made(5, 6, 7, dtype=dtype)
    for axis in (-1, 0, 1, (1, 2), (0, 2), None):
        agree(function(a, axis), reference(a.astype("d"), axis=axis), dtype)
    a *= 100
    agree(function(a), reference(a.astype("d"), axis=-1), dtype)


def test_views_are_read_where_they_lie_or_copied():
    a = made(12, 10, 8)
    for view in (
        a[::2],
        a[:, ::3],
        a[:, 1:5, 2:6],
        a[..., ::2],
        a[::-1],
        a.T,
        a[:1],
        a[:, :, :1],
        a[2, 3],
        a[:, 3],
        a[0, 0, :1],
    ):
        agree(tunesmith.softmax(view), scipy.special.softmax(view.astype("d"), axis=-1), "float32")
    agree(tunesmith.softmax(np.float32(3)), np.float32(1))
    assert tunesmith.softmax(a[1:1]).shape == (0, 10, 8)
    agree(
        tunesmith.logsumexp(a, 1, keepdims=True),
        scipy.special.logsumexp(a.astype("d"), 1, keepdims=True),
        "float32",
    )


def test_infinities_and_nan_are_scipys():
    inf, nan = np.inf, np.nan
    a = np.array([[1, inf, 2], [-inf, -inf, -inf], [1, nan, 2], [-inf, 0, 1]], "float32")
    np.testing.assert_array_equal(tunesmith.logsumexp(a)[:3], [inf, -inf, nan])
    np.testing.assert_array_equal(np.isnan(tunesmith.softmax(a)).all(1), [True, True, True, False])
    assert tunesmith.softmax(a)[3, 0] == 0


def test_norms():
    a, weight, bias = made(4, 5, 6), made(6), made(6)
    exact = a.astype("d")

    def normed(axes, eps=1e-5):
        centered = exact - exact.mean(axes, keepdims=True)
        return centered / np.sqrt((centered**2).mean(axes, keepdims=True) + eps)

    agree(tunesmith.layer_norm(a), normed(-1), "float32")
    agree(tunesmith.layer_norm(a, 6, weight, bias), normed(-1) * weight + bias, "float32")
    agree(tunesmith.layer_norm(a, [5, 6], eps=0.5), normed((1, 2), 0.5), "float32")
    agree(tunesmith.layer_norm(a, weight=made(5, 6) * 0 + 2), normed((1, 2)) * 2, "float32")
    mean_square = (exact**2).mean(-1, keepdims=True)
    agree(tunesmith.rms_norm(a), exact / np.sqrt(mean_square + 2.0**-23), "float32")
    agree(
        tunesmith.rms_norm(a, weight=weight, eps=0.1), exact / np.sqrt(mean_square + 0.1) * weight, "float32"
    )
    for p in (1, 2, 3, np.inf):
        norm = np.linalg.norm(exact, p, axis=1, keepdims=True)
        agree(tunesmith.normalize(a, 1, p=p), exact / np.maximum(norm, 1e-12), "float32")
    assert not tunesmith.normalize(np.zeros((2, 3))).any()
    for call, sentence in (
        (lambda: tunesmith.layer_norm(a, (5,)), r"does not end with the normalized shape \(5,\)"),
        (lambda: tunesmith.layer_norm(a, 6, made(5)), r"weight has the shape \(5,\)"),
        (lambda: tunesmith.layer_norm(a, eps=-1), "eps=-1 is not a number from 0 on"),
        (lambda: tunesmith.normalize(a, p=0), "is not above 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_expressions():
    x, w, s = made(3, 4, 9), made(9), made(3, 4, 1)
    exact = x.astype("d")
    agree(tunesmith.rows("y = x / sum(abs(x))", x), exact / np.abs(exact).sum(-1, keepdims=True), "float32")
    agree(tunesmith.rows("y = max(x * w) - s", x=x, w=w, s=s), (exact * w).max(-1) - s[..., 0], "float32")
    agree(
        tunesmith.rows("y = x1 * w - sum(x0)", x1=x, x0=x * 2, w=w),
        exact * w - 2 * exact.sum(-1, keepdims=True),
        "float32",
    )
    agree(tunesmith.rows("y = x * rows + 1", x=x, rows=np.float32(3)), exact * 3 + 1, "float32")
    m, r, y = tunesmith.rows("m = mean(x); r = rsqrt(mean((x - m) ** 2)); y = (x - m) * r * w", w=w, x=x)
    agree(m, exact.mean(-1), "float32")
    agree(r, 1 / exact.std(-1), "float32")
    agree(y, (exact - exact.mean(-1, keepdims=True)) / exact.std(-1, keepdims=True) * w, "float32")
    agree(tunesmith.rows("y = sum(x)", x, keepdims=True), exact.sum(-1, keepdims=True), "float32")
    agree(tunesmith.rows("y = mean(x)", np.arange(6).reshape(2, 3)), np.array([1.0, 4.0]), "float64")
    agree(tunesmith.rows("y = x - min(x)", [3, 1, 2], dtype="float32"), np.array([2.0, 0, 1]), "float32")
    out, sums = np.empty_like(x), np.empty((3, 4), "float64")
    assert tunesmith.rows("softmax", x, out=out) is out
    agree(out, scipy.special.softmax(exact, axis=-1))
    found = tunesmith.rows("s = sum(x); y = x - s", x, out=(sums, None))
    assert found[0] is sums
    np.testing.assert_allclose(sums, exact.sum(-1), rtol=1e-5, atol=1e-5)


def test_repeated_calls_read_their_arrays():
    a = made(3, 5)
    for _ in range(3):
        a += 1
        agree(
            tunesmith.rows("y = x - mean(x) * 0.5", a),
            a - a.mean(1, keepdims=True, dtype="d") * 0.5,
            "float32",
        )
        agree(
            tunesmith.layer_norm(a, weight=a[0]),
            (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5) * a[0],
            "float32",
        )


def test_what_is_wrong_is_refused():
    x = made(3, 4)
    for error, sentence, call in (
        (
            ValueError,
            r"At character 9: There is no function 'median'",
            lambda: tunesmith.rows("y = x + median(x)", x),
        ),
        (ValueError, "2 were given", lambda: tunesmith.rows("y = sum(x, x)", x)),
        (TypeError, "reads no array z; it reads x", lambda: tunesmith.rows("y = x - max(x)", x=x, z=x)),
        (TypeError, "The array w of the expression was not given", lambda: tunesmith.rows("y = x * w", x=x)),
        (
            TypeError,
            "2 arrays were given; the expression reads 1",
            lambda: tunesmith.rows("y = x - max(x)", x, x),
        ),
        (TypeError, "by name, or all of them", lambda: tunesmith.rows("y = x - max(x)", x, x=x)),
        (ValueError, "not broadcast to one", lambda: tunesmith.rows("y = x * w", x, made(3))),
        (ValueError, "Broadcast it first", lambda: tunesmith.rows("y = x * w", made(2, 3, 4), made(2, 1, 4))),
        (TypeError, "elements of int32", lambda: tunesmith.rows("y = sum(x)", x, dtype="int32")),
        (TypeError, "complex", lambda: tunesmith.rows("y = sum(x)", x + 1j)),
        (TypeError, "tuple of 2 arrays", lambda: tunesmith.rows("s = sum(x); y = x - s", x, out=x)),
        (np.exceptions.AxisError, "out of bounds", lambda: tunesmith.softmax(x, 2)),
        (ValueError, "nothing has no max", lambda: tunesmith.rows("y = max(x)", x[:, :0])),
    ):
        with pytest.raises(error, match=sentence):
            call()
