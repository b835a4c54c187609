# SPDX-License-Identifier: Apache-2.0
"""Ops that compute the same thing agree: each is the oracle of the others, on problems drawn by a seed."""

import numpy as np
import pytest
import tunesmith
from tunesmith import ndimage

ROUNDS = 6


def _draw(rng, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-40, 40, shape).astype(dtype)
    return (rng.integers(-2000, 2000, shape) / 512).astype(dtype)


def _sum_over_rows(rng, dtype):
    x = _draw(rng, rng.integers(1, 60, 2), dtype)
    return (
        tunesmith.sum(x, axis=1),  # reduce
        tunesmith.einsum("ij->i", x),  # tensor
        tunesmith.rows("y = sum(x)", x=x),  # rows
        tunesmith.cumsum(x, axis=1, dtype=dtype)[:, -1],  # scan
    )


def _largest_over_columns(rng, dtype):
    x = _draw(rng, rng.integers(1, 60, 2), dtype)
    return (
        tunesmith.max(x, axis=0),  # reduce
        tunesmith.tensor("out[j] max= x[i,j]", x=x),  # tensor
        tunesmith.scan(x, "max", axis=0)[-1],  # scan
        ndimage.maximum_filter(x, (2 * x.shape[0] + 1, 1), mode="nearest")[0],  # rank_filter
    )


def _transposed(rng, dtype):
    x = _draw(rng, rng.integers(1, 80, 2), dtype)
    return (
        tunesmith.transpose(x),  # transpose
        tunesmith.permute(x, (1, 0)),
        tunesmith.tensor("out[j,i] = x[i,j]", x=x),  # tensor/permute
        tunesmith.einsum("ij,->ji", x, np.ones((), x.dtype)),  # tensor, of two accesses
    )


def _correlated(rng, dtype):
    x = _draw(rng, rng.integers(12, 60, 2), dtype)
    down, across = (_draw(rng, 1 + 2 * rng.integers(0, 4), dtype) // 8 for _ in range(2))
    mask = np.outer(down, across)
    inner = tuple(slice(n // 2, extent - n // 2) for n, extent in zip(mask.shape, x.shape))
    return (
        ndimage.correlate(x, mask, mode="constant")[inner],  # conv2d
        tunesmith.tensor("out[y,x] += image[y+i,x+j] * mask[i,j]", image=x, mask=mask),  # tensor
        tunesmith.filter_bank(x, down[None], across[None], boundary="zero")[0][inner],  # filter_bank
    )


def _smoothed(rng, dtype):
    x = _draw(rng, rng.integers(12, 60, 2), dtype)
    taps = _draw(rng, 1 + 2 * rng.integers(0, 4), dtype)
    r = len(taps) // 2
    return (
        ndimage.correlate1d(x, taps, axis=1, mode="constant")[:, r : x.shape[1] - r],  # conv1d
        ndimage.correlate(x, taps[None], mode="constant")[:, r : x.shape[1] - r],  # conv2d
        tunesmith.tensor("out[y,x] += image[y,x+j] * taps[j]", image=x, taps=taps),  # tensor
    )


def _counted(rng, dtype):
    x = _draw(rng, rng.integers(1, 4000), dtype)
    edges = np.linspace(-4, 4, 17)
    return (
        tunesmith.histogram(x, 16, (-4.0, 4.0))[0],  # histogram
        tunesmith.histogram2d(x, np.zeros_like(x), (16, 1), ((-4.0, 4.0), (-1.0, 1.0)))[0][
            :, 0
        ],  # joint_histogram
        np.array(
            [
                tunesmith.count_nonzero((x >= lo) & ((x < hi) | ((x == hi) & (hi == 4))))  # reduce
                for lo, hi in zip(edges[:-1], edges[1:])
            ]
        ),
    )


@pytest.mark.parametrize(
    "ops", [_sum_over_rows, _largest_over_columns, _transposed, _correlated, _smoothed, _counted]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_ops_agree(ops, dtype):
    rng = np.random.default_rng([len(ops.__name__), np.dtype(dtype).num])
    for _ in range(ROUNDS):
        first, *others = (np.asarray(one) for one in ops(rng, dtype))
        for other in others:
            if np.dtype(dtype).kind in "iu":
                np.testing.assert_array_equal(other, first)
            else:  # sums of at most 60 terms of at most 16
                np.testing.assert_allclose(other, first, rtol=0, atol=2e-3 if dtype == "float32" else 1e-11)
