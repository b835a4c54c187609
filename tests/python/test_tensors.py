# SPDX-License-Identifier: Apache-2.0
"""Tests index expressions against NumPy: einsum in all its spellings, windows, diagonals, permutations, and mistakes."""

import numpy as np
import pytest
import tunesmith
from numpy.lib.stride_tricks import sliding_window_view
from tunesmith import _tensors

rng = np.random.default_rng(20261125)
a = rng.standard_normal((4, 5, 6)).astype("float32")
b = rng.standard_normal((4, 6, 3)).astype("float32")
square = rng.standard_normal((7, 7))
cube = rng.standard_normal((3, 3, 3))
bytes_ = rng.integers(0, 250, (7, 7)).astype("uint8")
whole = rng.integers(-9, 9, (7, 7))


@pytest.mark.parametrize(
    ("subscripts", "operands"),
    [
        ("bij,bjk->bik", (a, b)),
        ("bij,bjk", (a, b)),
        (" b i j , b j k -> b i k ", (a, b)),
        ("...ij,...jk->...ik", (a, b)),
        ("...ij->...ji", (a,)),
        ("...,...", (a, a[0])),
        ("...i->...", (a,)),
        ("i...->i...", (a,)),
        ("ii", (square,)),
        ("ii->i", (square,)),
        ("ij->ji", (a[0],)),
        ("ba", (a[0],)),
        ("ij->", (a[0],)),
        ("ij->j", (a[0],)),
        ("abc->cab", (a,)),
        ("i,j->ij", (a[0, 0], a[0, 1])),
        ("i,i", (a[0, 0], a[0, 1])),
        ("i,i->i", (np.ones(1), np.arange(3.0))),
        (",ij->ij", (np.float64(3), square)),
        ("aab,ab->b", (a[:, :4], a[:, 0])),
        ("bij,bjk->bik", (a[:, ::-1], b[::2][[0, 1, 0, 1]])),
        ("bij,bkj->bik", (a[:, :, ::2], a[:, :, ::2])),
        ("ij,jk,kl,lm->im", (square, square.T, square, square)),
        ("ij,jk,kl->il", (whole, whole, whole)),
        ("ijk,ilm,njm,nlk->", (cube, cube, cube, cube)),
        ("ij,jk->ik", (bytes_, bytes_)),
        ("ij,jk->ik", (whole.astype("int16"), whole.astype("int64"))),
        ("ij,jk->ik", (whole.astype("uint64"), whole.astype("uint64"))),
        ("ij,jk->ik", (square.astype("float16"), square.astype("float16"))),
        ("ij,jk->ik", (np.ones((3, 0)), np.ones((0, 2)))),
        ("ij,jk->ik", (np.ones((0, 3)), np.ones((3, 2)))),
    ],
)
@pytest.mark.parametrize("optimize", [True, False])
def test_einsum_is_numpys(subscripts, operands, optimize):
    tolerance = {"float16": 3e-2, "float32": 2e-5, "float64": 1e-12}
    expected = np.einsum(subscripts, *operands)
    for _ in range(2):  # the second call is a recorded one
        found = tunesmith.einsum(subscripts, *operands, optimize=optimize)
        assert np.shape(found) == np.shape(expected) and found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(
                found, expected, rtol=tolerance[expected.dtype.name], atol=10 * tolerance[expected.dtype.name]
            )
        else:
            assert np.array_equal(found, expected)


