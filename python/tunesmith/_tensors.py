# SPDX-License-Identifier: Apache-2.0
"""Index expressions: NumPy's einsum, and expressions that it cannot write."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, SupportsIndex, overload

import numpy as np

from . import _typing as typed
from ._arrays import InputArray, index
from ._call_log import assign
from ._core import parameter_words, tensor_arrays, tensor_computation
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._recording import recorded
from ._transposition import transpose
from ._types import dtype_words, type_name, types_of

_most_arrays = 6
# Integers of another width are computed modulo 2**32 or 2**64 and cut again, which gives the same sums and
# products as their own arithmetic.
_computed_as = {"int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
_summed_in_float32 = ("float16", "bfloat16")
_types = types_of("tensor")  # the types that kernels read
_written = [name for name in _types if name not in ("int8", "uint8")]  # the types that they write
_casts = ("no", "equiv", "safe", "same_kind", "unsafe")
# The letters for lists of whole numbers, in the order of implicit results.
_labels = string.ascii_uppercase + string.ascii_lowercase


def _common_dtype(dtypes: Iterable[str], what: str) -> str:
    names = set(dtypes)
    for name in names:
        if name.startswith("complex"):
            raise TypeError(f"An array of {name} was given; {what} of complex numbers is not supported.")
    if len(names) == 1:
        found = names.pop()
    elif "bfloat16" in names:
        raise TypeError("bfloat16 was given with another type; convert one of them first.")
    else:
        found = np.result_type(*names).name
    if found == "bool":
        raise TypeError(
            f"Arrays of bool were given; {what} computes with numbers. Convert one of them first."
        )
    return found


def _types_of_line(dtype: str, out_dtype: str | None) -> tuple[str, str, str]:
    """The types in which a line of arrays of that type is computed, is stored by its kernel, and is given to the caller."""
    computed = _computed_as.get(dtype, dtype)
    if computed not in _types:
        raise TypeError(
            f"Elements of {dtype} are not computed; allowed are {', '.join([*_types, *_computed_as])}."
        )
    last = dtype if out_dtype is None else out_dtype
    stored = computed if last == dtype else last
    if stored != computed and stored not in _written:
        raise TypeError(
            f"The result's type is {stored}; allowed are {dtype}, its inputs' own, and {', '.join(_written)}."
        )
    return computed, stored, last


def _bytes_of(arrays: Iterable[InputArray], dtype: str) -> str | None:
    """The arrays' common type if it is one of bytes and dtype int32, as which kernels compute bytes: then no array needs conversion."""
    types = {one.dtype for one in arrays}
    common = types.pop() if len(types) == 1 else None
    return common if dtype == "int32" and common in ("int8", "uint8") else None


def _read_as(arrays: Iterable[InputArray], dtype: str) -> list[InputArray]:
    """The arrays as kernels read them: of that type, without mirrors."""
    read = [one.to(dtype) for one in arrays]
    return [one.contiguous() if any(stride < 0 for stride in one.array.strides) else one for one in read]


def _launched(
    problem: str,
    shape: Sequence[int],
    operands: Sequence[InputArray],
    like: InputArray,
    out: Any,
    stored: str,
    last: str,
    is_whole: bool = True,
    same_kind: bool = True,
) -> Any:
    """The result of a problem of the op tensor, of that shape."""
    result = (
        _usable(out, shape, stored, like, operands) if stored == last and is_whole else None
    ) or like.empty(shape, stored)
    if not is_whole:
        assign(like.library, result.object, 0)
    if result.array.size:
        launch("tensor", (*operands, *[None] * (_most_arrays - len(operands)), result), problem)
    if out is not None and result.object is out:
        return out
    return _finish(result.to(last), out, same_kind=same_kind)


