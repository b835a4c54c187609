# SPDX-License-Identifier: Apache-2.0
"""Tests the ranges that a profiler sees: a small tool is loaded as profilers are, and writes down the names of ranges."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tunesmith

# The tool's side of NVTX, from its header: a table of functions, whose slots the tool fills.
tool = r"""
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static void put(const char* text) {
  FILE* file = fopen(getenv("RANGES_FILE"), "a");
  fprintf(file, "%s\n", text);
  fclose(file);
}
static int push(const char* name) { put(name); return 0; }
static int pop(void) { put("end"); return 0; }
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const NvtxExportTableCallbacks* callbacks = (const NvtxExportTableCallbacks*)get(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = 0;
  unsigned int size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
"""
calls = "import numpy as np, tunesmith; x = np.ones((4, 5), 'f'); [tunesmith.transpose(x) for _ in range(2)]"


@pytest.fixture
def injected(tmp_path):
    """Runs the calls with that tool, and returns what it wrote."""
    header = next(
        (
            folder
            for folder in ("/usr/local/cuda/include", os.environ.get("CUDA_PATH", "") + "/include")
            if os.path.exists(f"{folder}/nvtx3/nvToolsExt.h")
        ),
        None,
    )
    if header is None or not shutil.which("cc") or not tunesmith._device.cuda_version:
        pytest.skip("There is no NVTX here, or the package was built without CUDA.")
    (tmp_path / "tool.c").write_text(tool)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{header}", "-o", tmp_path / "libtool.so", tmp_path / "tool.c"], check=True)  # fmt: skip

    def run(**environment):
        file = tmp_path / "ranges.txt"
        file.unlink(missing_ok=True)
        all_of_it = {**os.environ, "RANGES_FILE": str(file), "NVTX_INJECTION64_PATH": str(tmp_path / "libtool.so"),
                     "PYTHONPATH": str(pathlib.Path(tunesmith.__file__).parents[1]), **environment}  # fmt: skip
        done = subprocess.run([sys.executable, "-c", environment.pop("CALLS", calls)], env=all_of_it, capture_output=True, text=True, check=True)  # fmt: skip
        assert not done.stderr
        return file.read_text().splitlines() if file.exists() else []

    return run


def test_plans_and_launches_are_ranges_where_asked_for(injected):
    assert injected(TUNESMITH_NVTX="on") == ["plan transpose", "end", "transpose", "end", "transpose", "end"]
    assert injected() == [] and injected(TUNESMITH_NVTX="off") == []


def test_another_value_is_noted(injected):
    said = "import tunesmith; print(*tunesmith.Dispatcher('host', database='').notes)"
    environment = {
        **os.environ,
        "TUNESMITH_NVTX": "yes",
        "PYTHONPATH": str(pathlib.Path(tunesmith.__file__).parents[1]),
    }
    run = subprocess.run([sys.executable, "-c", said], env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    assert 'TUNESMITH_NVTX is "yes", which is not used' in run.stdout