def test_einsum_takes_labels_as_numpys_does():
    for given in (
        (square, [0, 1], square, [1, 2], [2, 0]), (square, [30, 0], square, [0, 2]), (square, [1, 1]), (square, [5, 40], [40, 5]), (a, [..., 1], a[0, 0], [1], [...]),
        (a, [Ellipsis, 0, 1], a[0], [0, 51], [51, 0, Ellipsis]), (square, (0, 1), []), (square, np.array([1, 0]), square, [1, 0]),
    ):  # fmt: skip
        expected = np.einsum(*given)
        for _ in range(2):
            np.testing.assert_allclose(
                tunesmith.einsum(*given, order="C", casting="safe"),
                expected,
                rtol=2e-5,
                atol=1e-5,
                strict=True,
            )
    assert tunesmith.einsum("ij->i", square, dtype="f4", casting="same_kind").dtype == np.float32
    out = np.zeros(7, "i8")
    np.testing.assert_array_equal(
        tunesmith.einsum("ij->i", 9 * square, out=out, casting="unsafe"),
        np.einsum("ij->i", 9 * square).astype("i8"),
    )
    for casting in (None, "safe", "same_kind"):
        with pytest.raises(TypeError, match="Cannot cast the result from float64 to int64"):
            tunesmith.einsum("ij->i", square, out=out, casting=casting)


@pytest.mark.parametrize("large", [0, 1, 2])
def test_what_lies_between_two_kernels_does_not_overflow(large):
    """Products of which the first two, or the last two, are beyond float16: no order suits all of them."""
    operands = [np.full((16, 16), 0.001 if k == large else 300, "float16") for k in range(3)]
    expected = np.einsum("ab,bc,cd->ad", *(one.astype("float64") for one in operands))
    result = tunesmith.einsum("ab,bc,cd->ad", *operands)
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, expected, rtol=2**-11 + 1e-6)


def test_a_recorded_call_follows_its_arrays():
    one, two = square.copy(), square.copy()
    first = tunesmith.einsum("ij,jk->ik", one, two)
    one *= 2
    np.testing.assert_allclose(tunesmith.einsum("ij,jk->ik", one, two), 2 * first)
    np.testing.assert_allclose(
        tunesmith.einsum("ij,jk->ik", one[:5, :6], two[:6, :2]),
        one[:5, :6] @ two[:6, :2],
        rtol=1e-12,
        atol=1e-12,
    )
    out = np.full((7, 7), np.nan)
    assert tunesmith.einsum("ij,jk->ik", one, two, out=out) is out
    np.testing.assert_allclose(out, one @ two, rtol=1e-12, atol=1e-12)
    wide = np.zeros((7, 14))
    assert tunesmith.einsum("ij,jk->ik", one, two, out=wide[:, ::2]) is not None
    np.testing.assert_allclose(wide[:, ::2], one @ two, rtol=1e-12, atol=1e-12)
    assert not wide[:, 1::2].any()


@pytest.mark.parametrize(
    "expression",
    ["y += x[0*j+i] * w[j]", "y += x[j-j+i] * w[j]", "y += x[i+j-i-j+i] * w[j]", "y += w[j] * x[3*j+i-3*j]"],
)
def test_terms_that_move_nothing(expression):
    x, w = np.arange(1.0, 5), np.array([1.0, 1, 1])
    assert tunesmith.tensor(expression, x=x, w=w) == 30


def test_long_sums_are_not_added_one_after_the_other():
    x, y = (rng.random(10**6).astype("float32") for _ in range(2))
    right = (x.astype("float64") * y).sum()
    for found in (
        tunesmith.einsum("i,i->", x, y),
        tunesmith.tensor("s += x[i] * y[i]", x, y),
        tunesmith.reduction("a * b", x, y),
    ):
        assert abs(float(found) - right) < 1e-6 * right
    ones = np.ones(2**24 + 1000, "float32")
    assert tunesmith.einsum("i->", ones) == ones.size


@pytest.mark.parametrize(
    "dtype", ["float64", np.str_("float64"), np.float64, np.dtype("float64"), "int32", np.int32]
)
def test_dtype_in_each_form(dtype):
    for _ in range(2):
        found = tunesmith.einsum("ij,jk->ik", 9 * a[0], 9 * b[0], dtype=dtype)
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_allclose(found, (9 * a[0]).astype(dtype) @ (9 * b[0]).astype(dtype), rtol=1e-12)
        found = tunesmith.tensor("y[i] += x[i,j]", 9 * a[0], dtype=dtype)
        np.testing.assert_allclose(found, (9 * a[0]).astype(dtype).sum(1), rtol=1e-12)


