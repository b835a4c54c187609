# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays, element by element, from an expression or from a Python function of arithmetic."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, overload

import numpy as np

from ._arrays import InputArray
from ._core import Memo, functions, work
from ._dispatchers import launch
from ._outputs import _finish, _usable
from ._reading import Reader, Tree
from ._recording import run_recorded
from ._types import dtype_words, type_name, types_of
from ._typing import ArrayT, NumPy

_functions = frozenset(functions())
# Other names of operations in NumPy and Python.
_aliases = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "absolute": "abs",
    "fabs": "abs",
    "minimum": "min",
    "maximum": "max",
    "power": "pow",
    "round": "rint",
}
_letters = "abcdef"
_name = re.compile(r"[A-Za-z_]\w*")
_number = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def _rename(expression: str, inputs: Iterable[str] | None) -> tuple[str, tuple[str, ...]]:
    """The expression with the inputs a to f, and the original names."""
    inputs = None if inputs is None else tuple(inputs)
    names: list[str] = list(inputs or ())
    text = []
    at = 0
    while at < len(expression):
        number = _number.match(expression, at)
        name = _name.match(expression, at)
        if number:
            text.append(number.group())
            at = number.end()
        elif name:
            word = name.group()
            at = name.end()
            if expression[at:].lstrip().startswith("("):
                word = _aliases.get(word, word)
            elif word != "pi":
                if inputs is not None and "pi" in inputs:
                    raise ValueError(
                        'An input is named "pi", which is a number in an expression; give it another name.'
                    )
                if word not in names:
                    if inputs is not None:
                        raise ValueError(
                            f'The expression "{expression}" has {word}, which is none of its inputs, {", ".join(inputs)}.'
                        )
                    names.append(word)
                if len(names) > len(_letters):
                    raise ValueError(
                        f'The expression "{expression}" has more than {len(_letters)} inputs: {", ".join(names)}.'
                    )
                word = _letters[names.index(word)]
            text.append(word)
        else:
            text.append(expression[at])
            at += 1
    return "".join(text), tuple(names)


class _Operation(NamedTuple):
    """An operation: NumPy's function, which determines the type of the result, and its text for real and for whole numbers."""

    numpy: Callable[..., Any]
    real: str
    whole: str | None = None  # None: not for whole numbers


_plain = (bool, int, float)  # Python's numbers, which take the type of the arrays in the expression


def _all_plain(values: Iterable[Any]) -> bool:
    return all(type(value) in _plain for value in values)


def _either(condition: Any, yes: Any, no: Any) -> Any:
    """x if c else y; Python's numbers stay Python's numbers."""
    if not isinstance(condition, np.ndarray):
        return yes if condition else no
    if not _all_plain((yes, no)):
        return np.where(condition, yes, no)
    return float(yes) if float in (type(yes), type(no)) else max(yes, no, key=abs)


