# SPDX-License-Identifier: Apache-2.0
"""A Python function of arithmetic as a tree of operations: it is read from its source, not run."""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import inspect
import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

# ("input", k), ("number", value), or an operation's name and its operands. A tree has only data, so that it
# can be pickled.
Tree = tuple

_binary = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
_unary = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not"}
_compare = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
# The choices of `from __future__ import` among a code's flags; from Python 3.14 on there are others beside them, such as that of a docstring.
_future_flags = (
    functools.reduce(
        operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    )
    & ~inspect.CO_NESTED
)
_unknown = object()  # a name without a value
_mark = 1 << 24  # above all line numbers


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield one
            yield from _codes(one)


@functools.lru_cache(maxsize=16)
def _functions_of(source: str, flags: int, by_statement: bool) -> dict[int, list[tuple[Any, types.CodeType]]]:
    """The functions of a file by their first line: the syntax, and the compiled code. Each gets its own first line for that.

    by_statement: each statement is compiled separately, as notebooks and prompts do. That may give other code: from Python 3.11 on the compiler calls
    math.exp() differently if it sees the import of math.
    """
    tree = ast.parse(source)
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            line = node.first_line = _first_line(node)  # type: ignore[union-attr]
            found[_mark + 2 * len(found)] = (line, node)
    for mark, (_, node) in found.items():
        place = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
        place.lineno, place.end_lineno = mark, mark + 1
    by_line: dict[int, list[tuple[Any, types.CodeType]]] = {}
    for part in [ast.Module([one], []) for one in tree.body] if by_statement else [tree]:
        for code in _codes(
            compile(part, "<functions>", "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        ):
            if code.co_firstlineno in found:
                line, node = found[code.co_firstlineno]
                by_line.setdefault(line, []).append((node, code))
    return by_line


def _is_same(code: types.CodeType, other: types.CodeType) -> bool:
    """True if `other`, which was compiled for comparison, is the code of the same function."""
    if code.co_code != other.co_code:
        return False
    for name in (
        "co_name",
        "co_names",
        "co_varnames",
        "co_freevars",
        "co_cellvars",
        "co_argcount",
        "co_kwonlyargcount",
    ):
        if getattr(code, name) != getattr(other, name):
            return False
    constants = [
        [repr(one) for one in each.co_consts if not isinstance(one, types.CodeType)] for each in (code, other)
    ]
    if constants[0] != constants[1]:
        return False
    if hasattr(code, "co_positions"):  # Python 3.11: the columns too
        for place, its in zip(code.co_positions(), other.co_positions()):
            if None not in (*place, *its) and its[0] < _mark and place != its:  # type: ignore[operator]
                return False
    return True


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


def _syntax_of(function: types.FunctionType) -> Any:
    code = function.__code__
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError):
        raise ValueError(
            f"{function!r} has no source that can be read: before Python 3.13 its prompt keeps none, nor do exec() and python -c. Write it to a "
            "file, type it in IPython or a notebook, or give an expression as text, as in tunesmith.vectorize('sqrt(x * x + y * y)')."
        ) from None
    future = code.co_flags & _future_flags
    for by_statement in (False, True):
        try:
            known = _functions_of("".join(lines), future, by_statement).get(code.co_firstlineno, [])
        except SyntaxError:
            known = []
        for node, other in known:
            if _is_same(code, other):
                return node
    raise ValueError(
        f"The function {_name_of(function)} cannot be read: line {code.co_firstlineno} of {code.co_filename} does not hold it. "
        "Was the file changed after it was loaded? Load it again, or give an expression as text."
    )


class Reader(ast.NodeVisitor):
    """Reads a function's body of assignments and one return. `known`: the meaning of functions, as (name, number of operands)."""

    allowed = ""
    known: dict[Any, tuple[str, int | None]] = {}
    own_words: dict[str, tuple[str, int | None]] = {}  # functions that Python need not know
    operators = frozenset(_binary.values())

    def __init__(self, function: Callable[..., Any]):
        if hasattr(function, "__wrapped__"):
            raise ValueError(
                f"The function {_name_of(function)} is decorated, and what its decorator does cannot be read; "
                "write it without the decorator, or give an expression as text."
            )
        if not isinstance(function, types.FunctionType):
            raise ValueError(f"{function!r} has no source that can be read; give an expression as text.")
        self.function = function
        node = _syntax_of(function)
        self.first = node.first_line
        self.surroundings: list[tuple[str, Any]] = []  # values of names outside of the function
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.refuse(node, "takes other than plain positional parameters")
        self.inputs = tuple(one.arg for one in arguments.posonlyargs + arguments.args)
        self.values: dict[str, Tree] = {name: ("input", k) for k, name in enumerate(self.inputs)}
        tree = self.visit(node.body) if isinstance(node, ast.Lambda) else self.body(node)
        self.tree: Tree = tree

    def where(self) -> str:
        return f"{self.function.__name__}, line {self.first} of {self.function.__code__.co_filename}"

    def body(self, node: ast.FunctionDef) -> Tree:
        statements = node.body
        if (
            isinstance(statements[0], ast.Expr)
            and isinstance(statements[0].value, ast.Constant)
            and isinstance(statements[0].value.value, str)
        ):
            statements = statements[1:]  # a docstring
        for statement in statements:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.visit(statement.value)
            if (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
            ):
                self.values[statement.targets[0].id] = self.visit(statement.value)
            elif (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and statement.value is not None
            ):
                self.values[statement.target.id] = self.visit(statement.value)
            elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                before = self.visit_Name(ast.Name(statement.target.id, ast.Load(), lineno=statement.lineno))
                self.values[statement.target.id] = self.operation(
                    statement, statement.op, before, self.visit(statement.value)
                )
            else:
                self.refuse(statement, "is a statement other than an assignment to a name and a return")
        self.refuse(node, "returns nothing")

    def refuse(self, node: Any, why: str) -> NoReturn:
        line = getattr(node, "first_line", getattr(node, "lineno", self.first))
        shown = ast.unparse(node).splitlines()[0]
        raise ValueError(
            f"The function {self.function.__name__} cannot be made a kernel: in line {line} of {self.function.__code__.co_filename}, "
            f'"{shown}" {why}. Allowed are {self.allowed}.'
        )

    def resolve(self, chain: str) -> Any:
        """The present value of a name outside of the function, with attributes after dots."""
        name, *attributes = chain.split(".")
        code = self.function.__code__
        found: Any = _unknown
        if name in code.co_freevars and self.function.__closure__ is not None:
            try:
                found = self.function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:  # not yet assigned
                return _unknown
        elif name in self.function.__globals__:
            found = self.function.__globals__[name]
        else:
            found = getattr(builtins, name, _unknown)
        for attribute in attributes:
            found = getattr(found, attribute, _unknown) if found is not _unknown else found
        return found

    def changed(self) -> bool:
        """True if a name outside of the function has another value than when the function was read."""
        for chain, value in self.surroundings:
            now = self.resolve(chain)
            if now is not value and not (
                type(now) is type(value) and isinstance(now, (int, float, np.generic)) and now == value
            ):
                return True
        return False

    def outside(self, node: Any) -> Any:
        """The object outside of the function that a name, or names joined by dots, stands for."""
        attributes = []
        root = node
        while isinstance(root, ast.Attribute):
            attributes.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.values:
            return _unknown
        if root.id in self.function.__code__.co_varnames or root.id in self.function.__code__.co_cellvars:
            self.refuse(node, "is read before it is assigned")
        chain = ".".join([root.id, *reversed(attributes)])
        found = self.resolve(chain)
        if found is not _unknown and self.resolve(root.id) not in (math, np):
            self.surroundings.append((chain, found))
        return found

    def number(self, node: Any, value: Any) -> Tree:
        if not isinstance(value, (int, float, np.bool_, np.integer, np.float64, np.float32, np.float16)):
            self.refuse(node, "is not a number")
        return ("number", value)

    def operation(self, node: Any, kind: ast.operator, left: Tree, right: Tree) -> Tree:
        name = _binary.get(type(kind), "")
        if name not in self.operators:
            self.refuse(node, "has an operator that is not known here")
        return (name, left, right)

    def generic_visit(self, node: Any) -> NoReturn:
        self.refuse(node, "is not arithmetic")

    def visit_Constant(self, node: ast.Constant) -> Tree:
        return self.number(node, node.value)

    def visit_Name(self, node: ast.Name) -> Tree:
        if node.id in self.values:
            return self.values[node.id]
        found = self.outside(node)
        if found is _unknown:
            self.refuse(node, "is not a parameter, earlier result or number")
        return self.number(node, found)

    def visit_Attribute(self, node: ast.Attribute) -> Tree:
        found = self.outside(node)
        if found is _unknown:
            self.refuse(node, "is not arithmetic")
        return self.number(node, found)

    def visit_BinOp(self, node: ast.BinOp) -> Tree:
        return self.operation(node, node.op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Tree:
        if type(node.op) not in _unary:
            self.refuse(node, "has an operator that is not known here")
        return (_unary[type(node.op)], self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Tree:
        parts = []
        left = node.left
        for kind, right in zip(node.ops, node.comparators):
            if type(kind) not in _compare:
                self.refuse(node, "has a comparison that is not known here")
            parts.append((_compare[type(kind)], self.visit(left), self.visit(right)))
            left = right
        return functools.reduce(lambda one, other: ("and", one, other), parts)

    def visit_BoolOp(self, node: ast.BoolOp) -> Tree:
        word = "and" if isinstance(node.op, ast.And) else "or"
        return functools.reduce(
            lambda one, other: (word, one, other), [self.visit(value) for value in node.values]
        )

    def visit_IfExp(self, node: ast.IfExp) -> Tree:
        return ("if", self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Call(self, node: ast.Call) -> Tree:
        found = self.outside(node.func)
        name = getattr(node.func, "id", "")
        if found is _unknown and name in self.own_words and name not in self.values:
            operation, count = self.own_words[name]
        else:
            try:
                operation, count = self.known[found]
            except (KeyError, TypeError):  # or not hashable
                operation, count = "", None
        if not operation:
            own = isinstance(found, types.FunctionType)
            self.refuse(
                node,
                f"calls {'a function of your own, which is not read' if own else 'a function that is not known here'}",
            )
        if node.keywords:
            self.refuse(node, "has named arguments")
        arguments = [self.visit(one) for one in node.args]
        if count is None and len(arguments) >= 2:
            return functools.reduce(lambda one, other: (operation, one, other), arguments)
        if len(arguments) != count:
            self.refuse(
                node,
                f"has {len(arguments)} arguments, and {'two or more' if count is None else count} are needed",
            )
        return (operation, *arguments)