def _compute(
    expression: str,
    arrays: Sequence[InputArray],
    like: InputArray,
    out: Any,
    dtype: str,
    extents: tuple,
    is_whole: bool,
    may: str = "reorder",
    finish: str = "out",
    out_dtype: str | None = None,
    zero_outside: tuple = (),
    same_kind: bool = True,
    accuracy: str = "full",
) -> Any:
    """The expression's result for arrays in the order in which it names them. is_whole: every element of the result is written."""
    common = _bytes_of(arrays, dtype)
    if common is not None and out_dtype is None:
        dtype, out_dtype = common, dtype
    computed, stored, last = _types_of_line(dtype, out_dtype)
    operands = _read_as(arrays, computed)
    shape, problem = tensor_computation(
        expression,
        _types[computed],
        [(one.shape, one.array.strides) for one in operands],
        list(extents),
        may,
        finish,
        "" if stored == computed else dtype_words[stored],
        list(zero_outside),
        accuracy,
    )
    return _launched(problem, shape, operands, like, out, stored, last, is_whole, same_kind)


def _check_accuracy(accuracy: str) -> None:
    allowed = parameter_words("tensor", "accuracy")
    if accuracy not in allowed:
        raise ValueError(f"accuracy={accuracy!r} is not allowed; allowed are {', '.join(allowed)}.")


def _together(values: Sequence[Any]) -> tuple[list[InputArray], InputArray]:
    """The arrays, with those in ordinary memory copied to the device of the others if there are any, and one of the latter."""
    given = [InputArray(value) for value in values]
    like = next((one for one in given if one.array.kind != "numpy"), given[0])
    return [
        one if one.array.kind == like.array.kind else InputArray(value, like)
        for one, value in zip(given, values)
    ], like


def _dtype_of(given: Sequence[InputArray], dtype: Any, what: str) -> str:
    return _common_dtype((one.dtype for one in given), what) if dtype is None else type_name(dtype)


def _operands(names: Sequence[str], values: tuple, arrays: Mapping[str, Any]) -> tuple:
    """The arrays of an expression in its order, all given in that order or all by name."""
    unknown = [name for name in arrays if name not in names]
    if unknown:
        raise TypeError(f"The expression reads no array {unknown[0]}; it reads {', '.join(names)}.")
    if values and arrays:
        raise TypeError("Give the arrays by name, or all of them in the expression's order.")
    missing = [name for name in names if name not in arrays]
    if not values and missing:
        raise TypeError(
            f"The array {missing[0]} of the expression was not given; it reads {', '.join(names)}."
        )
    given = values or tuple(arrays[name] for name in names)
    if len(given) != len(names):
        raise TypeError(
            f"{len(given)} arrays were given; the expression reads {len(names)}: {', '.join(names)}."
        )
    return given


