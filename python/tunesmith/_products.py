# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and layers of networks: lines of index notation under the names and with the rules of NumPy and PyTorch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _typing as typed
from ._arrays import index
from ._core import functions, tensor_arrays, tensor_computation
from ._recording import recorded
from ._tensors import _dtype_of, _launched, _read_as, _together, _types, _types_of_line
from ._types import dtype_words, type_name

_Layout = tuple[list[int], list[int]]  # extents, and strides in elements
_most_indices = 12
_most_factor = 1 << 20  # of an index, and a place's whole number
_taps = "ijk"
_places = "zyx"  # of the result, in images of three dimensions


class _Line(NamedTuple):
    """A line whose result is `out`, and how its arrays lie in memory as it reads them. bias: the text of that array's access, if it is added."""

    text: str
    layouts: list[_Layout]
    extents: dict[str, int]
    bias: str = ""
    zero_outside: tuple[str, ...] = ()


def _access(name: str, places: Sequence[str]) -> str:
    return f"{name}[{','.join(places)}]" if places else name


def _finish_text(line: _Line, finish: str | None, word: str) -> str:
    """The finish of the line: the caller's, a function of `out` alone, to which the bias was added before."""
    total = f"out + {line.bias}" if line.bias else "out"
    if finish is None:
        return total
    if not isinstance(finish, str):
        raise TypeError(
            f"finish is a value of the type {type(finish).__name__}; it must be a text such as 'max(out, 0)'."
        )
    for name in re.findall(r"\b[A-Za-z_]\w*", finish):
        if name not in ("out", "pi") and name not in functions():
            raise ValueError(
                f"finish is {finish!r} and names {name}; it is a function of out, the value of an element of the result, alone. "
                f"tunesmith.tensor() takes a finish that reads more arrays than {word}() does."
            )
    tensor_arrays(line.text, finish)  # an error has its place in the caller's text
    return re.sub(r"\bout\b", f"({total})", finish) if line.bias else finish


def _product(
    word: str,
    values: Sequence[Any],
    shape_of: Any,
    line_of: Any,
    finish: str | None,
    out: Any,
    out_dtype: Any,
) -> Any:
    """The result of a word's line for its arrays. shape_of(shapes): the result's shape, or ValueError; line_of(layouts, shape): the _Line."""
    finish = None if finish == "out" else finish
    given, like = _together(values)
    shape = shape_of(*(tuple(one.shape) for one in given))
    dtype = _dtype_of(given, None, f"{word}()")
    if dtype == "uint64" and finish is not None:
        raise TypeError(
            "A finish of uint64 is not computed, as its comparisons and quotients would be those of int64; convert the arrays first."
        )
    computed, stored, last = _types_of_line(dtype, None if out_dtype is None else type_name(out_dtype))
    operands = _read_as(given, computed)
    line = line_of([(list(one.shape), list(one.array.strides)) for one in operands], shape)
    _, problem = tensor_computation(
        line.text,
        _types[computed],
        line.layouts,
        list(line.extents.items()),
        "reorder",
        _finish_text(line, finish, word),
        "" if stored == computed else dtype_words[stored],
        list(line.zero_outside),
    )
    return _launched(problem, shape, operands, like, out, stored, last)


class _Axis(NamedTuple):
    """An index of a line: its extent, and each array's stride along it, None for arrays that it does not move."""

    extent: int
    strides: tuple[int | None, ...]


def _fused(axes: Sequence[_Axis]) -> list[_Axis]:
    """Neighbours of which every array steps over one's extent by the other's stride as one; those of one element are left out."""
    found: list[_Axis] = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if found and all(
            (before is None) == (now is None) and (now is None or before == now * axis.extent)
            for before, now in zip(found[-1].strides, axis.strides)
        ):
            found[-1] = _Axis(found[-1].extent * axis.extent, axis.strides)
        else:
            found.append(axis)
    return found


