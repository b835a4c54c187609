# SPDX-License-Identifier: Apache-2.0
"""Reads a call of Kernel Tuner's tune_kernel from the text of a script, which is not run, and writes the description of its kernel.

`tunesmith describe --from kernel_tuner script.py` passes this text to a Python interpreter, with the script's path and perhaps a kernel's name.
It prints a line `file PATH` or `text`, and then the description, or the whole .cu where the kernel stands in the script itself. What goes wrong
is a sentence on standard error, with exit code 2.
"""

import ast
import copy
import os
import re
import sys

DTYPES = {
    "float16": "f16",
    "half": "f16",
    "float32": "f32",
    "single": "f32",
    "float64": "f64",
    "double": "f64",
    "float": "f64",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "int": "i64",
    "bool": "bool",
    "bool_": "bool",
}
MOST_SHOWN = 70  # characters of an answer in a comment


class Unread(Exception):
    """A sentence on what this program does not understand."""


class Number:
    """A number of the script: its value, if it is known, and its text as an expression of named sizes."""

    def __init__(self, value, text, names=(), dtype=None):
        self.value, self.text, self.names, self.dtype = value, text, frozenset(names), dtype

    def factor(self):
        return self.text if re.fullmatch(r"[\w.]+|\w+\([^()]*\)", self.text) else "(" + self.text + ")"


class Array:
    """An array of the script: its extents as numbers, its dtype, and what it holds in the beginning."""

    def __init__(self, extents, dtype, holds, bound=None):
        self.extents, self.dtype, self.holds, self.bound = extents, dtype, holds, bound


class Text:
    """A text of the script; of a file's text also the path."""

    def __init__(self, text, path=None):
        self.text, self.path = text, path


class Lambda:
    def __init__(self, node, scope):
        self.node, self.scope = node, scope


UNKNOWN = object()
REAL = re.compile(r"\d\.\d|\d[eE]-?\d")  # in an expression that is no whole number
SHAPE = r"size|shape|dim|domain"  # in the name of a tuple of sizes


def is_given(node):
    """True for a number, or a tuple of numbers, that stands in the script."""
    if isinstance(node, ast.BinOp):
        return is_given(node.left) and is_given(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_given(node.operand)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_given(one) for one in node.elts)
    if isinstance(node, ast.Call):
        return (name_of(node.func) in DTYPES) and all(is_given(one) for one in node.args)
    return isinstance(node, ast.Constant)


def number(value):
    return Number(value, repr(int(value)) if float(value).is_integer() else repr(value))


def whole(value):
    """The value as an int; None if it is not known."""
    return int(value.value) if isinstance(value, Number) and value.value is not None else None


