"""Functions of arrays, element by element, from an expression or from a Python function of arithmetic."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import textwrap

import numpy as np

from ._arrays import Given, launch, run_recorded
from ._core import Memo
from ._words import _finish, _merged, _short, _usable

_functions = frozenset(
    "add hypot gaussian_pdf polar_distance abs min max pow atan2 sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin "
    "cos tan asin acos atan sinh cosh tanh erf erfc floor ceil trunc rint".split()
)
# NumPy's and Python's other names of them.
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


def _rename(expression: str, inputs) -> tuple[str, tuple[str, ...]]:
    """The expression in a to f, and the names that stood there."""
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
                if word not in names:
                    if inputs is not None:
                        raise ValueError(f'The expression "{expression}" has {word}, which is none of its inputs, {", ".join(inputs)}.')
                    names.append(word)
                if len(names) > len(_letters):
                    raise ValueError(f'The expression "{expression}" has more than {len(_letters)} inputs: {", ".join(names)}.')
                word = _letters[names.index(word)]
            text.append(word)
        else:
            text.append(expression[at])
            at += 1
    return "".join(text), tuple(names)


class _ToExpression(ast.NodeVisitor):
    """Of a function's body of assignments and one return: the expression, fully bracketed."""

    _binary = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
    _compare = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

    allowed = (
        "assignments, + - * / % **, comparisons, and, or, not, x if c else y, numbers, pi and the functions "
        + ", ".join(sorted(_functions))
    )

    def __init__(self, function):
        self.function = function
        try:
            lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError):  # typed at a prompt, or not written in Python
            raise ValueError(f"{function!r} has no source that can be read; give an expression as text.") from None
        tree = ast.parse(textwrap.dedent("".join(lines)))
        found = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
        if not found:
            raise ValueError(f"{function!r} has no source that can be read; give an expression as text.")
        node = found[0]
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            self.refuse(node, "takes other than plain positional parameters")
        self.inputs = tuple(one.arg for one in arguments.posonlyargs + arguments.args)
        self.values = {name: name for name in self.inputs}
        self.divides = False
        if isinstance(node, ast.Lambda):
            self.text = self.visit(node.body)
            return
        body = node.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
            body = body[1:]  # a docstring
        self.text = None
        for statement in body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                self.text = self.visit(statement.value)
                break
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
                self.values[statement.targets[0].id] = self.visit(statement.value)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value is not None:
                self.values[statement.target.id] = self.visit(statement.value)
            elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and type(statement.op) in self._binary:
                self.divides |= isinstance(statement.op, ast.Div)
                before = self.visit(ast.Name(statement.target.id, ast.Load()))
                self.values[statement.target.id] = f"({before} {self._binary[type(statement.op)]} {self.visit(statement.value)})"
            else:
                self.refuse(statement, "is a statement other than an assignment to a name and a return")
        if self.text is None:
            self.refuse(node, "returns nothing")

    def refuse(self, node, why: str):
        where = f"line {self.first + node.lineno - 1} of " if hasattr(node, "lineno") else ""
        shown = ast.unparse(node).splitlines()[0]
        raise ValueError(
            f"The function {self.function.__name__} cannot be made a kernel: in {where}{inspect.getsourcefile(self.function)}, "
            f"\"{shown}\" {why}. Allowed are {self.allowed}."
        )

    def generic_visit(self, node):
        self.refuse(node, "is not arithmetic")

    def visit_Constant(self, node):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self.refuse(node, "is no number")
        return repr(node.value)

    def visit_Name(self, node):
        if node.id in self.values:
            return self.values[node.id]
        known = inspect.getclosurevars(self.function)
        for scope in (known.nonlocals, known.globals):
            value = scope.get(node.id)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if value == math.pi:
                    return "pi"
                return f"({value!r})"
        return self.refuse(node, "is no parameter, earlier result or number")

    def visit_Attribute(self, node):
        if node.attr == "pi":
            return "pi"
        return self.refuse(node, "is not arithmetic")

    def visit_BinOp(self, node):
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            return f"pow({left}, {right})"
        if isinstance(node.op, ast.Mod):  # Python's has the sign of the divisor
            return f"({left} - floor({left} / {right}) * {right})"
        self.divides |= isinstance(node.op, ast.Div)
        if type(node.op) not in self._binary:
            self.refuse(node, "has an operator that is not known here")
        return f"({left} {self._binary[type(node.op)]} {right})"

    def visit_UnaryOp(self, node):
        operand = self.visit(node.operand)
        signs = {ast.USub: "-", ast.UAdd: "+", ast.Not: "!"}
        if type(node.op) not in signs:
            self.refuse(node, "has an operator that is not known here")
        return f"({signs[type(node.op)]}{operand})"

    def visit_Compare(self, node):
        parts = []
        left = node.left
        for kind, right in zip(node.ops, node.comparators):
            if type(kind) not in self._compare:
                self.refuse(node, "has a comparison that is not known here")
            parts.append(f"({self.visit(left)} {self._compare[type(kind)]} {self.visit(right)})")
            left = right
        return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"

    def visit_BoolOp(self, node):
        return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(self.visit(value) for value in node.values) + ")"

    def visit_IfExp(self, node):
        return f"({self.visit(node.test)} ? {self.visit(node.body)} : {self.visit(node.orelse)})"

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [self.visit(one) for one in node.args]
        if node.keywords:
            self.refuse(node, "has named arguments")
        if name == "where" and len(arguments) == 3:
            return f"({arguments[0]} ? {arguments[1]} : {arguments[2]})"
        name = _aliases.get(name, name)
        if name not in _functions:
            self.refuse(node, "calls a function that is not known here")
        return f"{name}({', '.join(arguments)})"


