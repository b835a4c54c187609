# SPDX-License-Identifier: Apache-2.0
"""matmul, linear and conv against NumPy, SciPy and loops: shapes that broadcast, strides, paddings, groups, finishes, and what is wrong."""

import ast
import importlib.util
import itertools
import pathlib
import re
import types

import numpy as np
import pytest
import scipy.signal
import tunesmith
from drawn_forms import Draw
from every_word import drawn_layer
from layers import affine, convolved
from tunesmith import _core, _products

rng = np.random.default_rng(20261129)


def close(found, expected, tolerance=1e-12):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


shapes = [
    ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)), ((6, 1, 3, 4), (2, 4, 5)), ((1, 2, 3, 4), (6, 1, 4, 5)), ((6, 1, 2, 3, 4), (7, 1, 4, 5)), ((1, 1, 3, 4), (4, 5)), ((1, 1), (1, 1)),
    ((3, 1), (1, 5)), ((1, 4), (4, 1)), ((2, 1, 4), (1, 4, 1)), ((1,), (1,)), ((3, 0), (0, 5)), ((0, 4), (4, 5)), ((3, 4), (4, 0)), ((0,), (0,)), ((0, 3, 4), (1, 4, 5)),
    ((2, 3, 0), (0,)), ((2, 0, 3, 4), (4, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), shapes)
@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_matmul_is_numpys(a, b, dtype):
    a, b = ((9 * rng.standard_normal(shape)).astype(dtype) for shape in (a, b))
    assert _products._shape_of(_core.matmul_computation, [a.shape, b.shape]) == np.matmul(a, b).shape
    for _ in range(2):  # the second call is a recorded one
        found, expected = tunesmith.matmul(a, b), np.matmul(a, b)
        close(found, expected)
        assert type(found) is type(expected) and found.dtype == expected.dtype


@pytest.mark.parametrize(("a", "b"), [((), (3,)), ((3,), ()), ((3,), (4,)), ((3, 4), (3, 4)), ((3, 4), (3,)), ((2, 3, 4), (3, 4, 5)), ((2, 3, 4), (5, 4, 3, 4, 5)), ((0,), (1,))])  # fmt: skip
def test_what_numpy_refuses_is_refused_with_the_shapes(a, b):
    one, other = np.ones(a), np.ones(b)
    with pytest.raises(ValueError):
        np.matmul(one, other)
    with pytest.raises(ValueError, match=re.escape(f"matmul() was given arrays of the shapes {a} and {b}; ")):
        tunesmith.matmul(one, other)


def test_matmul_of_any_strides():
    a, b = rng.standard_normal((4, 6, 5)), rng.standard_normal((4, 5, 7))
    for left in (a, a[:, ::2], a[:, ::-1], a.transpose(1, 0, 2)[:4], np.asfortranarray(a), a[:, :, ::-1]):
        for right in (
            b,
            b[:, :, 1::3],
            np.broadcast_to(b[:1], b.shape),
            np.broadcast_to(b[0, :, :1], (4, 5, 7)),
        ):
            for _ in range(2):
                close(tunesmith.matmul(left, right), np.matmul(left, right))
    square = rng.standard_normal((5, 5))
    close(tunesmith.matmul(square, square.T), square @ square.T)
    out = np.zeros((5, 10))
    assert tunesmith.matmul(square, square, out=out[:, ::2]) is not None
    close(out[:, ::2], square @ square)
    assert not out[:, 1::2].any()
    # In the memory of what is read.
    expected = square @ square
    assert tunesmith.matmul(square, square, out=square) is square
    close(square, expected)


def test_stacks_of_many_dimensions_are_one():
    a = rng.standard_normal((2, 1, 2, 1, 3, 1, 2, 2, 1, 2, 2, 3, 4))
    b = rng.standard_normal((4, 3))
    close(tunesmith.matmul(a, b), np.matmul(a, b))
    apart = rng.standard_normal((3,) * 12)[(slice(None, None, 2),) * 12]
    with pytest.raises(
        ValueError,
        match="need 13 indices, since their dimensions do not lie one behind the other in memory; at most 12 are computed",
    ):
        tunesmith.matmul(apart, np.ones((2, 2)))