class Script:
    """Follows a script's statements as far as sizes, arrays and texts go, and keeps its calls of tune_kernel."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            self.tree = ast.parse(text, path)
        except SyntaxError as error:
            raise Unread(f"{path}:{error.lineno}: The script is no Python: {error.msg}.") from None
        self.text = text
        self.functions, self.calls, self.values, self.depth = {}, [], {}, 0

    def run(self):
        scope = {}
        self.follow(self.tree.body, scope)
        if not self.calls:
            for function in list(self.functions.values()):
                if any(
                    isinstance(node, ast.Call) and name_of(node.func) in CALLS for node in ast.walk(function)
                ):
                    self.call_own(function, [], {}, scope)
        return self.calls

    def follow(self, body, scope):
        """Follows the statements; returns the value of `return`, or None."""
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign):
                value = self.value(node.value, scope)
                for target in node.targets:
                    self.assign(target, value, scope, is_given(node.value))
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self.assign(node.target, self.value(node.value, scope), scope)
            elif isinstance(node, ast.AugAssign):
                # An array keeps its extents.
                old = self.value(node.target, scope)
                made = self.operation(node.op, old, self.value(node.value, scope))
                if not isinstance(old, Array):
                    self.assign(node.target, made, scope)
            elif isinstance(node, ast.Expr):
                self.value(node.value, scope)
            elif isinstance(node, ast.Return):
                return UNKNOWN if node.value is None else self.value(node.value, scope)
            elif isinstance(node, ast.With):
                for item in node.items:
                    value = self.value(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, value, scope)
                found = self.follow(node.body, scope)
                if found is not None:
                    return found
            elif isinstance(node, ast.If):
                test = self.value(node.test, scope)
                known = isinstance(test, Number) and test.value is not None
                found = self.follow(node.orelse if known and not test.value else node.body, scope)
                if found is not None:
                    return found
            elif isinstance(node, ast.For):
                items = self.value(node.iter, scope)
                if isinstance(items, (list, tuple)) and items:
                    self.assign(node.target, items[0], scope)
                elif isinstance(items, dict) and items:
                    self.assign(node.target, Text(next(iter(items))), scope)
                self.follow(node.body, scope)
            elif isinstance(node, ast.Try):
                found = self.follow(node.body, scope)
                if found is not None:
                    return found
        return None

    def named(self, name, value):
        """The number as a size with that name, and the numbers of a shape as sizes."""
        if (
            isinstance(value, Number)
            and isinstance(value.value, int)
            and (not value.names or REAL.search(value.text))
        ):
            self.values[name] = value.value
            return Number(value.value, name, [name], value.dtype)
        if isinstance(value, list) and len(value) in (2, 3) and re.search(SHAPE, name, re.I):
            return [
                self.named(name + "_" + "xyz"[n], one) if whole(one) != 1 else one
                for n, one in enumerate(value)
            ]
        return value

    def assign(self, target, value, scope, is_given=True):
        """`is_given`: the value stands in the script as a number, and is not computed from what is tuned."""
        if isinstance(target, ast.Name):
            is_cut = isinstance(value, Number) and value.names and REAL.search(value.text)
            scope[target.id] = self.named(target.id, value) if is_given or is_cut else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value if isinstance(value, (list, tuple)) and len(value) == len(target.elts) else None
            for n, one in enumerate(target.elts):
                self.assign(one, UNKNOWN if parts is None else parts[n], scope, is_given)
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value, scope), self.value(target.slice, scope)
            if isinstance(owner, dict) and isinstance(key, Text):
                owner[key.text] = value

    def value(self, node, scope):
        try:
            return self.value_of(node, scope)
        except (
            TypeError,
            ValueError,
            ZeroDivisionError,
            OverflowError,
            IndexError,
            KeyError,
            AttributeError,
        ):
            return UNKNOWN

    def value_of(self, node, scope):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return Text(node.value)
            if isinstance(node.value, (int, float)):
                return number(node.value)
            return None if node.value is None else UNKNOWN
        if isinstance(node, ast.Name):
            if node.id not in scope and node.id in self.functions:
                return Lambda(self.functions[node.id], scope)
            return scope.get(node.id, UNKNOWN)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.value(one, scope) for one in node.elts]
        if isinstance(node, ast.Dict):
            made = {}
            for key, one in zip(node.keys, node.values):
                name = self.value(key, scope) if key is not None else None
                if isinstance(name, Text):
                    made[name.text] = self.value(one, scope)
            return made
        if isinstance(node, ast.JoinedStr):
            return self.joined(node, scope)
        if isinstance(node, ast.Lambda):
            return Lambda(node, scope)
        if isinstance(node, ast.UnaryOp):
            one = self.value(node.operand, scope)
            if isinstance(one, Number) and isinstance(node.op, ast.USub):
                return Number(None if one.value is None else -one.value, "-" + one.factor(), one.names)
            return UNKNOWN
        if isinstance(node, ast.BinOp):
            return self.operation(node.op, self.value(node.left, scope), self.value(node.right, scope))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self.comparison(node, scope)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.comprehension(node, scope)
        if isinstance(node, ast.Subscript):
            return self.item(node, scope)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, scope)
        if isinstance(node, ast.Call):
            return self.call(node, scope)
        return UNKNOWN

    def joined(self, node, scope):
        text = ""
        for part in node.values:
            value = self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            if isinstance(value, Text):
                text += value.text
            elif isinstance(value, Number) and value.value is not None:
                text += str(value.value)
            else:
                return UNKNOWN
        return Text(text)

    def comparison(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        a, b = (
            one.value if isinstance(one, Number) else one.text if isinstance(one, Text) else None
            for one in (left, right)
        )
        if isinstance(node.left, ast.Name) and node.left.id == "__name__":
            return number(1)
        if a is None or b is None:
            return UNKNOWN
        tests = {ast.Eq: a == b, ast.NotEq: a != b}
        if type(a) is not str and type(b) is not str:
            tests |= {ast.Lt: a < b, ast.LtE: a <= b, ast.Gt: a > b, ast.GtE: a >= b}
        return number(int(tests[type(node.ops[0])])) if type(node.ops[0]) in tests else UNKNOWN

    def comprehension(self, node, scope):
        made, inner = [], dict(scope)

        def walk(n):
            if n == len(node.generators):
                made.append(self.value(node.elt, inner))
                return
            for one in self.value(node.generators[n].iter, inner):
                if isinstance(one, Number):  # a number of its own, and no size of the problem
                    one = Number(one.value, repr(one.value))
                    inner[node.generators[n].target.id] = one
                else:
                    self.assign(node.generators[n].target, one, inner)
                tests = [self.value(test, inner) for test in node.generators[n].ifs]
                if all(not isinstance(test, Number) or test.value for test in tests):
                    walk(n + 1)

        walk(0)
        return made

    def item(self, node, scope):
        owner = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return list(owner) if isinstance(owner, list) else owner
        key = self.value(node.slice, scope)
        if isinstance(owner, dict) and isinstance(key, Text):
            return owner.get(key.text, UNKNOWN)
        if isinstance(owner, list) and whole(key) is not None:
            found = owner[whole(key)]
            return found
        return UNKNOWN

    def attribute(self, node, scope):
        owner = self.value(node.value, scope)
        if isinstance(owner, Array):
            if node.attr == "T":
                return Array(owner.extents[::-1], owner.dtype, owner.holds)
            if node.attr == "shape":
                return list(owner.extents)
            if node.attr == "size":
                return product(owner.extents)
        return UNKNOWN

    def operation(self, op, left, right):
        if isinstance(left, Text) and isinstance(right, Text) and isinstance(op, ast.Add):
            return Text(left.text + right.text, left.path or right.path)
        if isinstance(right, Text) and isinstance(op, ast.Add) and left is UNKNOWN:
            return Text(right.text.lstrip("/"))  # a folder that is not known, and a file in it
        if isinstance(left, list) and isinstance(right, list) and isinstance(op, ast.Add):
            return left + right
        if isinstance(left, list) and isinstance(op, ast.Mult) and whole(right) is not None:
            return left * whole(right)
        if isinstance(op, ast.Add) and (isinstance(left, list) or isinstance(right, list)):
            array, more = (right, left) if isinstance(left, list) else (left, right)
            if not isinstance(array, Array):
                return UNKNOWN
            extent = self.operation(ast.Add(), array.extents[0], number(len(more)))
            last = right[-1] if isinstance(right, list) else array.bound
            return Array([extent], array.dtype, array.holds, last if array.holds == "sorted" else None)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Array):
                holds = "sorted" if one.holds == "sorted" else "data"
                bound = (
                    other
                    if isinstance(op, ast.Mult) and one.holds == "unit" and isinstance(other, Number)
                    else None
                )
                return Array(one.extents, one.dtype, "scaled" if bound is not None else holds, bound)
        if not isinstance(left, Number) or not isinstance(right, Number):
            return UNKNOWN
        symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}
        value = None
        if left.value is not None and right.value is not None:
            a, b = left.value, right.value
            if isinstance(op, ast.Pow):
                value = a**b
            elif isinstance(op, ast.LShift):
                value = a << b
            elif isinstance(op, ast.RShift):
                value = a >> b
            else:
                value = {
                    ast.Add: lambda: a + b,
                    ast.Sub: lambda: a - b,
                    ast.Mult: lambda: a * b,
                    ast.Div: lambda: a / b,
                }.get(type(op), lambda: a // b if isinstance(op, ast.FloorDiv) else a % b)()
        names = left.names | right.names
        if not names and value is not None:
            return number(value)
        if type(op) not in symbols:
            return Number(value, repr(value), names) if value is not None else UNKNOWN
        if isinstance(op, (ast.Add, ast.Sub)):
            text = (
                left.text
                + " "
                + symbols[type(op)]
                + " "
                + (right.factor() if isinstance(op, ast.Sub) else right.text)
            )
        else:
            text = (
                (left.text if re.fullmatch(r"[\w *.]+", left.text) else left.factor())
                + " "
                + symbols[type(op)]
                + " "
                + right.factor()
            )
        return Number(value, text, names)

    def call(self, node, scope):
        name = name_of(node.func)
        if name in CALLS:
            self.calls.append(Call(self, node, scope))
            return UNKNOWN
        given = [self.value(one, scope) for one in node.args if not isinstance(one, ast.Starred)]
        for one in node.args:
            if isinstance(one, ast.Starred):
                more = self.value(one.value, scope)
                given += more if isinstance(more, list) else [UNKNOWN]
        named = {one.arg: self.value(one.value, scope) for one in node.keywords if one.arg}
        if isinstance(node.func, ast.Name) and name in self.functions:
            return self.call_own(self.functions[name], given, named, scope)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, scope)
            made = self.method(name, owner, node, given, scope)
            if made is not UNKNOWN:
                return made
        return self.function(name, node, given, named, scope)

    def call_own(self, function, given, named, scope):
        if self.depth > 8:
            return UNKNOWN
        inner = {}
        outer = {key: value for key, value in scope.items()}
        parameters = [one.arg for one in function.args.args]
        for one, default in zip(parameters[::-1], function.args.defaults[::-1]):
            inner[one] = self.value(default, scope)
        inner.update(zip(parameters, given))
        inner.update({key: value for key, value in named.items() if key in parameters})
        outer.update({one: UNKNOWN for one in parameters if one not in inner})
        for key, value in inner.items():
            self.assign(ast.Name(id=key), value, outer)
        self.depth += 1
        made = self.follow(function.body, outer)
        self.depth -= 1
        return UNKNOWN if made is None else made

    def method(self, name, owner, node, given, scope):
        if isinstance(owner, Array):
            if name == "astype":
                holds = owner.holds
                dtype = dtype_of(node.args[0], scope) if node.args else None
                return Array(owner.extents, dtype or owner.dtype, holds, owner.bound)
            if name in ("copy", "ravel", "flatten", "get"):
                return Array(owner.extents, owner.dtype, owner.holds if owner.holds != "data" else "data")
            if name == "reshape":
                extents = given[0] if given and isinstance(given[0], list) else given
                known = all(
                    isinstance(one, Number) and (one.value is None or one.value >= 0) for one in extents
                )
                return Array(list(extents) if known else owner.extents, owner.dtype, owner.holds)
            if name in ("fill", "sort"):
                return UNKNOWN
        if isinstance(owner, Text):
            if name == "read":
                return owner
            if name == "replace" and len(given) == 2 and all(isinstance(one, Text) for one in given):
                return Text(owner.text.replace(given[0].text, given[1].text), None)
            if name in ("strip", "lstrip", "rstrip"):
                return Text(getattr(owner.text, name)(), owner.path)
            if name == "format":
                return UNKNOWN
        if isinstance(owner, dict):
            if name == "update" and given and isinstance(given[0], dict):
                owner.update(given[0])
            if name == "get" and given and isinstance(given[0], Text):
                return owner.get(given[0].text, given[1] if len(given) > 1 else None)
            if name == "copy":
                return dict(owner)
        if isinstance(owner, list) and name == "append" and given:
            owner.append(given[0])
        return UNKNOWN

    def function(self, name, node, given, named, scope):
        first = given[0] if given else UNKNOWN
        if name == "open" and isinstance(first, Text):
            return Text(self.contents(first.text), first.text)
        if name in ("join", "abspath", "realpath", "Path"):
            texts = [one.text for one in given if isinstance(one, Text)]
            return Text(os.path.join(*texts)) if texts else UNKNOWN
        if name == "read_text" and isinstance(first, Text):
            return Text(self.contents(first.text), first.text)
        if name in ("dict", "OrderedDict"):
            made = dict(first) if isinstance(first, dict) else {}
            if isinstance(first, list):
                made = {one[0].text: one[1] for one in first}
            return made | named
        if name == "range" and all(whole(one) is not None for one in given):
            return [number(one) for one in range(*(whole(one) for one in given))]
        if (
            name == "arange"
            and given
            and all(whole(one) is not None and not one.names for one in given)
            and len(given) > 1
        ):
            return [number(one) for one in range(*(whole(one) for one in given))]
        if name in (
            "list",
            "tuple",
            "sorted",
            "reversed",
            "array",
            "asarray",
            "ascontiguousarray",
            "copy",
            "to_gpu",
        ):
            if isinstance(first, Array):
                holds = "sorted" if name == "sorted" else "data" if name == "copy" else first.holds
                return self.with_dtype(Array(first.extents, first.dtype, holds, first.bound), node, scope)
            if isinstance(first, list) and name not in ("list", "tuple", "sorted", "reversed"):
                return self.with_dtype(Array([number(len(first))], "f64", "data"), node, scope)
            return list(first) if isinstance(first, (list, dict)) else UNKNOWN
        if name in ("max", "min", "amax", "amin"):
            values = first if isinstance(first, list) else given
            return number((max if name in ("max", "amax") else min)(one.value for one in values))
        if name == "len":
            return number(len(first)) if isinstance(first, (list, dict)) else first.extents[0]
        if name in ("prod", "product"):
            return product(first)
        if name in ("int", "float", "ceil", "floor", "str") or name in DTYPES:
            return self.converted(name, first)
        shape = first if first is not UNKNOWN else named.get("shape", named.get("size", UNKNOWN))
        if name in ("zeros_like", "empty_like", "ones_like", "full_like"):
            return self.with_dtype(
                Array(first.extents, first.dtype, "zeros" if name != "ones_like" else "data"), node, scope
            )
        if name in ("zeros", "empty", "ones", "full"):
            return self.with_dtype(
                Array(extents_of(shape), "f64", "data" if name in ("ones", "full") else "zeros"), node, scope
            )
        if name in ("rand", "random", "random_sample", "randn", "standard_normal"):
            dims = given if name in ("rand", "randn") else extents_of(named.get("size", first))
            return Array(extents_of(dims), "f64", "data" if name in ("randn", "standard_normal") else "unit")
        if name in ("uniform", "normal", "randint", "integers"):
            size = named.get("size", given[2] if len(given) > 2 else UNKNOWN)
            low = given[0] if len(given) > 1 else number(0)
            bound = given[1] if len(given) > 1 else first
            dtype = "i64" if name in ("randint", "integers") else "f64"
            from_zero = (
                dtype == "i64" and isinstance(low, Number) and low.value == 0 and isinstance(bound, Number)
            )
            return self.with_dtype(
                Array(extents_of(size), dtype, "scaled" if from_zero else "data", bound), node, scope
            )
        if name in ("arange", "linspace"):
            return self.with_dtype(
                Array(
                    extents_of(given[2] if name == "linspace" and len(given) > 2 else first), "f64", "data"
                ),
                node,
                scope,
            )
        if name in ("dot", "matmul", "sum", "cumsum", "exp", "sqrt", "sin", "cos") and isinstance(
            first, Array
        ):
            return Array(first.extents, first.dtype, "data")
        return UNKNOWN

    @staticmethod
    def converted(name, first):
        if isinstance(first, Array):
            return Array(first.extents, DTYPES.get(name, first.dtype), first.holds, first.bound)
        if not isinstance(first, Number):
            return UNKNOWN
        dtype = DTYPES[name] if name in DTYPES and name not in ("int", "float") else first.dtype
        is_whole = name == "int" or (dtype or "f")[0] in "iu"
        value = int(first.value) if is_whole and first.value is not None else first.value
        if name in ("ceil", "floor"):
            return Number(value, first.text, first.names, dtype)
        return Number(value, first.text if first.names else repr(value), first.names, dtype)

    def with_dtype(self, array, node, scope):
        for one in [keyword.value for keyword in node.keywords if keyword.arg == "dtype"] + node.args[1:]:
            dtype = dtype_of(one, scope)
            if dtype:
                return Array(array.extents, dtype, array.holds, array.bound)
        return array

    def contents(self, path):
        beside = os.path.join(os.path.dirname(self.path), path)
        for one in (path, beside):
            if os.path.isfile(one):
                with open(one, encoding="utf-8", errors="replace") as file:
                    return file.read()
        return ""


def name_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def dtype_of(node, scope):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return DTYPES.get(node.value)
    return DTYPES.get(name_of(node))


def extents_of(shape):
    if isinstance(shape, Number):
        return [shape]
    if isinstance(shape, (list, tuple)) and shape:
        return list(shape)
    return [UNKNOWN]


def product(numbers):
    if isinstance(numbers, Number):
        return numbers
    value, names = 1, frozenset()
    for one in numbers:
        value = None if value is None or one.value is None else value * one.value
        names |= one.names
    return Number(value, " * ".join(one.factor() for one in numbers), names)


def as_expression(node, names=None):
    """Python's expression as one of a description. `names`: the name of a lambda's parameter, whose items are axes."""
    if isinstance(node, ast.Expression):
        return as_expression(node.body, names)
    if isinstance(node, ast.BoolOp):
        word = " && " if isinstance(node.op, ast.And) else " || "
        return word.join(side(one, names) for one in node.values)
    if isinstance(node, ast.UnaryOp):
        return {ast.Not: "!", ast.USub: "-"}[type(node.op)] + "(" + as_expression(node.operand, names) + ")"
    if isinstance(node, ast.Compare):
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                same = " || ".join(side(left, names) + " == " + side(one, names) for one in right.elts)
                parts.append(("!" if isinstance(op, ast.NotIn) else "") + "(" + same + ")")
            else:
                word = {
                    ast.Eq: "==",
                    ast.NotEq: "!=",
                    ast.Lt: "<",
                    ast.LtE: "<=",
                    ast.Gt: ">",
                    ast.GtE: ">=",
                }[type(op)]
                one, other = without_quotients(left, right)
                parts.append(side(one, names) + " " + word + " " + side(other, names))
            left = right
        return " && ".join(parts)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            power = node.right.value
            return " * ".join([inner(node.left, names)] * power)
        word = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}[
            type(node.op)
        ]
        return inner(node.left, names) + " " + word + " " + inner(node.right, names)
    if isinstance(node, ast.Call):
        name = name_of(node.func)
        if name in ("min", "max"):
            made = as_expression(node.args[0], names)
            for one in node.args[1:]:
                made = name + "(" + made + ", " + as_expression(one, names) + ")"
            return made
        if name in ("int", "ceil", "float") and len(node.args) == 1:
            one = node.args[0]
            if name == "ceil" and isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div):
                return (
                    "ceil_div("
                    + as_expression(one.left, names)
                    + ", "
                    + as_expression(one.right, names)
                    + ")"
                )
            return as_expression(one, names)
    if isinstance(node, ast.IfExp):
        return inner(node.test, names) + " ? " + inner(node.body, names) + " : " + inner(node.orelse, names)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and name_of(node.value) == names
    ):
        return str(node.slice.value)
    if isinstance(node, ast.Attribute) and name_of(node.value) == names:
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
        return str(int(node.value))
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return repr(int(node.value)) if node.value.is_integer() else repr(node.value)
    raise Unread("")


def side(node, names):
    """A part of a comparison, or of what `and` or `or` joins."""
    text = as_expression(node, names)
    is_joined = isinstance(node, ast.Compare) and len(node.ops) > 1
    return "(" + text + ")" if isinstance(node, (ast.BoolOp, ast.IfExp)) or is_joined else text


def without_quotients(left, right):
    """Both sides of a comparison without a quotient, which is no whole number in Python. Sizes and axes are above 0."""

    def is_quotient(node):
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)

    def product(one, other):
        return ast.BinOp(one, ast.Mult(), other)

    while is_quotient(left):
        left, right = left.left, product(right, left.right)
    while is_quotient(right):
        left, right = product(left, right.right), right.left
    return left, right


class Replaced(ast.NodeTransformer):
    """Puts the values of a function's variables in their places."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return self.values.get(node.id, node)


