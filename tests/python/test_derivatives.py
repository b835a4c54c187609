# SPDX-License-Identifier: Apache-2.0
"""Tests the derivatives of the operators for PyTorch, with differences of float64 on the host. The subscripts of einsum's are tested without PyTorch."""

import functools
import importlib.util
import itertools

import numpy as np
import pytest
from tunesmith._tensors import einsum_derivative

modes = ("reflect", "mirror", "nearest", "wrap", "constant")

products = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk,kl", [(2, 3), (3, 2), (2, 3)]),
    ("ij->ji", [(2, 3)]),
    ("ij->j", [(2, 3)]),  # an index that one operand has, and the result has not
    ("ij,k->k", [(2, 3), (2,)]),
    ("ii->i", [(3, 3)]),  # a diagonal
    ("ii", [(3, 3)]),
    ("iij,ij->j", [(2, 2, 3), (2, 3)]),
    ("iii,i", [(2, 2, 2), (2,)]),
    ("ij,ij->i", [(2, 3), (2, 1)]),  # broadcast
    ("ij,ij->i", [(1, 3), (2, 1)]),
    ("ij,ij", [(1, 1), (2, 3)]),
    ("i,i->", [(4,), (1,)]),
    ("...ij,...jk->...ik", [(2, 3, 2), (2, 3)]),
    ("ii,ij->j", [(1, 1), (3, 2)]),
]


@pytest.mark.parametrize("subscripts, shapes", products)
def test_the_derivative_of_an_einsum_is_an_einsum(subscripts, shapes):
    draw = np.random.default_rng(3)
    arrays = [draw.random(shape) for shape in shapes]
    weights = draw.random(np.einsum(subscripts, *arrays).shape)
    for k, one in enumerate(arrays):
        text, diagonals, is_there = einsum_derivative(subscripts, shapes, k)
        units = [np.eye(extent) for extent in diagonals]
        found = np.einsum(text, weights, *arrays[:k], *arrays[k + 1 :], *units)
        found = np.broadcast_to(found[tuple(slice(None) if is_it else None for is_it in is_there)], one.shape)
        for place in np.ndindex(
            one.shape
        ):  # einsum is linear in each operand, so a unit element gives the exact derivative
            unit = np.zeros(one.shape)
            unit[place] = 1
            value = np.einsum(subscripts, *arrays[:k], unit, *arrays[k + 1 :])
            assert found[place] == pytest.approx((value * weights).sum())


without_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


def drawn(*shape):
    import torch

    made = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.rand(shape, dtype=torch.float64, generator=made, requires_grad=True)


def operators():
    import torch
    import tunesmith.torch_ops  # noqa: F401

    return torch.ops.tunesmith


def is_right(function, *inputs, twice=True):
    import torch

    assert torch.autograd.gradcheck(function, inputs)
    if twice:
        assert torch.autograd.gradgradcheck(function, inputs)


@without_torch
@pytest.mark.parametrize("mode", modes)
@pytest.mark.parametrize("name", ["correlate", "convolve"])
@pytest.mark.parametrize(
    "image, mask", [((5,), (3,)), ((4,), (2,)), ((2,), (7,)), ((4, 5), (3, 2)), ((3, 4, 2), (1, 3, 2))]
)
def test_filters_with_masks(name, image, mask, mode):
    op = getattr(operators(), name)
    is_right(lambda x, w: op(x, w, mode, 0.5), drawn(*image), drawn(*mask), twice=len(image) < 3)


@without_torch
def test_a_mask_of_four_dimensions():  # the derivative by its weights is no conv
    op = operators().correlate
    is_right(lambda x, w: op(x, w, "mirror"), drawn(2, 3, 1, 2), drawn(1, 2, 1, 3), twice=False)


@without_torch
@pytest.mark.parametrize("mode", modes)
def test_filters_with_settings(mode):
    ops = operators()
    is_right(lambda x: ops.gaussian_filter(x, 0.7, mode, 0.5), drawn(5, 4))
    is_right(lambda x: ops.gaussian_filter(x, 2.0, mode), drawn(3))  # a window beyond both ends
    for size in (1, 2, 3, 4, 7):
        mean = functools.partial(ops.uniform_filter, size=size, mode=mode, cval=0.5)
        is_right(mean, drawn(4, 3), twice=size < 4)


@without_torch
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("a, v", [(5, 3), (6, 2), (2, 5), (4, 4), (1, 1)])
def test_lines(a, v, mode):
    is_right(lambda x, y: operators().convolve1d(x, y, mode), drawn(a), drawn(v))


@without_torch
@pytest.mark.parametrize("subscripts, shapes", products)
def test_einsum(subscripts, shapes):
    is_right(lambda *arrays: operators().einsum(subscripts, list(arrays)), *(drawn(*one) for one in shapes))


