# SPDX-License-Identifier: Apache-2.0
"""A Python function as the reference of a user's kernel: the tuner asks, and this module answers (docs/your_own_kernel.md)."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ._core import dtype_words

# NumPy's types for the words of descriptions.
_types = {word: np.dtype("float32" if name == "bfloat16" else name) for name, word in dtype_words.items()}


def _called(function, given: dict):
    """The function's answer to those of `given` that its parameters name."""
    parameters = inspect.signature(function).parameters.values()
    if not any(one.kind is one.VAR_KEYWORD for one in parameters):
        missing = [one.name for one in parameters if one.default is one.empty and one.name not in given]
        if missing:
            raise ValueError(f"it has a parameter {missing[0]}; there are {', '.join(given)}")
        given = {one.name: given[one.name] for one in parameters if one.name in given}
    return function(**given)


def _sent(array, wanted: dict, exact: bool) -> np.ndarray:
    """The array as the tuner reads it: doubles, or with `exact` 64-bit integers."""
    array = np.asarray(array)
    if array.shape != tuple(wanted["extents"]):
        raise ValueError(
            f"it returned {wanted['name']} of shape {array.shape}, which has {tuple(wanted['extents'])}"
        )
    if exact and wanted["dtype"] in ("i64", "u64") and array.dtype.kind in "iub":
        if (
            array.size
            and not np.iinfo(_types[wanted["dtype"]]).min
            <= array.min()
            <= array.max()
            <= np.iinfo(_types[wanted["dtype"]]).max
        ):
            raise ValueError(f"it returned {wanted['name']} with a number that {wanted['dtype']} cannot hold")
        return np.ascontiguousarray(array, "=i8" if wanted["dtype"] == "i64" else "=u8")
    if exact and wanted["dtype"] in ("i64", "u64"):
        raise ValueError(
            f"it returned {wanted['name']} as {array.dtype}, but its elements are {wanted['dtype']}: return integers"
        )
    if (
        not exact
        and array.dtype.kind in "iu"
        and array.size
        and max(-int(array.min()), int(array.max())) > 2**53
    ):
        raise ValueError(
            f"it returned {wanted['name']} with a number beyond 2**53, which is sent as a double and would lose digits; give smaller ones"
        )
    return np.ascontiguousarray(array, "=f8")


def _inputs(function, question: dict) -> list:
    """The inputs that the function gives, by name."""
    made = _called(function, dict(question["problem"], seed=question["seed"]))
    arrays = {array["name"]: array for array in question["arrays"] if array["role"] != "output"}
    if not isinstance(made, dict) or not set(made) <= set(arrays):
        raise ValueError(f"it must return a dict of some of the inputs {', '.join(arrays)}")
    return [(name, _sent(array, arrays[name], exact=False)) for name, array in made.items()]


def _answer(function, question: dict, read) -> np.ndarray:
    """The wanted output, in the form of _sent(). Raises ValueError for anything but an array of its extents."""
    given = dict(question["problem"])
    for array in question["arrays"]:
        if array["role"] != "output":
            count = int(np.prod(array["extents"]))
            values = np.frombuffer(read(8 * count), "=f8").reshape(array["extents"])
            given[array["name"]] = values.astype(_types[array["dtype"]])
    made = _called(function, given)
    outputs = [array for array in question["arrays"] if array["role"] != "input"]
    names = [array["name"] for array in outputs]
    if not isinstance(made, dict):
        made = dict(zip(names, made if isinstance(made, (tuple, list)) and len(names) > 1 else [made]))
    wanted = outputs[names.index(question["output"])]
    if wanted["name"] not in made:
        raise ValueError(
            f"it returned nothing for {wanted['name']}; return an array for each of {', '.join(names)}, in this order or as a dict"
        )
    return _sent(made[wanted["name"]], wanted, exact=True)


def _name(function) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _serve(function, reader, writer, lock=None) -> None:
    def read(count):
        found = reader.read(count)
        if len(found) < count:
            raise EOFError
        return found

    while line := reader.readline():
        question = json.loads(line)
        try:
            with lock or contextlib.nullcontext():
                named = (
                    _inputs(function, question)
                    if question.get("inputs")
                    else [("", _answer(function, question, read))]
                )
        except EOFError:
            return
        except Exception as error:  # any exception of the function is shown where the result is waited for
            what = " ".join(str(error).split())[:3000]
            writer.write(f"{_name(function)}() raised {type(error).__name__}: {what}\n".encode())
        else:
            writer.write(f"ok {' '.join(name for name, _ in named)}".rstrip().encode() + b"\n")
            for _, array in named:
                writer.write(memoryview(array).cast("B"))
        writer.flush()


def serve_reference(function: Callable[..., Any]) -> None:
    """Answers the tuner on standard input and output until it has no more questions: the last line of a program that is named by
    `tunesmith tune my.cu --reference "python3 reference.py"`.

    function: takes the inputs that its parameters name, as NumPy arrays of their types (bf16 as float32), and the problem's parameters that they
    name, and returns the output, or several in the description's order or as a dict, each an array of its extents. Sums are best computed in float64.
    For `--inputs`: takes the problem's parameters that its parameters name, and `seed`, and returns a dict of some of the input arrays.
    An exception of the function is shown by the tuner, which then stops. Raises OSError if the output is closed.

    >>> code = "import tunesmith; tunesmith.serve_reference(lambda x: 2 * x.astype('float64'))"
    >>> subprocess.run([sys.executable, '-c', code], stdin=subprocess.DEVNULL).returncode  # there was no question
    0
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the function's own output must not count as an answer
    _serve(function, sys.stdin.buffer, out)


@contextlib.contextmanager
def listening(function, serve=_serve):
    """The words for --reference by which the program asks `function` of this process while the with-block runs; with another serve() for --strategy."""
    folder = tempfile.mkdtemp(prefix="tunesmith_")
    # The tuner shows and stores this name.
    path = os.path.join(folder, re.sub(r"\W", "_", _name(function))[:40])
    lock = threading.Lock()  # one of several devices' processes is answered at a time

    def answer(connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rwb") as stream:
            serve(function, stream, stream, lock)

    def accept(server):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(path)
        server.listen()
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield f"unix:{path}"
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)  # close() alone does not end accept()
        server.close()
        shutil.rmtree(folder, ignore_errors=True)
