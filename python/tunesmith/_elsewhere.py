# SPDX-License-Identifier: Apache-2.0
"""Replacements for functions that this package does not have, and the error that names them."""

from __future__ import annotations

import difflib
import sys
from typing import NoReturn

import numpy as np

_gpu = "cupyx.scipy.ndimage on a GPU, scipy.ndimage for NumPy's arrays"
_interpolation = f"{_gpu}; for whole steps, mirrors and transpositions tunesmith.tensor(), as in 'out[y,x] = image[2*y,99-x]'"
_windows = "tunesmith.tensor(), as in 'out[y,x] max= abs(image[y+i,x+j] - w[i,j])', or scipy.ndimage for any function of Python"
_own = "the array's own library"
_moved = "tunesmith.transpose(), which copies, or the array's own library for a view"
_image = (
    "tunesmith.ndimage.correlate() or tunesmith.signal.convolve2d(); for layers of a network tunesmith.conv()"
)
_line = "tunesmith.convolve() or tunesmith.correlate(); of rows tunesmith.ndimage.correlate1d(); for layers of a network tunesmith.conv()"
_attention = "tunesmith.matmul() and tunesmith.softmax(), or the array's own library for one kernel"
_each = "tunesmith.vectorize(), as in tunesmith.vectorize('{}')"