@pytest.mark.parametrize("given", list(itertools.product(["int8", "uint8", "int32", "uint64", "float16", "float32", "float64"], repeat=2)))  # fmt: skip
def test_types_are_numpys(given):
    a, b = (rng.integers(0, 3, (3, 3)).astype(dtype) for dtype in given)
    expected = np.matmul(a, b)
    for found in (tunesmith.matmul(a, b), tunesmith.linear(a, b.T), tunesmith.conv(a.T, b.T[:, :, None]).T):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)
    if expected.dtype.kind in "iu" and expected.dtype.itemsize < 4:
        wide = tunesmith.matmul(100 * a, 100 * b, out_dtype="int32")
        assert wide.dtype == np.int32 and np.array_equal(
            wide, (100 * a).astype("i4") @ (100 * b).astype("i4")
        )


def test_less_accuracy_is_for_float32_and_only_if_asked_for():
    a, b = rng.random((3, 40), np.float32), rng.random((40, 5), np.float32)
    image, masks = rng.random((2, 3, 9), np.float32), rng.random((4, 3, 3), np.float32)
    calls = [
        lambda **less: tunesmith.matmul(a, b, **less),
        lambda **less: tunesmith.linear(a, b.T, **less),
        lambda **less: tunesmith.conv(image, masks, **less),
        lambda **less: tunesmith.conv(image, masks, padding=1, **less),
        lambda **less: tunesmith.tensor("c[i,j] += a[i,k] * b[k,j]", a, b, **less),
        lambda **less: tunesmith.tensor("c[i,j] += max(a[i,k], 0.5) * b[k,j]", a, b, **less),
        lambda **less: tunesmith.einsum("ik,kj->ij", a, b, **less),
    ]
    for call in calls:
        for accuracy in ("tf32", "bf16", "full"):
            close(call(accuracy=accuracy), call(), 2e-3)
        for wrong in ("fp8", "TF32", "", None):
            with pytest.raises(ValueError, match="is not allowed; allowed are full, tf32, bf16."):
                call(accuracy=wrong)
    whole, wide = np.arange(6).reshape(2, 3), rng.random((4, 4))
    assert (tunesmith.matmul(whole, whole.T, accuracy="bf16") == whole @ whole.T).all()
    close(tunesmith.matmul(wide, wide, accuracy="tf32"), wide @ wide)
    layouts = [((3, 40), (40, 1)), ((40, 5), (5, 1))]
    problem = _core.matmul_computation("f32", layouts, "out", "", "tf32")[1]
    assert "accuracy=tf32" in problem
    assert "accuracy" not in _core.matmul_computation("f32", layouts, "out", "", "full")[1]


def test_sums_are_finished_with_a_bias():
    x, w, bias = (rng.standard_normal(shape) for shape in ((2, 3, 5), (4, 5), (4,)))
    plain = affine(x, w, bias)
    assert _products._shape_of(_core.linear_computation, [x.shape, w.shape, bias.shape]) == plain.shape
    for finish, function in (
        (None, lambda y: y),
        ("out", lambda y: y),
        ("max(out, 0)", lambda y: np.maximum(y, 0)),
        ("out / (1 + exp(-out))", lambda y: y / (1 + np.exp(-y))),
        ("out > 0 ? pi : 1e-1 * out", lambda y: np.where(y > 0, np.pi, 0.1 * y)),
        ("-out * 2", lambda y: -y * 2),
    ):
        for _ in range(2):
            close(tunesmith.linear(x, w, bias, finish=finish), function(plain))
            close(tunesmith.linear(x, w, finish=finish), function(plain - bias))
            close(tunesmith.matmul(x, w.T, finish=finish), function(x @ w.T))
            close(tunesmith.conv(x, w[:, :3, None], bias, finish=finish), function(convolved(x, w[:, :3, None], bias)))  # fmt: skip
    # Without terms the result is the finish of the bias.
    close(tunesmith.linear(x[..., :0], w[:, :0], bias, finish="max(out, 0)"), np.maximum(np.broadcast_to(bias, (2, 3, 4)), 0))  # fmt: skip
    close(tunesmith.linear(x[0, 0], w, bias), plain[0, 0])
    close(tunesmith.linear(x, w[:1], bias[:1], finish="2 * out"), 2 * plain[..., :1])
    close(tunesmith.linear(x.transpose(1, 0, 2), w[::-1], bias[::-1]), affine(x.transpose(1, 0, 2), w[::-1], bias[::-1]))  # fmt: skip
    assert tunesmith.linear(x, w, bias, out_dtype="float32").dtype == np.float32