def test_bytes_are_summed_as_int32_without_conversion(monkeypatch):
    draw, problems = np.random.default_rng(45), []
    launch = _tensors.launch
    monkeypatch.setattr(
        _tensors,
        "launch",
        lambda op, arrays, problem: problems.append(problem) or launch(op, arrays, problem),
    )
    for kind in ("int8", "uint8"):
        x, y = (
            draw.integers(np.iinfo(kind).min, np.iinfo(kind).max, (37, 37), kind, endpoint=True) for _ in "xy"
        )
        wide = x.astype("int32") @ y.astype("int32")
        for found in (
            tunesmith.einsum("ij,jk->ik", x, y, dtype="int32"),
            tunesmith.tensor("c[i,k] += a[i,j] * b[j,k]", x, y, dtype="int32"),
        ):
            assert found.dtype == np.int32 and np.array_equal(found, wide)
        assert all(f"dtype={'i' if kind == 'int8' else 'u'}8" in problem for problem in problems)
        problems.clear()
        chain = tunesmith.einsum("ij,jk,kl->il", x, y, x, dtype="int32")
        assert np.array_equal(chain, wide @ x.astype("int32"))
        problems.clear()
    mixed = tunesmith.einsum("ij,jk->ik", x.astype("int8"), y, dtype="int32")
    assert np.array_equal(mixed, x.astype("int8").astype("int32") @ y.astype("int32"))


def test_smaller_integers_are_computed_in_a_wider_type_and_cut():
    for kind in ("int8", "uint8", "int16", "uint16", "uint32"):
        x = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, (5, 300), kind, endpoint=True)
        assert np.array_equal(tunesmith.tensor("y[i] max= x[i,j]", x), x.max(1))
        assert np.array_equal(tunesmith.tensor("y[i] min= x[i,j]", x), x.min(1))
        assert np.array_equal(tunesmith.tensor("y[i] += x[i,j] * x[i,j]", x), (x * x).sum(1, dtype=kind))


def test_arrays_are_zero_outside():
    image, w = rng.standard_normal((2, 3, 10, 11)), rng.standard_normal((4, 3, 3, 5))
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (2, 2)))
    expected = np.einsum("ncyxij,ocij->noyx", sliding_window_view(padded, (3, 5), (2, 3)), w)
    line = "out[n,o,y,x] += image[n,c,y+i-1,x+j-2] * w[o,c,i,j]"
    for names in ("image", ["image"], "image, w"):
        for _ in range(2):
            found = tunesmith.tensor(line, image, w, extents={"y": 10, "x": 11}, zero_outside=names)
            np.testing.assert_allclose(found, expected, atol=1e-12)
    x = np.arange(1.0, 6)
    assert np.array_equal(
        tunesmith.tensor("y[i] = x[7-i]", x, extents={"i": 9}, zero_outside="x"), [0, 0, 0, 5, 4, 3, 2, 1, 0]
    )
    assert tunesmith.tensor("y max= x[i-1]", -x, extents={"i": 5}, zero_outside="x").item() == 0
    assert tunesmith.tensor("y min= x[i]", x, zero_outside="x").item() == 1