# The replacements by module and name. A name that another module of this package has, and NumPy's functions
# of single elements, need no entry.
elsewhere: dict[str, dict[str, str]] = {
    "tunesmith": {
        "addmm": "tunesmith.linear(x, w, bias), which takes w as outputs x inputs",
        "amax": "tunesmith.max()",
        "amin": "tunesmith.min()",
        "argsort": _own,
        "attention": _attention,
        "autotune": "tunesmith.tune()",
        "average": "tunesmith.mean(); with weights tunesmith.einsum('i,i->', a, weights) over the weights' sum",
        "avg_pool2d": "tunesmith.tensor(), as in 'out[n,c,v,u] += x[n,c,2*v+i,2*u+j]' with extents={'i': 2, 'j': 2} and finish='out / 4'",
        "baddbmm": "tunesmith.matmul(a, b), and tunesmith.vectorize() for what is added",
        "batch_norm": "tunesmith.mean_var(), and tunesmith.vectorize() for what is made of it",
        "blur": "tunesmith.ndimage.uniform_filter()",
        "bmm": "tunesmith.matmul(a, b)",
        "boxFilter": "tunesmith.ndimage.uniform_filter()",
        "clip": _each.format("min(max(x, lo), hi)"),
        "conv1d": _line,
        "conv2d": _image,
        "conv3d": "tunesmith.conv()",
        "conv_transpose2d": _own,
        "corrcoef": _own,
        "cov": _own,
        "cummax": "tunesmith.scan(a, 'max')",
        "cummin": "tunesmith.scan(a, 'min')",
        "cumulative_prod": "tunesmith.cumprod()",
        "cumulative_sum": "tunesmith.cumsum()",
        "diff": _own,
        "digitize": f"{_own}; tunesmith.histogram() counts between edges",
        "dilate": "tunesmith.ndimage.grey_dilation()",
        "dot": "tunesmith.matmul(a, b)",
        "elementwise": _each.format("sqrt(x * x + y * y)"),
        "erode": "tunesmith.ndimage.grey_erosion()",
        "fftconvolve": "tunesmith.convolve() of one dimension, tunesmith.signal.convolve2d() of two",
        "filter2D": "tunesmith.ndimage.correlate()",
        "gaussian_blur": "tunesmith.ndimage.gaussian_filter()",
        "GaussianBlur": "tunesmith.ndimage.gaussian_filter()",
        "gelu": _each.format("0.5 * x * (1 + erf(x * 0.7071067811865476))"),
        "group_norm": "tunesmith.layer_norm() of x.reshape(n, groups, -1)",
        "histc": "tunesmith.histogram()",
        "histogram_bin_edges": "numpy",
        "histogramdd": "tunesmith.histogram2d() of two dimensions, NumPy of more",
        "inner": "tunesmith.einsum('ik,jk->ij', a, b)",
        "instance_norm": "tunesmith.layer_norm(x, x.shape[2:])",
        "jit": "tunesmith.vectorize() for a function of elements, tunesmith.write_kernel() and tunesmith.tune() for a kernel",
        "joint_histogram": "tunesmith.histogram2d()",
        "kron": "tunesmith.einsum('ij,kl->ikjl', a, b), reshaped",
        "logcumsumexp": "tunesmith.scan() of an expression",
        "matrix_norm": "tunesmith.norm(x, axis=(-2, -1))",
        "matrix_transpose": "tunesmith.einsum('...ij->...ji', x)",
        "matvec": "tunesmith.einsum('...ij,...j->...i', a, b)",
        "max_pool2d": "tunesmith.tensor(), as in 'out[n,c,v,u] max= x[n,c,2*v+i,2*u+j]' with extents={'i': 2, 'j': 2}",
        "median": f"{_own}; tunesmith.ndimage.median_filter() is that of windows",
        "median_blur": "tunesmith.ndimage.median_filter()",
        "medianBlur": "tunesmith.ndimage.median_filter()",
        "mm": "tunesmith.matmul(a, b)",
        "moveaxis": _moved,
        "nanmax": "where=, as in tunesmith.max(a, where=a == a, initial=-math.inf)",
        "nanmean": "where=, as in tunesmith.mean(a, where=a == a)",
        "nanmedian": _own,
        "nanmin": "where=, as in tunesmith.min(a, where=a == a, initial=math.inf)",
        "nanpercentile": _own,
        "nanprod": "tunesmith.prod() of a copy with 1 in place of NaN",
        "nanstd": "tunesmith.std() of the other elements, a[a == a]",
        "nansum": "where=, as in tunesmith.sum(a, where=a == a)",
        "nanvar": "tunesmith.var() of the other elements, a[a == a]",
        "njit": "tunesmith.vectorize() for a function of elements, tunesmith.write_kernel() and tunesmith.tune() for a kernel",
        "outer": "tunesmith.einsum('i,j->ij', a, b)",
        "percentile": f"{_own}; tunesmith.ndimage.percentile_filter() is that of windows",
        "permute_dims": "tunesmith.permute()",
        "quantile": _own,
        "reduce": "tunesmith.sum(), max(), norm() and their like, or tunesmith.reduction() of an expression",
        "relu": _each.format("max(x, 0)"),
        "scaled_dot_product_attention": _attention,
        "searchsorted": _own,
        "sigmoid": _each.format("1 / (1 + exp(-x))"),
        "sort": _own,
        "swapaxes": _moved,
        "tensordot": "tunesmith.einsum(), as in tunesmith.einsum('ijk,kjl->il', a, b)",
        "topk": _own,
        "trace": "tunesmith.einsum('ii->', a)",
        "tune_kernel": "tunesmith.tune(), as in docs/python.md",
        "unique": f"{_own}; tunesmith.bincount() counts small integers",
        "vdot": "tunesmith.einsum('i,i->', a, b)",
        "vecdot": "tunesmith.einsum('...i,...i->...', a, b)",
        "vecmat": "tunesmith.einsum('...i,...ij->...j', a, b)",
        "vector_norm": "tunesmith.norm(x, axis=-1)",
        "where": _each.format("c != 0 ? x : y"),
        "zscore": "tunesmith.layer_norm(x, eps=0)",
    },
    "tunesmith.ndimage": {
        "affine_transform": _interpolation,
        "distance_transform_bf": "cupyx.scipy.ndimage.distance_transform_edt() on a GPU, scipy.ndimage for NumPy's arrays",
        "distance_transform_cdt": "scipy.ndimage",
        "distance_transform_edt": _gpu,
        "find_objects": "scipy.ndimage",
        "fourier_ellipsoid": _gpu,
        "fourier_gaussian": f"gaussian_filter() here, or {_gpu}",
        "fourier_shift": _gpu,
        "fourier_uniform": f"uniform_filter() here, or {_gpu}",
        "generic_filter": _windows,
        "generic_filter1d": _windows,
        "geometric_transform": "cupyx.scipy.ndimage.map_coordinates() on a GPU, scipy.ndimage for NumPy's arrays",
        "label": f"{_gpu}; binary_propagation() here finds what is connected to a place",
        "labeled_comprehension": f"{_gpu}; sum_labels(), mean(), median(), extrema() and the like are here",
        "map_coordinates": _gpu,
        "rotate": _interpolation,
        "shift": _interpolation,
        "spline_filter": _gpu,
        "spline_filter1d": _gpu,
        "value_indices": f"{_gpu}; sum_labels() and extrema() here need no indices",
        "vectorized_filter": _windows,
        "watershed_ift": "scipy.ndimage, or skimage.segmentation.watershed()",
        "zoom": _interpolation,
    },
    "tunesmith.signal": {
        "choose_conv_method": "scipy.signal; there is one method here, sums of products",
        "convolve": "tunesmith.convolve() of one dimension, tunesmith.signal.convolve2d() of two, tunesmith.ndimage.convolve(mode='constant') of more",
        "correlate": "tunesmith.correlate() of one dimension, tunesmith.signal.correlate2d() of two, tunesmith.ndimage.correlate(mode='constant') of more",
        "fftconvolve": "tunesmith.convolve() of one dimension, tunesmith.signal.convolve2d() of two; cupyx.scipy.signal or scipy.signal for very long masks",
        "lfilter": "cupyx.scipy.signal on a GPU, scipy.signal for NumPy's arrays; without feedback tunesmith.convolve()",
        "medfilt": "tunesmith.ndimage.median_filter(mode='constant')",
        "medfilt2d": "tunesmith.ndimage.median_filter(mode='constant')",
        "oaconvolve": "tunesmith.convolve() of one dimension, tunesmith.signal.convolve2d() of two",
        "order_filter": "tunesmith.ndimage.rank_filter(mode='constant')",
        "savgol_filter": "tunesmith.ndimage.convolve1d() with the weights of scipy.signal.savgol_coeffs()",
        "sepfir2d": "tunesmith.filter_bank(image, [hcol], [hrow], 'sum', boundary='mirror')",
        "wiener": "tunesmith.ndimage.uniform_filter(mode='constant') for its means and squares, and tunesmith.vectorize() for what is made of them",
    },
}  # fmt: skip