def drawn_shapes(draw):
    shapes, settings = drawn_layer(draw)
    return tuple(shapes.values()), settings


@pytest.mark.parametrize("part", range(4))
def test_conv_is_its_loops(part):
    computed = 0
    for seed in range(100 * part, 100 * part + 100):
        draw = Draw(seed)
        (shape, mask, _), settings = drawn_shapes(draw)
        x, w = rng.standard_normal(shape), rng.standard_normal(mask)
        bias = rng.standard_normal(mask[:1]) if draw.chance(0.5) else None
        try:
            expected = convolved(x, w, bias, **settings)
        except ValueError:
            with pytest.raises(ValueError, match="must be as large as they reach"):
                tunesmith.conv(x, w, bias, **settings)
            continue
        computed += 1
        computation = _products._convolution(
            **{"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "channels": "first", **settings}
        )
        arrays = (x, w) if bias is None else (x, w, bias)
        assert _products._shape_of(computation, [one.shape for one in arrays]) == expected.shape
        for _ in range(2):
            close(tunesmith.conv(x, w, bias, **settings), expected)
        out = np.full(expected.shape, np.nan, "f")
        assert tunesmith.conv(x, w, bias, **settings, finish="max(out, 0.25)", out=out) is out
        close(out, np.maximum(expected, 0.25), 1e-5)
    assert computed > 50


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda x: tunesmith.matmul(x[0], x[1].T), 'expression="out[a,b] += x0[a,c] * x1[b,c]" dtype=f64 extents=5x5x7'),
        (lambda x: tunesmith.matmul(x, x[0].T), 'expression="out[a,b] += x0[a,c] * x1[b,c]" dtype=f64 extents=15x5x7'),
        (lambda x: tunesmith.linear(x, x[0]), 'expression="out[a,b] += x0[a,c] * x1[b,c]" dtype=f64 extents=15x5x7'),
        (lambda x: tunesmith.conv(x, x[:2, :, :1]), 'expression="out[a,b,c] += x0[a,d,c] * x1[b,d]" dtype=f64 extents=3x2x7x5'),
        (lambda x: tunesmith.conv(x, x[0, :, None, :4], groups=5, padding=((3, 0),)), 'expression="out[a,b,c] += x0[a,b,c+d-3] * x1[b,d]" dtype=f64 extents=3x5x7x4'),
    ],
)  # fmt: skip
def test_a_call_is_a_line_of_few_indices(call, problem):
    with tunesmith.capture() as used:
        call(rng.standard_normal((3, 5, 7)))
    assert [one["problem"][: len(problem)] for one in used.problems] == [problem]


def test_conv_is_scipys():
    x, w = rng.standard_normal((9, 11)), rng.standard_normal((3, 5))
    for mode, padding in (("valid", 0), ("same", "same"), ("full", (2, 4))):
        close(
            tunesmith.conv(x[None], w[None, None], padding=padding)[0], scipy.signal.correlate2d(x, w, mode)
        )
    cube, mask = rng.standard_normal((5, 6, 7)), rng.standard_normal((3, 2, 3))
    close(tunesmith.conv(cube[None], mask[None, None])[0], scipy.signal.correlate(cube, mask, "valid"))
    close(tunesmith.conv(x[:1], w[:1, None])[0], np.correlate(x[0], w[0]))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not there")
def test_layers_are_torchs():
    import torch

    for seed in range(60):
        draw = Draw(seed)
        (shape, mask, _), settings = drawn_shapes(draw)
        if settings["channels"] == "last" or isinstance(settings.get("padding"), tuple) and isinstance(settings["padding"][0], tuple):  # fmt: skip
            continue
        x, w, bias = (torch.from_numpy(rng.standard_normal(one)) for one in (shape, mask, mask[:1]))
        theirs = {key: value for key, value in settings.items() if key != "channels"}
        try:
            expected = getattr(torch.nn.functional, f"conv{len(mask) - 2}d")(x, w, bias, **theirs)
        except RuntimeError:
            continue
        found = tunesmith.conv(x, w, bias, **settings)
        assert type(found) is torch.Tensor
        close(found.numpy(), expected.numpy())
    x, w, bias = (torch.from_numpy(rng.standard_normal(shape)) for shape in ((2, 3, 5), (4, 5), (4,)))
    close(tunesmith.linear(x, w, bias).numpy(), torch.nn.functional.linear(x, w, bias).numpy())
    close(tunesmith.matmul(x, w.T).numpy(), (x @ w.T).numpy())