@overload
def tensor(
    expression: str,
    /,
    *values: typed.NumPy,
    out: Any = None,
    dtype: Any = None,
    extents: Mapping[str, int] | None = None,
    may: str = "reorder",
    finish: str = "out",
    out_dtype: Any = None,
    zero_outside: str | Iterable[str] = (),
    accuracy: Literal["full", "tf32", "bf16"] = "full",
    **arrays: typed.NumPy,
) -> typed.NumPy: ...
@overload
def tensor(
    expression: str,
    /,
    *values: typed.ArrayT,
    out: Any = None,
    dtype: Any = None,
    extents: Mapping[str, int] | None = None,
    may: str = "reorder",
    finish: str = "out",
    out_dtype: Any = None,
    zero_outside: str | Iterable[str] = (),
    accuracy: Literal["full", "tf32", "bf16"] = "full",
    **arrays: typed.ArrayT,
) -> typed.ArrayT: ...
@overload
def tensor(
    expression: str,
    /,
    *values: Any,
    out: Any = None,
    dtype: Any = None,
    extents: Mapping[str, int] | None = None,
    may: str = "reorder",
    finish: str = "out",
    out_dtype: Any = None,
    zero_outside: str | Iterable[str] = (),
    accuracy: Literal["full", "tf32", "bf16"] = "full",
    **arrays: Any,
) -> Any: ...
@recorded("out")
def tensor(
    expression: str,
    /,
    *values: Any,
    out: Any = None,
    dtype: Any = None,
    extents: Mapping[str, int] | None = None,
    may: str = "reorder",
    finish: str = "out",
    out_dtype: Any = None,
    zero_outside: str | Iterable[str] = (),
    accuracy: Literal["full", "tf32", "bf16"] = "full",
    **arrays: Any,
) -> Any:
    """Computes a line of index notation in one kernel:

        y = tunesmith.tensor("y[n,o,v,u] += x[n,c,v+i,u+j] * w[o,c,i,j]", x=x, w=w)

    expression: the computation, with indices in brackets: indices of the result are its dimensions, over the others terms are summed (`+=`), or
    the largest (`max=`) or smallest (`min=`) term is taken; `=` if there are no others. Brackets hold a sum of indices with whole factors,
    and a whole number: windows (y+i), strides (2*y+i), mirrors (99-y), diagonals (i,i). A term is any function of the elements in vectorize()'s
    language. At most 12 indices and 6 different arrays.
    values, arrays: the arrays, in the order in which the expression first names them, or by name; any strides. extents: of indices that no
    array fixes. An index that is alone in a dimension has its extent; an index together with others has the largest extent that fits.
    dtype: converts all arrays first, of int8 or uint8 to int32 in the kernel; None: their common type. Kernels compute float32, float64, int32, int64, float16 and bfloat16, smaller
    integers as these (int8 and uint8 in the kernel) and cut again; uint64 is refused. out: an array for the result.
    may: the changes that rounding may cause. "reorder": the order of sums; "distribute": also how products are distributed over sums, as in
    a*b + a*c = a*(b+c), which permits forms with far fewer operations ("tunesmith derive" shows them).
    finish: the result instead of the sum, out: a function of it and of arrays at indices of the result, as in "max(out + bias[o], 0)".
    Arrays that only finish reads come after the others.
    out_dtype: the result's type, to which the kernel converts; None: the arrays' own.
    zero_outside: names of arrays whose elements out of bounds are 0, for borders, as in x[v+i-1,u+j-1] with extents={"v": ..., "u": ...}.
    accuracy: of sums of products of float32, without zero_outside. "full": the error below. "tf32" permits that of factors that are rounded to 11
    bits, 2**-10 sum|term| more, and "bf16" that of 8 bits, where that is faster; today both are computed alike, with 11 bits or in full. For other
    types and lines it has no effect.

    A result that is written along a diagonal only is zero elsewhere. The same plan gives the same bits in every run; later calls may have
    another plan (docs/library.md). A real sum is off by at most n u sum|term| for n terms, u the unit roundoff of float32 (of float64 for that
    type), and long sums in float32 by far less, as they are added in runs; with may="distribute" |term| is that of a
    term's magnitudes, and some roundings of each term are added. Raises ValueError with the place of a mistake in the
    text, or for shapes that contradict.

    >>> tunesmith.tensor('y[i] += x[i+k] * w[k]', x=[1.0, 2.0, 3.0], w=[1.0, 10.0])
    array([21., 32.])
    """
    given = _operands(tensor_arrays(expression, finish), values, arrays)
    if may not in parameter_words("tensor", "may"):
        raise ValueError(
            f"may={may!r} is not allowed; allowed are {', '.join(parameter_words('tensor', 'may'))}."
        )
    _check_accuracy(accuracy)
    sizes = tuple(sorted((name, index(extent)) for name, extent in (extents or {}).items()))
    zeros = zero_outside.replace(" ", "").split(",") if isinstance(zero_outside, str) else zero_outside
    written = [one.strip() for one in expression.partition("]")[0].partition("[")[2].split(",")]
    read, like = _together(given)
    dtype = _dtype_of(read, dtype, "tensor()")
    if dtype == "uint64":  # its sums and products are those of int64, its comparisons and quotients are not
        raise TypeError(
            "Elements of uint64 are not computed by tensor(); give dtype='int64' if the numbers are small enough, or use einsum()."
        )
    return _compute(
        expression,
        read,
        like,
        out,
        dtype,
        sizes,
        len(set(written)) == len(written),
        may,
        finish,
        None if out_dtype is None else type_name(out_dtype),
        tuple(name for name in zeros if name),
        accuracy=accuracy,
    )


