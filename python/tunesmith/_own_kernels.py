"""A kernel of one's own, with its description as Python values."""

from __future__ import annotations

import ast
import os

from ._expressions import _ToExpression


class _ToRule(_ToExpression):
    """A Python function of whole numbers as an expression of a description: docs/your_own_kernel.md."""

    _binary = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
    allowed = "assignments, + - * // %, comparisons, and, or, not, x if c else y, whole numbers, min, max and ceil_div"

    def visit_Constant(self, node):
        if not isinstance(node.value, (bool, int)):
            self.refuse(node, "is no whole number")
        return str(int(node.value))

    def visit_BinOp(self, node):
        if type(node.op) not in self._binary:
            self.refuse(node, "has an operator that is not known here")
        return f"({self.visit(node.left)} {self._binary[type(node.op)]} {self.visit(node.right)})"

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in ("min", "max", "ceil_div") or node.keywords:
            self.refuse(node, "calls a function that is not known here")
        return f"{name}({', '.join(self.visit(one) for one in node.args)})"


def _toml(value) -> str:
    if callable(value):
        return _toml(_ToRule(value).text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(str(name))} = {_toml(one)}" for name, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    raise TypeError(f"A description holds texts, numbers, lists, dicts and functions, not a {type(value).__name__}: {value!r}.")


def write_kernel(file, source: str, **description) -> str:
    """Writes a kernel with its description as a file that tune(), Dispatcher(kernels=[...]) and the command line take.

    file: the path, which ends in .cu; the op's name is the kernel's. source: CUDA C++. description: the keys of docs/your_own_kernel.md
    (kernel, problem, arrays, axes, rules, launch, reference, tolerance, ...); wherever an expression stands, a Python function of whole
    numbers may stand too: its parameters are the problem's and the axes, and it is read, not run. Returns the path. Raises
    ValueError for a function that is no arithmetic, TypeError for other values, OSError where the file cannot be written.
    """
    file = os.fspath(file)
    if not file.endswith(".cu"):
        raise ValueError(f'The file of a kernel is "{file}"; its name must end in .cu.')
    lines = [f"{name} = {_toml(value)}" for name, value in description.items() if not isinstance(value, dict)]
    for name, value in description.items():
        if isinstance(value, dict):
            lines += [f"[{name}]", *(f"{key} = {_toml(one)}" for key, one in value.items())]
    text = "\n".join(lines)
    if "*/" in text:
        raise ValueError('The description contains "*/", which would end the comment that it is written in.')
    with open(file, "w") as out:
        out.write(f"/* tunesmith\n{text}\n*/\n{source}")
    return file