def as_rule(body, values):
    """Returns the value of a function's statements as one expression of Python: each `if` decides between the rests."""
    for n, node in enumerate(body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values = values | {node.targets[0].id: Replaced(values).visit(copy.deepcopy(node.value))}
        elif isinstance(node, ast.Return) and node.value is not None:
            return Replaced(values).visit(copy.deepcopy(node.value))
        elif isinstance(node, ast.If):
            rest = body[n + 1 :]
            test = Replaced(values).visit(copy.deepcopy(node.test))
            return chosen(test, as_rule(node.body + rest, values), as_rule(node.orelse + rest, values))
        else:
            raise Unread("")
    raise Unread("")


def chosen(test, then, otherwise):
    """`then if test else otherwise`, written as people write rules."""

    def is_constant(node, value):
        return isinstance(node, ast.Constant) and node.value is value

    if is_constant(then, False):
        refused = ast.UnaryOp(ast.Not(), test)
        return refused if is_constant(otherwise, True) else ast.BoolOp(ast.And(), [refused, otherwise])
    if is_constant(then, True):
        return test if is_constant(otherwise, False) else ast.BoolOp(ast.Or(), [test, otherwise])
    if is_constant(otherwise, False):
        return ast.BoolOp(ast.And(), [test, then])
    return ast.IfExp(test, then, otherwise)


def inner(node, names):
    text = as_expression(node, names)
    return (
        text
        if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Subscript, ast.Attribute))
        else "(" + text + ")"
    )


