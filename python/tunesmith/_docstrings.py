# SPDX-License-Identifier: Apache-2.0
"""The parts that docstrings of functions share: parameters that mean the same, the types that are taken, and the errors that are raised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The meaning of parameters, and the functions in whose docstrings these words are added.
_parameters = {
    "axis": "axis: a whole number, below 0 from the last one, or a tuple of them; None: all.",
    "one": "axis: a whole number, below 0 from the last one; None: of the flattened array.",
    "keepdims": "keepdims: reduced axes stay with one element.",
    "dtype": "dtype: the type in which it is computed, also the result's; NumPy's or PyTorch's.",
    "ddof": "ddof: what is taken from the number of elements before it divides.",
    "mean": "ddof, correction, mean, where: as in var().",
    "x": "x: any array.",
    "out": "out: an array of the result's shape.",
    "normalized_shape": "normalized_shape: the shape of the last dimensions, which are a row.",
    "full": "a, v: arrays of one dimension. mode: full, same or valid.",
    "in1": "in1, in2, mode, boundary, fillvalue: as in convolve2d().",
    "name": 'name: "auto", "host", "cuda" or "cuda:1".',
    "input": "input: any array.",
    "weights": "weights: an array or list of numbers; it is copied to the image's device.",
    "mode": "mode: reflect, constant (with cval), nearest, mirror, wrap, and SciPy's other names of these.",
    "cval": 'cval: the value outside of the image with mode="constant".',
    "origin": "origin: moves the window, a whole number or one per axis.",
    "truncate": "truncate: where the Gaussian is cut, in standard deviations. radius: the same in elements.",
    "along": "axis: a whole number, below 0 from the last one.",
    "size": "size: the window's extent, one or one per axis.",
    "footprint": "footprint: an array of booleans that says which places of the window count, instead of size.",
    "structure": "structure: an array of numbers that are added (of an erosion subtracted) at each place of the window.",
    "extra": "extra_arguments, extra_keywords: what derivative gets besides.",
    "percentile": "percentile: a number from -100 to 100.",
    "binary": "structure: an array of booleans; None: generate_binary_structure(n, 1).",
    "steps": "iterations: the number of repetitions; below 1: until nothing changes. brute_force: has no effect on the result.",
    "mask": "mask: only elements where it is true change.",
    "border_value": "border_value: the value outside.",
    "origins": "origin1, origin2: move the windows of structure1 and structure2; a whole number or one per axis.",
    "index": "labels, index: as in sum_labels().",
}  # fmt: skip
_described_by = {
    "axis keepdims": "mean min max any all count_nonzero ptp var",
    "x axis keepdims": "norm",
    "one keepdims": "argmin argmax",
    "axis": "min_max",
    "axis dtype ddof": "mean_var",
    "axis dtype keepdims": "prod",
    "axis dtype keepdims mean": "std",
    "one dtype": "cumprod",
    "dtype": "scan",
    "keepdims": "sum reduction",
    "x out": "log_softmax",
    "out": "layer_norm normalize",
    "normalized_shape out": "rms_norm",
    "full": "correlate",
    "in1": "signal.correlate2d",
    "name": "device",
    "input weights mode cval origin": "ndimage.convolve",
    "input weights along mode cval origin": "ndimage.convolve1d",
    "input mode cval": "ndimage.correlate1d",
    "input cval truncate": "ndimage.gaussian_filter",
    "input mode cval truncate": "ndimage.gaussian_filter1d ndimage.gaussian_gradient_magnitude",
    "input cval": "ndimage.gaussian_laplace ndimage.laplace ndimage.sobel ndimage.uniform_filter",
    "input along mode cval": "ndimage.prewitt",
    "input": "ndimage.uniform_filter1d",
    "input mode cval extra": "ndimage.generic_gradient_magnitude",
    "mode cval origin": "ndimage.minimum_filter",
    "input mode cval origin": "ndimage.minimum_filter1d ndimage.maximum_filter1d",
    "input size footprint mode cval origin": (
        "ndimage.maximum_filter ndimage.median_filter ndimage.rank_filter ndimage.grey_erosion ndimage.grey_dilation"
    ),
    "input percentile size footprint mode cval origin": "ndimage.percentile_filter",
    "input size footprint structure mode cval origin": (
        "ndimage.grey_opening ndimage.grey_closing ndimage.white_tophat ndimage.black_tophat ndimage.morphological_gradient ndimage.morphological_laplace"
    ),
    "input binary steps mask border_value origin": "ndimage.binary_opening ndimage.binary_closing ndimage.binary_dilation",
    "origin": "ndimage.binary_erosion",
    "input binary origin": "ndimage.binary_fill_holes",
    "input origins": "ndimage.binary_hit_or_miss",
    "input binary mask border_value origin": "ndimage.binary_propagation",
    "input index": (
        "ndimage.sum ndimage.mean ndimage.variance ndimage.standard_deviation ndimage.minimum ndimage.maximum ndimage.median ndimage.extrema "
        "ndimage.minimum_position ndimage.maximum_position ndimage.center_of_mass ndimage.histogram"
    ),
}  # fmt: skip
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
    texts: dict[str, str] = {}
    for words, names in _described_by.items():
        text = " ".join([_parameters[word] for word in words.split()])
        texts |= dict.fromkeys(names.split(), text)
    for names, text in _shared.items():
        for path in names.split():
            texts[path] = f"{texts[path]}\x00{text}" if path in texts else text
    for path, text in texts.items():
        module, _, name = path.rpartition(".")
        function = getattr(modules[module], name)
        if function.__doc__:  # none with python -OO
            # Python 3.13 takes the indentation away.
            space = "\n\n" if "\n\n>>>" in function.__doc__ else "\n\n    "
            words, marker, example = function.__doc__.partition(f"{space}>>>")
            function.__doc__ = f"{words}{space}{text}{marker}{example}".replace("\x00", space)