class MissingFunction(NotImplementedError, AttributeError):
    """The module has no such function. It is an error of both kinds, so that hasattr(), getattr() with a default and `from … import` work as with any
    module."""


def missing(module: str, name: str) -> NoReturn:
    """The error for a name that the module does not have."""
    instead = elsewhere[module].get(name)
    numpys = getattr(np, name, None) if not name.startswith("_") else None
    elementwise = isinstance(numpys, np.ufunc) and numpys.signature is None
    if instead is None and not (elementwise and module == "tunesmith"):  # in another module of this package
        instead = next(
            (
                f"{other}.{name}()"
                for other in elsewhere
                if name in getattr(sys.modules.get(other), "__all__", ())
            ),
            None,
        )
    if instead is None and elementwise:
        instead = "tunesmith.vectorize(), which makes a kernel of any expression of elements"
    if instead is None:
        instead = next((names[name] for names in elsewhere.values() if name in names), None)
    if instead is None and callable(numpys) and module == "tunesmith":
        instead = _own
    if instead is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}{_near(module, name)}")
    raise MissingFunction(f"{module} has no {name}(); use {instead}.")


def _near(module: str, name: str) -> str:
    """A question for a name that is misspelled."""
    if name.startswith("_"):
        return ""
    there = {
        one: f"{other}.{one}" for other in elsewhere for one in getattr(sys.modules.get(other), "__all__", ())
    }
    there |= {one: f"{module}.{one}" for one in getattr(sys.modules[module], "__all__", ())}
    near = difflib.get_close_matches(name, there, 1, 0.75)
    return f"; did you mean {there[near[0]]}?" if near else ""
