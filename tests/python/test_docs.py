"""The Python blocks of the pages run, one after the other, in an empty folder."""

import importlib.util
import pathlib
import re

import pytest

root = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "docs/tensor.md", "docs/ndimage.md", "README.md", "python/README.md"])
def test_its_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (root / page).read_text(), re.M | re.S)
    assert blocks
    names: dict = {"__name__": "page"}
    for number, block in enumerate(blocks):
        needed = re.match(r"# Needs (\w+)\.\n", block)
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue
        file = tmp_path / f"block{number}.py"  # so that inspect finds a function's source
        file.write_text(block)
        exec(compile(block, str(file), "exec"), names)
