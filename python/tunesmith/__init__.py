"""Tuned kernels for the arrays of NumPy, PyTorch, CuPy, Numba and JAX, in NumPy's and SciPy's words.

    import tunesmith
    smooth = tunesmith.ndimage.gaussian_filter(image, 2.0)   # the caller's own kind of array, on its own device
    tunesmith.tune("conv2d", ["height=1000 width=2000 mask_height=5 mask_width=5"], budget="30s")

Arrays on a GPU are worked on there, on their library's current stream. Arrays in ordinary memory are worked on by an
emulator of a GPU, which is exact and slow, unless set_device("cuda") sends them to one.
"""

from . import ndimage, signal
from ._arrays import device, dispatcher, forget_dispatchers, set_device
from ._core import Array, Dispatcher, Plan, __version__, default_database, first_device, ops
from ._expressions import Vectorized, vectorize
from ._own_kernels import write_kernel
from ._report import report
from ._tuning import Capture, capture, program, tune, winners
from ._words import bincount, conv_covariance, convolve, correlate, histogram, max, mean, min, sum, transpose

__all__ = [
    "Array",
    "Capture",
    "Dispatcher",
    "Plan",
    "Vectorized",
    "__version__",
    "bincount",
    "capture",
    "conv_covariance",
    "convolve",
    "correlate",
    "default_database",
    "device",
    "dispatcher",
    "first_device",
    "forget_dispatchers",
    "histogram",
    "max",
    "mean",
    "min",
    "ndimage",
    "ops",
    "program",
    "report",
    "set_device",
    "signal",
    "sum",
    "transpose",
    "tune",
    "vectorize",
    "winners",
    "write_kernel",
]
