# SPDX-License-Identifier: Apache-2.0
"""NumPy's transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from . import _typing as typed
from ._arrays import InputArray, index
from ._axes import _merged
from ._call_log import assign
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._recording import recorded

_letters = "abcdefghijkl"
_moved_as = {1: "u8", 2: "f16", 4: "f32", 8: "f64"}


@typed.of_a
@recorded("a", "out")
def transpose(a: Any, axes: Sequence[SupportsIndex] | None = None, out: Any = None) -> Any:
    """numpy.transpose, as a copy: a C-contiguous array whose k-th axis is axes[k] of `a`; None: all axes in reverse.

    Elements of 1, 2, 4, 8 and 16 bytes, copied bit by bit. It takes one launch if the order exchanges two groups of
    neighbouring axes (every matrix, every batch of matrices, images from channels-first to channels-last) or if at most twelve groups
    are left (eleven for elements of 16 bytes); other orders are copied by the array's own library.
    out: a C-contiguous array of that shape and type. Raises ValueError for axes that are no permutation.

    >>> tunesmith.transpose([[1, 2, 3], [4, 5, 6]])
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    given = InputArray(a)
    dimensions = len(given.shape)
    order = tuple(reversed(range(dimensions))) if axes is None else tuple(index(k) for k in axes)
    if sorted(k % dimensions if -dimensions <= k < dimensions else k for k in order) != list(
        range(dimensions)
    ):
        raise ValueError("axes don't match array")
    order = tuple(k % dimensions for k in order)
    shape = tuple(given.shape[k] for k in order)
    into = _usable(out, shape, given.dtype, given)
    result = into or given.empty(shape, given.dtype)
    if given.array.size and not _permute(given, order, result):
        library = given.library
        moved = given.object.permute(order) if given.array.kind == "torch" else given.object.transpose(order)
        assign(library, result.object, moved)
    return out if into is not None else _finish(result, out, same_kind=True)


def _permute(given: InputArray, order, result: InputArray) -> bool:
    array = given.array
    if any(stride < 0 for stride in array.strides):
        return False
    groups = _merged((array.shape[k] for k in order), (array.strides[k] for k in order))
    item = array.itemsize
    addresses = array.pointer | result.array.pointer
    if (
        groups
        and groups[-1][1] == 1
        and groups[-1][0] * item in (2, 4, 8, 16)
        and addresses % (groups[-1][0] * item) == 0
    ):
        width = groups[-1][0]  # a pixel's channels move together
        if all(stride % width == 0 for _, stride in groups[:-1]):
            groups = [[extent, stride // width] for extent, stride in groups[:-1]]
            item *= width
    if not groups or (len(groups) == 1 and groups[0][1] == 1):
        groups = [[groups[0][0] if groups else 1, 1], [1, 1]]
    if len(groups) == 1:
        groups = [[1, 1], *groups]
    if len(groups) == 2:
        groups = [[1, groups[1][0] * groups[1][1]], *groups]
    if len(groups) == 3 and groups[1][1] == 1 and item in (1, 2, 4, 8, 16) and addresses % item == 0:
        (batch, batch_stride), (width, _), (height, pitch) = groups
        if (height == 1 or pitch == width) and (batch == 1 or batch_stride == height * width):
            problem = (("batch", batch), ("height", height), ("width", width), ("dtype", f"b{8 * item}"))
            launch("transpose", (given, result), problem)
            return True
    if item == 16:  # two of 8 bytes
        groups, item = [*([extent, 2 * stride] for extent, stride in groups), [2, 1]], 8
    if item in _moved_as and len(groups) <= len(_letters):
        # The axes of the array and of the result, with neighbours joined; elements are moved as bits, without
        # a meaning.
        letters = _letters[: len(groups)]
        within = sorted(range(len(groups)), key=lambda k: -groups[k][1])
        extents = "x".join(str(extent) for extent, _ in groups)
        layout = (
            "x".join(str(groups[k][0]) for k in within) + ":" + "x".join(str(groups[k][1]) for k in within)
        )
        expression = f"out[{','.join(letters)}] = x0[{','.join(letters[k] for k in within)}]"
        problem = (
            ("expression", expression),
            ("dtype", _moved_as[item]),
            ("extents", extents),
            ("x0", layout),
        )
        launch("tensor", (given, *[None] * 5, result), problem)
        return True
    return False