def test_results_of_another_type():
    x = rng.integers(0, 255, (40, 300), "uint8", endpoint=True)
    for out_dtype, expected in (
        ("int32", x.sum(1, dtype="int32")),
        ("float32", x.sum(1, dtype="float32")),
        ("uint8", x.sum(1, dtype="uint8")),
    ):
        for _ in range(2):
            found = tunesmith.tensor("y[i] += x[i,j]", x, out_dtype=out_dtype)
            assert found.dtype == out_dtype and np.array_equal(found, expected)
    half = (x / 8).astype("float16")
    found = tunesmith.tensor("y[i] += x[i,j] * x[i,j]", half, out_dtype=np.float32)
    np.testing.assert_allclose(found, (half.astype("f8") ** 2).sum(1), rtol=1e-5)
    assert found.dtype == np.float32 and found.max() > 65504
    out = np.empty((300, 40), "float32")
    assert tunesmith.tensor("y[j,i] = x[i,j]", x, out_dtype="float32", finish="2 * out - 255", out=out) is out
    assert np.array_equal(out, 2 * x.T.astype("float32") - 255)
    assert tunesmith.tensor("y[i] += x[i,j]", x.astype("int16"), out_dtype="float64").dtype == np.float64


def test_extents_in_each_form():
    x = np.arange(12.0)
    for _ in range(2):
        for extent in (2, 3, np.int64(3), np.array(4)):
            assert np.array_equal(
                tunesmith.tensor("y[i] += x[i+j]", x, extents={"j": extent}),
                np.convolve(x, np.ones(int(extent)), "valid"),
            )


def test_windows_strides_and_functions():
    image = rng.standard_normal((2, 3, 12, 13)).astype("float32")
    weights = rng.standard_normal((4, 3, 3, 5)).astype("float32")
    found = tunesmith.tensor("y[n,o,v,u] += x[n,c,v+i,u+j] * w[o,c,i,j]", x=image, w=weights)
    expected = np.einsum("ncyxij,ocij->noyx", sliding_window_view(image, (3, 5), (2, 3)), weights)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    plane = image[0, 0]
    pooled = tunesmith.tensor("out[y,x] max= image[2*y+i,2*x+j]", plane, extents={"i": 2, "j": 2})
    assert np.array_equal(pooled, sliding_window_view(plane, (2, 2))[::2, ::2].max((2, 3)))
    cost = tunesmith.tensor(
        "out[y,x,d] += (l[y+i,x+j] - r[y+i,x+j+d]) ** 2", plane[:, :8], plane, extents={"i": 3, "j": 3}
    )
    left, right = sliding_window_view(plane[:, :8], (3, 3)), sliding_window_view(plane, (3, 3))
    expected = np.stack([((left - right[:, d : d + 6]) ** 2).sum((2, 3)) for d in range(cost.shape[2])], 2)
    np.testing.assert_allclose(cost, expected, rtol=1e-4, atol=1e-4)
    assert np.array_equal(tunesmith.tensor("y[i] = x[12-i]", plane[0]), plane[0, ::-1])


@pytest.mark.parametrize("_", range(2))
def test_a_diagonal_result_is_zero_elsewhere(_):
    x = np.arange(1.0, 5)
    assert np.array_equal(tunesmith.tensor("out[i,i] = x[i]", x), np.diag(x))
    out = np.full((4, 4), 7.0)
    assert tunesmith.tensor("out[i,i] = x[i]", x, out=out) is out
    assert np.array_equal(out, np.diag(x))


def test_products_may_be_distributed():
    first, second, third = (
        rng.standard_normal(shape).astype("float32") for shape in ((9, 40), (40, 30), (30, 5))
    )
    exact = first.astype("f8") @ second.astype("f8") @ third.astype("f8")
    for may in ("reorder", "distribute", "reorder"):  # the second call of each is a recorded one
        for _ in range(2):
            found = tunesmith.tensor("out[i,l] += a[i,j] * b[j,k] * c[k,l]", first, second, third, may=may)
            np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-3)