@overload
def einsum(
    subscripts: str,
    *operands: typed.NumPy,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str | None = None,
    optimize: Any = True,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> typed.NumPy: ...
@overload
def einsum(
    subscripts: str,
    *operands: typed.ArrayT,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str | None = None,
    optimize: Any = True,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> typed.ArrayT: ...
@overload
def einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str | None = None,
    optimize: Any = True,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> Any: ...
@recorded("subscripts", "out")
def einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str | None = None,
    optimize: Any = True,
    accuracy: Literal["full", "tf32", "bf16"] = "full",
) -> Any:
    """numpy.einsum: products of arrays, summed over the indices that the result does not have, such as einsum("bij,bjk->bik", a, b).

    Ellipsis, repeated indices, results in implicit order and any number of operands as in NumPy; also with lists of whole numbers in place of
    letters, einsum(a, [0, 1], b, [1, 2], [0, 2]). Two operands or fewer take one kernel, more take
    one for each pair in the order that numpy.einsum_path finds; optimize=False: up to six in one kernel, as written.
    A result is a new C-contiguous array: einsum("ii->i", a) is a copy of the diagonal, where NumPy gives a view that writes to `a`. casting: the
    conversions that dtype and out may make, by numpy.can_cast()'s words; None: any for dtype, those of the same kind for out (NumPy's default is
    "safe"). order: "C", "K" or "A". Types, out, dtype and accuracy, of each kernel's sums, as in tensor(). Raises ValueError for subscripts that are
    wrong or do not fit the arrays, TypeError for casts that are not allowed.

    >>> tunesmith.einsum('ij,jk->ik', [[1.0, 2.0]], [[3.0], [4.0]])
    array([[11.]])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _text_of_lists((subscripts, *operands))
    if not operands:
        raise ValueError("einsum() was given no array.")
    if order.upper() not in ("C", "K", "A"):
        raise ValueError(
            f"order is {order!r}; allowed are 'C', 'K' and 'A', since results are C-contiguous. For another order copy the result, as numpy.asfortranarray() does."
        )
    if casting is not None and casting not in _casts:
        raise ValueError(f"casting is {casting!r}; allowed are {', '.join(_casts)}.")
    _check_accuracy(accuracy)

    if len(operands) > _most_arrays and not optimize:
        raise ValueError(
            f"{len(operands)} arrays were given; without optimize= at most {_most_arrays} are computed in one kernel."
        )
    read, like = _together(operands)
    kind = _dtype_of(read, dtype, "einsum()")
    for one in read if casting is not None else ():
        if one.dtype != kind and not np.can_cast(
            *(name.replace("bfloat16", "float16") for name in (one.dtype, kind)), casting
        ):
            raise TypeError(
                f"Cannot cast an operand from {one.dtype} to {kind} according to the rule {casting!r}."
            )
    if _bytes_of(read, kind) is None:
        read = [one.to(kind) for one in read]
    inputs, result = _subscripts(subscripts, [one.shape for one in read])
    pieces = list(zip(inputs, read))
    for place in _path(inputs, result, pieces, optimize):
        taken = [pieces.pop(k) for k in sorted(place, reverse=True)][::-1]
        left = set(result).union(*(name for name, _ in pieces)) if pieces else set(result)
        name = result if not pieces else "".join(sorted(left.intersection("".join(one for one, _ in taken))))
        # Results between two kernels keep the type of the sums: a type of 16 bits might overflow.
        arrays = [one for _, one in taken]
        read_as = (
            "float32"
            if kind in _summed_in_float32 and any(one.dtype == "float32" for one in arrays)
            else kind
        )
        written_as = kind if not pieces or kind not in _summed_in_float32 else "float32"
        value = _contract(
            [one for one, _ in taken],
            name,
            arrays,
            like,
            None if pieces else out,
            read_as,
            written_as,
            casting != "unsafe",
            accuracy,
        )
        if not pieces:
            return value
        pieces.append((name, InputArray(value)))
    raise AssertionError("a path ends with one array")


def _text_of_lists(given: tuple) -> tuple[str, tuple]:
    """The subscripts as a text, and the arrays, from operands that are arrays and lists of labels in turns, and a list for the result."""
    if len(given) < 2:
        raise ValueError("einsum() was given no array.")
    terms = []
    for labels in given[1::2] + given[-1:] * (len(given) % 2):
        if isinstance(labels, (str, bytes)) or not np.iterable(labels):
            raise TypeError(
                "einsum() takes its subscripts as a text before the arrays, such as 'ij,jk->ik', or as a list of labels behind each array."
            )
        term = ""
        for label in labels:
            number = -1 if label is Ellipsis else index(label)
            if label is not Ellipsis and not 0 <= number < len(_labels):
                raise ValueError(
                    f"The label {number} is not allowed; allowed are 0 to {len(_labels) - 1} and Ellipsis."
                )
            term += "..." if label is Ellipsis else _labels[number]
        terms.append(term)
    if len(given) % 2:
        return ",".join(terms[:-1]) + "->" + terms[-1], given[:-1:2]
    return ",".join(terms), given[::2]


def _path(inputs: list[str], result: str, pieces: list, optimize: Any) -> list[tuple[int, ...]]:
    """The steps of the computation: each combines some operands, and puts its result behind the others."""
    if len(inputs) <= 2 or not optimize:
        return [tuple(range(len(inputs)))]
    shapes = [np.broadcast_to(np.float32(0), one.shape) for _, one in pieces]
    steps = np.einsum_path(
        ",".join(inputs) + "->" + result, *shapes, optimize="greedy" if optimize is True else optimize
    )[0][1:]
    return [tuple(step) for step in steps]


def _extents(inputs: list[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    extents: dict[str, int] = {}
    for name, shape in zip(inputs, shapes):
        for label, extent in zip(name, shape):
            extents[label] = extent if extents.get(label, 1) == 1 else extents[label]
    return extents


def _contract(
    inputs: list[str],
    result: str,
    arrays: list[InputArray],
    like: InputArray,
    out: Any,
    dtype: str,
    out_dtype: str,
    same_kind: bool,
    accuracy: str,
) -> Any:
    extents = _extents(inputs, [one.shape for one in arrays])
    factors = []
    for k, (name, one) in enumerate(zip(inputs, arrays)):
        # A dimension of one element that is longer in another array repeats its element.
        places = [
            "0" if extent == 1 and extents[label] != 1 else label for label, extent in zip(name, one.shape)
        ]
        factors.append(f"x{k}[{','.join(places)}]")
    reduced = set("".join(inputs)) - set(result)
    text = f"out[{','.join(result)}] {'+=' if reduced else '='} {' * '.join(factors)}"
    sizes = tuple(sorted(extents.items()))
    return _compute(
        text,
        arrays,
        like,
        out,
        dtype,
        sizes,
        True,
        out_dtype=None if out_dtype == dtype else out_dtype,
        same_kind=same_kind,
        accuracy=accuracy,
    )


def einsum_derivative(
    subscripts: str, shapes: list[tuple[int, ...]], k: int
) -> tuple[str, list[int], list[bool]]:
    """einsum's derivative by its operand k, as an einsum of: the derivative by the result, the other operands, and for each extent of the list a
    unit matrix, which stands for an index that operand k has twice. The last list says which dimensions of operand k the product has: along the
    others, of an index that is summed and that only this operand has, or that is broadcast, one value counts for all elements."""
    terms, result = _subscripts(subscripts, shapes)
    extents = _extents(terms, shapes)
    own, others = terms[k], terms[:k] + terms[k + 1 :]
    free = iter(letter for letter in string.ascii_letters if letter not in "".join(terms))
    diagonals, units, names, is_there = [], [], "", []
    for place, (label, extent) in enumerate(zip(own, shapes[k])):
        is_broadcast = extent == 1 and extents[label] != 1
        if not is_broadcast and label in own[:place]:
            units.append(label + next(free))
            diagonals.append(extent)
        names += units[-1][1] if units and label in own[:place] and not is_broadcast else label
        is_there.append(not is_broadcast)
    known = set("".join([result, *others, *units]))
    is_there = [there and name in known for there, name in zip(is_there, names)]
    product = "".join(name for name, there in zip(names, is_there) if there)
    return ",".join([result, *others, *units]) + "->" + product, diagonals, is_there


def _subscripts(text: str, shapes: list[tuple[int, ...]]) -> tuple[list[str], str]:
    """The operands' and the result's indices, a letter each."""
    text = text.replace(" ", "")
    before, arrow, after = text.partition("->")
    terms = before.split(",")
    if len(terms) != len(shapes):
        raise ValueError(
            f"The subscripts {text!r} have {len(terms)} operands, but {len(shapes)} arrays were given."
        )
    free = iter(letter for letter in string.ascii_letters if letter not in text)
    for term in [*terms, after]:
        plain = term.replace("...", "", 1)
        if not all(letter in string.ascii_letters for letter in plain):
            wrong = next(letter for letter in plain if letter not in string.ascii_letters)
            raise ValueError(
                f"The subscripts {text!r} have the character {wrong!r}; allowed are letters, one '...' per operand, commas and one '->'."
            )
    longest = 0
    for term, shape in zip(terms, shapes):
        count = len(term.replace("...", ""))
        if "..." not in term and count != len(shape) or count > len(shape):
            raise ValueError(
                f"The subscripts {term!r} have {count} indices, but their array has the shape {shape}."
            )
        longest = max(longest, len(shape) - count)
    broadcast = "".join(next(free) for _ in range(longest)) if longest else ""
    inputs = [
        term.replace("...", broadcast[longest - (len(shape) - len(term.replace("...", ""))) :])
        for term, shape in zip(terms, shapes)
    ]
    if arrow:
        if broadcast and "..." not in after and any("..." in term for term in terms):
            pass  # NumPy sums over the dimensions of an ellipsis that the result does not have
        result = after.replace("...", broadcast)
    else:
        plain = "".join(terms).replace("...", "")
        result = broadcast + "".join(sorted(letter for letter in set(plain) if plain.count(letter) == 1))
    for letter in result:
        if result.count(letter) > 1:
            raise ValueError(f"The result of {text!r} has the index {letter!r} twice.")
        if letter not in "".join(inputs):
            raise ValueError(f"The result of {text!r} has the index {letter!r}, which no operand has.")
    extents: dict[str, int] = {}
    for term, shape in zip(inputs, shapes):
        own: dict[str, int] = {}
        for letter, extent in zip(term, shape):
            if own.setdefault(letter, extent) != extent:
                raise ValueError(
                    f"The index {letter!r} of the operand {term!r} has the extents {own[letter]} and {extent}; they must agree."
                )
            if extents.setdefault(letter, extent) == 1:
                extents[letter] = extent
            elif extent not in (1, extents[letter]):
                raise ValueError(
                    f"The index {letter!r} of {text!r} has the extents {extents[letter]} and {extent}; they must agree."
                )
    return inputs, result


@typed.of_x
def permute(x: Any, axes: Sequence[SupportsIndex] | None = None, out: Any = None) -> Any:
    """A C-contiguous array whose k-th axis is axes[k] of `x`: transpose() under the name that PyTorch has for it; None: all axes in reverse.

    >>> tunesmith.permute([[1, 2, 3], [4, 5, 6]], (1, 0))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    """
    return transpose(x, axes, out)
