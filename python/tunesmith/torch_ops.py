# SPDX-License-Identifier: Apache-2.0
"""Functions of this package as operators of PyTorch: torch.compile(fullgraph=True) takes them, and CUDA graphs capture them.

    import tunesmith.torch_ops
    y = torch.ops.tunesmith.correlate(x, weights, "constant")

Shapes and types are as in the functions of the same names; sums and extremes take `dim` and `keepdim` as in PyTorch. All but tensor and elementwise have derivatives, and
these have derivatives again; an operator with a `finish` has none.
Importing this module needs PyTorch 2.4 or later.
"""

from __future__ import annotations

from typing import List  # noqa: UP035 (custom_op() reads it)

import torch
from torch import Tensor

from . import _derivatives, _products, _reductions, _tensors, ndimage
from ._convolutions import convolve as convolve_arrays
from ._core import linear_computation, matmul_computation, tensor_shape
from ._expressions import Vectorized
from ._transposition import transpose as transpose_array

_functions: dict[str, Vectorized] = {}


def _image_op(function, name):
    def call(image: Tensor, weights: Tensor, mode: str = "reflect", cval: float = 0.0) -> Tensor:
        return function(image, weights, mode=mode, cval=cval)

    op = torch.library.custom_op(f"tunesmith::{name}", call, mutates_args=())
    op.register_fake(
        lambda image, weights, mode="reflect", cval=0.0: torch.empty_like(
            image, memory_format=torch.contiguous_format
        )
    )
    return op


correlate = _image_op(ndimage.correlate, "correlate")
convolve = _image_op(ndimage.convolve, "convolve")


@torch.library.custom_op("tunesmith::gaussian_filter", mutates_args=())
def gaussian_filter(image: Tensor, sigma: float, mode: str = "reflect", cval: float = 0.0) -> Tensor:
    return ndimage.gaussian_filter(image, sigma, mode=mode, cval=cval)


@gaussian_filter.register_fake
def _(image, sigma, mode="reflect", cval=0.0):
    return torch.empty_like(image, memory_format=torch.contiguous_format)


@torch.library.custom_op("tunesmith::uniform_filter", mutates_args=())
def uniform_filter(image: Tensor, size: int = 3, mode: str = "reflect", cval: float = 0.0) -> Tensor:
    return ndimage.uniform_filter(image, size, mode=mode, cval=cval)


@uniform_filter.register_fake
def _(image, size=3, mode="reflect", cval=0.0):
    return torch.empty_like(image, memory_format=torch.contiguous_format)


@torch.library.custom_op("tunesmith::convolve1d", mutates_args=())
def convolve1d(a: Tensor, v: Tensor, mode: str = "full") -> Tensor:
    return convolve_arrays(a, v, mode)


@convolve1d.register_fake
def _(a, v, mode="full"):
    n, k = a.shape[0], v.shape[0]
    length = {"full": n + k - 1, "same": n if n > k else k, "valid": abs(n - k) + 1}[mode]
    return a.new_empty((length,), dtype=torch.promote_types(a.dtype, v.dtype))


@torch.library.custom_op("tunesmith::permute", mutates_args=())
def permute(x: Tensor, dims: List[int]) -> Tensor:  # noqa: UP006
    return transpose_array(x, dims)


@permute.register_fake
def _(x, dims):
    return x.new_empty([x.shape[k] for k in dims])


def _reduction(name):
    function = getattr(_reductions, name)

    def call(x: Tensor, dim: List[int] | None = None, keepdim: bool = False) -> Tensor:  # noqa: UP006
        return function(x, axis=None if dim is None else tuple(dim), keepdims=keepdim)

    op = torch.library.custom_op(f"tunesmith::{name}", call, mutates_args=())

    def fake(x, dim=None, keepdim=False):
        axes = range(x.ndim) if dim is None else [k % x.ndim for k in dim]
        shape = [1 if k in axes else extent for k, extent in enumerate(x.shape) if keepdim or k not in axes]
        dtype = _reductions._result_type(str(x.dtype).removeprefix("torch."), name)
        return x.new_empty(shape, dtype=getattr(torch, dtype))

    op.register_fake(fake)
    return op


sum = _reduction("sum")
mean = _reduction("mean")
min = _reduction("min")
max = _reduction("max")


@torch.library.custom_op("tunesmith::elementwise", mutates_args=())
def elementwise(expression: str, inputs: List[Tensor]) -> Tensor:  # noqa: UP006
    """tunesmith.vectorize(expression)(*inputs)."""
    function = _functions.get(expression)
    if function is None:
        function = _functions[expression] = Vectorized(expression)
    return function(*inputs)


