# SPDX-License-Identifier: Apache-2.0
"""A user's own kernel, with its description as Python values."""

from __future__ import annotations

import builtins
import os
from typing import Any

from ._reading import Reader, Tree


class _ToRule(Reader):
    """A Python function of whole numbers: docs/your_own_kernel.md has the language of expressions that it becomes."""

    allowed = "assignments, + - * // %, comparisons, and, or, not, x if c else y, whole numbers, min, max and ceil_div"
    operators = frozenset(("+", "-", "*", "//", "%"))
    known = {builtins.min: ("min", None), builtins.max: ("max", None)}
    own_words = {"ceil_div": ("ceil_div", 2)}

    def number(self, node: Any, value: Any) -> Tree:
        if not isinstance(value, int) or abs(value) >= 2**63:
            self.refuse(node, "is not a whole number of 64 bits")
        return ("number", int(value))


_signs = {"and": "&&", "or": "||", "not": "!", "neg": "-", "pos": ""}
_truths = ("<", "<=", ">", ">=", "==", "!=", "not")


def _is_truth(tree: Tree) -> bool:
    return tree[0] in _truths or tree[0] in ("and", "or") and _is_truth(tree[1]) and _is_truth(tree[2])


def _may_be_negative(tree: Tree, inputs: tuple[str, ...], negative: set[str]) -> bool:
    name, *operands = tree
    if name == "input":
        return inputs[operands[0]] in negative
    if name == "number":
        return operands[0] < 0
    if name in _truths:
        return False
    return name in ("-", "neg") or any(_may_be_negative(one, inputs, negative) for one in operands)


def _rule(tree: Tree, inputs: tuple[str, ...], negative: set[str]) -> str:
    name, *operands = tree
    if name == "input":
        return inputs[operands[0]]
    if name == "number":
        return str(operands[0]) if operands[0] >= 0 else f"({operands[0]})"
    texts = [_rule(one, inputs, negative) for one in operands]
    if name in ("and", "or") and not _is_truth(tree):  # Python returns one of the two values
        return (
            f"({texts[0]} ? {texts[1]} : {texts[0]})"
            if name == "and"
            else f"({texts[0]} ? {texts[0]} : {texts[1]})"
        )
    if name in ("//", "%"):
        x, y = texts
        if not any(_may_be_negative(one, inputs, negative) for one in operands):
            return f"({x} {'/' if name == '//' else '%'} {y})"
        # C rounds quotients towards zero, Python rounds down.
        goes_down = f"({x} % {y} != 0 && ({x} % {y} < 0) != ({y} < 0))"
        return (
            f"({x} / {y} - ({goes_down} ? 1 : 0))"
            if name == "//"
            else f"({x} % {y} + ({goes_down} ? {y} : 0))"
        )
    if name == "if":
        return f"({texts[0]} ? {texts[1]} : {texts[2]})"
    if len(texts) == 1:
        return f"({_signs[name]}{texts[0]})"
    if name in ("min", "max", "ceil_div"):
        return f"{name}({', '.join(texts)})"
    return f"({texts[0]} {_signs.get(name, name)} {texts[1]})"


def _toml(value: Any, negative: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    if callable(value):
        read = _ToRule(value)
        return _toml(_rule(read.tree, read.inputs, negative))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{_toml(str(name))} = {_toml(one, negative)}" for name, one in value.items())
            + " }"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(one, negative) for one in value) + "]"
    raise TypeError(
        f"A description holds texts, numbers, lists, dicts and functions, not a {type(value).__name__}: {value!r}."
    )


def _negative(description: dict[str, Any]) -> set[str]:
    """The parameters and axes that may be less than zero."""
    found = set()
    for part in ("problem", "axes"):
        for name, given in dict(description.get(part, {})).items():
            values = [given.get("minimum", 0), *given.get("values", [])] if isinstance(given, dict) else given
            values = values if isinstance(values, (list, tuple)) else [values]
            if any(isinstance(one, int) and one < 0 for one in values):
                found.add(name)
    return found


def write_kernel(file: str | os.PathLike[str], source: str, **description: Any) -> str:
    """Writes a kernel with its description as a file that tune(), Dispatcher(kernels=[...]) and the command line take.

    file: the path, which ends in .cu; the op's name is the kernel's. source: CUDA C++. description: the keys of docs/your_own_kernel.md
    (kernel, problem, arrays, axes, rules, launch, reference, tolerance, ...); in place of any expression, a Python function of whole
    numbers may be given: its parameters are the problem's and the axes, and it is read, not run. min and max are Python's, and ceil_div(a, b),
    a / b rounded up, need not be defined. Returns the path. Raises ValueError for a function that is no arithmetic, with its line, TypeError
    for other values, OSError if the file cannot be written.

    >>> source = '__global__ void zero(float* y, int n) { for (int i = threadIdx.x; i < n; i += BLOCK) y[i] = 0; }'
    >>> path = tunesmith.write_kernel(
    ...     'zero.cu', source, problem={'n': [1, 32]}, arrays={'y': {'extents': ['n'], 'role': 'output'}},
    ...     axes={'BLOCK': [32, 64]}, launch={'grid': '1', 'block': 'BLOCK'})
    >>> tunesmith.Dispatcher('host', kernels=[path], database='').plan('zero', n=5).match
    'base'
    """
    file = os.fspath(file)
    if not file.endswith(".cu"):
        raise ValueError(f'The file of a kernel is "{file}"; its name must end in .cu.')
    negative = _negative(description)
    lines = [
        f"{name} = {_toml(value, negative)}"
        for name, value in description.items()
        if not isinstance(value, dict)
    ]
    for name, value in description.items():
        if isinstance(value, dict):
            lines += [f"[{name}]", *(f"{key} = {_toml(one, negative)}" for key, one in value.items())]
    text = "\n".join(lines)
    if "*/" in text:
        raise ValueError('The description contains "*/", which would end the comment that it is written in.')
    with open(file, "w") as out:
        out.write(f"/* tunesmith\n{text}\n*/\n{source}")
    return file
