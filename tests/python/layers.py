# SPDX-License-Identifier: Apache-2.0
"""Layers of networks by loops over the taps, to compare with."""

import operator

import numpy as np


def as_numbers(value, count):
    """A setting for each dimension."""
    given = list(value) if np.ndim(value) else [value]
    return [operator.index(one) for one in given * (count if len(given) == 1 else 1)]


def borders(padding, reaches):
    if isinstance(padding, str):
        return [(reach // 2, reach - reach // 2) if padding == "same" else (0, 0) for reach in reaches]
    given = list(padding) if isinstance(padding, (tuple, list)) or np.ndim(padding) else [padding]
    given = given * (len(reaches) if len(given) == 1 else 1)
    return [
        tuple(map(operator.index, one)) if isinstance(one, tuple) else (operator.index(one),) * 2
        for one in given
    ]


def convolved(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, channels="first"):
    """torch.nn.functional.conv1d to conv3d, of the arrays' common type."""
    x = x.astype(np.result_type(*(one for one in (x, w, bias) if one is not None)))
    count = w.ndim - 2
    is_batch, groups = x.ndim == count + 2, operator.index(groups)
    x = x if is_batch else x[None]
    x = np.moveaxis(x, -1, 1) if channels == "last" else x
    strides, dilations = as_numbers(stride, count), as_numbers(dilation, count)
    reaches = [hole * (tap - 1) for hole, tap in zip(dilations, w.shape[2:])]
    x = np.pad(x, [(0, 0), (0, 0), *borders(padding, reaches)])
    extents = [(extent - reach - 1) // step + 1 for extent, reach, step in zip(x.shape[2:], reaches, strides)]
    if min(extents) < 1 or w.shape[0] % groups or x.shape[1] != groups * w.shape[1]:
        raise ValueError("the arrays do not fit")
    y = np.zeros((x.shape[0], w.shape[0], *extents), x.dtype)
    outputs, inputs = w.shape[0] // groups, w.shape[1]
    for taps in np.ndindex(*w.shape[2:]):
        begin = [tap * hole for tap, hole in zip(taps, dilations)]
        part = tuple(
            slice(first, first + (extent - 1) * step + 1, step)
            for first, extent, step in zip(begin, extents, strides)
        )
        for g in range(groups):
            image = x[(slice(None), slice(g * inputs, (g + 1) * inputs), *part)]
            mask = w[(slice(g * outputs, (g + 1) * outputs), slice(None), *taps)]
            y[:, g * outputs : (g + 1) * outputs] += np.einsum("nc...,oc->no...", image, mask)
    if bias is not None:
        y += bias.reshape(-1, *(1,) * count)
    y = np.moveaxis(y, 1, -1) if channels == "last" else y
    return y if is_batch else y[0]


def affine(x, w, bias=None):
    """torch.nn.functional.linear."""
    y = np.einsum("...i,oi->...o", x, w)
    return y if bias is None else y + bias