def test_sums_are_finished_in_the_same_kernel():
    x, w, bias = rng.standard_normal((6, 9)), rng.standard_normal((9, 4)), rng.standard_normal(4)
    line = "y[i,j] += x[i,k] * w[k,j]"
    for finish in ("max(out + bias[j], 0)", "max(y + bias[j], 0)"):
        for _ in range(2):
            found = tunesmith.tensor(line, x, w, bias, finish=finish)
            np.testing.assert_allclose(found, np.maximum(x @ w + bias, 0), atol=1e-12)
    np.testing.assert_allclose(
        tunesmith.tensor(line, w=w, x=x, x2=bias, finish="out * x2[j]"), x @ w * bias, atol=1e-12
    )
    np.testing.assert_allclose(tunesmith.tensor(line, x, w), x @ w, atol=1e-12)
    turned = tunesmith.tensor("y[j,i] = x[i,j]", x, finish="out > 0 ? out : 0.1 * out")
    np.testing.assert_allclose(turned, np.where(x > 0, x, 0.1 * x).T, atol=1e-12)
    assert tunesmith.tensor("y max= x[i,j]", whole, finish="out - 9").item() == whole.max() - 9


def test_seed_000_is_one_line():
    mu, gamma = rng.standard_normal((1, 2, 5, 5)), rng.standard_normal((1, 2, 5, 5, 2, 5, 5))
    found = tunesmith.tensor(
        "out[b,y,x,v,u] += mu[b,k,y+i,x+j] * mu[b,k,v+i,u+j] + gamma[b,k,y+i,x+j,k,v+i,u+j]",
        mu,
        gamma,
        extents={"i": 3, "j": 3},
    )
    expected = np.zeros((1, 3, 3, 3, 3))
    for y, x, v, u in np.ndindex(3, 3, 3, 3):
        for k, i, j in np.ndindex(2, 3, 3):
            expected[0, y, x, v, u] += (
                mu[0, k, y + i, x + j] * mu[0, k, v + i, u + j] + gamma[0, k, y + i, x + j, k, v + i, u + j]
            )
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_permute_is_a_copy_in_another_order():
    for dtype in ("int8", "float16", "float32", "float64", "complex128"):
        x = rng.integers(0, 100, (3, 4, 5, 2, 6)).astype(dtype)
        for order in [(4, 3, 2, 1, 0), (0, 2, 1, 4, 3), (1, 0, 2, 3, 4), (-1, 0, 1, 2, 3)]:
            found = tunesmith.permute(x, order)
            assert (
                found.flags.c_contiguous
                and found.dtype == x.dtype
                and np.array_equal(found, x.transpose(order))
            )


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("float16", "uint16"), ("float32", "uint32"), ("float64", "uint64"), ("int16", "uint16")],
)
def test_permute_keeps_the_bits_of_nans(dtype, bits):
    x = rng.integers(0, np.iinfo(bits).max, (5, 7, 11, 13), bits, endpoint=True)
    # These are NaNs, and some of them are signalling ones.
    x[1, :, 3] |= np.array({16: 0x7C01, 32: 0x7F800001, 64: 0x7FF0000000000001}[np.iinfo(bits).bits], bits)
    found = tunesmith.permute(x.view(dtype), (2, 0, 3, 1))
    assert np.array_equal(found.view(bits), x.transpose(2, 0, 3, 1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tunesmith.einsum("ij,jk->ikk", square, square), ValueError, "has the index 'k' twice"),
        (
            lambda: tunesmith.einsum("ij,jk->iz", square, square),
            ValueError,
            "the index 'z', which no operand has",
        ),
        (
            lambda: tunesmith.einsum("ij", square, square),
            ValueError,
            "have 1 operands, but 2 arrays were given",
        ),
        (
            lambda: tunesmith.einsum("ij,jk->ik", square, square, order="F"),
            ValueError,
            "order is 'F'; allowed are 'C', 'K' and 'A'",
        ),
        (
            lambda: tunesmith.einsum("ij,jk->ik", square, square, casting="some"),
            ValueError,
            "casting is 'some'; allowed are no, equiv, safe",
        ),
        (
            lambda: tunesmith.einsum("ij->i", square, dtype="f4", casting="safe"),
            TypeError,
            "from float64 to float32 according to the rule 'safe'",
        ),
        (
            lambda: tunesmith.einsum(square, [0, 52]),
            ValueError,
            "The label 52 is not allowed; allowed are 0 to 51 and Ellipsis",
        ),
        (lambda: tunesmith.einsum(square, "ij"), TypeError, "as a text before the arrays"),
        (lambda: tunesmith.einsum(square, [0, 1], square), TypeError, "integer"),
        (lambda: tunesmith.einsum(), TypeError, "subscripts"),
        (lambda: tunesmith.einsum([]), ValueError, "no array"),
        (lambda: tunesmith.einsum("i$,jk", square, square), ValueError, "the character '$'"),
        (
            lambda: tunesmith.einsum("ij,jkl", square, square),
            ValueError,
            "'jkl' have 3 indices, but their array has the shape (7, 7)",
        ),
        (lambda: tunesmith.einsum("ij,jk", square, a[0]), ValueError, "the extents 7 and 5; they must agree"),
        (
            lambda: tunesmith.einsum("ij,jk", square.astype(complex), square),
            TypeError,
            "complex numbers is not supported",
        ),
        (lambda: tunesmith.einsum("ij,jk", square > 0, square > 0), TypeError, "Arrays of bool were given"),
        (
            lambda: tunesmith.einsum("ii", square[:1]),
            ValueError,
            "The index 'i' of the operand 'ii' has the extents 1 and 7",
        ),
        (
            lambda: tunesmith.tensor("y max= x[i]", np.ones(3, "uint64")),
            TypeError,
            "Elements of uint64 are not computed by tensor()",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]*w[k", square, square),
            ValueError,
            "At character 19: ']' was expected",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", x=square, z=square),
            TypeError,
            "The expression reads no array z; it reads x.",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]*w[j]", x=square),
            TypeError,
            "The array w of the expression was not given",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, square),
            TypeError,
            "2 arrays were given; the expression reads 1: x.",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]*w[j]", square, a[0]),
            ValueError,
            "The array w has the shape 5x6",
        ),
        (lambda: tunesmith.tensor("y[i] += x[i+j]", a[0, 0]), ValueError, "The index i has no extent"),
        (lambda: tunesmith.tensor("y[i] = x[i]", a[0, 0], extents={"k": 3}), ValueError, "It has no index k"),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, may="guess"),
            ValueError,
            "may='guess' is not allowed; allowed are reorder, distribute.",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, out_dtype="int32"),
            ValueError,
            "out_dtype is i32, of whole numbers, and its dtype f64",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, out_dtype="int8"),
            TypeError,
            "The result's type is int8; allowed are float64, its inputs' own, and",
        ),
        (
            lambda: tunesmith.tensor("y[i] = x[i-1]", a[0, 0], extents={"i": 3}),
            ValueError,
            "no access may be out of bounds but those of arrays that zero_outside",
        ),
        (
            lambda: tunesmith.tensor("y[i] = x[i-1]", a[0, 0], extents={"i": 3}, zero_outside="z"),
            ValueError,
            'reads no array "z", which zero_outside names; it reads x.',
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i+j-1]", a[0, 0], extents={"j": 3}, zero_outside="x"),
            ValueError,
            "The index i has no extent",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, finish="out + z[j]"),
            ValueError,
            "At character 9: The index j is reduced; a finish has",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, finish="out + z[i]"),
            TypeError,
            "1 arrays were given; the expression reads 2: x, z.",
        ),
        (
            lambda: tunesmith.tensor("y[i] += x[i,j]", square, a[0, 0], finish="out + z[i]"),
            ValueError,
            "by dimension 0 of z at character 7 of the finish",
        ),
        (
            lambda: tunesmith.tensor("y[i] max= x[i,j]", np.ones((3, 0))),
            ValueError,
            "no reduced extent may be 0",
        ),
    ],
)
def test_what_is_wrong_is_a_sentence(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
