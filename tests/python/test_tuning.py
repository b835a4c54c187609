# SPDX-License-Identifier: Apache-2.0
"""Tests tuning, winners and captures."""

import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import tunesmith
from tunesmith import _tuning

problem = "height=20 width=30 mask_height=3 mask_width=3"


def rows(found):
    return found.to_dict("records") if hasattr(found, "to_dict") else found


def test_tuning_finds_winners_and_they_are_used(tmp_path, capfd):
    database = tmp_path / "own.db"
    found = rows(tunesmith.tune("conv2d", problem, device="host", budget="3", database=database, seed=5))
    assert {row["op"] for row in found} == {"conv2d"} and all(row["newest_verdict"] == "ok" for row in found)
    shown = capfd.readouterr().err
    assert "Tuning on" in shown or "it/s" in shown or "variants" in shown
    assert len(rows(tunesmith.winners("conv2d", database=database))) == len(found)
    assert rows(tunesmith.winners("reduce", database=database)) == []
    plan = tunesmith.Dispatcher("host", database=str(database), host_binaries=True, compile="now").plan(
        "conv2d", problem
    )
    assert plan.match == "exact" and plan.expected_us > 0


class Tqdm:
    """The part of tqdm's bar that is used."""

    def __init__(self, desc, unit, dynamic_ncols):
        self.desc, self.unit, self.total, self.n, self.postfix, self.said, self.closed = (
            desc,
            unit,
            None,
            0,
            "",
            [],
            False,
        )

    def write(self, text, file):
        self.said.append(text)

    def set_description_str(self, text, refresh):
        self.desc = text

    def set_postfix_str(self, text, refresh):
        self.postfix = text

    def refresh(self):
        pass

    def close(self):
        self.closed = True


