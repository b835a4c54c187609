# SPDX-License-Identifier: Apache-2.0
"""Runs the Python blocks of the pages, one after the other, in an empty folder: as files, and a third of
the pages, with TUNESMITH_TEST_TURN, as a notebook's cells too."""

import ast
import importlib.util
import linecache
import pathlib
import re

import pytest
from turns import in_turn

root = pathlib.Path(__file__).parents[2]


def as_a_file(block, name, names):
    pathlib.Path(name).write_text(block)  # inspect finds a function's source there
    exec(compile(block, name, "exec"), names)


def as_a_cell(block, name, names):
    """Runs the block as IPython does: the text is in linecache, and each statement is compiled separately."""
    name = f"<ipython-input-{name}>"
    linecache.cache[name] = (len(block), None, block.splitlines(True), name)
    for statement in ast.parse(block).body:
        exec(compile(ast.Module([statement], []), name, "exec"), names)


pages = [
    "docs/python.md",
    "docs/ops.md",
    "docs/tensor.md",
    "docs/ndimage.md",
    "docs/coming_from.md",
    "README.md",
    "python/README.md",
]


@pytest.mark.parametrize(
    "page, run", [(page, as_a_file) for page in pages] + [(page, as_a_cell) for page in in_turn(pages, 3)]
)
def test_its_blocks_run(page, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (root / page).read_text(), re.M | re.S)
    assert blocks
    names: dict = {"__name__": "page"}
    for number, block in enumerate(blocks):
        needed = re.match(r"# Needs (\w+)\.\n", block)
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue
        if run is as_a_cell and ".tune(" in block:  # tuning takes its time, and reads no source
            continue
        run(block, f"block{number}.py", names)