_op_types = ("float32", "float64", "int32", "int64", "float16", "bfloat16")


def _common_type(arrays: list[Given | None], scalars) -> str:
    types = [one.dtype for one in arrays if one is not None]
    for one in types:
        if one.startswith("complex"):
            raise TypeError(f"An array of {one} was given; functions of complex numbers are not supported.")
    if "bfloat16" in types:
        if any(one not in ("bfloat16", "bool", "int8", "uint8") for one in types):
            raise TypeError("bfloat16 was given with another type; convert one of them first.")
        return "bfloat16"
    # Python's numbers take the arrays' type, as in NumPy 2.
    weak = [value for value in scalars if value is not None]
    wanted = np.result_type(*(np.dtype(one) for one in types), *weak) if types else np.result_type(*(np.asarray(v) for v in weak))
    if wanted.kind in "bu" or wanted.itemsize < 4 and wanted.kind == "i":
        return "int64" if wanted.itemsize >= 4 else "int32"
    return wanted.name


class Vectorized:
    """A function of arrays, element by element with NumPy's broadcasting; see vectorize()."""

    def __init__(self, function, inputs=None):
        self.always_real = False
        self._memo = Memo([], [])
        if callable(function):
            parsed = _ToExpression(function)
            functools.update_wrapper(self, function)
            expression, inputs = parsed.text, parsed.inputs
            self.always_real = parsed.divides
        else:
            expression = function
        self.expression, self.inputs = _rename(expression, inputs)
        if not self.inputs:
            raise ValueError(f'The expression "{expression}" has no input.')

    def __repr__(self):
        return f"<tunesmith.vectorize {self.expression!r} of {', '.join(self.inputs)}>"

    def __call__(self, *arrays, out=None, dtype=None):
        settings = {}
        if out is not None:
            settings["out"] = out
        if dtype is not None:
            settings["dtype"] = dtype
        return run_recorded(self._memo, self._run, arrays, settings)

    def _run(self, *arrays, out=None, dtype=None):
        if len(arrays) != len(self.inputs):
            raise TypeError(f"{len(arrays)} arrays were given; the function takes {len(self.inputs)}: {', '.join(self.inputs)}.")
        scalars = [value if type(value) in (int, float, bool) else None for value in arrays]
        given: list[Given | None] = []
        like = None
        for value, scalar in zip(arrays, scalars):
            one = Given(value) if scalar is None else None
            if one is not None and (like is None or like.array.kind == "numpy"):
                like = one
            given.append(one)
        if like is None:
            like = Given(np.asarray(arrays[0]))
        computed = dtype if isinstance(dtype, str) else np.dtype(dtype).name if dtype is not None else _common_type(given, scalars)
        if self.always_real and computed.startswith("int"):
            computed = "float64"
        if computed not in _op_types:
            raise TypeError(f"Elements of {computed} are not computed; allowed are {', '.join(_op_types)}.")
        operands = []
        for one, value in zip(given, arrays):
            if one is None or (one.array.kind == "numpy" and like.array.kind != "numpy"):
                one = Given(np.asarray(value), like)
            one = one.to(computed)
            if type(value) in (int, float, bool):
                one.constant()
            operands.append(one.contiguous() if any(stride < 0 for stride in one.array.strides) else one)
        return self._call(like, operands, computed, out)

    def _call(self, like: Given, operands, dtype: str, out):
        first = operands[0].shape
        if all(one.shape == first and one.array.contiguous for one in operands):
            shape = first
            problem = [("function", self.expression), ("dtype", _short[dtype]), ("shape", str(operands[0].array.size))]
        else:
            shape = np.broadcast_shapes(*(one.shape for one in operands))
            problem = [("function", self.expression), ("dtype", _short[dtype]), *_layouts(shape, operands)]
        result = _usable(out, shape, dtype, like) or like.empty(shape, dtype)
        if result.array.size:
            launch("elementwise", (*operands, *[None] * (len(_letters) - len(operands)), result), tuple(problem))
        if out is not None and result.object is out:
            return out
        return _finish(result, out)