def test_the_bar_has_a_title_and_counts_to_the_end(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Tqdm
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(_tuning, "_draws", lambda: True)
    bar = _tuning._Bar(True, "matvec", {"unix:/tmp/x/f": "f() of Python"})
    tqdm = bar.bar
    assert (tqdm.desc, tqdm.unit) == ("matvec", " variants")
    bar.line("The reference of matvec is unix:/tmp/x/f.")
    bar.line("The search ends after 4 variants, as no more is expected.")
    assert tqdm.said == [
        "The reference of matvec is f() of Python.",
        "The search ends after 4 variants, as no more is expected.",
    ]
    bar.line("search 1/6 | 2.1/s | best 3.41 us, 1.20x base | 2 s left")
    assert (tqdm.desc, tqdm.n, tqdm.total) == ("matvec: search", 1, 6)
    assert tqdm.postfix == "best 3.41 us, 1.20x base"
    bar.line("conv2d 2/3 finals 12/40 | 8/s")
    assert (tqdm.desc, tqdm.n, tqdm.total, tqdm.unit) == ("matvec: finals", 12, 40, " steps")
    bar.close(done=True)
    assert tqdm.closed and tqdm.n == 40 and len(tqdm.said) == 2


def test_a_pipe_gets_lines_although_tqdm_is_installed(monkeypatch, capsys):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = None
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    bar = _tuning._Bar(True, "matvec", {"unix:/tmp/x/f": "f() of Python"})
    bar.line("search 1/6 | 2.1/s")
    bar.line("The reference is unix:/tmp/x/f.")
    bar.close()
    assert capsys.readouterr().err == "search 1/6 | 2.1/s\nThe reference is f() of Python.\n"
    bar = _tuning._Bar(False)
    bar.line("search 1/6")
    assert capsys.readouterr().err == ""


def test_a_capture_says_what_to_tune(tmp_path):
    with tunesmith.capture() as captured:
        for _ in range(3):
            tunesmith.sum(np.ones((7, 11), "f"), axis=0)
    assert [(one["op"], one["launches"]) for one in captured.problems] == [("reduce", 3)]
    assert captured.text().startswith("reduce weight=") and "length=7" in captured.text()
    with tunesmith.capture() as nothing:
        pass
    assert nothing.problems == []
    with pytest.raises(ValueError, match="captured"):
        tunesmith.tune(nothing)
    found = rows(
        tunesmith.tune(
            captured, device="host", budget="2s", database=tmp_path / "captured.db", progress=False
        )
    )
    assert found and found[0]["op"] == "reduce"


def test_wrong_input_is_a_value_error_with_the_programs_words(tmp_path):
    for what, given, words in (
        ("conv3d", "a=1", "conv3d"),
        ("conv2d", "height=-1", "height"),
        ("conv2d", None, "no problem"),
    ):
        with pytest.raises(ValueError, match=words):
            tunesmith.tune(what, given, device="host", database=tmp_path / "x.db", progress=False)
    assert rows(tunesmith.winners(database=tmp_path / "none.db")) == []


def test_a_kernel_of_ones_own(tmp_path):
    kernel = tmp_path / "another_name.cu"  # the op's is in it
    kernel.write_text("""/* tunesmith
kernel = "scaled"
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
*/
#define BLOCK 128
__global__ void scaled(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
""")
    found = rows(
        tunesmith.tune(
            str(kernel),
            [{"n": 1000}],
            device="host",
            budget="2",
            database=tmp_path / "own.db",
            progress=False,
        )
    )
    assert found[0]["op"] == "scaled"
    plan = tunesmith.Dispatcher("host", kernels=[str(kernel)], database="", compile="now").plan(
        "scaled", n=1000
    )
    x, y = np.arange(1000, dtype="f"), np.empty(1000, "f")
    plan.launch(x, y)
    assert (y == 3 * x).all()


def test_several_launches_of_ones_own(tmp_path):
    file = tunesmith.write_kernel(
        tmp_path / "doubled_and_added.cu",
        """__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
__global__ void add(const float* x, float* sums, int n, int count) {
  float sum = 0;
  for (int i = blockIdx.x; i < n; i += count) sum += x[i];
  sums[blockIdx.x] = sum;
}
""",
        name="doubled_and_added",
        problem={"n": [1, 100000], "turns": [1, 50]},
        arrays={
            "x": ["n"],
            "y": {"extents": ["n"], "role": "output"},
            "total": {"extents": [1], "role": "output"},
            "spare": {"extents": ["n"], "role": "workspace"},
            "sums": {"extents": ["BLOCKS"], "role": "workspace"},
        },
        axes={"BLOCKS": [4, 8]},
        launch=[
            {
                "kernel": "twice",
                "repeat": "turns",
                "swap": {"from": "x", "to": "y", "spare": "spare"},
                "grid": lambda n: ceil_div(n, 64),  # noqa: F821
                "block": 64,
            },
            {"kernel": "add", "grid": "BLOCKS", "block": 1, "arguments": ["y", "sums", "n", "BLOCKS"]},
            {"kernel": "add", "grid": 1, "block": 1, "arguments": ["sums", "total", "BLOCKS", 1]},
        ],
    )
    database = tmp_path / "own.db"
    tunesmith.tune(
        file, {"n": 1000, "turns": 3}, device="host", budget="2", database=database, progress=False
    )
    dispatcher = tunesmith.Dispatcher("host", kernels=[file], database=str(database), compile="now")
    for turns in (2, 3):
        plan = dispatcher.plan("doubled_and_added", n=1000, turns=turns)
        assert plan.workspace_bytes >= 4000
        for first in (0, 7):  # each with new numbers
            x, y, total = np.arange(1000, dtype="f") + first, np.empty(1000, "f"), np.empty(1, "f")
            plan.launch(x, y, total)
            assert (y == 2**turns * x).all()
            assert np.isclose(total[0], y.sum(dtype=float))


def test_a_kernel_is_described(tmp_path):
    (tmp_path / "own.cu").write_text(
        "__global__ void twice(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
    )
    text = tunesmith.describe(tmp_path / "own.cu")
    assert text == tunesmith.describe(str(tmp_path / "own.cu"), kernel="twice")
    assert 'y = { extents = ["n"], role = "output" }' in text and '"?"' not in text
    with pytest.raises(ValueError, match="There is no kernel other in"):
        tunesmith.describe(tmp_path / "own.cu", kernel="other")


def test_a_description_of_python_values(tmp_path):
    def grid(n, BLOCK):
        tiles = ceil_div(n, BLOCK)  # noqa: F821
        return max(tiles // 2 * 2, 1) if n < 0 else tiles

    file = tunesmith.write_kernel(
        tmp_path / "tripled.cu",
        "#define BLOCK 64\n__global__ void tripled(const float* x, float* y, int n) {\n"
        "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = 3 * x[i];\n}\n",
        what='a "text"',
        tolerance=1e-6,
        problem={"n": [1, 1000]},
        arrays={"x": ["n"], "y": {"extents": ["n"], "role": "output"}},
        axes={"BLOCK": [64, 128]},
        rules={"must": [lambda BLOCK: BLOCK <= 1024, "BLOCK % 32 == 0"]},
        launch={"grid": grid, "block": "BLOCK"},
    )
    found = rows(
        tunesmith.tune(
            file, {"n": 500}, device="host", budget="2", database=tmp_path / "own.db", progress=False
        )
    )
    assert found[0]["op"] == "tripled"
    for wrong, error in (
        (dict(launch={"grid": lambda n: ceil_div(n, 2), "block": lambda n: not_known(n)}), ValueError),  # noqa: F821
        (dict(launch={"grid": lambda n: n / 2}), ValueError),
        (dict(launch={"grid": lambda n: open(n)}), ValueError),
        (dict(axes={"BLOCK": {1, 2}}), TypeError),
        (dict(what="*/"), ValueError),
    ):
        with pytest.raises(error):
            tunesmith.write_kernel(tmp_path / "wrong.cu", "", **wrong)
    assert not (tmp_path / "wrong.cu").exists()
    with pytest.raises(ValueError, match="end in .cu"):
        tunesmith.write_kernel(tmp_path / "wrong.txt", "")


def test_functions_of_a_description_mean_what_python_means(tmp_path):
    # fmt: off
    file = tunesmith.write_kernel(
        tmp_path / "k.cu", """#define BLOCK 64
__global__ void divided(float* y, int shift, int quotient, int rest, int size) { if (threadIdx.x < 3 && BLOCK > 0) y[threadIdx.x] = shift; }
""",
        problem={name: {"minimum": least, "maximum": 9, "usual": [1, 3]} for name, least in (("shift", -9), ("quotient", -9), ("rest", 0), ("size", 0))},
        arrays={"y": {"extents": [lambda: 3], "role": "output"}},
        rules={"problem": [lambda shift, quotient, rest: shift // 4 == quotient and shift % 4 == rest, lambda size: (size or 7) == 7]},
        axes={"BLOCK": [64]}, launch={"grid": lambda size: min(1, 1 + size, 2), "block": lambda BLOCK: BLOCK})
    # fmt: on
    text = pathlib.Path(file).read_text()
    assert 'block = "BLOCK"' in text
    plan = tunesmith.Dispatcher("host", kernels=[file], host_binaries=True, database="", compile="now").plan
    for shift in range(-9, 10):
        right = {"shift": shift, "quotient": shift // 4, "rest": shift % 4, "size": 0}
        assert plan("divided", **right)
        for wrong in ({"quotient": shift // 4 + 1}, {"rest": (shift + 1) % 4}, {"size": 1}):
            with pytest.raises(ValueError):
                plan("divided", **{**right, **wrong})

    def ceil_div(a, b):
        return a // b

    with pytest.raises(ValueError, match="function of your own.*") as caught:
        tunesmith.write_kernel(tmp_path / "k.cu", "", launch={"grid": lambda n: ceil_div(n, 2)})
    assert "test_tuning.py" in str(caught.value) and "line " in str(caught.value)


@pytest.fixture
def doubled(tmp_path):
    return tunesmith.write_kernel(
        tmp_path / "doubled.cu",
        "#define BLOCK 64\n__global__ void doubled(const float* x, float* y, float* z, int n) {\n"
        "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i], z[i] = -x[i];\n}\n",
        problem={"n": [1, 1000]},
        arrays={
            "x": ["n"],
            "y": {"extents": ["n"], "role": "output"},
            "z": {"extents": ["n"], "role": "output"},
        },
        axes={"BLOCK": [64, 128]},
        launch={"grid": lambda n, BLOCK: ceil_div(n, BLOCK), "block": "BLOCK"},  # noqa: F821
    )


def test_a_function_as_reference(doubled, tmp_path):
    seen = []

    def tuned(reference):
        return tunesmith.tune(doubled, {"n": 500}, device="host", budget="2", database=tmp_path / "own.db", progress=False,
                              reference=reference)  # fmt: skip

    def reference(x, n):
        seen.append((x.dtype, x.shape, n))
        return 2 * x.astype("d"), -x

    assert rows(tuned(reference))[0]["op"] == "doubled"
    assert (np.dtype("f"), (500,), 500) in seen
    tuned(lambda **given: {"z": -given["x"], "y": given["x"] + given["x"]})
    for wrong, says in (
        (lambda x: (3 * x, -x), "The first wrong_result: doubled"),
        (lambda x: (2 * x, -x[1:]), r"returned z of shape \(499,\), which has \(500,\)"),
        (lambda x: {"y": 2 * x}, "returned nothing for z"),
        (lambda x, k: x, "it has a parameter k; there are n, dtype, x"),
        (lambda x: 1 / 0, r"raised ZeroDivisionError: division by zero"),
    ):
        with pytest.raises(RuntimeError, match=f"(?s){says}"):
            tuned(wrong)
    with pytest.raises(ValueError, match="has its reference built in"):
        tunesmith.tune(
            "transpose",
            "height=3 width=4",
            device="host",
            budget="2",
            database=tmp_path / "own.db",
            reference=reference,
        )


@pytest.fixture
def row_keys(tmp_path):
    """A key of 64 bits for each row of a CSR matrix: it reads beyond its arrays if row_ptr holds arbitrary numbers."""
    return tunesmith.write_kernel(
        tmp_path / "row_keys.cu",
        "#define BLOCK 64\n__global__ void row_keys(const int* row_ptr, const unsigned short* v, unsigned long long* key, int rows) {\n"
        "  const int r = blockIdx.x * BLOCK + threadIdx.x;\n  if (r >= rows) return;\n  unsigned long long sum = 1ull << 60;\n"
        "  for (int i = row_ptr[r]; i < row_ptr[r + 1]; ++i) sum += v[i];\n  key[r] = sum + OFF;\n}\n",
        problem={"rows": [1, 100], "nnz": [1, 300]},
        arrays={"row_ptr": ["rows + 1"], "v": ["nnz"], "key": {"extents": ["rows"], "role": "output"}},
        axes={"BLOCK": [64, 128], "OFF": [0, 1]},
        launch={"grid": lambda rows, BLOCK: ceil_div(rows, BLOCK), "block": "BLOCK"},  # noqa: F821
    )


def test_functions_give_inputs_and_integers_of_64_bits(row_keys, tmp_path):
    def inputs(rows, nnz, seed):
        return {"row_ptr": np.sort(np.r_[0, np.random.default_rng(seed).integers(0, nnz + 1, rows - 1), nnz])}

    def reference(row_ptr, v):
        assert v.dtype == np.uint16 and row_ptr[-1] == len(v)
        sums = np.r_[0, np.cumsum(v, dtype=np.uint64)]
        return np.uint64(1 << 60) + (sums[row_ptr[1:]] - sums[row_ptr[:-1]]).astype(np.uint64)

    def tuned(**functions):
        return tunesmith.tune(
            row_keys,
            "rows=50 nnz=200",
            device="host",
            budget="all",
            database=tmp_path / "own.db",
            progress=False,
            **functions,
        )

    # OFF=1 differs in the last of 61 bits, which a double does not have.
    assert [row["config"].split()[1] for row in rows(tuned(reference=reference, inputs=inputs))] == ["OFF=0"]
    with pytest.raises(RuntimeError, match="returned key as float64, but its elements are u64"):
        tuned(reference=lambda row_ptr, v: np.zeros(len(row_ptr) - 1), inputs=inputs)
    with pytest.raises(
        RuntimeError, match="gave -1 as element 0 of row_ptr .* cannot hold|dict of some of the inputs"
    ):
        tuned(reference=reference, inputs=lambda rows: [0] * (rows + 1))
    with pytest.raises(RuntimeError, match=r"row_ptr with a number beyond 2\*\*53"):
        tuned(reference=reference, inputs=lambda rows: {"row_ptr": np.full(rows + 1, 2**53 + 1)})
    with pytest.raises(ValueError, match="says itself what its inputs hold"):
        tunesmith.tune(
            "transpose",
            "height=3 width=4",
            device="host",
            budget="2",
            database=tmp_path / "own.db",
            inputs=inputs,
        )


def test_a_program_as_reference(doubled, tmp_path):
    program = tmp_path / "reference.py"
    program.write_text(
        "import tunesmith\ntunesmith.serve_reference(lambda x: (print('asked'), (2 * x, -x))[1])\n"
    )
    made = subprocess.run(
        [tunesmith.program(), "check", doubled, "--device", "host", "--random", "0", "--problem", "n=70",
         "--reference", f"{sys.executable} {program}"], capture_output=True, text=True, env=os.environ)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_command_line_comes_with_it():
    assert os.access(tunesmith.program(), os.X_OK)


def test_a_failure_begins_with_its_sentence():
    said = ["search 1/2", "search 2/2", "tunesmith: The base kernel is wrong:", "y[0] is 1, expected 2."]
    assert _tuning._why(said, "").startswith(
        "The base kernel is wrong:\ny[0] is 1, expected 2.\n\nBefore that it said:\nsearch 1/2"
    )
    assert _tuning._why([], "") == "" and _tuning._why(["killed"], "") == "killed"