def _by_math(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """math's function: for arrays NumPy's of the same name, for numbers alone the function itself."""

    def call(*values: Any) -> Any:
        if any(isinstance(value, np.ndarray) for value in values):
            return function(*values)
        try:
            return getattr(math, name)(*values)
        except (ValueError, OverflowError):  # a kernel gives NaN or infinity for such numbers
            return math.nan

    return call


def _to_whole(function: Callable[..., Any]) -> Callable[[Any], int]:
    """A function such as math.floor(), which gives Python's whole numbers; for an array it gives one that stands for all."""
    return lambda value: 1 if isinstance(value, np.ndarray) else int(function(value))


def _remainder(left: str, right: str) -> str:
    """C's remainder with the divisor's sign, as Python and NumPy have it."""
    cut = f"({left} % {right})"
    return f"({cut} != 0 && ({cut} < 0) != ({right} < 0) ? {cut} + {right} : {cut})"


def _quotients() -> tuple[str, str]:
    """The quotient rounded down: of real numbers, as in Python's and NumPy's divmod(), and of whole ones."""
    cut = "({0} % {1})"
    goes_down = f"({cut} != 0 && ({cut} < 0) != ({{1}} < 0))"
    part = f"(({{0}} - {cut}) / {{1}} - {goes_down})"
    real = f"({{1}} == 0 ? {{0}} / {{1}} : {part} - floor({part}) > 0.5 ? floor({part}) + 1 : floor({part}))"
    return real, f"({{0}} / {{1}} - {goes_down})"


def _table() -> dict[str, _Operation]:
    both = {
        "+": (operator.add, "({0} + {1})"),
        "-": (operator.sub, "({0} - {1})"),
        "*": (operator.mul, "({0} * {1})"),
        "%": (operator.mod, _remainder("{0}", "{1}")),
        "fmod": (np.fmod, "({0} % {1})"),
        "neg": (operator.neg, "(-{0})"),
        "pos": (operator.pos, "{0}"),
        "not": (np.logical_not, "(!{0})"),
        "and": (lambda x, y: _either(x, y, x), "({0} ? {1} : {0})"),
        "or": (lambda x, y: _either(x, x, y), "({0} ? {0} : {1})"),
        "if": (_either, "({0} ? {1} : {2})"),
        "where": (np.where, "({0} ? {1} : {2})"),
        # Python returns the first operand if one is NaN.
        "min of two": (lambda x, y: _either(y < x, y, x), "({1} < {0} ? {1} : {0})"),
        "max of two": (lambda x, y: _either(y > x, y, x), "({1} > {0} ? {1} : {0})"),
        "minimum": (np.minimum, "min({0}, {1})"),
        "maximum": (np.maximum, "max({0}, {1})"),
        "abs": (abs, "abs({0})"),
        "fabs": (np.fabs, "abs({0})"),
    }
    for sign, function in (
        ("<", operator.lt),
        ("<=", operator.le),
        (">", operator.gt),
        (">=", operator.ge),
        ("==", operator.eq),
        ("!=", operator.ne),
    ):
        both[sign] = (function, f"({{0}} {sign} {{1}})")
    found = {name: _Operation(function, text, text) for name, (function, text) in both.items()}
    quotient, whole_quotient = _quotients()
    found["//"] = _Operation(operator.floordiv, quotient, whole_quotient)
    for name in ("%", "//"):  # whole numbers mixed with real ones: division by 0 gives 0
        found["whole " + name] = found[name]._replace(real=f"({{1}} == 0 ? 0 : {found[name].real})")
    found["/"] = _Operation(operator.truediv, "({0} / {1})")
    found["**"] = _Operation(operator.pow, "pow({0}, {1})", "**")
    found["math.pow"] = _Operation(
        _by_math("pow", lambda x, y: np.power(np.true_divide(x, 1), y)), "pow({0}, {1})"
    )
    for name in ("floor", "ceil", "trunc", "rint"):
        found[name] = _Operation(getattr(np, name), f"{name}({{0}})", "{0}")
        found["whole " + name] = _Operation(_to_whole(getattr(np, name)), f"{name}({{0}})", "{0}")
    found["round"] = _Operation(np.round, "rint({0})", "{0}")
    for name in "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh".split():
        word = name.replace("arc", "a")
        found[name] = _Operation(getattr(np, name), f"{word}({{0}})")
        if hasattr(math, word):
            found["math." + word] = _Operation(_by_math(word, getattr(np, name)), f"{word}({{0}})")
    for name in ("erf", "erfc"):
        found["math." + name] = _Operation(
            _by_math(name, np.exp), f"{name}({{0}})"
        )  # the types are those of exp
    for name, word in (("arctan2", "atan2"), ("hypot", "hypot")):
        found[name] = _Operation(getattr(np, name), f"{word}({{0}}, {{1}})")
        found["math." + word] = _Operation(_by_math(word, getattr(np, name)), f"{word}({{0}}, {{1}})")
    return found


_operations = _table()
_weak_real, _weak_whole = "Python's float", "Python's int"
_comparisons = ("<", "<=", ">", ">=", "==", "!=", "not")


def _known() -> dict[Any, tuple[str, int | None]]:
    """The function itself that a name stands for, since a user's own function may have the same name."""
    found: dict[Any, tuple[str, int | None]] = {
        builtins.abs: ("abs", 1), builtins.min: ("min of two", None), builtins.max: ("max of two", None), builtins.pow: ("**", 2),
        builtins.round: ("whole rint", 1), math.floor: ("whole floor", 1), math.ceil: ("whole ceil", 1), math.trunc: ("whole trunc", 1),
        math.fabs: ("fabs", 1), math.fmod: ("fmod", 2), math.pow: ("math.pow", 2), math.hypot: ("math.hypot", 2),
        math.atan2: ("math.atan2", 2), np.arctan2: ("arctan2", 2), np.hypot: ("hypot", 2), np.where: ("where", 3),
        np.absolute: ("abs", 1), np.fabs: ("fabs", 1), np.minimum: ("minimum", 2), np.maximum: ("maximum", 2), np.power: ("**", 2),
        np.round: ("round", 1), np.around: ("round", 1), np.rint: ("rint", 1), np.floor: ("floor", 1), np.ceil: ("ceil", 1),
        np.trunc: ("trunc", 1), np.fmod: ("fmod", 2), np.remainder: ("%", 2), np.floor_divide: ("//", 2), np.add: ("+", 2),
        np.subtract: ("-", 2), np.multiply: ("*", 2), np.true_divide: ("/", 2), np.negative: ("neg", 1), np.logical_not: ("not", 1),
    }  # fmt: skip
    for name in _operations:
        if name.startswith("math."):
            found.setdefault(getattr(math, name[5:]), (name, 1))
        elif getattr(np, name, None) not in (None, *found):
            found[getattr(np, name)] = (name, 1)
    return found


class _ToTree(Reader):
    known = _known()
    allowed = (
        "assignments, + - * / // % **, comparisons, and, or, not, x if c else y, numbers, min, max, abs, numpy.where and the functions of math "
        "and numpy that are named "
        + ", ".join(sorted(_functions - {"add", "gaussian_pdf", "polar_distance", "rsqrt"}))
    )


def _is_truth(tree: Tree) -> bool:
    return tree[0] in _comparisons or tree[0] in ("and", "or") and _is_truth(tree[1]) and _is_truth(tree[2])


def _literal(value: Any, whole: bool) -> str:
    if whole:
        return f"({int(value)})" if value < 0 else str(int(value))
    value = float(value)
    if math.isnan(value):
        return "(0 / 0)"
    if math.isinf(value):
        return "(2 / 0)" if value > 0 else "(-2 / 0)"
    if value == math.pi:
        return "pi"
    text = (
        repr(int(value))
        if value == int(value) and abs(value) < 1e15 and math.copysign(1, value) == 1
        else repr(value)
    )
    return f"({text})" if text.startswith("-") else text


class _Mixed(TypeError):
    """The function cannot be computed in one type; the caller says which function it is."""


def _text(tree: Tree, letters: dict[int, str], whole: bool) -> str:
    """The tree as an expression of the op elementwise."""
    name, *operands = tree
    if name == "input":
        return letters[operands[0]]
    if name == "number":
        return _literal(operands[0], whole)
    if name in ("and", "or") and _is_truth(tree):
        return f"({_text(operands[0], letters, whole)} {'&&' if name == 'and' else '||'} {_text(operands[1], letters, whole)})"
    texts = [_text(one, letters, whole) for one in operands]
    form = _operations[name].whole if whole else _operations[name].real
    if form == "**":
        exponent = operands[1][1] if operands[1][0] == "number" else None
        if not isinstance(exponent, (int, np.integer)) or not 0 <= exponent <= 64:
            raise _Mixed(
                "raises whole numbers to a power that is not a constant from 0 to 64; convert them to real ones"
            )
        return f"({' * '.join([texts[0]] * int(exponent))})" if exponent else f"({texts[0]} * 0 + 1)"
    if form is None:
        raise _Mixed(f"has {name} of whole numbers, which is not computed; convert them to real ones")
    return form.format(*texts)


def _used(tree: Tree, found: list[int]) -> list[int]:
    """The inputs of a tree in the order of their occurrence."""
    if tree[0] == "input":
        if tree[1] not in found:
            found.append(tree[1])
    elif tree[0] != "number":
        for one in tree[1:]:
            _used(one, found)
    return found


def _applied(name: str, found: list[Any]) -> Any:
    try:
        value = _operations[name].numpy(*found)
    except (ZeroDivisionError, OverflowError, ValueError):
        if any(isinstance(one, np.ndarray) for one in found):
            raise
        return math.nan  # a kernel gives infinity or NaN
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _folded(tree: Tree) -> Tree:
    """The tree in which operations on numbers alone are replaced by their results, as Python computes them."""
    name, *operands = tree
    if name in ("input", "number"):
        return tree
    operands = [_folded(one) for one in operands]
    if all(one[0] == "number" for one in operands):
        with np.errstate(all="ignore"):
            value = _applied(name, [one[1] for one in operands])
        if not isinstance(value, complex):  # a root of a negative number, which is NaN for arrays
            return ("number", value)
    return (name, *operands)


class _Types:
    """NumPy's types when a tree is computed from arrays without elements and from Python's numbers."""

    def __init__(self, values: list[Any]):
        self.values = values
        self.strong: set[Any] = set()  # types in which something is computed
        self.whole: list[int] = []  # Python's numbers

    def note(self, *operands: Any) -> None:
        weak = [one for one in operands if type(one) in _plain]
        self.whole += [int(one) for one in weak if type(one) is int]
        if len(weak) < len(operands):
            # A Python whole number does not change the type of other values; its size is checked later.
            self.strong.add(np.result_type(*(1 if type(one) is int else one for one in operands)))
        elif any(type(one) is float for one in weak):
            self.strong.add(_weak_real)
        else:
            self.strong.add(_weak_whole)

    def of(self, tree: Tree) -> tuple[Any, Tree]:
        """The value, and the tree with the operations for whole numbers."""
        name, *operands = tree
        if name == "input":
            value = self.values[operands[0]]
            self.note(value)
            return value, tree
        if name == "number":
            return operands[0], tree
        both = [self.of(one) for one in operands]
        found = [value for value, _ in both]
        self.note(*(found[1:] if name in ("if", "where") else found))
        value = _applied(name, found)
        is_truth = getattr(value, "dtype", None) == np.dtype(bool)
        if is_truth and name in ("+", "-", "*", "abs", "floor", "ceil", "trunc", "round"):
            raise _Mixed(
                f"has {name} of truth values, which NumPy and Python compute otherwise; write where(condition, 1, 0), or `and` and `or`"
            )
        if name in ("%", "//") and np.asarray(value).dtype.kind in "iu":
            name = "whole " + name
        return value, (name, *(one for _, one in both))


def _bound(tree: Tree, types: list[Any]) -> float:
    """The largest magnitude that the whole numbers of a tree may have; infinity: not known."""
    name, *operands = tree
    if name == "number":
        return abs(operands[0]) if isinstance(operands[0], (int, np.integer, np.bool_)) else math.inf
    if name == "input":
        kind = getattr(types[operands[0]], "dtype", None)
        if kind is None:
            return abs(types[operands[0]]) if isinstance(types[operands[0]], int) else math.inf
        return 1 if kind.kind == "b" else float(np.iinfo(kind).max) if kind.kind in "iu" else math.inf
    if name in _comparisons:
        return 1
    found = [_bound(one, types) for one in operands]
    if name == "*":
        return found[0] * found[1] if min(found) > 0 else 0
    if name in ("+", "-"):
        return sum(found)
    if name in ("if", "where"):
        return max(found[1:])
    if name in ("neg", "pos", "abs", "and", "or", "min of two", "max of two", "minimum", "maximum"):
        return max(found)
    return math.inf


class _Computed(NamedTuple):
    expression: str
    dtype: str  # the type in which the kernel computes
    result: str


def _computed(tree: Tree, letters: dict[int, str], values: list[Any]) -> _Computed:
    """The kernel of one type that gives NumPy's result for the types of these values: arrays without elements, or Python's numbers."""
    types = _Types(values)
    with np.errstate(all="ignore"):
        root, tree = types.of(tree)
    types.note(root)
    wanted = np.asarray(root).dtype
    strong = {one for one in types.strong if isinstance(one, np.dtype) and one.kind != "b"}
    if wanted.kind == "f" or not strong and wanted.kind != "b":
        strong.add(wanted)
    if _weak_real in types.strong and not any(one.kind == "f" for one in strong):
        strong.add(np.dtype(np.float64))
    for one in strong:
        if one.kind not in "iuf" or one.itemsize > 8:
            raise _Mixed(f"computes {one}; allowed are {', '.join(_op_types)}")
    if np.dtype(np.uint64) in strong and wanted.kind != "f":
        raise _Mixed("computes uint64, which no kernel does; convert it to int64 or float64")
    computed = np.result_type(*strong) if strong else np.dtype(np.int32)
    if computed.kind in "iu":
        computed = np.dtype(np.int32 if np.can_cast(computed, np.int32) else np.int64)
        if any(not -(2**31) <= one < 2**31 for one in types.whole):
            computed = np.dtype(np.int64)
        for one in types.whole:
            if not -(2**63) <= one < 2**63:
                raise OverflowError(f"Python integer {one} out of bounds for int64")
    if wanted.kind in "iu":
        wanted = np.dtype(np.int32 if np.can_cast(wanted, np.int32) else np.int64)
        if computed.kind == "f" and (
            _bound(tree, values) > min(2 ** (np.finfo(computed).nmant + 1), np.iinfo(wanted).max)
        ):
            raise _Mixed(
                "gives whole numbers from real ones; make the result real (numpy.floor or numpy.rint in place of math.floor or round, 0.0 in place of 0), or convert the inputs to one type"
            )
    return _Computed(_text(tree, letters, computed.kind != "f"), computed.name, wanted.name)


_op_types = tuple(types_of("elementwise"))


def _common_type(types: list[str], scalars: list[Any]) -> str:
    """The type in which an expression that was given as text is computed."""
    if "bfloat16" in types:
        return "bfloat16"
    # Python's numbers take the type of the arrays, as in NumPy 2.
    wanted = np.result_type(
        *(np.dtype(one) for one in types), *(1 if type(one) is int else one for one in scalars)
    )
    if wanted == np.uint64:
        raise TypeError("uint64 was given, which no kernel computes; convert it to int64 or float64 first.")
    if wanted.kind in "bu" or wanted.itemsize < 4 and wanted.kind == "i":
        wanted = np.dtype(np.int64 if wanted.itemsize >= 4 else np.int32)
    for value in scalars:
        if wanted.kind == "i" and not np.iinfo(wanted).min <= value <= np.iinfo(wanted).max:
            raise OverflowError(f"Python integer {value} out of bounds for {wanted}")
    return wanted.name


_most_types = 256


class _Form:
    """A function, or an expression, as it was read, and the calls that were recorded of it. Threads share it: it is replaced as a whole."""

    reader: Reader | None = None  # of a Python function
    tree: Tree | None = None  # likewise

    def __init__(self, function: Callable[..., Any] | str, inputs: Iterable[str] | None = None):
        self.inputs: tuple[str, ...]
        if isinstance(function, str):
            self.where = f'The expression "{function}"'
            self.expression, self.inputs = _rename(function, inputs)
            self.used = list(range(len(self.inputs)))
        else:
            self.reader = reader = _ToTree(function)
            self.where = "The function " + reader.where()
            self.tree = _folded(reader.tree)
            self.inputs = reader.inputs
            self.used = _used(self.tree, [])
            if len(self.used) > len(_letters):
                raise ValueError(
                    f"{self.where} has more than {len(_letters)} inputs: {', '.join(self.inputs)}."
                )
            self.letters = {k: letter for k, letter in zip(self.used, _letters)}
            self.expression = _text(self.tree, self.letters, False)
        self._begin()

    def _begin(self) -> None:
        self.by_types: dict[tuple, _Computed] = {}
        self.memo = Memo([*self.inputs, "out"], list(range(len(self.inputs) + 1)))

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.__dict__.items() if name not in ("reader", "by_types", "memo")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def computed(self, types: list[str | None], scalars: list[Any]) -> _Computed:
        """`types`: the types of the arrays; None: the value is one of `scalars`, Python's numbers."""
        named = [one for one in types if one is not None]
        for one in named:
            if one.startswith("complex"):
                raise TypeError(
                    f"An array of {one} was given; functions of complex numbers are not supported."
                )
        is_bfloat = "bfloat16" in named
        if is_bfloat and any(one not in ("bfloat16", "bool", "int8", "uint8") for one in named):
            raise TypeError("bfloat16 was given with another type; convert one of them first.")
        if self.tree is None:
            common = _common_type(named, [one for one in scalars if one is not None])
            return _Computed(self.expression, common, common)
        key = tuple(
            type(value) if isinstance(value, float) else (type(value), value) if one is None else one
            for one, value in zip(types, scalars)
        )
        found = self.by_types.get(key)
        if found is None:
            # NumPy has no bfloat16; it is promoted like float16.
            values = [
                value if one is None else np.empty(0, "float16" if one == "bfloat16" else one)
                for one, value in zip(types, scalars)
            ]
            try:
                found = _computed(self.tree, self.letters, values)
            except _Mixed as error:
                raise TypeError(
                    f"{self.where}, of {', '.join(one or type(value).__name__ for one, value in zip(types, scalars))}: it {error}."
                ) from None
            except (TypeError, ValueError) as error:
                raise type(error)(f"{self.where}: {error}") from error
            if is_bfloat:
                found = _Computed(
                    found.expression, *("bfloat16" if one == "float16" else one for one in found[1:])
                )
            if len(self.by_types) >= _most_types:
                self.by_types.clear()
            self.by_types[key] = found
        return found

    def run(self, *arrays: Any, out: Any = None, dtype: Any = None) -> Any:
        if len(arrays) != len(self.inputs):
            raise TypeError(
                f"{len(arrays)} arrays were given; the function takes {len(self.inputs)}: {', '.join(self.inputs)}."
            )
        scalars = [value if type(value) in _plain else None for value in arrays]
        given = [InputArray(value) if scalar is None else None for value, scalar in zip(arrays, scalars)]
        like = None
        for one in given:
            if one is not None and (like is None or like.array.kind == "numpy"):
                like = one
        if like is None:
            like = InputArray(np.asarray(arrays[0]))
        types = [None if one is None else one.dtype for one in given]
        if dtype is not None:
            name = type_name(dtype)
            types, scalars = [name] * len(types), [None] * len(types)
        computed = self.computed(types, scalars)
        if computed.dtype not in _op_types:
            raise TypeError(
                f"Elements of {computed.dtype} are not computed; allowed are {', '.join(_op_types)}."
            )
        operands = []
        for one, value in zip(given, arrays):
            if one is None:
                number = np.asarray(float(value) if "float" in computed.dtype else value)
                one = InputArray(number, like)
            elif one.array.kind == "numpy" and like.array.kind != "numpy":
                one = InputArray(np.asarray(value), like)
            one = one.to(computed.dtype)
            if type(value) in _plain:
                one.constant()
            operands.append(one.contiguous() if any(stride < 0 for stride in one.array.strides) else one)
        return self.launched(like, operands, computed, out)

    def launched(self, like: InputArray, operands: list[InputArray], computed: _Computed, out: Any) -> Any:
        shape = np.broadcast_shapes(*(one.shape for one in operands))
        operands = [operands[k] for k in self.used]
        problem = [
            ("function", computed.expression),
            ("dtype", dtype_words[computed.dtype]),
            *_layouts(shape, operands),
        ]
        is_direct = computed.dtype == computed.result
        # Element by element, the output may be one of the operands.
        others = [
            one for one in operands if not (one.object is out and one.shape == shape and one.array.contiguous)
        ]
        result = (_usable(out, shape, computed.dtype, like, others) if is_direct else None) or like.empty(
            shape, computed.dtype
        )
        if result.array.size:
            padding = [None] * (len(_letters) - len(operands))
            launch("elementwise", (*operands, *padding, result), tuple(problem), needs_compiler=True)
        if out is not None and result.object is out:
            return out
        return _finish(result.to(computed.result), out, same_kind=True)


class Vectorized:
    """A function of arrays, element by element with NumPy's broadcasting; see vectorize().

    It can be pickled; the numbers outside of the function then keep their values. inputs: the names of its inputs.
    expression: the computed expression in a to f. Raises as vectorize() does.

    >>> scaled = tunesmith.Vectorized('k * x', inputs=['x', 'k'])
    >>> scaled([1.0, 2.0], 10.0)
    array([10., 20.])
    """

    def __init__(self, function: Callable[..., Any] | str, inputs: Iterable[str] | None = None):
        if not isinstance(function, str):
            if not callable(function):
                raise TypeError(
                    f"vectorize() takes an expression as text or a Python function, not a {type(function).__name__}."
                )
            if inputs is not None:
                raise ValueError(
                    "inputs= is for an expression as text; the inputs of a Python function are its parameters."
                )
        self._form = form = _Form(function, inputs)
        if not isinstance(function, str):
            functools.update_wrapper(self, function)
        if not form.used:
            raise ValueError(f"{form.where} has no input.")
        if form.tree is None:
            try:
                work("elementwise", (("function", form.expression), ("dtype", "f32"), ("shape", "1")))
            except ValueError as error:
                raise ValueError(
                    f"{form.where} cannot be computed, with its inputs named {', '.join(_letters[: len(form.used)])}. {error}"
                ) from None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its inputs."""
        return self._form.inputs

    @property
    def expression(self) -> str:
        """The computed expression in a to f."""
        return self._form.expression

    def _present(self) -> _Form:
        """The form for the present values of the names outside of the function; it is read again if one has changed."""
        form = self._form
        if form.reader is not None and form.reader.changed():
            # If threads read it at the same time, the last one counts: if a value has changed since, the next call reads it again.
            self._form = form = _Form(form.reader.function)
        return form

    def __getstate__(self) -> dict[str, Any]:
        self._present()
        # The function itself is left out: pickle would find it by its name, which now belongs to this object.
        return {name: value for name, value in self.__dict__.items() if name != "__wrapped__"}

    def __copy__(self) -> Vectorized:
        return self

    def __deepcopy__(self, memo: Any) -> Vectorized:
        return self  # functions are copied in this way too

    def __repr__(self) -> str:
        return f"<tunesmith.vectorize {self.expression!r} of {', '.join(self.inputs)}>"

    @overload
    def __call__(self, *arrays: complex, out: None = None, dtype: Any = None) -> Any: ...
    @overload
    def __call__(self, *arrays: NumPy | complex, out: NumPy | None = None, dtype: Any = None) -> NumPy: ...
    @overload
    def __call__(self, *arrays: ArrayT | complex, out: Any = None, dtype: Any = None) -> ArrayT: ...
    @overload
    def __call__(self, *arrays: Any, out: Any = None, dtype: Any = None) -> Any: ...
    def __call__(self, *arrays: Any, out: Any = None, dtype: Any = None) -> Any:
        form = self._present()
        settings = {}
        if out is not None:
            settings["out"] = out
        if dtype is not None:
            settings["dtype"] = dtype
        # Some of NumPy's scalars are instances of Python's numbers, but have another type.
        if any(isinstance(value, np.generic) for value in arrays):
            return form.run(*arrays, **settings)
        return run_recorded(form.memo, form.run, arrays, settings)


def _layouts(shape: tuple[int, ...], operands: list[InputArray]) -> Iterator[tuple[str, str]]:
    """The output's extents, and the extents and strides of each input with another layout."""
    yield "shape", "x".join(map(str, shape)) or "1"
    for letter, one in zip(_letters, operands):
        if one.shape != shape or not one.array.contiguous:
            strides = ":" + "x".join(map(str, one.array.strides)) if one.shape else ""
            yield letter, ("x".join(map(str, one.shape)) or "1") + strides


@overload
def vectorize(function: Callable[..., Any] | str, *, inputs: Iterable[str] | None = None) -> Vectorized: ...
@overload
def vectorize(
    function: None = None, *, inputs: Iterable[str] | None = None
) -> Callable[[Callable[..., Any]], Vectorized]: ...
def vectorize(
    function: Callable[..., Any] | str | None = None, *, inputs: Iterable[str] | None = None
) -> Vectorized | Callable[[Callable[..., Any]], Vectorized]:
    """Your own NumPy ufunc, in one kernel: a function of arrays, element by element with NumPy's broadcasting.

    function: an expression in C's operators, with the functions of docs (sqrt, exp, cos, min, ...) and any names for at most six
    inputs, in the order in which they first occur:
        distance = tunesmith.vectorize("sqrt(x * x + y * y)")
    or, as a decorator, a Python function of arithmetic: assignments, + - * / // % **, comparisons, and, or, not, x if c else y,
    numbers, min, max, abs, numpy.where, and math's and NumPy's functions, under any name. It is parsed, not
    run; code that cannot be computed exactly as Python and NumPy do it is refused with file and line (ValueError, or TypeError if it
    depends on the arrays' types).
    inputs: the names in another order, for a text.

    The result's call: f(*arrays, out=None, dtype=None). For a Python function the result has the type that NumPy gives: comparisons
    are bool, `/` and sqrt of int32 are float64, Python's numbers take the arrays' type, and a number that does not fit is an OverflowError.
    Three things differ. Everything is computed in one type, that of the result (for comparisons: that of the operands), so integers
    mixed with floats do not wrap, and are exact below 2**53 in float64. Integers of less than 32 bits are computed as int32, uint32 as
    int64, and uint64 is refused if the result is not a float. math's functions give NaN and infinity as NumPy's do.
    In a text, everything is computed in the inputs' common type, `/` and `%` of integers are C's, comparisons give 1 or 0, and only abs, min,
    max and add take integers.
    dtype converts all inputs first. Kernels compute float32, float64, int32, int64, float16 and bfloat16; inputs of another type are
    copied. A new kernel is compiled when it is first called, on a GPU by NVRTC, on the host by c++.
    Raises ValueError for an expression that is wrong, TypeError for what is neither a text nor a function. A call raises TypeError for arrays of types
    that are not computed, ValueError for shapes that cannot be broadcast, OverflowError as above.

    >>> distance = tunesmith.vectorize('sqrt(x * x + y * y)')
    >>> distance([3.0, 6.0], [4.0, 8.0])
    array([ 5., 10.])
    """
    if function is None:
        return lambda found: Vectorized(found, inputs)
    return Vectorized(function, inputs)