@elementwise.register_fake
def _(expression, inputs):
    dtype = inputs[0].dtype
    for one in inputs[1:]:
        dtype = torch.promote_types(dtype, one.dtype)
    return inputs[0].new_empty(torch.broadcast_shapes(*(one.shape for one in inputs)), dtype=dtype)


def _result(like: Tensor, inputs: List[Tensor], shape, what: str) -> Tensor:  # noqa: UP006
    dtype = _tensors._common_dtype((str(one.dtype).removeprefix("torch.") for one in inputs), what)
    return like.new_empty(shape, dtype=getattr(torch, dtype))


def _sizes(extents: str) -> dict[str, int]:
    return {name: int(extent) for name, _, extent in (field.partition("=") for field in extents.split())}


@torch.library.custom_op("tunesmith::tensor", mutates_args=())
def tensor(expression: str, inputs: List[Tensor], extents: str = "", finish: str = "out") -> Tensor:  # noqa: UP006
    """tunesmith.tensor(expression, *inputs); extents: those that no array fixes, as in "i=3 j=3"."""
    return _tensors.tensor(expression, *inputs, extents=_sizes(extents), finish=finish)


@tensor.register_fake
def _(expression, inputs, extents="", finish="out"):
    shape = tensor_shape(
        expression, [tuple(one.shape) for one in inputs], list(_sizes(extents).items()), finish
    )
    return _result(inputs[0], inputs, shape, "tensor()")


@torch.library.custom_op("tunesmith::einsum", mutates_args=())
def einsum(subscripts: str, inputs: List[Tensor]) -> Tensor:  # noqa: UP006
    return _tensors.einsum(subscripts, *inputs)


@einsum.register_fake
def _(subscripts, inputs):
    shapes = [tuple(one.shape) for one in inputs]
    terms, result = _tensors._subscripts(subscripts, shapes)
    extents = _tensors._extents(terms, shapes)
    return _result(inputs[0], inputs, [extents[letter] for letter in result], "einsum()")


@torch.library.custom_op("tunesmith::matmul", mutates_args=())
def matmul(a: Tensor, b: Tensor, finish: str = "out") -> Tensor:
    return _products.matmul(a, b, finish=finish)


@matmul.register_fake
def _(a, b, finish="out"):
    return _result(a, [a, b], _products._shape_of(matmul_computation, [a.shape, b.shape]), "matmul()")


@torch.library.custom_op("tunesmith::linear", mutates_args=())
def linear(x: Tensor, w: Tensor, bias: Tensor | None = None, finish: str = "out") -> Tensor:
    return _products.linear(x, w, bias, finish=finish)


@linear.register_fake
def _(x, w, bias=None, finish="out"):
    inputs = [x, w] if bias is None else [x, w, bias]
    return _result(
        x, inputs, _products._shape_of(linear_computation, [one.shape for one in inputs]), "linear()"
    )


@torch.library.custom_op("tunesmith::conv", mutates_args=())
def conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    stride: List[int] | None = None,  # noqa: UP006
    padding: List[int] | None = None,  # noqa: UP006
    dilation: List[int] | None = None,  # noqa: UP006
    groups: int = 1,
    finish: str = "out",
    channels: str = "first",
) -> Tensor:
    """tunesmith.conv(); None: 1 (of padding 0) along each dimension."""
    return _products.conv(
        x,
        w,
        bias,
        stride=stride or 1,
        padding=padding or 0,
        dilation=dilation or 1,
        groups=groups,
        finish=finish,
        channels=channels,
    )


@conv.register_fake
def _(x, w, bias=None, stride=None, padding=None, dilation=None, groups=1, finish="out", channels="first"):
    inputs = [x, w] if bias is None else [x, w, bias]
    computation = _products._convolution(stride or 1, padding or 0, dilation or 1, groups, channels)
    return _result(x, inputs, _products._shape_of(computation, [one.shape for one in inputs]), "conv()")


_derivatives.image_filter(correlate, convolve, mirrored=False)
_derivatives.image_filter(convolve, correlate, mirrored=True)
_derivatives.symmetric_filter(gaussian_filter, _derivatives.gaussian_reaches)
_derivatives.symmetric_filter(uniform_filter, _derivatives.uniform_reaches)
_derivatives.line_filter(convolve1d)
_derivatives.permutation(permute)
_derivatives.sums(sum, is_mean=False)
_derivatives.sums(mean, is_mean=True)
_derivatives.extremes(min)
_derivatives.extremes(max)
_derivatives.einsum_product(einsum)
_derivatives.matrix_product(matmul)
_derivatives.linear_layer(linear)
_derivatives.conv_layer(conv)
_derivatives.without(
    tensor,
    "tensor",
    "write products with einsum, matmul, linear or conv, which have one, or detach() the inputs.",
)
_derivatives.without(
    elementwise, "elementwise", "compute it by operators of PyTorch, or detach() the inputs."
)