def _sum_of_products(
    word: str, shapes: Sequence[tuple[int, ...]], result: Sequence[_Axis], summed: _Axis
) -> _Line:
    """out[…] += a[…] * b[…] over one summed index; a third array is the bias."""
    axes = _fused(result)
    if len(axes) >= _most_indices:
        raise ValueError(
            f"{word}() was given arrays of the shapes {' and '.join(map(str, shapes))}, which need {len(axes) + 1} indices, since their dimensions "
            f"do not lie one behind the other in memory; at most {_most_indices} are computed. Reshape the arrays, or copy them first."
        )
    letters = dict(zip("ijlmnopqrst", axes))
    indices = {**letters, "k": summed} if summed.extent != 1 else letters
    layouts, accesses = [], []
    for number, name in enumerate(("a", "b", "bias")[: len(summed.strides)]):
        moved = [
            (stride, letter, axis.extent)
            for letter, axis in indices.items()
            if (stride := axis.strides[number]) is not None
        ]
        moved.sort(key=lambda one: -one[0])
        layouts.append(([extent for _, _, extent in moved], [stride for stride, _, _ in moved]))
        accesses.append(_access(name, [letter for _, letter, _ in moved]))
    return _Line(
        f"{_access('out', list(letters))} {'+=' if 'k' in indices else '='} {accesses[0]} * {accesses[1]}",
        layouts,
        {letter: axis.extent for letter, axis in indices.items()},
        accesses[2] if len(accesses) > 2 else "",
    )


def _matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if not a or not b:
        raise ValueError(
            f"matmul() was given arrays of the shapes {a} and {b}; each needs a dimension at least. For products with a number use *."
        )
    if a[-1] != b[max(len(b) - 2, 0)]:
        raise ValueError(
            f"matmul() was given arrays of the shapes {a} and {b}; the last extent of the first, {a[-1]}, and the "
            f"{'only' if len(b) == 1 else 'second last'} one of the second, {b[max(len(b) - 2, 0)]}, must agree."
        )
    longest = max(len(a), len(b)) - 2
    stack = []
    for k in range(-2 - longest, -2):
        one, other = (shape[k] if len(shape) >= -k else 1 for shape in (a, b))
        if one != other and 1 not in (one, other):
            raise ValueError(
                f"matmul() was given arrays of the shapes {a} and {b}; their stacks of matrices, {a[:-2]} and {b[:-2]}, cannot be broadcast together."
            )
        stack.append(other if one == 1 else one)
    return (*stack, *a[-2:-1], *b[-1:]) if len(b) > 1 else (*stack, *a[-2:-1])


def _matmul_line(layouts: Sequence[_Layout], shape: tuple[int, ...]) -> _Line:
    (a, strides_a), (b, strides_b) = layouts
    rows, columns = len(a) > 1, len(b) > 1
    stack = shape[: len(shape) - rows - columns]
    axes = []
    for k, extent in enumerate(stack, -len(stack)):
        places = [(one[:-2], strides[:-2]) for one, strides in layouts]
        axes.append(
            _Axis(
                extent,
                tuple(
                    strides[k] if len(one) >= -k and (one[k] != 1 or extent == 1) else None
                    for one, strides in places
                ),
            )
        )
    if rows:
        axes.append(_Axis(a[-2], (strides_a[-2], None)))
    if columns:
        axes.append(_Axis(b[-1], (None, strides_b[-1])))
    summed = _Axis(a[-1], (strides_a[-1], strides_b[-2 if columns else -1]))
    return _sum_of_products("matmul", (tuple(a), tuple(b)), axes, summed)


@typed.of_a_and_b
@recorded("a", "b", "out")
def matmul(a: Any, b: Any, *, out: Any = None, finish: str | None = None, out_dtype: Any = None) -> Any:
    """numpy.matmul: the product of two matrices, of stacks of them, which are broadcast, or of a vector with either; of two vectors it is a number.

    finish: what is written instead of out, an element of the product: a function of it in tensor()'s language, such as "max(out, 0)",
    in the same kernel. out: an array for the result. out_dtype: the result's type, to which sums are converted; None: the arrays' common one, as in
    NumPy (integers wrap as NumPy's do). bool is refused, where NumPy has a logical product.
    Types and accuracy as of tensor(). Raises ValueError for shapes that do not fit, numbers without dimensions, and a finish that is wrong.

    >>> tunesmith.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]])
    array([[21.],
           [43.]])
    """
    return _product("matmul", (a, b), _matmul_shape, _matmul_line, finish, out, out_dtype)