@without_torch
@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((4, 2, 3), (3, 2)),
        ((4, 1, 2, 3), (2, 3, 2)),
        ((3,), (2, 3, 2)),
        ((2, 2, 3), (3,)),
    ],
)
def test_matmul(a, b):
    is_right(lambda x, y: operators().matmul(x, y), drawn(*a), drawn(*b))


@without_torch
@pytest.mark.parametrize("x", [(3,), (4, 3), (2, 2, 3)])
def test_linear(x):
    ops = operators()
    is_right(lambda x, w: ops.linear(x, w), drawn(*x), drawn(2, 3))
    is_right(lambda x, w, bias: ops.linear(x, w, bias), drawn(*x), drawn(2, 3), drawn(2))


@without_torch
@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize(
    "x, w, settings",
    [
        ((2, 3, 6), (4, 3, 3), {}),
        ((3, 6), (4, 3, 3), {}),  # no batch
        ((1, 2, 7), (2, 2, 3), {"stride": [2], "padding": [1]}),
        (
            (2, 2, 8),
            (2, 2, 2),
            {"stride": [3], "padding": [4], "dilation": [2]},
        ),  # a border wider than the mask
        ((2, 4, 6), (6, 2, 2), {"groups": 2, "stride": [2]}),
        ((1, 3, 5), (3, 1, 3), {"groups": 3, "padding": [1]}),
        ((1, 2, 6, 5), (2, 2, 3, 2), {"stride": [2, 1], "padding": [1, 0], "dilation": [1, 2]}),
        ((1, 4, 3, 4, 4), (2, 2, 2, 1, 2), {"stride": [1, 3, 2], "padding": [0, 1, 1], "groups": 2}),
    ],
)
def test_conv(x, w, settings, channels):
    ops = operators()
    x = (
        (*x[: len(x) - len(w) + 1], *x[len(x) - len(w) + 2 :], x[len(x) - len(w) + 1])
        if channels == "last"
        else x
    )
    twice = len(w) < 5
    is_right(lambda x, w: ops.conv(x, w, channels=channels, **settings), drawn(*x), drawn(*w), twice=twice)
    is_right(
        lambda x, w, bias: ops.conv(x, w, bias, channels=channels, **settings),
        drawn(*x),
        drawn(*w),
        drawn(w[0]),
        twice=False,
    )


@without_torch
def test_permutations_sums_and_extremes():
    ops, x = operators(), drawn(2, 3, 4)
    is_right(lambda x: ops.permute(x, [2, 0, -2]), x)
    for dim, keepdim in itertools.product((None, [1], [0, -1], [-1, 0]), (False, True)):
        for op in (ops.sum, ops.mean, ops.min, ops.max):
            is_right(functools.partial(op, dim=dim, keepdim=keepdim), x, twice=op != ops.max)


@without_torch
def test_equal_elements_share_the_derivative_of_an_extreme():
    import torch

    x = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    operators().max(x).backward()
    assert x.grad.tolist() == [0.5, 0, 0.5]


@without_torch
def test_types_of_derivatives_are_those_of_the_inputs():
    import torch

    x = torch.rand(4, 3, requires_grad=True)
    w = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    operators().linear(x, w).sum().backward()
    assert (x.grad.dtype, w.grad.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(w.grad, x.detach().sum(0).double().expand(2, 3))


@without_torch
def test_an_operator_without_a_derivative_says_what_to_do():
    x = drawn(3, 3)
    ops = operators()
    for result, what in (
        (
            ops.elementwise("p * p", [x]),
            "elementwise has no derivative: compute it by operators of PyTorch, or det",
        ),
        (
            ops.tensor("y[j] += x[i,j]", [x]),
            "tensor has no derivative: write products with einsum, matmul, linear",
        ),
        (ops.matmul(x, x, "max(out, 0)"), "matmul has no derivative with finish='max(out, 0)'; leave it out"),
        (ops.linear(x, x, None, "2 * out"), "linear has no derivative with finish"),
        (ops.conv(x, x[:, :, None], finish="2 * out"), "conv has no derivative with finish"),
    ):
        with pytest.raises(NotImplementedError) as refusal:
            result.sum().backward()
        assert what in str(refusal.value)
    with pytest.raises(TypeError, match="torch.ops.tunesmith"):
        import tunesmith

        tunesmith.sum(x)


@without_torch
def test_compile_takes_derivatives_whole():
    import torch

    ops = operators()

    def loss(x, w, layer):
        y = ops.gaussian_filter(ops.correlate(x, w, "nearest"), 1.0, "mirror")
        z = ops.conv(y[None, None], w[None, None], stride=[2, 1]).flatten()
        return ops.sum(ops.einsum("ij,jk->ik", [y, layer]) ** 2) + ops.linear(z[None], z[None]).sum()

    inputs = [drawn(6, 5), drawn(3, 2), drawn(5, 2)]
    expected = torch.autograd.grad(loss(*inputs), inputs)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for found, right in zip(torch.autograd.grad(compiled(*inputs), inputs), expected):
        torch.testing.assert_close(found, right)
