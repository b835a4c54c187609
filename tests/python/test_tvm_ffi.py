# SPDX-License-Identifier: Apache-2.0
"""Builds examples/tvm_ffi_module.cpp against the library of the build folder, by the page's command, and calls it. Needs apache-tvm-ffi and a compiler; the
page's command is read without."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tunesmith

repository = pathlib.Path(__file__).parents[2]
build = pathlib.Path(tunesmith.program()).resolve().parents[1]


def command():
    page = (repository / "docs/library.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^(c\+\+ .*tvm_ffi_module\.cpp.*\n(?:  .*\n)*)", page, re.M)
    return found


def test_the_page_builds_the_example():
    assert "tvm-ffi-config" in command() and (repository / "examples/tvm_ffi_module.cpp").exists()


has_tools = importlib.util.find_spec("tvm_ffi") is not None and shutil.which("c++") is not None


@pytest.mark.skipif(
    not has_tools or not (build / "libtunesmith.so").exists(),
    reason="apache-tvm-ffi, a compiler or the shared library is missing",
)
def test_one_module_launches_any_op(tmp_path):
    import tvm_ffi

    for header in repository.glob("*/include/tunesmith/*.h"):
        (tmp_path / "include/tunesmith").mkdir(parents=True, exist_ok=True)
        shutil.copy(header, tmp_path / "include/tunesmith")
    shutil.copy(build / "dispatch/include/tunesmith/version.h", tmp_path / "include/tunesmith")
    words = command().replace("examples/", f"{repository}/examples/").replace(
        "$(pkg-config --cflags --libs tunesmith)",
        f"-I{tmp_path}/include -L{build} -ltunesmith -Wl,-rpath,{build}",
    )  # fmt: skip
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(words, shell=True, check=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    use(tvm_ffi.load_module(str(tmp_path / "tunesmith_tvm.so")))


@pytest.mark.skipif(
    not has_tools or shutil.which("cmake") is None, reason="apache-tvm-ffi, a compiler or CMake is missing"
)
def test_an_exported_module_has_all_that_it_needs(tmp_path):
    import tvm_ffi

    problems = (
        "conv2d height=9 width=12 mask_height=3 mask_width=3 boundary=reflect\n"
        "transpose height=9 width=12\ntranspose height=9 width=13\n"
    )
    (tmp_path / "problems.txt").write_text(problems)
    words = ["--target", "host", "--problems", "problems.txt", "--to", "module"]
    subprocess.run([tunesmith.program(), "export", "--tvm-ffi", *words], check=True, cwd=tmp_path)
    settings = [f"-DPython_EXECUTABLE={sys.executable}", "-DTUNESMITH_TARGETS=host"]
    subprocess.run(["cmake", "-S", "module", "-B", "b", *settings], check=True, cwd=tmp_path)
    subprocess.run(["cmake", "--build", "b", "-j", "2"], check=True, cwd=tmp_path)
    use(tvm_ffi.load_module(str(tmp_path / "b/tunesmith_tvm_ffi.so")))


def use(module):
    import tvm_ffi

    def shared(array):
        return tvm_ffi.from_dlpack(array)

    draw = np.random.default_rng(1)
    image, mask = draw.random((9, 12), np.float32), np.full((3, 3), 1 / 9, np.float32)
    out, turned = np.empty_like(image), np.empty((12, 9), np.float32)
    module.launch(
        "conv2d", "height=9 width=12 mask_height=3 mask_width=3 boundary=reflect",
        shared(image), shared(mask), shared(out),
    )  # fmt: skip
    np.testing.assert_allclose(out, tunesmith.ndimage.correlate(image, mask), rtol=1e-5)
    module.launch("transpose", "height=9 width=12", shared(image), shared(turned))
    assert (turned == image.T).all()
    assert "height=9" in module.explain("transpose", "height=9 width=12", "host")
    for words, arguments in (
        (
            "Array 0 of transpose has 432 bytes, and height=9 width=13 needs 468",
            ("height=9 width=13", image, turned),
        ),
        ("Array 0 of transpose has gaps", ("height=9 width=12", image.T, turned)),
        ("number of arguments differs", ("height=9 width=12", image)),
        ("height", ("height=nine width=12", image, turned)),
    ):
        with pytest.raises(Exception, match=words):
            module.launch("transpose", arguments[0], *map(shared, arguments[1:]))
    with pytest.raises(TypeError, match="takes an op, a problem"):
        module.launch("transpose")