def test_conv_of_nothing():
    ones = np.ones((2, 3, 8))
    assert tunesmith.conv(ones[:0], np.ones((4, 3, 3))).shape == (0, 4, 6)
    assert tunesmith.conv(ones, np.ones((0, 3, 3))).shape == (2, 0, 6)
    bias = np.arange(4.0)
    close(tunesmith.conv(ones[:, :0], np.ones((4, 0, 3)), bias), np.broadcast_to(bias[:, None], (2, 4, 6)))
    close(tunesmith.conv(ones[..., :0], np.ones((4, 3, 3)), bias, padding=2), np.broadcast_to(bias[:, None], (2, 4, 2)))  # fmt: skip
    # A single output, which lies beside the image.
    assert np.array_equal(tunesmith.conv(ones, np.ones((1, 3, 1)), stride=20, padding=1), np.zeros((2, 1, 1)))


def test_a_causal_convolution():
    x, w = rng.standard_normal((2, 6, 20)), rng.standard_normal((6, 1, 4))
    found = tunesmith.conv(x, w, padding=((3, 0),), groups=6, finish="out / (1 + exp(-out))")
    line = "out[b,c,t] += x[b,c,t+i-3] * w[c,i]"
    same = tunesmith.tensor(
        line, x, w[:, 0], extents={"t": 20}, zero_outside="x", finish="out / (1 + exp(-out))"
    )
    close(found, same)
    x[:, :, 10:] = 0
    assert np.array_equal(tunesmith.conv(x, w, padding=((3, 0),), groups=6)[..., :10], tunesmith.conv(x[..., :10], w, padding=((3, 0),), groups=6))  # fmt: skip


