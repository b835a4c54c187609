# SPDX-License-Identifier: Apache-2.0
"""Filters, morphology and measurements of images, with the signatures of scipy.ndimage; docs/ndimage.md lists the launches of each.

Weighted sums are in _linear_filters.py, ranks in _rank_filters.py, morphology in _morphology.py and _binary_morphology.py, measurements in
_measurements.py. Arrays may have any number of dimensions. Weighted sums of one and two dimensions take one launch, and so do those of more
dimensions if the mask has the extent 1 along the leading axes; else there is a launch for each place of the mask along these.
All boundary modes, origins and axes are supported.

Types: float32, float16 and bfloat16 are summed in float32 (SciPy: float64), float64 and integers as in SciPy, and cut to the
output's type as there. With output=numpy.float32 (or any real type of 16 or 32 bits) images of uint8, uint16 and int16 are read in
place and summed in float32, which is fastest. Complex images and masks are computed by parts, in ordinary memory.

NaN and infinity: correlate() and convolve() leave out weights of 0 (of at most 2**-52), as SciPy does, so that a NaN under one has no effect; the
functions along one axis multiply by all weights, as SciPy's do (whose uniform_filter1d() carries a NaN on to the end of its line; here it is in the
windows that it lies in). On a GPU all weights count, since testing the result would mean waiting for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ._binary_morphology import (
    binary_closing,
    binary_dilation,
    binary_erosion,
    binary_fill_holes,
    binary_hit_or_miss,
    binary_opening,
    binary_propagation,
    generate_binary_structure,
    iterate_structure,
)
from ._elsewhere import missing
from ._linear_filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from ._measurements import (
    center_of_mass,
    extrema,
    histogram,
    maximum,
    maximum_position,
    mean,
    median,
    minimum,
    minimum_position,
    standard_deviation,
    sum,
    sum_labels,
    variance,
)
from ._morphology import (
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    morphological_gradient,
    morphological_laplace,
    white_tophat,
)
from ._rank_filters import (
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
)

__all__ = [
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_fill_holes",
    "binary_hit_or_miss",
    "binary_opening",
    "binary_propagation",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "extrema",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generate_binary_structure",
    "generic_gradient_magnitude",
    "generic_laplace",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "histogram",
    "iterate_structure",
    "laplace",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "maximum_position",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "minimum_position",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "sobel",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "variance",
    "white_tophat",
]


if not TYPE_CHECKING:  # a checker would take any name

    def __getattr__(name: str) -> NoReturn:
        missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