def _layouts(shape, operands):
    """The output's extents and each input's strides over them, neighbouring dimensions merged where all arrays allow it."""
    strides = []
    for one in operands:
        own = [0] * (len(shape) - len(one.shape))
        own += [0 if extent == 1 else stride for extent, stride in zip(one.shape, one.array.strides)]
        strides.append(own)
    dimensions: list[list] = []  # extent, a stride for each operand
    for k, extent in enumerate(shape):
        if extent == 1:
            continue
        here = [own[k] for own in strides]
        if dimensions and all(before == extent * now for before, now in zip(dimensions[-1][1], here)):
            dimensions[-1] = [dimensions[-1][0] * extent, here]
        else:
            dimensions.append([extent, here])
    if not dimensions:
        dimensions = [[1, [0] * len(operands)]]
    if len(dimensions) > 6:
        raise ValueError(f"The arrays have {len(dimensions)} dimensions that cannot be merged; at most 6 are allowed. Copy them first.")
    extents = [extent for extent, _ in dimensions]
    yield "shape", "x".join(map(str, extents))
    for n, letter in zip(range(len(operands)), _letters):
        own = [one[1][n] for one in dimensions]
        dense = [math.prod(extents[k + 1 :]) for k in range(len(extents))]
        if own == dense or (len(extents) == 1 and extents[0] == 1):
            continue
        if not any(own):
            yield letter, "1"
            continue
        yield letter, "x".join(map(str, extents)) + ":" + "x".join(map(str, own))


def vectorize(function=None, *, inputs=None):
    """A function of arrays, element by element with NumPy's broadcasting, in one kernel: a NumPy ufunc of one's own.

    function: an expression in C's operators, with the functions of docs (sqrt, exp, cos, min, ...) and any names for at most six
    inputs, in the order in which they first stand there:
        distance = tunesmith.vectorize("sqrt(x * x + y * y)")
    or, as a decorator, a Python function of arithmetic: assignments, + - * / % **, comparisons, and, or, not, x if c else y,
    numbers, and math's or NumPy's functions of these names. It is read, not run; what is not arithmetic is refused with its line
    (ValueError). `/` of integers is then real, as in Python; in an expression as text it is C's.
    inputs: the names in another order.
    The result's call: f(*arrays, out=None, dtype=None). Types are promoted as by NumPy, smaller integers to int32; dtype converts
    first. float32, float64, int32, int64, float16 and bfloat16 are computed; inputs of another type are copied. A kernel that
    is new is compiled when it is first called, on a GPU by NVRTC, on the host by c++.
    """
    if function is None:
        return lambda found: Vectorized(found, inputs)
    return Vectorized(function, inputs)