def expression_of(value):
    """A restriction, a divisor of the grid or the like as an expression; None if it is not understood."""
    try:
        if isinstance(value, Text):
            return as_expression(ast.parse(value.text.strip(), mode="eval"))
        if isinstance(value, Lambda):
            arguments = [one.arg for one in value.node.args.args]
            body = value.node.body
            if isinstance(value.node, ast.FunctionDef):
                body = as_rule(body, {})
            return as_expression(body, arguments[0] if len(arguments) == 1 else None)
        if isinstance(value, Number):
            return value.text
    except (Unread, KeyError, SyntaxError, AttributeError, TypeError, RecursionError):
        pass
    return None


ORDER = [
    "kernel_name",
    "kernel_source",
    "problem_size",
    "arguments",
    "tune_params",
    "grid_div_x",
    "grid_div_y",
    "grid_div_z",
    "restrictions",
    "answer",
]
CALLS = ("tune_kernel", "run_kernel")


class Call:
    """A call of tune_kernel, with what is known of its arguments."""

    def __init__(self, script, node, scope):
        self.line, self.given, self.sources, self.name = node.lineno, {}, {}, name_of(node.func)
        for key, one in zip(ORDER, node.args):
            self.given[key], self.sources[key] = script.value(one, scope), one
        for one in node.keywords:
            if one.arg:
                self.given[one.arg], self.sources[one.arg] = script.value(one.value, scope), one.value
        if "params" in self.given:
            self.given.setdefault("tune_params", self.given["params"])
        self.tune_params = (
            dict(self.given["tune_params"]) if isinstance(self.given.get("tune_params"), dict) else {}
        )
        self.script = script

    def get(self, key):
        value = self.given.get(key)
        return None if value is UNKNOWN else value


