# SPDX-License-Identifier: Apache-2.0
"""Derivatives of PyTorch's operators (torch_ops). Each is computed by operators of the same kind, so it has a derivative itself: that of a product is
a product, that of correlate is convolve, that of a symmetric filter is the filter."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ._borders import boundary_word
from ._core import samples_at
from ._tensors import einsum_derivative

_ops = torch.ops.tunesmith
_most_taps_of_conv = 3  # dimensions


def without(op, name: str, why: str) -> None:
    """Registers that an operator has no derivative, with a sentence that is raised where one is asked for."""

    def backward(ctx, gradient):
        raise NotImplementedError(f"torch.ops.tunesmith.{name} has no derivative: {why}")

    op.register_autograd(backward)


def _as(like: Tensor, gradient: Tensor | None) -> Tensor | None:
    """The gradient in the input's type, which may be narrower than the result's."""
    return None if gradient is None else gradient.to(like.dtype)


# ---- Filters: out[i] = the sum of w[j] * x[i + j - before], where x has elements outside by its boundary mode ----


def _folded(padded: Tensor, before: Sequence[int], shape: Sequence[int], mode: str) -> Tensor:
    """Transposes _extended(): elements outside are added to those that they repeat."""
    for axis, (start, extent) in enumerate(zip(before, shape)):
        count = int(padded.shape[axis])
        if count == extent:
            continue
        if boundary_word(mode) == "constant":
            padded = padded.narrow(axis, start, extent)
            continue
        places = torch.tensor(
            samples_at(-start, count, int(extent), boundary_word(mode)), device=padded.device
        )
        folded = padded.shape[:axis] + (extent,) + padded.shape[axis + 1 :]
        padded = padded.new_zeros(folded).index_add(axis, places, padded)
    return padded


def _extended(x: Tensor, before: Sequence[int], behind: Sequence[int], mode: str, cval: float) -> Tensor:
    """The image with the elements outside."""
    if boundary_word(mode) == "constant":
        return _padded(x, before, behind, cval)
    for axis, (start, end) in enumerate(zip(before, behind)):
        extent = int(x.shape[axis])
        if start or end:
            places = samples_at(-start, extent + start + end, extent, boundary_word(mode))
            x = x.index_select(axis, torch.tensor(places, device=x.device))
    return x


def _padded(x: Tensor, before: Sequence[int], behind: Sequence[int], value: float = 0.0) -> Tensor:
    """With a value around the last dimensions; less than 0 elements cut."""
    pads = [one for pair in zip(reversed(before), reversed(behind)) for one in pair]
    return torch.nn.functional.pad(x, pads, value=value)


def image_filter(op, adjoint, mirrored: bool) -> None:
    """The derivative of correlate, or of convolve (mirrored), with the other of the two."""

    def setup(ctx, inputs, output):
        x, w, ctx.mode, ctx.cval = inputs
        ctx.save_for_backward(x, w)

    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        middle, rest = [k // 2 for k in w.shape], [k - 1 - k // 2 for k in w.shape]
        before, behind = (rest, middle) if mirrored else (middle, rest)
        for_x = for_w = None
        if ctx.needs_input_grad[0]:
            for_x = _folded(
                adjoint(_padded(gradient, before, behind), w, "constant"), before, x.shape, ctx.mode
            )
        if ctx.needs_input_grad[1]:
            for_w = _windows(_extended(x, before, behind, ctx.mode, ctx.cval), gradient)
            for_w = for_w.flip(*range(w.ndim)) if mirrored else for_w
        return _as(x, for_x), _as(w, for_w), None, None

    op.register_autograd(backward, setup_context=setup)


def _windows(x: Tensor, g: Tensor) -> Tensor:
    """out[j] = the sum of x[i + j] * g[i]."""
    if 1 <= g.ndim <= _most_taps_of_conv:
        return _ops.conv(x[None, None], g[None, None])[0, 0]
    i, j = ([f"{name}{k}" for k in range(g.ndim)] for name in "ij")
    places = ",".join(f"{a}+{b}" for a, b in zip(i, j))
    return _ops.tensor(f"out[{','.join(j)}] += x[{places}] * g[{','.join(i)}]", [x, g])


def symmetric_filter(op, reaches) -> None:
    """The derivative of a filter with one setting, whose window reaches(setting) elements before and behind along each axis: the filter itself,
    mirrored where an even window lies to one side."""

    def setup(ctx, inputs, output):
        x, ctx.setting, ctx.mode, ctx.cval = inputs
        ctx.shape = x.shape

    def backward(ctx, gradient):
        before, behind = reaches(ctx.setting)
        if before == behind and boundary_word(ctx.mode) in ("reflect", "wrap", "constant"):
            return op(gradient, ctx.setting, ctx.mode), None, None, None  # its matrix is symmetric
        axes = list(range(gradient.ndim))
        starts, ends = [before] * len(axes), [behind] * len(axes)
        padded = _padded(gradient, starts, ends).flip(axes)
        padded = op(padded, ctx.setting, "constant").flip(axes)
        return _folded(padded, starts, ctx.shape, ctx.mode), None, None, None

    op.register_autograd(backward, setup_context=setup)


def gaussian_reaches(sigma: float) -> tuple[int, int]:
    radius = int(4.0 * sigma + 0.5)  # as ndimage, with its truncate=4.0
    return radius, radius


def uniform_reaches(size: int) -> tuple[int, int]:
    return size // 2, size - 1 - size // 2


def line_filter(op) -> None:
    """The derivative of NumPy's convolve: out is a part of the full sums of a[t - s] * v[s]."""

    def setup(ctx, inputs, output):
        a, v, ctx.mode = inputs
        ctx.save_for_backward(a, v)

    def backward(ctx, gradient):
        a, v = ctx.saved_tensors
        least = builtins.min(a.shape[0], v.shape[0])
        before = {"full": 0, "same": (least - 1) // 2, "valid": least - 1}[ctx.mode]
        full = _padded(gradient, [before], [a.shape[0] + v.shape[0] - 1 - before - gradient.shape[0]])
        for_a = op(full, v.flip(0), "valid") if ctx.needs_input_grad[0] else None
        for_v = op(full, a.flip(0), "valid") if ctx.needs_input_grad[1] else None
        return _as(a, for_a), _as(v, for_v), None

    op.register_autograd(backward, setup_context=setup)


# ---- Permutations, sums and extremes ----


def permutation(op) -> None:
    def setup(ctx, inputs, output):
        x, dims = inputs
        ctx.back = [0] * x.ndim
        for place, axis in enumerate(dims):
            ctx.back[axis % x.ndim] = place

    op.register_autograd(lambda ctx, gradient: (op(gradient, ctx.back), None), setup_context=setup)


def _axes(ndim: int, dim: Sequence[int] | None) -> list[int]:
    return sorted(range(ndim) if dim is None else (axis % ndim for axis in dim))


def _kept(reduced: Tensor, axes: Sequence[int], keepdim: bool) -> Tensor:
    for axis in () if keepdim else axes:
        reduced = reduced.unsqueeze(axis)
    return reduced


def sums(op, is_mean: bool) -> None:
    def setup(ctx, inputs, output):
        x, dim, ctx.keepdim = inputs
        ctx.shape, ctx.dtype, ctx.axes = x.shape, x.dtype, _axes(x.ndim, dim)

    def backward(ctx, gradient):
        spread = _kept(gradient, ctx.axes, ctx.keepdim).expand(ctx.shape)
        if is_mean:
            spread = spread / math.prod(ctx.shape[axis] for axis in ctx.axes)
        return spread.to(ctx.dtype), None, None

    op.register_autograd(backward, setup_context=setup)


def extremes(op) -> None:
    """As torch.amax: elements that are equally large share the derivative."""

    def setup(ctx, inputs, output):
        x, dim, ctx.keepdim = inputs
        ctx.axes = _axes(x.ndim, dim)
        ctx.save_for_backward(x, output)

    def backward(ctx, gradient):
        x, output = ctx.saved_tensors
        where = (x == _kept(output, ctx.axes, ctx.keepdim)).to(gradient.dtype)
        count = where.sum(ctx.axes, keepdim=True) if ctx.axes else where
        return where * (_kept(gradient, ctx.axes, ctx.keepdim) / count), None, None

    op.register_autograd(backward, setup_context=setup)


# ---- Products ----


def einsum_product(op) -> None:
    def setup(ctx, inputs, output):
        ctx.subscripts, arrays = inputs
        ctx.save_for_backward(*arrays)

    def backward(ctx, gradient):
        arrays = ctx.saved_tensors
        shapes = [tuple(one.shape) for one in arrays]
        found: list[Tensor | None] = [None] * len(arrays)
        for k, one in enumerate(arrays):
            if not ctx.needs_input_grad[1][k]:
                continue
            subscripts, diagonals, is_there = einsum_derivative(ctx.subscripts, shapes, k)
            units = [torch.eye(n, dtype=gradient.dtype, device=gradient.device) for n in diagonals]
            value = op(subscripts, [gradient, *arrays[:k], *arrays[k + 1 :], *units])
            value = value[tuple(slice(None) if there else None for there in is_there)]
            found[k] = _as(one, value.expand(one.shape))
        return None, found

    op.register_autograd(backward, setup_context=setup)


def _no_finish(name: str, finish: str) -> None:
    if finish != "out":
        raise NotImplementedError(
            f"torch.ops.tunesmith.{name} has no derivative with finish={finish!r}; leave it out and compute it from the result "
            "by operators of PyTorch, or detach() the inputs."
        )


def matrix_product(op) -> None:
    def setup(ctx, inputs, output):
        a, b, ctx.finish = inputs
        ctx.save_for_backward(a, b)

    def backward(ctx, gradient):
        _no_finish("matmul", ctx.finish)
        a, b = ctx.saved_tensors
        if a.ndim == 1 and b.ndim == 1:
            return _as(a, gradient * b), _as(b, gradient * a), None
        left, right = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
        if a.ndim == 1:
            gradient = gradient.unsqueeze(-2)
        if b.ndim == 1:
            gradient = gradient.unsqueeze(-1)
        for_a = for_b = None
        if ctx.needs_input_grad[0]:
            for_a = op(gradient, right.mT).sum_to_size(left.shape).reshape(a.shape)
        if ctx.needs_input_grad[1]:
            for_b = op(left.mT, gradient).sum_to_size(right.shape).reshape(b.shape)
        return _as(a, for_a), _as(b, for_b), None

    op.register_autograd(backward, setup_context=setup)


def linear_layer(op) -> None:
    def setup(ctx, inputs, output):
        x, w, bias, ctx.finish = inputs
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.save_for_backward(x, w)

    def backward(ctx, gradient):
        _no_finish("linear", ctx.finish)
        x, w = ctx.saved_tensors
        rows = gradient.reshape(-1, w.shape[0])
        for_x = for_w = for_bias = None
        if ctx.needs_input_grad[0]:
            for_x = _ops.matmul(gradient, w)
        if ctx.needs_input_grad[1]:
            for_w = _ops.matmul(rows.T, x.reshape(-1, w.shape[1]))
        if ctx.bias_dtype is not None and ctx.needs_input_grad[2]:
            for_bias = _ops.sum(rows, [0]).to(ctx.bias_dtype)
        return _as(x, for_x), _as(w, for_w), for_bias, None

    op.register_autograd(backward, setup_context=setup)


def conv_layer(op) -> None:
    def setup(ctx, inputs, output):
        x, w, bias, ctx.stride, ctx.padding, ctx.dilation, ctx.groups, ctx.finish, ctx.channels = inputs
        ctx.bias_dtype = None if bias is None else bias.dtype
        ctx.save_for_backward(x, w)

    def backward(ctx, gradient):
        _no_finish("conv", ctx.finish)
        x, w = ctx.saved_tensors
        given_shape, dims, groups = x.shape, w.ndim - 2, ctx.groups
        taps = w.shape[2:]

        def each(value, default):
            value = value or [default]
            return list(value) * dims if len(value) == 1 else list(value)

        strides, pads, dilations = each(ctx.stride, 1), each(ctx.padding, 0), each(ctx.dilation, 1)
        if ctx.channels == "last":
            x, gradient = x.movedim(-1, -1 - dims), gradient.movedim(-1, -1 - dims)
        if x.ndim == dims + 1:
            x, gradient = x[None], gradient[None]
        batch, sizes = x.shape[0], x.shape[2:]
        each_in, each_out = w.shape[1], w.shape[0] // groups
        reaches = [step * (tap - 1) for step, tap in zip(dilations, taps)]
        for_x = for_w = for_bias = None
        if ctx.needs_input_grad[0]:
            # The gradient, with the strides' gaps, under the mirrored mask.
            apart = gradient
            for axis, step in enumerate(strides, 2):
                if step > 1:
                    spread = torch.stack([apart, *[torch.zeros_like(apart)] * (step - 1)], axis + 1)
                    apart = spread.flatten(axis, axis + 1).narrow(axis, 0, (apart.shape[axis] - 1) * step + 1)
            before = [reach - pad for reach, pad in zip(reaches, pads)]
            behind = [
                size + reach - have - start
                for size, reach, have, start in zip(sizes, reaches, apart.shape[2:], before)
            ]
            mask = w.reshape(groups, each_out, each_in, *taps).transpose(1, 2)
            mask = mask.reshape(groups * each_in, each_out, *taps).flip(*range(2, 2 + dims))
            for_x = op(_padded(apart, before, behind), mask, None, None, None, dilations, groups)
            for_x = for_x.movedim(-1 - dims, -1) if ctx.channels == "last" else for_x
            for_x = for_x.reshape(given_shape)
        if ctx.needs_input_grad[1]:
            # Windows of the image under the gradient, as its mask: batches are channels, and channels are batches.
            needed = [
                (count - 1) * step + reach + 1
                for count, step, reach in zip(gradient.shape[2:], strides, reaches)
            ]
            image = _padded(x, pads, [have - pad - size for have, pad, size in zip(needed, pads, sizes)])
            image = image.reshape(batch, groups, each_in, *needed).movedim(2, 0).transpose(1, 2)
            for_w = op(
                image.reshape(each_in, groups * batch, *needed),
                gradient.transpose(0, 1),
                None,
                dilations,
                None,
                strides,
                groups,
            ).transpose(0, 1)
        if ctx.bias_dtype is not None and ctx.needs_input_grad[2]:
            for_bias = _ops.sum(gradient, [0, *range(2, 2 + dims)]).to(ctx.bias_dtype)
        return _as(x, for_x), _as(w, for_w), for_bias, None, None, None, None, None, None

    op.register_autograd(backward, setup_context=setup)
