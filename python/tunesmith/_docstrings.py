# SPDX-License-Identifier: Apache-2.0
"""The parts that docstrings of functions share: the types that they take, and the errors that they raise."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

_text = "TypeError for texts, objects, long double and masked arrays"
_shared = {
    "sum mean min max argmin argmax var std prod any all count_nonzero ptp norm min_max mean_var": (
        "Types: bool, integers, float16, bfloat16, float32 and float64, converted where no kernel computes them; complex where NumPy needs no order. "
        f"Raises {_text}, and for complex numbers without an order; ValueError (numpy.exceptions.AxisError) for axes, and for a wrong shape of out=."
    ),
    "cumsum cumprod scan": (
        "Types: bool, integers, float16, bfloat16, float32 and float64; complex in sums. "
        f"Raises {_text}, and for other complex numbers; ValueError (numpy.exceptions.AxisError) for axes, and for a wrong shape of out=."
    ),
    "softmax log_softmax logsumexp normalize layer_norm rms_norm rows": (
        "Types: float32, float64, float16 and bfloat16; integers and bool as float64. "
        f"Raises {_text} and complex numbers; ValueError (numpy.exceptions.AxisError) for axes, shapes and settings."
    ),
    "einsum tensor reduction matmul linear conv": (
        "Types: integers, float16, bfloat16, float32 and float64. "
        f"Raises {_text}, bool and complex numbers, and for unsafe casts to out=; ValueError for expressions that are wrong or do not fit the arrays."
    ),
    "transpose permute": f"Types: any of 1, 2, 4, 8 and 16 bytes. Raises {_text}, and for unsafe casts to out=; ValueError for axes, and for a wrong shape of out=.",
    "convolve correlate": f"Types: bool, integers, floats and complex. Raises {_text}; ValueError for shapes and modes.",
    "histogram histogram2d bincount": f"Raises {_text} and complex numbers; ValueError for bins, ranges and shapes.",
    "filter_bank": f"Raises {_text} and complex numbers; ValueError for shapes, results and origins; RuntimeError for boundaries.",
    "signal.convolve2d signal.correlate2d": f"Types: bool, integers, floats and complex. Raises {_text}; ValueError for shapes, modes and boundaries.",
    "ndimage.correlate ndimage.convolve ndimage.correlate1d ndimage.convolve1d ndimage.gaussian_filter ndimage.gaussian_filter1d ndimage.uniform_filter ndimage.uniform_filter1d "
    "ndimage.sobel ndimage.prewitt ndimage.laplace ndimage.gaussian_laplace ndimage.gaussian_gradient_magnitude ndimage.generic_laplace ndimage.generic_gradient_magnitude": (
        "Types: float32, float16 and bfloat16 are summed in float32, float64, bool and integers in float64 or exactly, complex by parts; the result has the image's type, or "
        f"output's. Raises {_text}; RuntimeError for modes, and shapes of masks and output; ValueError for axes, origins and a read-only output."
    ),
    "ndimage.minimum_filter ndimage.maximum_filter ndimage.minimum_filter1d ndimage.maximum_filter1d ndimage.median_filter ndimage.rank_filter ndimage.percentile_filter "
    "ndimage.grey_erosion ndimage.grey_dilation ndimage.grey_opening ndimage.grey_closing ndimage.white_tophat ndimage.black_tophat "
    "ndimage.morphological_gradient ndimage.morphological_laplace": (
        "Types: bool, integers and floats; the result has the image's type, or output's. "
        f"Raises {_text} and complex numbers; RuntimeError for sizes, footprints, ranks, modes and the shape of output; ValueError for axes and origins; "
        "NotImplementedError for windows along more than three axes that are no boxes."
    ),
    "ndimage.binary_erosion ndimage.binary_dilation ndimage.binary_opening ndimage.binary_closing ndimage.binary_fill_holes ndimage.binary_hit_or_miss ndimage.binary_propagation": (
        "Types: bool, integers and floats, of which each element is 0 or not; the result is of bool, or of output's type. "
        f"Raises {_text} and complex numbers; RuntimeError for structures, masks and the shape of output; ValueError for axes and origins."
    ),
    "ndimage.sum ndimage.sum_labels ndimage.mean ndimage.variance ndimage.standard_deviation ndimage.minimum ndimage.maximum ndimage.median ndimage.extrema "
    "ndimage.minimum_position ndimage.maximum_position ndimage.center_of_mass ndimage.histogram": (
        "Types: bool, integers and floats, and complex where nothing is ordered; labels of whole numbers; results have SciPy's types. "
        f"Raises {_text}, and for complex numbers without an order; ValueError for labels of another shape, and for the place of a label that is nowhere."
    ),
}  # fmt: skip


def add_shared(modules: Mapping[str, Any]) -> None:
    """modules: this package is "", other modules have their names."""
    for names, text in _shared.items():
        for path in names.split():
            module, _, name = path.rpartition(".")
            function = getattr(modules[module], name)
            if function.__doc__:  # none with python -OO
                words, marker, example = inspect.cleandoc(function.__doc__).partition("\n\n>>>")
                function.__doc__ = f"{words}\n\n{text}{marker}{example}"