image, mask = np.ones((2, 4, 8, 9)), np.ones((6, 4, 3, 3))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tunesmith.conv(image, mask[:, :2]), ValueError, r"x of the shape \(2, 4, 8, 9\), \(batch, channels, …\), w of \(6, 2, 3, 3\) and groups=1; x needs groups times"),
        (lambda: tunesmith.conv(image, mask, channels="last"), ValueError, r"\(batch, …, channels\)"),
        (lambda: tunesmith.conv(image, mask, channels="middle"), ValueError, "channels='middle'; allowed are 'first' and 'last'"),
        (lambda: tunesmith.conv(image, mask[:, :1], groups=4), ValueError, "outputs, 6, must be a multiple of groups"),
        (lambda: tunesmith.conv(image, mask, groups=0), ValueError, "groups=0"),
        (lambda: tunesmith.conv(image, mask[0, 0]), ValueError, "one to three dimensions of taps"),
        (lambda: tunesmith.conv(image, np.ones((1, 4, 1, 1, 1, 1))), ValueError, "one to three dimensions of taps"),
        (lambda: tunesmith.conv(image[0, 0], mask), ValueError, "so x needs 4, .* or 3 without a batch"),
        (lambda: tunesmith.conv(image, mask, np.ones(5)), ValueError, r"a bias of the shape \(5,\); w of \(6, 4, 3, 3\) needs one of \(6,\)"),
        (lambda: tunesmith.conv(image, mask, stride=0), ValueError, "stride=0; allowed are 1 to 1048576"),
        (lambda: tunesmith.conv(image, mask, dilation=(1, 2**21)), ValueError, r"dilation=\(1, 2097152\); allowed are 1 to 1048576"),
        (lambda: tunesmith.conv(image, mask, stride=(1, 2, 3)), ValueError, "3 numbers; w has 2 dimensions of taps, so one number or 2 are allowed"),
        (lambda: tunesmith.conv(image, mask, padding=-1), ValueError, "padding=-1; allowed are 0 to 1048576"),
        (lambda: tunesmith.conv(image, mask, padding=(1, 2, 3)), ValueError, "for 2 dimensions of taps; one number or 2 are allowed"),
        (lambda: tunesmith.conv(image, mask, padding=((1, 2, 3), 1)), ValueError, "or pairs of such numbers"),
        (lambda: tunesmith.conv(image, mask, padding="full"), ValueError, "padding='full'; allowed are 'same', 'valid'"),
        (lambda: tunesmith.conv(image, mask, padding="same", stride=2), ValueError, "padding='same' and stride=\\[2, 2\\]"),
        (lambda: tunesmith.conv(image, mask, dilation=4), ValueError, "has 8 elements along a dimension and 0 zeros around them, but a mask's 3 taps reach over 9; "),
        (lambda: tunesmith.conv(image, mask[..., :0]), ValueError, "has taps=3x0; each dimension needs a number from 1"),
        (lambda: tunesmith.conv(image, mask, stride=1.5), TypeError, "integer"),
        (lambda: tunesmith.linear(image, mask), ValueError, r"x of the shape \(2, 4, 8, 9\) and w of \(6, 4, 3, 3\); w needs two dimensions"),
        (lambda: tunesmith.linear(image, np.ones((4, 8))), ValueError, "x's last extent is the inputs"),
        (lambda: tunesmith.linear(np.float64(3), np.ones((4, 8))), ValueError, r"x of the shape \(\)"),
        (lambda: tunesmith.linear(image, np.ones((4, 9)), np.ones((1, 4))), ValueError, r"a bias of the shape \(1, 4\)"),
        (lambda: tunesmith.matmul(mask, mask, finish="max(out + b[0], 0)"), ValueError, "names b; it is a function of out, the sum with its bias, alone"),
        (lambda: tunesmith.linear(image, np.ones((4, 9)), np.ones(4), finish="out + "), ValueError, 'Its finish is "out \\+ "'),
        (lambda: tunesmith.matmul(mask, mask, finish="3"), ValueError, "does not name out"),
        (lambda: tunesmith.matmul(mask, mask, finish=""), ValueError, 'Its finish is ""'),
        (lambda: tunesmith.matmul(mask, mask, finish="relu(out)"), ValueError, "There is no function 'relu'"),
        (lambda: tunesmith.matmul(mask, mask, finish=3), TypeError, "it must be a text such as"),
        (lambda: tunesmith.matmul(mask, mask, out=np.ones(3)), ValueError, r"out= has the shape \(3,\)"),
        (lambda: tunesmith.matmul(mask, mask, out=np.ones(mask.shape, "i4")), TypeError, "same_kind"),
        (lambda: tunesmith.matmul(mask > 0, mask > 0), TypeError, r"Arrays of bool were given; matmul\(\) computes with numbers"),
        (lambda: tunesmith.conv(1j * image, mask), TypeError, r"complex128 was given; conv\(\) of complex numbers is not supported"),
        (lambda: tunesmith.matmul(mask.astype("u8"), mask.astype("u8"), finish="max(out, 1)"), TypeError, "A finish of uint64 is not computed"),
        (lambda: tunesmith.matmul(mask, mask, out_dtype="int8"), TypeError, "The result's type is int8; allowed are float64"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_operators_for_pytorch_use_what_is_there():
    """torch_ops.py and what it needs PyTorch for, read: importing them would need it, and the shapes of results are asked for by torch.compile alone."""
    folder = pathlib.Path(tunesmith.__file__).parent

    def tree_of(name: str) -> ast.Module:
        return ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))

    def module_of(name: str):
        if name != "_derivatives":
            return importlib.import_module(f"tunesmith.{name}")
        names = {one.name: one for one in tree_of(name).body if isinstance(one, ast.FunctionDef)}
        return types.SimpleNamespace(__name__=name, **names)

    used = []
    for tree in (tree_of("torch_ops"), tree_of("_derivatives")):
        modules = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                if node.module is None:
                    modules |= {one.name: module_of(one.name) for one in node.names}
                else:
                    used += [(module_of(node.module), one.name) for one in node.names]
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in modules
            ):
                used.append((modules[node.value.id], node.attr))
    assert len(used) > 15
    assert [f"{module.__name__}.{name}" for module, name in used if not hasattr(module, name)] == []
