# SPDX-License-Identifier: Apache-2.0
"""Modules that other projects' tests import, made of NumPy's and SciPy's functions, into which the suites put Tunesmith's."""

import importlib.util
import math
import pathlib
import sys
import types
import unittest.mock

import numpy
import scipy
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.special


class Beside(types.ModuleType):
    """A module that has the names of another one, and its own."""

    def __init__(self, name: str, other, **own):
        super().__init__(name)
        self.__dict__.update({"_other": other, "__path__": []} | own)
        sys.modules[name] = self

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._other, name)


def cupy(checkout: pathlib.Path) -> None:
    """CuPy for a machine without a GPU: its tests compare it with NumPy and SciPy, by tools of its checkout."""
    inside = unittest.mock.MagicMock(name="the inside of CuPy")
    cuda, core = Beside("cupy.cuda", inside), Beside("cupy._core", inside)
    for name in ("runtime", "driver", "cutensor", "cub"):
        setattr(cuda, name, Beside(f"cupy.cuda.{name}", inside, is_hip=False, available=False))
    for name in ("internal", "_accelerator", "_cub_reduction", "_routines_linalg", "core", "fusion"):
        setattr(core, name, Beside(f"cupy._core.{name}", inside, prod=math.prod))
    own = {
        "cuda": cuda,
        "_core": core,
        "_util": Beside("cupy._util", inside, PerformanceWarning=UserWarning),
        "exceptions": Beside("cupy.exceptions", numpy.exceptions),
        "linalg": Beside("cupy.linalg", numpy.linalg),
        **{
            name: inside
            for name in (
                "RawKernel",
                "ReductionKernel",
                "get_default_memory_pool",
                "get_default_pinned_memory_pool",
            )
        },
        "asnumpy": numpy.asarray,
    }
    made = Beside("cupy", numpy, **own)
    parts = {
        name: Beside(f"cupyx.scipy.{name}", getattr(scipy, name))
        for name in ("ndimage", "signal", "sparse", "special")
    }
    Beside("cupyx", made, scipy=Beside("cupyx.scipy", scipy, **parts))
    folder = checkout / "cupy" / "testing"
    spec = importlib.util.spec_from_file_location(
        "cupy.testing", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    made.testing = sys.modules["cupy.testing"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made.testing)


def array_api(checkout: pathlib.Path) -> None:
    """A namespace of the array API for the tests of the standard, which read its name from ARRAY_API_TESTS_MODULE."""
    own = {name: getattr(numpy, name) for name in ("__version__", "__array_namespace_info__")}
    Beside("array_api", numpy, linalg=Beside("array_api.linalg", numpy.linalg), **own)
