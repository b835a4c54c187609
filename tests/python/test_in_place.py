# SPDX-License-Identifier: Apache-2.0
"""out= and output= may overlap the arrays that are read, in any way: the result is that of separate memory, in the first call and in remembered
ones."""

import inspect
import warnings

import numpy as np
import pytest
import tunesmith
from tunesmith import ndimage

random = np.random.default_rng(41)
square = random.random((6, 6)).astype("f4") + 0.5
spread = tunesmith.vectorize("x - 2 * y")

own = {
    "einsum": lambda x, out: tunesmith.einsum("ij,jk,kl->il", x, x, x, out=out),
    "matmul": lambda x, out: tunesmith.matmul(x, x[::-1], out=out),
    "linear": lambda x, out: tunesmith.linear(x, x, x[2], finish="max(out, 1)", out=out),
    "conv": lambda x, out: tunesmith.conv(x, x[:, :, None], x[2], out=out),
    "rows": lambda x, out: tunesmith.rows("y = x * w / sum(x)", x=x, w=x[0], out=out),
    "tensor": lambda x, out: tunesmith.tensor("y[i,j] += x[i,k] * x[j,k]", x=x, out=out),
    "vectorize": lambda x, out: spread(x, x[::-1].T, out=out),
    "layer_norm": lambda x, out: tunesmith.layer_norm(x, weight=x[1], bias=x[2], out=out),
}
needed = {
    "derivative": ndimage.sobel, "derivative2": lambda *given: ndimage.correlate1d(given[0], [1.0, -2, 1], *given[1:5]),
    "percentile": 30, "rank": 4, "sigma": 1.0, "size": 3,
}  # fmt: skip
has_size = (
    "rank_filter",
    "percentile_filter",
    "median_filter",
    "minimum_filter",
    "maximum_filter",
    "grey",
    "black",
    "white",
    "morphological",
)


def a_call(name, function, word):
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0].name
    more = {
        one.name: needed[one.name]
        for one in parameters[1:]
        if one.default is inspect.Parameter.empty and one.name != "weights"
    }
    if any(one.name == "weights" for one in parameters):
        more["weights"] = [1.0, 2, 4] if name.endswith("1d") else [[1.0, 2, 4]] * 3
    if name.startswith(has_size):
        more["size"] = 3
    if name == "scan" or name.startswith("cum"):
        more["axis"] = 0
    elif any(one.name == "axis" for one in parameters) and not more:
        more["axis"] = 1
    return lambda x, out: function(**{first: x, word: out, **more})


calls = dict(own)
for module in (tunesmith, ndimage, tunesmith.signal):
    for name in module.__all__:
        function = getattr(module, name)
        words = (
            {"out", "output"} & set(inspect.signature(function).parameters)
            if inspect.isfunction(function)
            else ()
        )
        for word in words if name not in own else ():
            calls[f"{module.__name__.removeprefix('tunesmith.')}.{name}"] = a_call(name, function, word)


@pytest.mark.parametrize("name", sorted(calls))
def test_the_result_may_lie_where_the_input_does(name):
    call = calls[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = np.asarray(call(square.copy(), None))
        memory = np.zeros(3 * max(square.nbytes, expected.nbytes) + 64, "u1")
        at = 32 + expected.nbytes // 8 * 8
        x = memory[at : at + square.nbytes].view("f4").reshape(square.shape)
        # Separate, the same memory, one element further on or before, overlapping at the end; with remembered calls in between.
        for place in (
            0,
            at,
            0,
            at + expected.itemsize,
            0,
            at - expected.itemsize,
            at + square.nbytes // 16 * 8,
            0,
        ):
            out = memory[place : place + expected.nbytes].view(expected.dtype).reshape(expected.shape)
            x[...] = square
            assert call(x, out) is out
            np.testing.assert_array_equal(out, expected)
