# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks of examples/notebooks cell by cell, in an empty folder, and compares what they print with the outputs that they keep.
TUNESMITH_UPDATE_GOLDEN=1 keeps what they print now. Cells with the tag `varies` print times, or what this machine is; they keep nothing. The one
for a GPU runs on the host where there is none, with other parameters, and keeps nothing at all."""

import ast
import contextlib
import io
import json
import linecache
import os
import pathlib
import subprocess
import sys
import types

import pytest
import tunesmith

root = pathlib.Path(__file__).parents[2]
folder = root / "examples/notebooks"
small = 'device, height, width, budget = "host", 24, 32, "2s"'


def printed(source: str, name: str, names: dict) -> str:
    """Runs a cell as IPython does: lines with ! are commands, each statement is compiled separately."""
    commands, lines = [], []
    for line in source.splitlines():
        if line.startswith("!"):
            commands.append(line[1:])
            line = f"shell(commands[{len(commands) - 1}])"
        lines.append(line)
    text = "\n".join(lines)
    out = io.StringIO()

    def shell(command: str) -> None:
        ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
        assert ran.returncode in (0, 141), f"{command}: {ran.stderr[-2000:]}"  # 141: head has read enough
        out.write(ran.stdout)

    names |= {"shell": shell, "commands": commands}
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    with contextlib.redirect_stdout(out):
        for statement in ast.parse(text).body:
            exec(compile(ast.Module([statement], []), name, "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("path", sorted(folder.glob("*.ipynb")), ids=lambda path: path.stem)
def test_it_runs_and_prints_what_it_keeps(path, tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    here = tmp_path / "examples/notebooks"
    here.mkdir(parents=True)
    for linked in ("db", "examples/user_kernels"):
        (tmp_path / linked).symlink_to(root / linked)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f"{pathlib.Path(tunesmith.program()).resolve().parent}:{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "120")
    shown = types.ModuleType("IPython.display")
    shown.IFrame = lambda source, width, height: pathlib.Path(source).read_bytes()
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    text = path.read_text(encoding="utf-8")
    book = json.loads(text)
    has_gpu = os.environ.get("TUNESMITH_TEST_DEVICE", "").startswith("cuda")
    names: dict = {"__name__": "__main__"}
    try:
        for number, cell in enumerate(book["cells"]):
            if cell["cell_type"] != "code":
                continue
            tags = cell["metadata"].get("tags", [])
            source = small if "parameters" in tags and not has_gpu else "".join(cell["source"])
            said = printed(source, f"<{path.stem}-{number}>", names)
            kept = "".join(line for one in cell["outputs"] for line in one["text"])
            if "parameters" in tags:
                names["keeps"] = False
            if "varies" in tags or not names.get("keeps", True):
                assert not cell["outputs"] and (said or not {"varies"} & set(tags))
            elif os.environ.get("TUNESMITH_UPDATE_GOLDEN"):
                stream = {"name": "stdout", "output_type": "stream", "text": said.splitlines(True)}
                cell["outputs"] = [stream] if said else []
            else:
                assert said == kept, f"cell {number} of {path.name}"
    finally:
        tunesmith.set_device(os.environ.get("TUNESMITH_TEST_DEVICE", "") or "host")
        tunesmith.forget_dispatchers()
    if os.environ.get("TUNESMITH_UPDATE_GOLDEN"):
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def test_they_are_small_and_plain():
    """Notebooks have format 4.5, unique ids of cells, and no pictures and traces of a run."""
    paths = list(folder.glob("*.ipynb"))
    assert len(paths) >= 2
    for path in paths:
        text = path.read_text(encoding="utf-8")
        book = json.loads(text)
        assert len(text) < 20_000 and (book["nbformat"], book["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in book["cells"]]
        assert len(ids) == len(set(ids))
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                assert cell["execution_count"] is None
                assert all(output["output_type"] == "stream" for output in cell["outputs"])
