# SPDX-License-Identifier: Apache-2.0
"""Tests the operators for PyTorch, also within torch.compile."""

import pytest

torch = pytest.importorskip("torch")

import tunesmith.torch_ops  # noqa: E402, F401

ops = torch.ops.tunesmith
device = "cuda" if torch.cuda.is_available() else "cpu"


def cases():
    x, w = torch.rand(7, 9, device=device), torch.rand(3, 3, device=device)
    padded = torch.nn.functional.pad(x[None, None], (1, 1, 1, 1), mode="replicate")
    return [
        (ops.correlate, (x, w, "nearest"), torch.nn.functional.conv2d(padded, w[None, None])[0, 0]),
        (ops.convolve, (x, w, "nearest"), torch.nn.functional.conv2d(padded, w.flip(0, 1)[None, None])[0, 0]),
        (ops.uniform_filter, (x, 1), x),
        (ops.gaussian_filter, (torch.ones_like(x), 1.0), torch.ones_like(x)),
        (
            ops.convolve1d,
            (x[0], w[0], "valid"),
            torch.nn.functional.conv1d(x[None, None, 0], w[0].flip(0)[None, None])[0, 0],
        ),
        (ops.permute, (x, [1, 0]), x.T.contiguous()),
        (ops.sum, (x, [0]), x.sum(0)),
        (ops.sum, (x.int(), None), x.int().sum()),
        (ops.mean, (x, [-1], True), x.mean(-1, keepdim=True)),
        (ops.max, (x, [1]), x.amax(1)),
        (ops.min, (x,), x.amin()),
        (ops.elementwise, ("p * q + 1", [x, x[:1]]), x * x[:1] + 1),
        (ops.tensor, ("y[j,i] += x[i,k] * w[j,k+l]", [x, x], "l=1"), x @ x.T),
        (
            ops.tensor,
            ("y[i] += x[i+j,0] * x[i+j,k]", [x], "j=2"),
            (x[:, :1] * x).sum(1).unfold(0, 2, 1).sum(1),
        ),
        (
            ops.tensor,
            ("y[j] max= x[i,j] + w[0,0]", [x.int(), w.double()]),
            x.int().amax(0).double() + w[0, 0].double(),
        ),
        (ops.einsum, ("ij,...j->...i", [w[:, :3], x[:, :3]]), x[:, :3] @ w.T),
        (ops.matmul, (x, x.T), x @ x.T),
        (ops.matmul, (x[0], x.T.expand(4, -1, -1), "max(out, 1)"), (x[0] @ x.T).clamp(min=1).expand(4, -1)),
        (ops.linear, (x, x[:3]), x @ x[:3].T),
        (
            ops.linear,
            (x.int(), x[:3], x[:3, 0], "2 * out"),
            2 * (x.int().double() @ x[:3].double().T + x[:3, 0]),
        ),
        (ops.conv, (x[:, None], w[:, None, :1]), torch.nn.functional.conv1d(x[:, None], w[:, None, :1])),
        (
            ops.conv,
            (x[None, None], w[None, None], w[0, :1], [1, 2], [1, 0], [2, 1], 1, "max(out, 0)"),
            torch.nn.functional.conv2d(x[None, None], w[None, None], w[0, :1], (1, 2), (1, 0), (2, 1)).relu(),
        ),
        (
            ops.conv,
            (x.T, x[:, None, :3], None, None, [2], None, x.shape[0], "out", "last"),
            torch.nn.functional.conv1d(x[None], x[:, None, :3], padding=2, groups=x.shape[0])[0].T,
        ),
        (ops.einsum, ("ij,jk,k", [x.T, x, x[0]]), x.T @ x @ x[0]),
    ]


def with_derivative(value):
    is_real = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.detach().clone().requires_grad_() if is_real else value


@pytest.mark.parametrize("number", range(len(cases())))
def test_it_is_right_and_its_shape_is_known(number):
    op, arguments, expected = cases()[number]
    found = op(*arguments)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    torch.library.opcheck(op.default, arguments, test_utils=("test_schema", "test_faketensor"))
    has_finish = any(isinstance(one, str) and "out" in one and one != "out" for one in arguments)
    if op not in (ops.elementwise, ops.tensor) and not has_finish:  # these have no derivative
        torch.library.opcheck(op.default, torch.utils._pytree.tree_map(with_derivative, arguments))


def test_compile_takes_them_whole():
    def function(x, w):
        y = ops.correlate(x * 2, w, "constant")
        z = ops.einsum("ij,kj->ik", [x, y]) + ops.tensor("z[i,k] += x[i,j] * y[k,j]", [x, y])
        return ops.sum(y, [1]) + ops.elementwise("p + q", [x, y])[:, 0] + z[:, 1]

    x, w = torch.rand(7, 9, device=device), torch.rand(3, 3, device=device)
    compiled = torch.compile(function, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, w), function(x, w))
