# SPDX-License-Identifier: Apache-2.0
"""conv_covariance: the sum of the original Numba kernel, added to the diagonal blocks of `input` in place. Each launch
adds it again, so `input` is restored before the launch that is checked."""

import functools

import contenders as of
import torch
from timing import Case, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs


def case(batch, channels, side, mask, goals):
    return Case(
        name=f"batch {batch}, {channels} channels, {side}×{side}, {mask}×{mask}",
        problem=f"batch={batch} channels_out={channels} channels_in={channels} height={side} width={side} "
        f"mask_height={mask} mask_width={mask}",
        goals=goals + "; apart <= 1.02 best peer",
        batch=batch,
        channels=channels,
        side=side,
        mask=mask,
        out=side - mask + 1,
    )


CASES = [case(2, 3, 9, 3, "apart <= 3 us"), case(4, 3, 34, 3, "apart <= 45 us")]


def inputs(case):
    b, c, side, out = case.batch, case.channels, case.side, case.out
    return (
        of.random(case, (b, c, out, out, c, out, out)),
        of.random(case, (b, c, side, side, c, side, side)),
        of.random(case, (b, c, side, side)),
        of.random(case, (c,)),
    )


def diagonal(blocks):
    """A view of the blocks of each channel with itself: batch, i, j, i', j', channel."""
    return torch.diagonal(blocks, dim1=1, dim2=4)


def windowed(case, pairs):
    """The sum over the mask's offsets of pairs (batch, i, j, i', j')."""
    total = 0
    for i in range(case.mask):
        for j in range(case.mask):
            y, x = slice(i, i + case.out), slice(j, j + case.out)
            total = total + pairs[:, y, x, y, x]
    return total


def pairs_of(gamma, mu):
    return torch.einsum("bcij,bckl->bijkl", mu, mu) + diagonal(gamma).sum(-1)


def expected(case, before, gamma, mu, c):
    """The bound is the op's: (2 n + 2) u |c| sum of the absolute summands, and one rounding of the result."""
    value = before.double()
    diagonal(value).add_(windowed(case, pairs_of(gamma.double(), mu.double()))[..., None] * c.double())
    bound = torch.zeros_like(value)
    size = windowed(case, pairs_of(gamma.double().abs_(), mu.double().abs_()))[..., None]
    roundings = 2 * case.channels * case.mask**2 + 2
    diagonal(bound).copy_(2.0**-24 * (roundings * size * c.double().abs() + diagonal(value).abs()))
    return Expected(value, bound)


def in_place(before):
    target = torch.empty_like(before)
    return target, lambda: target.copy_(before)


def tunesmith(case, before, gamma, mu, c):
    target, restore = in_place(before)
    return [target, gamma, mu, c], target, restore


def pytorch(case, before, gamma, mu, c):
    """Computes the inner sum once, then adds it to every channel: the fastest form that was found in PyTorch."""
    target, restore = in_place(before)
    made = of.pytorch(lambda: diagonal(target).add_(windowed(case, pairs_of(gamma, mu))[..., None] * c))
    made.output, made.prepare = lambda: target, restore
    return made


@functools.cache
def original():
    import numba

    @cuda.jit
    def op_numba_c(given, gamma, mu, c, weight_shape_1, weight_shape_2, weight_shape_3):
        bi = cuda.grid(1)
        x_gridsize = cuda.gridsize(1)
        while bi < given.shape[0]:
            for i0 in range(given.shape[2]):
                for j0 in range(given.shape[3]):
                    for i0p in range(given.shape[5]):
                        for j0p in range(given.shape[6]):
                            v = numba.float32(0.0)
                            for ci in range(weight_shape_1):
                                for ii in range(weight_shape_2):
                                    for ji in range(weight_shape_3):
                                        v += (
                                            mu[bi, ci, i0 + ii, j0 + ji] * mu[bi, ci, i0p + ii, j0p + ji]
                                            + gamma[bi, ci, i0 + ii, j0 + ji, ci, i0p + ii, j0p + ji]
                                        )
                            for c0 in range(given.shape[1]):
                                cuda.atomic.add(given, (bi, c0, i0, j0, c0, i0p, j0p), v * c[c0])
            bi += x_gridsize

    return op_numba_c


def with_numba(case, before, gamma, mu, c):
    """The second of the original Numba kernels, with one thread per image, without its copy of c in shared memory. Only
    for the smaller case: on the larger one a launch would take seconds."""
    if of.numba_cuda is None or case.side > 9:
        return None
    target, restore = in_place(before)
    arrays = of.as_numba(target, gamma, mu, c)
    made = of.with_numba(original(), 1, 32, (*arrays, case.channels, case.mask, case.mask), target)
    made.prepare = restore
    return made


def copy(case, before, gamma, mu, c):
    """The unavoidable traffic: the blocks of each channel with itself, read in gamma, read and written in input."""
    pairs = case.side**4 + 2 * case.out**4
    return of.copy(4 * case.batch * case.channels * pairs)


PEERS = {"PyTorch": pytorch, "original": with_numba}
LIMITS = {"copy": copy, "empty kernel": lambda case, *arrays: of.empty_kernel()}