class Description:
    def __init__(self, script, call):
        self.script, self.call, self.notes = script, call, []
        name = call.get("kernel_name")
        if not isinstance(name, Text):
            raise Unread(
                f"{script.path}:{call.line}: The kernel's name is not a text that stands in the script."
            )
        self.template = name.text if "<" in name.text else ""
        self.kernel = name.text.split("<")[0].strip()
        self.read_source()
        self.read_signature()

    def read_source(self):
        source = self.call.get("kernel_source")
        if isinstance(source, list) and source:
            source = source[0]
        lang = self.call.get("lang")
        if isinstance(lang, Text) and lang.text.lower() not in ("cuda", "cupy", "nvcuda", "hip"):
            raise Unread(
                f'{self.script.path}:{self.call.line}: The call\'s lang is "{lang.text}"; only kernels in CUDA are described.'
            )
        if not isinstance(source, Text):
            raise Unread(
                f"{self.script.path}:{self.call.line}: The kernel's source is neither a text nor a file's name that stands in the script. "
                "Describe its .cu by tunesmith describe FILE.cu."
            )
        if "__global__" in source.text or "\n" in source.text:
            self.text, self.path = source.text, source.path
        else:
            self.text, self.path = self.script.contents(source.text), source.text
        if "__global__" not in self.text:
            what = f"the file {self.path} is not there or" if self.path else "the text"
            raise Unread(
                f"{self.script.path}:{self.call.line}: {what} has no __global__ function.".replace(
                    ": t", ": T"
                )
            )

    def read_signature(self):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", self.text, flags=re.S)
        for found in re.finditer(r"__global__[^;{]*?\b" + re.escape(self.kernel) + r"\s*\(", text):
            depth, at = 1, found.end()
            while depth and at < len(text):
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            parameters = [" ".join(one.split()) for one in text[found.end() : at - 1].split(",")]
            self.parameters = [
                (one.replace("__restrict__", "").strip(), re.findall(r"\w+", one)[-1])
                for one in parameters
                if one
            ]
            opening = text.find("{", at)
            depth, end = 1, opening + 1
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            self.body = text[opening:end]
            return
        raise Unread(f"{self.script.path}:{self.call.line}: There is no kernel {self.kernel} in its source.")

    # ---- the parts

    def read(self):
        self.names = {}  # by name in the script: the parameter of the problem
        self.compiled_in = []
        self.used = {}  # by parameter of the problem: its value
        self.rename_sizes()
        self.read_axes()
        self.read_arrays()
        self.read_launch()
        self.read_rules()
        self.read_metrics()
        self.read_options()
        return self.written()

    def rename_sizes(self):
        """Sizes are called as the kernel calls them: a parameter, or a macro of its file with the same value."""
        arguments = self.call.get("arguments")
        for (_, name), value in zip(self.parameters, arguments if isinstance(arguments, list) else []):
            if isinstance(value, Number) and value.text in value.names:
                self.names.setdefault(value.text, name.lower())
        problem = self.call.get("problem_size")
        dims = problem if isinstance(problem, list) else [problem]
        macros = dict(
            re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d+)[ \t]*(?://.*)?$", self.text, flags=re.M)
        )
        hints = (("width", "_x", "cols", "w"), ("height", "_y", "rows", "h"), ("depth", "_z"))
        for n, one in enumerate(dims[:3]):
            if isinstance(one, Number) and not one.names and isinstance(one.value, int) and one.value > 1:
                name = "size" + ("" if len(dims) == 1 else "_" + "xyz"[n])
                self.script.values[name] = one.value
                dims[n] = one = Number(one.value, name, [name])
                if not isinstance(problem, list):
                    self.call.given["problem_size"] = one
            if not isinstance(one, Number) or one.text not in one.names or one.text in self.names:
                continue
            same = [
                macro
                for macro, text in macros.items()
                if int(text) == one.value and macro not in self.call.tune_params
            ]
            same = [macro for macro in same if any(hint in macro.lower() for hint in hints[n])] or (
                same if len(same) == 1 else []
            )
            if same:
                self.names[one.text] = same[0]
                if same[0] not in self.compiled_in:
                    self.compiled_in.append(same[0])

    def sized(self, value):
        """The number as an expression of the problem's parameters; None if it is not known."""
        if not isinstance(value, Number) or REAL.search(value.text):
            return None
        text = value.text
        for name in sorted(value.names, key=len, reverse=True):
            if name in self.axes:
                continue
            made = self.names.setdefault(name, name.lower().strip("_"))
            self.used[made] = self.script.values.get(name)
            text = re.sub(r"\b" + re.escape(name) + r"\b", "\0" + made, text)
        return text.replace("\0", "")

    def read_axes(self):
        self.axes, self.types = {}, {}
        for name, values in self.call.tune_params.items():
            numbers = [whole(one) for one in values] if isinstance(values, list) else []
            if numbers and None not in numbers and all(one.value == n for one, n in zip(values, numbers)):
                self.axes[name] = list(dict.fromkeys(numbers))
            elif numbers and all(isinstance(one, Text) for one in values):
                self.types[name] = [one.text for one in values]
            else:
                self.axes[name] = None
        # The first value of an axis is that of the untuned kernel, whose blocks are best neither tiny nor huge.
        for name in self.block_names():
            values = self.axes.get(name)
            if values and len(values) > 2 and values == sorted(values):
                first = min(
                    values,
                    key=lambda one: abs(
                        one - (128 if name == self.block_names()[0] and self.is_flat() else 16)
                    ),
                )
                self.axes[name] = [first] + [one for one in values if one != first]

    def is_flat(self):
        return len([one for one in self.block_names() if one in self.axes]) == 1

    def block_names(self):
        given = self.call.get("block_size_names")
        names = [one.text for one in given if isinstance(one, Text)] if isinstance(given, list) else []
        return names or ["block_size_x", "block_size_y", "block_size_z"]

    def role(self, n, declared, name, value):
        if re.search(r"\bconst\b[^*]*\*", declared):
            return "input"
        cell = r"\b" + re.escape(name) + r"\s*\[(?:[^][]|\[[^][]*\])*\]"
        store = re.search(cell + r"\s*=[^=]", self.body)
        update = re.search(
            cell
            + r"\s*(?:[-+*/|&^%]=|<<=|>>=|\+\+|--)|(?:\+\+|--)\s*"
            + cell
            + r"|\batomic\w+\s*\(\s*(?:&\s*)?\b"
            + re.escape(name)
            + r"\b",
            self.body,
        )
        reads = len(re.findall(r"\b" + re.escape(name) + r"\b", self.body)) - len(
            re.findall(cell + r"\s*=[^=]", self.body)
        )
        answers = self.call.get("answer")
        is_answer = isinstance(answers, list) and n < len(answers) and answers[n] is not None
        if update or (store and reads > 0):
            return "inout"
        if store or is_answer:
            starts = isinstance(value, Array) and value.holds not in ("zeros",)
            return "inout" if starts and not is_answer else "output"
        return "input"

    def read_arrays(self):
        self.arrays, self.arguments = [], []
        given = self.call.get("arguments")
        if not isinstance(given, list):
            given = [UNKNOWN] * len(self.parameters)
        if len(given) != len(self.parameters):
            self.notes.append(
                f"the call has {len(given)} arguments, and the kernel {len(self.parameters)} parameters"
            )
        for n, (declared, name) in enumerate(self.parameters):
            value = given[n] if n < len(given) else UNKNOWN
            if "*" in declared or isinstance(value, Array):
                extents = value.extents if isinstance(value, Array) else [UNKNOWN]
                self.arrays.append(
                    (
                        name,
                        [self.sized(one) or "?" for one in extents],
                        self.role(n, declared, name, value),
                        self.held(value),
                    )
                )
                self.arguments.append(name)
            elif isinstance(value, Number):
                is_real = re.search(r"\b(float|double|half|__half)\b", declared)
                text = (
                    self.sized(value)
                    if not is_real
                    else repr(float(value.value))
                    if value.value is not None
                    else None
                )
                self.arguments.append((text,) if is_real else text or "?")
            else:
                self.arguments.append("?")
        constants = self.call.get("cmem_args")
        for name, value in (constants if isinstance(constants, dict) else {}).items():
            extents = value.extents if isinstance(value, Array) else [UNKNOWN]
            self.arrays.append((name, [self.sized(one) or "?" for one in extents], "constant", None))

    def held(self, value):
        """Returns the range of an array of indices: integers below a size."""
        if (
            not isinstance(value, Array)
            or value.holds not in ("scaled", "sorted")
            or value.dtype[0] not in "iu"
        ):
            return None
        bound = self.sized(value.bound)
        if not bound:
            return None
        return f"offsets({bound})" if value.holds == "sorted" else f"index({bound})"

    def read_launch(self):
        self.block = [one for one in self.block_names() if one in self.axes]
        while len(self.block) > 1 and self.block[-1] not in self.axes:
            self.block.pop()
        if not self.block:
            self.block = ["?"]
        problem = self.call.get("problem_size")
        if isinstance(problem, Lambda) or problem is None:
            problem = [problem]
        dims = problem if isinstance(problem, list) else [problem]
        self.grid = []
        for n, one in enumerate(dims[:3]):
            key, default = (
                "grid_div_" + "xyz"[n],
                self.block_names()[n] if n < len(self.block_names()) else None,
            )
            divisors = self.call.get(key)
            if divisors is None:
                divisors = [Text(default)] if default in self.axes else []
            elif not isinstance(divisors, list):
                divisors = [divisors]
            size = self.sized(one) if isinstance(one, Number) else expression_of(one)
            parts = [expression_of(divisor) for divisor in divisors]
            if size is None or None in parts:
                self.grid.append("?")
            elif not parts:
                self.grid.append(size)
            elif len(parts) == 1:
                self.grid.append(f"ceil_div({size}, {parts[0]})")
            else:
                self.grid.append(
                    f"ceil_div({size}, "
                    + " * ".join(one if re.fullmatch(r"\w+", one) else "(" + one + ")" for one in parts)
                    + ")"
                )
        while len(self.grid) > 1 and self.grid[-1] == "1":
            self.grid.pop()
        self.shared = ""
        shared = self.call.get("smem_args")
        if isinstance(shared, dict) and "size" in shared:
            self.shared = (
                self.sized(shared["size"])
                if isinstance(shared["size"], Number)
                else expression_of(shared["size"])
            ) or "?"

    def read_rules(self):
        given = self.call.get("restrictions")
        given = given if isinstance(given, list) else [] if given is None else [given]
        self.rules = []
        for one in given:
            text = expression_of(one)
            self.rules.append(text if text is not None else "?")
        if "restrictions" in self.call.given and self.call.given["restrictions"] is UNKNOWN:
            self.rules.append("?")
        threads = [one for one in self.block if one in self.axes]
        most = 1
        for one in threads:
            most *= max(self.axes[one] or [1])
        if most > 1024:
            self.rules.append(" * ".join(threads) + " <= 1024")
        if not self.has_guard():
            for one in self.grid:
                found = re.fullmatch(r"ceil_div\((\w+), (.*)\)", one)
                if found:
                    divisor = found[2] if re.fullmatch(r"\w+", found[2]) else f"({found[2]})"
                    self.rules.append(f"{found[1]} % {divisor} == 0")

    def has_guard(self):
        """False if the kernel compares nothing with its block: it then computes whole blocks."""
        of_block = {"blockIdx"}
        assigned = re.findall(r"(\w+)\s*[-+*/]?=(?!=)([^;]*);", self.body)
        while True:
            more = {name for name, value in assigned if of_block & set(re.findall(r"\w+", value))}
            if more <= of_block:
                break
            of_block |= more
        compared = re.findall(
            r"(?:[<>]=?|[=!]=)[^;{}]*|[^;{}]*(?:[<>]=?|[=!]=|\?)|\bmin\s*\([^;]*", self.body
        )
        return any(of_block & set(re.findall(r"\w+", one)) for one in compared)

    def read_metrics(self):
        self.metrics = {}
        given = self.call.get("metrics")
        for name, value in (given if isinstance(given, dict) else {}).items():
            made = re.sub(r"\W+", "_", name.replace("/", "_per_")).strip("_").lower()
            text = None
            try:
                if isinstance(value, Text):
                    text = as_expression(ast.parse(value.text, mode="eval"))
                elif isinstance(value, Lambda):
                    text = as_expression(value.node.body, value.node.args.args[0].arg)
            except (Unread, KeyError, SyntaxError, AttributeError, TypeError):
                pass
            if text is not None:  # Kernel Tuner's times are in milliseconds
                text = re.sub(r"\btime\b", "(time * 1000)", text)
                for name in set(re.findall(r"[A-Za-z_]\w*", text)) - {"time"} - set(self.axes):
                    value = self.script.values.get(name)
                    if value is None:
                        text = None
                        break
                    text = re.sub(r"\b" + name + r"\b", self.sized(Number(value, name, [name])), text)
            self.metrics[made] = text

    def read_options(self):
        self.compile = []
        options = self.call.get("compiler_options")
        for one in options if isinstance(options, list) else []:
            if not isinstance(one, Text):
                continue
            registers = re.fullmatch(r"-{1,2}maxrregcount[= ]?(\d+)", one.text)
            standard = re.fullmatch(r"-{1,2}std=(c\+\+\d\d)", one.text)
            define = re.fullmatch(r"-D(\w+)=(\d+)", one.text)
            if one.text in ("-use_fast_math", "--use_fast_math"):
                self.compile.append("fast_math = true")
            elif registers:
                self.compile.append(f"maxrregcount = {registers[1]}")
            elif standard and standard[1] in ("c++17", "c++20"):
                self.compile.append(f'standard = "{standard[1]}"')
            elif define:
                self.compile.append(f"defines = {{ {define[1]} = {define[2]} }}")
            elif not standard:
                self.notes.append(f"the compiler's option {one.text} is left out")
        defines = self.call.get("defines")
        if isinstance(defines, dict):
            numbers = {name: whole(value) for name, value in defines.items() if whole(value) is not None}
            if numbers:
                self.compile.append(
                    "defines = { " + ", ".join(f"{name} = {value}" for name, value in numbers.items()) + " }"
                )
        for key in ("texmem_args", "observers", "strategy", "verify"):
            if self.call.given.get(key) is not None and key in ("texmem_args", "verify"):
                self.notes.append(f"{key} is left out")

    def written(self):
        def quoted(text):
            return (
                text
                if re.fullmatch(r"\d+", text)
                else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
            )

        lines = []
        if self.template:
            lines.append(f"instantiate = {quoted(self.template)}")
        lines.append(f"kernel = {quoted(self.kernel)}")
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", self.kernel):
            lines.append(f"name = {quoted(self.kernel.lower())}")
        atol = self.call.get("atol")
        if isinstance(atol, Number) and atol.value is not None:
            lines.append(f"tolerance = {{ absolute = {float(atol.value)!r} }}")
        for one in self.compiled_in:
            self.used.setdefault(one, None)
        if self.compiled_in:
            lines.append("compiled_in = [" + ", ".join(quoted(one) for one in self.compiled_in) + "]")
        lines += [f"# {note}" for note in self.notes]
        by_name = {made: self.script.values.get(name) for name, made in self.names.items()}
        lines += ["", "[problem]"]
        for name, value in self.used.items():
            value = by_name.get(name, value)
            lines.append(
                f"{name} = {{ usual = [1, {value}], default = {value} }}"
                if value and value > 1
                else f"{name} = {{ minimum = {min(value or 0, 0)}, default = {value or 1} }}"
            )
        if not self.used:
            lines.append('n = "?"  # the problem\'s sizes; name at least one')
        lines += ["", "[arrays]"]
        for name, extents, role, held in self.arrays:
            shape = "[" + ", ".join(quoted(one) for one in extents) + "]"
            more = (f', role = "{role}"' if role != "input" else "") + (
                f', values = "{held}"' if held else ""
            )
            lines.append(f"{name} = {{ extents = {shape}{more} }}" if more else f"{name} = {shape}")
        lines += ["", "[axes]"]
        for name, values in self.axes.items():
            lines.append(
                f"{name} = {values}" if values else f'{name} = "?"  # its values are not read from the script'
            )
        for name, values in self.types.items():
            lines.append(f"{name} = {list(range(len(values)))}  # stands for " + ", ".join(values))
        if self.rules:
            lines += ["", "[rules]", "must = [" + ", ".join(quoted(one) for one in self.rules) + "]"]
        lines += ["", "[launch]", "grid = [" + ", ".join(quoted(one) for one in self.grid) + "]"]
        lines.append("block = [" + ", ".join(quoted(one) for one in self.block) + "]")
        if self.shared:
            lines.append(f"shared_bytes = {quoted(self.shared)}")
        if self.arguments != [name for _, name in self.parameters]:
            lines.append(
                "arguments = ["
                + ", ".join(
                    one[0] or '"?"' if isinstance(one, tuple) else quoted(one) for one in self.arguments
                )
                + "]"
            )
        if self.compile:
            lines += ["", "[compile]", *self.compile]
        if self.metrics:
            lines += ["", "[metrics]"] + [
                f"{name} = {quoted(text) if text else chr(34) + '?' + chr(34)}"
                for name, text in self.metrics.items()
            ]
        answer = self.call.sources.get("answer")
        if answer is not None and not (isinstance(answer, ast.Constant) and answer.value is None):
            text = " ".join((ast.get_source_segment(self.script.text, answer) or "").split())
            lines += [
                "",
                f"# The script compares with {text[:MOST_SHOWN]}: give that to tune and check as --reference.",
            ]
        return "\n".join(lines) + "\n"


def main():
    path, kernel = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    script = Script(path)
    calls = [one for one in script.run() if isinstance(one.get("kernel_name"), Text)]
    tuned = [one for one in calls if one.name == "tune_kernel"] or calls
    names = list(dict.fromkeys(one.get("kernel_name").text for one in tuned))
    if not tuned:
        raise Unread(f"{path} has no call of tune_kernel() whose kernel is named by a text in it.")
    if kernel and kernel not in names:
        raise Unread(f"{path} tunes no kernel {kernel}; it tunes {', '.join(names)}.")
    if not kernel and len(names) > 1:
        raise Unread(f"{path} tunes several kernels ({', '.join(names)}); choose one by --kernel NAME.")
    call = next(one for one in tuned if not kernel or one.get("kernel_name").text == kernel)
    made = Description(script, call)
    text = made.read()
    if made.path:
        print("file " + made.path)
        print(text, end="")
    else:
        print("text")
        print("/* tunesmith\n" + text + "*/\n" + made.text.strip("\n"))


if __name__ == "__main__":
    try:
        main()
    except (Unread, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