def _linear_shape(
    x: tuple[int, ...], w: tuple[int, ...], bias: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    if len(w) != 2 or not x or x[-1] != w[1]:
        raise ValueError(
            f"linear() was given x of the shape {x} and w of {w}; w needs two dimensions, outputs and inputs, and x's last extent is the inputs."
        )
    if bias is not None and bias != w[:1]:
        raise ValueError(f"linear() was given a bias of the shape {bias}; w of {w} needs one of {w[:1]}.")
    return (*x[:-1], w[0])


def _linear_line(layouts: Sequence[_Layout], shape: tuple[int, ...]) -> _Line:
    (x, strides_x), (w, strides_w), *bias = layouts
    none = (None,) * len(bias)
    axes = [_Axis(extent, (stride, None, *none)) for extent, stride in zip(x[:-1], strides_x[:-1])]
    axes.append(_Axis(w[0], (None, strides_w[0], *(strides[0] for _, strides in bias))))
    summed = _Axis(w[1], (strides_x[-1], strides_w[1], *none))
    return _sum_of_products("linear", (tuple(x), tuple(w)), axes, summed)


@typed.of_x_and_w
@recorded("x", "w", "bias", "out")
def linear(
    x: Any, w: Any, bias: Any = None, *, finish: str | None = None, out: Any = None, out_dtype: Any = None
) -> Any:
    """A layer of a network, torch.nn.functional.linear: y[..., o] is the sum of x[..., i] * w[o, i] over i, and bias[o].

    w: an array of outputs x inputs. bias: of one element for each output; None: nothing is added. finish: what is written instead of out, that sum:
    a function of it in tensor()'s language, such as "max(out, 0)". Bias and finish are computed in the same kernel. out: an array for the
    result. out_dtype: its type; None: the arrays' common one, as NumPy has it. Types and accuracy as of tensor().
    Raises ValueError for shapes that do not fit, and a finish that is wrong.

    >>> tunesmith.linear([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], bias=[0.5, 0.0])
    array([[11.5, 17. ]])
    """
    values = (x, w) if bias is None else (x, w, bias)
    return _product("linear", values, _linear_shape, _linear_line, finish, out, out_dtype)


class _Window(NamedTuple):
    """A convolution along one dimension: each output's taps lie at stride * place + dilation * tap - before."""

    stride: int
    dilation: int
    before: int  # zeros before the image
    after: int
    extent: int  # outputs

    def read_of(self, image: int, taps: int) -> int:
        """The elements of the image up to the last one that is read: behind it a stride may leave some."""
        end = self.stride * (self.extent - 1) + self.dilation * (taps - 1) + 1 - self.before
        return end if 0 < end < image else image


def _numbers(value: Any, count: int, what: str) -> list[int]:
    """A setting for each dimension, given for each or as one for all."""
    given = list(value) if isinstance(value, (tuple, list)) or np.ndim(value) else [value]
    given = given * count if len(given) == 1 else given
    if len(given) != count:
        raise ValueError(
            f"conv() was given {what}={value!r}, {len(given)} numbers; w has {count} dimensions of taps, so one number or {count} are allowed."
        )
    return [index(one) for one in given]


def _windows(
    image: Sequence[int], taps: Sequence[int], stride: Any, padding: Any, dilation: Any
) -> list[_Window]:
    count = len(taps)
    strides, dilations = _numbers(stride, count, "stride"), _numbers(dilation, count, "dilation")
    for what, numbers in (("stride", strides), ("dilation", dilations)):
        if any(not 1 <= one <= _most_factor for one in numbers):
            raise ValueError(
                f"conv() was given {what}={stride if what == 'stride' else dilation!r}; allowed are 1 to {_most_factor}."
            )
    reaches = [step * (tap - 1) if tap else 0 for step, tap in zip(dilations, taps)]
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"conv() was given padding={padding!r}; allowed are 'same', 'valid', a number, or numbers."
            )
        if padding == "same" and any(one != 1 for one in strides):
            raise ValueError(
                f"conv() was given padding='same' and stride={stride!r}; with a stride the result has not the image's size. Give the padding as numbers."
            )
        borders = [(reach // 2, reach - reach // 2) if padding == "same" else (0, 0) for reach in reaches]
    else:
        given = list(padding) if isinstance(padding, (tuple, list)) or np.ndim(padding) else [padding]
        given = given * count if len(given) == 1 else given
        if len(given) != count:
            raise ValueError(
                f"conv() was given padding={padding!r} for {count} dimensions of taps; one number or {count} are allowed, "
                "each a number or a pair of those before and behind the image."
            )
        borders = []
        for one in given:
            pair = [index(part) for part in one] if np.ndim(one) else [index(one)] * 2
            if len(pair) != 2 or any(not 0 <= part <= _most_factor for part in pair):
                raise ValueError(
                    f"conv() was given padding={padding!r}; allowed are 0 to {_most_factor}, or pairs of such numbers."
                )
            borders.append((pair[0], pair[1]))
    found = []
    for extent, tap, step, hole, reach, (before, after) in zip(
        image, taps, strides, dilations, reaches, borders
    ):
        room = extent + before + after - reach
        if tap < 1 or room < 1:
            raise ValueError(
                f"conv() was given an image of {tuple(image)} with {before + after} zeros around it, and {tap} taps that reach over {reach + 1} places along a "
                f"dimension of {extent}; there must be a tap at least, and the image must be as large as they reach."
            )
        outputs = (room - 1) // step + 1
        found.append(_Window(step if outputs > 1 else 1, hole if tap > 1 else 1, before, after, outputs))
    return found


class _Convolution(NamedTuple):
    """The settings of a call of conv(), read."""

    windows: list[_Window]
    groups: int
    is_last: bool  # the channels
    is_batch: bool

    @property
    def channel_axis(self) -> int:
        return len(self.windows) + self.is_batch if self.is_last else int(self.is_batch)


def _convolution(
    x: tuple[int, ...],
    w: tuple[int, ...],
    bias: tuple[int, ...] | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    channels: Any,
) -> _Convolution:
    if channels not in ("first", "last"):
        raise ValueError(f"conv() was given channels={channels!r}; allowed are 'first' and 'last'.")
    dimensions = len(w) - 2
    if not 1 <= dimensions <= 3:
        raise ValueError(
            f"conv() was given w of the shape {w}; it needs outputs, the inputs of a group, and one to three dimensions of taps."
        )
    layout = "(batch, channels, …)" if channels == "first" else "(batch, …, channels)"
    if len(x) - dimensions not in (1, 2):
        raise ValueError(
            f"conv() was given x of the shape {x}; w of {w} has {dimensions} dimensions of taps, so x needs {dimensions + 2}, {layout}, or "
            f"{dimensions + 1} without a batch."
        )
    groups = index(groups)
    is_batch, is_last = len(x) == dimensions + 2, channels == "last"
    inner = x[is_batch:]
    channel, image = (inner[-1], inner[:-1]) if is_last else (inner[0], inner[1:])
    if groups < 1 or w[0] % groups or channel != w[1] * groups:
        raise ValueError(
            f"conv() was given x of the shape {x}, {layout}, w of {w} and groups={groups}; x needs groups times w's second extent as its channels, "
            f"{w[1] * groups}, and w's outputs, {w[0]}, must be a multiple of groups."
        )
    if bias is not None and bias != w[:1]:
        raise ValueError(f"conv() was given a bias of the shape {bias}; w of {w} needs one of {w[:1]}.")
    return _Convolution(_windows(image, w[2:], stride, padding, dilation), groups, is_last, is_batch)


def _conv_shape(x: tuple[int, ...], w: tuple[int, ...], found: _Convolution) -> tuple[int, ...]:
    image = tuple(one.extent for one in found.windows)
    batch = x[:1] if found.is_batch else ()
    return (*batch, *image, w[0]) if found.is_last else (*batch, w[0], *image)


def _place(place: str, tap: str, window: _Window, taps: int) -> str:
    """Such as 2*y+3*i-1, of the indices that have more than an element."""
    terms = [
        (factor, letter)
        for factor, letter, extent in ((window.stride, place, window.extent), (window.dilation, tap, taps))
        if extent != 1
    ]
    text = "+".join(letter if factor == 1 else f"{factor}*{letter}" for factor, letter in terms)
    return f"{text}-{window.before}" if window.before else text or "0"


def _conv_line(layouts: Sequence[_Layout], shape: tuple[int, ...], found: _Convolution) -> _Line:
    """out[n,g,o,y,x] += x[n,g,c,y+i,x+j] * w[g,o,c,i,j], as groups are a dimension of all three; indices of one element are left out."""
    (x, strides_x), (w, strides_w), *bias = layouts
    dimensions, groups, axis = len(found.windows), found.groups, found.channel_axis
    outputs, inputs, places = w[0] // groups, w[1], _places[3 - dimensions :]
    extents = {"n": x[0] if found.is_batch else 1, "g": groups, "o": outputs, "c": inputs}
    extents |= {tap: extent for tap, extent in zip(_taps, w[2:])}
    extents |= {place: one.extent for place, one in zip(places, found.windows)}

    # Dimensions of arrays: the text between the commas, extent, stride. Those that an index of one element moves are left out.
    def along(letter: str, stride: int) -> list[tuple[str, int, int]]:
        return [(letter, extents[letter], stride)] if extents[letter] != 1 else []

    image = [k for k in range(int(found.is_batch), len(x)) if k != axis]
    windows = [
        (_place(place, tap, one, extent), one.read_of(x[k], extent), strides_x[k])
        for place, tap, one, extent, k in zip(places, _taps, found.windows, w[2:], image)
    ]
    channels = [*along("g", strides_x[axis] * inputs), *along("c", strides_x[axis])]
    of_x = along("n", strides_x[0]) + (windows + channels if found.is_last else channels + windows)
    of_w = [*along("g", strides_w[0] * outputs), *along("o", strides_w[0]), *along("c", strides_w[1])]
    of_w += [one for tap, stride in zip(_taps, strides_w[2:]) for one in along(tap, stride)]
    of_bias = [[*along("g", strides[0] * outputs), *along("o", strides[0])] for _, strides in bias]

    order = ("n", *places, "g", "o") if found.is_last else ("n", "g", "o", *places)
    written = [letter for letter in order if extents[letter] != 1]
    summed = [letter for letter in ("c", *_taps[:dimensions]) if extents[letter] != 1]

    def read(name: str, dimensions: Sequence[tuple[str, int, int]]) -> str:
        return _access(name, [place for place, _, _ in dimensions])

    return _Line(
        f"{_access('out', written)} {'+=' if summed else '='} {read('x', of_x)} * {read('w', of_w)}",
        [
            ([extent for _, extent, _ in one], [stride for _, _, stride in one])
            for one in (of_x, of_w, *of_bias)
        ],
        {letter: extents[letter] for letter in (*written, *summed)},
        read("bias", of_bias[0]) if of_bias else "",
        ("x",) if any(one.before or one.after for one in found.windows) else (),
    )


@typed.of_x_and_w
@recorded("x", "w", "bias", "out")
def conv(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    finish: str | None = None,
    channels: Literal["first", "last"] = "first",
    out: Any = None,
    out_dtype: Any = None,
) -> Any:
    """A layer of a network, torch.nn.functional.conv1d, conv2d or conv3d by w's dimensions: windows of images, times masks, summed over channels and taps.

    x: an array (batch, channels, …), or with channels="last" (batch, …, channels), as the result; the batch may be missing. w: (outputs, channels of a
    group, taps …) in both cases; masks are not mirrored. bias: an element for each output; None: nothing is added. stride, dilation: a number, or one for each
    dimension. padding: zeros around the image: a number, one for each dimension, a pair (before, behind) for each, as ((3, 0),) for a causal
    convolution, "valid" for none, or "same" for a result of the image's size. groups: each has its part of the channels
    and of the outputs; as many as channels is a depthwise convolution. finish: what is written instead of out, the sum: a function of it in
    tensor()'s language, such as "max(out, 0)". Bias, borders and finish are computed in the same kernel. out: an array for the result.
    out_dtype: its type; None: the arrays' common one, as NumPy has it. Types and accuracy as of tensor().
    Raises ValueError for shapes and settings that do not fit, and a finish that is wrong.

    >>> image, mask = np.ones((1, 1, 3, 4)), np.ones((1, 1, 2, 2))
    >>> tunesmith.conv(image, mask).tolist()
    [[[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]]]]
    """
    settings = (stride, padding, dilation, groups, channels)
    found: list[_Convolution] = []

    def shape_of(*shapes: tuple[int, ...]) -> tuple[int, ...]:
        found.append(_convolution(shapes[0], shapes[1], shapes[2] if len(shapes) > 2 else None, *settings))
        return _conv_shape(shapes[0], shapes[1], found[0])

    return _product(
        "conv",
        (x, w) if bias is None else (x, w, bias),
        shape_of,
        lambda layouts, shape: _conv_line(layouts, shape, found[0]),
        finish,
        out,
        out_dtype,
    )
