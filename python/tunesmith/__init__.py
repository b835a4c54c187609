# SPDX-License-Identifier: Apache-2.0
"""Tuned kernels for the arrays of NumPy, PyTorch, CuPy, Numba and JAX, with NumPy- and SciPy-compatible functions.

    import tunesmith
    smooth = tunesmith.ndimage.gaussian_filter(image, 2.0)   # the caller's own kind of array, on its own device
    tunesmith.tune("conv2d", ["height=1000 width=2000 mask_height=5 mask_width=5"], budget="30s")

Kernels for arrays on a GPU run there, on their library's current stream. Arrays in ordinary memory go to the first GPU if there is
one and the work pays for the copies. Without a GPU, and for little work, an emulator of a GPU does it on the processor: exact, and
mostly slower than NumPy and SciPy (8 ms for a Gaussian of a 200 x 300 image, where SciPy takes 0.6). set_device() chooses otherwise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from . import ndimage, signal
from ._convolutions import conv_covariance, convolve, correlate
from ._core import Array, Dispatcher, Plan, __version__, default_database, first_device, ops
from ._device import current_device, device, set_device, show_config
from ._dispatchers import dispatcher, forget_dispatchers, set_dispatcher
from ._docstrings import add_shared
from ._elsewhere import missing
from ._expressions import Vectorized, vectorize
from ._filter_banks import filter_bank
from ._histograms import bincount, histogram, histogram2d
from ._products import conv, linear, matmul
from ._reductions import max, mean, min, sum
from ._references import serve_reference
from ._rows import layer_norm, log_softmax, logsumexp, normalize, rms_norm, rows, softmax
from ._scans import cumprod, cumsum, scan
from ._statistics import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    mean_var,
    min_max,
    norm,
    prod,
    ptp,
    reduction,
    std,
    var,
)
from ._strategies import SearchSpace, serve_strategy
from ._tensors import einsum, permute, tensor
from ._transposition import transpose
from ._tuning import Capture, Replayed, Winner, capture, describe, program, replay, tune, winners
from ._user_kernels import write_kernel

__all__ = [
    "Array",
    "Capture",
    "Dispatcher",
    "Plan",
    "Replayed",
    "SearchSpace",
    "Vectorized",
    "Winner",
    "__version__",
    "all",
    "any",
    "argmax",
    "argmin",
    "bincount",
    "capture",
    "conv",
    "conv_covariance",
    "convolve",
    "correlate",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "current_device",
    "default_database",
    "describe",
    "device",
    "dispatcher",
    "einsum",
    "filter_bank",
    "first_device",
    "forget_dispatchers",
    "histogram",
    "histogram2d",
    "layer_norm",
    "linear",
    "log_softmax",
    "logsumexp",
    "matmul",
    "max",
    "mean",
    "mean_var",
    "min",
    "min_max",
    "ndimage",
    "norm",
    "normalize",
    "ops",
    "permute",
    "prod",
    "program",
    "ptp",
    "reduction",
    "replay",
    "report",
    "rms_norm",
    "rows",
    "scan",
    "serve_reference",
    "serve_strategy",
    "set_device",
    "set_dispatcher",
    "show_config",
    "signal",
    "softmax",
    "std",
    "sum",
    "tensor",
    "transpose",
    "tune",
    "var",
    "vectorize",
    "winners",
    "write_kernel",
]


if not TYPE_CHECKING:  # a checker would take any name

    def __getattr__(name: str) -> NoReturn:
        missing(__name__, name)


def __dir__() -> list[str]:
    return __all__


def report(
    file: str | os.PathLike[str] = "report.html",
    *,
    op: str | Sequence[str] | None = None,
    problem: str | Mapping[str, Any] | None = None,
    device: str | None = None,
    database: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] | None = None,
    kernels: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """Writes the contents of a tuning database as one HTML page that needs no network, and returns its path.

    op: an op's name, or several; None: all. problem: values such as "height=1000 width=2000" or a dict: only problems with these.
    device: part of a device's name; None: the one with the most measurements. database: a file; None: the user's own.
    results: a CSV file of bench/bench.py, such as bench/results/results.csv, for the times of other libraries and of copies.
    kernels: files of kernels of your own, my_kernel.cu, whose metrics and launches the page shows.
    Raises ValueError for wrong input, ImportError if plotly is missing: pip install 'tunesmith[report]'.

    >>> found = tunesmith.tune('transpose', 'height=9 width=7', device='host', budget='2', database='example.db', progress=False)
    >>> tunesmith.report('report.html', database='example.db')
    'report.html'
    """
    from . import _report  # imported only now, since it takes as long as all the rest

    return _report.report(
        file, op=op, problem=problem, device=device, database=database, results=results, kernels=kernels
    )


add_shared({"": sys.modules[__name__], "ndimage": ndimage, "signal": signal})
