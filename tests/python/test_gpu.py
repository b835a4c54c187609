# SPDX-License-Identifier: Apache-2.0
"""Tests arrays of PyTorch, CuPy, Numba and JAX on a GPU, their streams and graphs, and refusals."""

import importlib
import os
import threading

import numpy as np
import pytest
import tunesmith
from test_forms import check_conjugates, check_rarer_calls, complex_functions
from test_settings import cases, check_settings_of_a_library

if tunesmith.first_device() != "cuda":
    pytest.skip("There is no GPU here.", allow_module_level=True)
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
ndimage = pytest.importorskip("scipy.ndimage")

random = np.random.default_rng(17)
image = random.standard_normal((37, 53)).astype("f")
weights = random.standard_normal((3, 5)).astype("f")
levels = random.integers(0, 200, 5000).astype("u1")


def numbers(array) -> np.ndarray:
    for attribute in ("get", "copy_to_host", "cpu"):
        if hasattr(array, attribute):
            array = getattr(array, attribute)()
    return np.asarray(array)


def giver(name: str):
    """The function from NumPy's array to the library's on the GPU."""
    if name == "numba":
        pytest.importorskip("numba")
        return importlib.import_module("numba.cuda").to_device
    module = pytest.importorskip(name)
    if name == "cupy":
        return module.asarray
    if name == "torch":
        return lambda array: module.from_numpy(np.array(array)).cuda()
    try:
        gpu = module.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"JAX has no GPU here: {error}")
    return lambda array: module.device_put(array, gpu)


libraries = pytest.mark.parametrize("name", ["cupy", "torch", "numba", "jax"])
both = pytest.mark.parametrize("name", ["cupy", "torch"])

words = {
    "sum": (lambda x: tunesmith.sum(x, axis=1), lambda x: x.sum(axis=1)),
    "sum of all": (tunesmith.sum, np.sum),
    "mean": (lambda x: tunesmith.mean(x, axis=0), lambda x: x.mean(axis=0)),
    "min": (tunesmith.min, np.min),
    "max": (lambda x: tunesmith.max(x, axis=0, keepdims=True), lambda x: x.max(axis=0, keepdims=True)),
    "transpose": (tunesmith.transpose, np.transpose),
    "convolve": (
        lambda x: tunesmith.convolve(x.reshape(-1), weights[0]),
        lambda x: np.convolve(x.reshape(-1), weights[0]),
    ),
    "correlate": (
        lambda x: tunesmith.correlate(x.reshape(-1), weights[0], "same"),
        lambda x: np.correlate(x.reshape(-1), weights[0], "same"),
    ),
    "convolve2d": (
        lambda x: tunesmith.signal.convolve2d(x, weights, "full", "wrap"),
        lambda x: importlib.import_module("scipy.signal").convolve2d(x, weights, "full", "wrap"),
    ),
    "vectorize": (lambda x: tunesmith.vectorize("exp(-x * x) + 1")(x), lambda x: np.exp(-x * x) + 1),
    "gaussian": (
        lambda x: tunesmith.ndimage.gaussian_filter(x, 1.5),
        lambda x: ndimage.gaussian_filter(x, 1.5),
    ),
    "uniform": (
        lambda x: tunesmith.ndimage.uniform_filter(x, 5, mode="wrap"),
        lambda x: ndimage.uniform_filter(x, 5, mode="wrap"),
    ),
    **{
        mode: (
            lambda x, mode=mode: tunesmith.ndimage.correlate(x, weights, mode=mode, cval=1.5),
            lambda x, mode=mode: ndimage.correlate(x, weights, mode=mode, cval=1.5),
        )
        for mode in ("reflect", "constant", "nearest", "mirror", "wrap")
    },
}


@libraries
@pytest.mark.parametrize("word", words)
def test_every_word_with_every_librarys_arrays(name, word):
    x = giver(name)(image)
    function, of_numpy = words[word]
    for _ in range(3):  # recorded from the second call on
        found = function(x)
        assert type(found) is type(x) or name == "jax"
        np.testing.assert_allclose(numbers(found), of_numpy(image), rtol=1e-4, atol=1e-4)


parts = random.integers(0, 4, image.shape)
cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
# Words of ndimage by their arguments after the image, here and in SciPy.
near_words = {
    "sobel": [(0,), {"mode": "wrap"}], "prewitt": [(), {}], "laplace": [(), {"mode": "nearest"}], "gaussian_laplace": [(1.0,), {}],
    "gaussian_gradient_magnitude": [(1.0,), {}], "mean": [(), {}], "variance": [(), {}], "standard_deviation": [(parts, [1, 3]), {}], "sum": [(parts, 2), {}],
    "sum_labels": [(parts, [2, 0, 2]), {}], "center_of_mass": [(), {}],
}  # fmt: skip
same_words = {
    "minimum_filter": [(3,), {}], "maximum_filter": [(), {"footprint": cross}], "minimum_filter1d": [(4, 0), {"origin": 1}], "maximum_filter1d": [(5,), {}],
    "median_filter": [(3,), {"mode": "mirror"}], "percentile_filter": [(20, 5), {}], "rank_filter": [(1,), {"footprint": cross, "mode": "constant", "cval": 2.0}],
    "grey_erosion": [(), {"structure": cross * 2.0}], "grey_dilation": [(), {"footprint": cross, "structure": cross * 2.0}], "grey_opening": [(3,), {}],
    "grey_closing": [((3, 5),), {"mode": ["wrap", "nearest"]}], "white_tophat": [(3,), {}], "black_tophat": [(3,), {}], "morphological_gradient": [(3,), {}],
    "morphological_laplace": [(3,), {}], "minimum": [(), {}], "maximum": [(parts, [1, 2]), {}], "median": [(), {}], "minimum_position": [(), {}],
    "maximum_position": [(parts, [3, 1]), {}], "extrema": [(parts, 2), {}], "histogram": [(-2, 2, 9, parts), {}],
}  # fmt: skip
binary_words = {
    "binary_erosion": [(), {"iterations": 2, "mask": parts > 0}], "binary_dilation": [(np.ones((3, 3)),), {"iterations": 3}], "binary_opening": [(), {}],
    "binary_closing": [(cross,), {"border_value": 1}], "binary_hit_or_miss": [(), {}], "binary_propagation": [(), {"mask": parts < 2}], "binary_fill_holes": [(), {}],
}  # fmt: skip


@both
@pytest.mark.parametrize("word", [*near_words, *same_words, *binary_words])
def test_ndimage_is_scipys(name, word):
    give = giver(name)
    given, settings = {**near_words, **same_words, **binary_words}[word]
    x = image > 0.3 if word in binary_words else image
    there = (
        [give(one) if isinstance(one, np.ndarray) else one for one in given],
        {key: give(one) if isinstance(one, np.ndarray) else one for key, one in settings.items()},
    )
    for shift in (0, 1):  # the second with other elements
        x = np.roll(x, shift, 0)
        found, expected = (
            getattr(tunesmith.ndimage, word)(give(x), *there[0], **there[1]),
            getattr(ndimage, word)(x, *given, **settings),
        )
        if not isinstance(expected, (tuple, list)):
            found, expected = [found], [expected]
        for one, other in zip(found, expected):
            one = numbers(one) if not isinstance(one, (tuple, list)) else one
            if word in near_words:
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
            else:
                np.testing.assert_array_equal(one, other)


@both
def test_ndimage_of_narrow_types_and_outputs(name):
    """Among them are types that PyTorch neither adds nor compares."""
    give = giver(name)
    for dtype in ("uint8", "uint16", "int16", "int32", "float64"):
        x = np.abs(image * 20).astype(dtype)
        for word, given in (
            ("sobel", ()),
            ("laplace", ()),
            ("median_filter", (3,)),
            ("maximum_filter", (5,)),
            ("morphological_laplace", (3,)),
            ("white_tophat", (3,)),
        ):
            found = getattr(tunesmith.ndimage, word)(give(x), *given)
            np.testing.assert_array_equal(numbers(found), getattr(ndimage, word)(x, *given))
            out = give(np.zeros(image.shape, "f"))
            assert getattr(tunesmith.ndimage, word)(give(x), *given, output=out) is out
            expected = getattr(ndimage, word)(x, *given, output=np.zeros(image.shape, "f"))
            np.testing.assert_allclose(
                numbers(out), expected if expected is not None else numbers(out), rtol=1e-5, atol=1e-3
            )
        np.testing.assert_allclose(
            float(tunesmith.ndimage.center_of_mass(give(x))[0]), ndimage.center_of_mass(x)[0]
        )


@libraries
def test_counts(name):
    x = giver(name)(levels)
    if name == "jax":
        with pytest.raises(TypeError, match="jax_enable_x64"):
            tunesmith.bincount(x)
        return
    counts, _ = tunesmith.histogram(x, 20, (0, 200))
    np.testing.assert_array_equal(numbers(counts), np.histogram(levels, 20, (0, 200))[0])
    np.testing.assert_array_equal(numbers(tunesmith.bincount(x)), np.bincount(levels))
    if name in ("cupy", "torch"):
        across = giver(name)(levels[::-1].copy())
        for bins, weights in ((16, None), ((5, [0, 10, 200]), levels * 0.5)):
            found = tunesmith.histogram2d(
                x, across, bins, weights=None if weights is None else giver(name)(weights)
            )[0]
            np.testing.assert_array_equal(
                numbers(found), np.histogram2d(levels, levels[::-1], bins, weights=weights)[0]
            )


@both
def test_strides_alignment_and_zero_sizes(name):
    give = giver(name)
    x = give(image)
    for there, here in (
        (x[:, ::2], image[:, ::2]),
        (x.T, image.T),
        (x[1:, 3:], image[1:, 3:]),
        (x.reshape(-1)[1:], image.reshape(-1)[1:]),
    ):
        np.testing.assert_allclose(
            numbers(tunesmith.sum(there, axis=0)), here.sum(axis=0), rtol=1e-4, atol=1e-4
        )
        np.testing.assert_array_equal(numbers(tunesmith.transpose(there)), here.T)
        np.testing.assert_allclose(numbers(tunesmith.vectorize("x + 1")(there)), here + 1)
    nothing = x[:0]
    assert float(tunesmith.sum(nothing)) == 0 and tuple(tunesmith.transpose(nothing).shape) == (53, 0)
    assert tuple(tunesmith.vectorize("x + 1")(nothing).shape) == (0, 53)


@both
def test_results_go_into_out(name):
    give = giver(name)
    x, out = give(image), give(np.zeros(53, "f"))
    for _ in range(3):
        assert tunesmith.sum(x, axis=0, out=out) is out
        np.testing.assert_allclose(numbers(out), image.sum(axis=0), rtol=1e-4, atol=1e-4)
    wide = give(np.zeros(53))
    assert tunesmith.sum(x, axis=0, out=wide) is wide
    np.testing.assert_allclose(numbers(wide), image.sum(axis=0), rtol=1e-4, atol=1e-4)


@both
def test_what_is_refused(name):
    x = giver(name)(image)
    with pytest.raises(TypeError, match="out= is an array of numpy"):
        tunesmith.sum(x, axis=0, out=np.zeros(53, "f"))
    with pytest.raises(ValueError, match="shape"):
        tunesmith.sum(x, axis=0, out=giver(name)(np.zeros(54, "f")))
    plan = tunesmith.dispatcher("cuda").plan("reduce", length=image.size)
    total = giver(name)(np.zeros(1, "f"))
    with pytest.raises(TypeError, match="float64"):
        plan.launch(giver(name)(image.astype("f8")), total)
    with pytest.raises(ValueError):
        plan.launch(x[:5], total)
    with pytest.raises(ValueError, match="ontiguous"):
        plan.launch(giver(name)(np.zeros((53, 74), "f"))[:, ::2], total)
    on_host = tunesmith.Dispatcher("host").plan("reduce", length=image.size)
    with pytest.raises(ValueError):
        on_host.launch(x, total)
    plan.launch(x, total)
    np.testing.assert_allclose(numbers(total)[0], image.sum(), rtol=1e-4)


def test_numpys_arrays_are_copied_there_and_back():
    with tunesmith.device("cuda"):
        for function, of_numpy in words.values():
            np.testing.assert_allclose(function(image), of_numpy(image), rtol=1e-4, atol=1e-4)
    plan = tunesmith.dispatcher("cuda").plan("reduce", length=image.size)
    total = np.zeros(1, "f")
    plan.launch(image, total)
    np.testing.assert_allclose(total[0], image.sum(), rtol=1e-4)


def test_pytorchs_stream_and_its_order():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    tunesmith.sum(torch.zeros(1 << 20, device="cuda"))
    tunesmith.dispatcher("cuda").wait_until_ready()  # loading a kernel may wait for the GPU
    for turn in range(4):
        with torch.cuda.stream(stream):
            x = torch.zeros(1 << 20, device="cuda")
            torch.cuda._sleep(100_000_000)
            x += 1
            total = tunesmith.sum(x)
            after = total * 2
            # No call waited, except perhaps in the first turn, where PyTorch loads kernels and gets the stream's memory.
            assert turn == 0 or not stream.query()
        stream.synchronize()
        assert float(total) == 1 << 20 and float(after) == 2 << 20
    plan = tunesmith.dispatcher("cuda").plan("reduce", length=1 << 20)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.fill_(2)
    plan.launch(x, total.view(1), stream=stream.cuda_stream)
    assert not stream.query()
    stream.synchronize()
    assert float(total) == 2 << 20


def test_cupys_stream_and_its_order():
    cupy = pytest.importorskip("cupy")
    sleep = cupy.RawKernel(
        'extern "C" __global__ void rest() { for (long long t = clock64(); clock64() - t < 100000000;); }',
        "rest",
    )
    tunesmith.sum(cupy.zeros(1 << 20, "f"))
    tunesmith.dispatcher("cuda").wait_until_ready()
    stream = cupy.cuda.Stream(non_blocking=True)
    for turn in range(4):
        with stream:
            x = cupy.zeros(1 << 20, "f")
            sleep((1,), (1,), ())
            x.fill(1)
            total = tunesmith.sum(x)
            assert turn == 0 or not stream.done
        stream.synchronize()
        assert float(total) == 1 << 20


def test_threads_with_a_stream_each():
    torch = pytest.importorskip("torch")
    wrong = []

    def work(value):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for n in range(1, 60):
                x = torch.full((1000 + n,), float(value), device="cuda")
                total = tunesmith.sum(x)
                stream.synchronize()
                if float(total) != value * (1000 + n):
                    wrong.append((value, n, float(total)))

    threads = [threading.Thread(target=work, args=(value,)) for value in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pytorchs_graphs():
    torch = pytest.importorskip("torch")
    x = torch.rand(64, 96, device="cuda")
    mask = torch.rand(3, 3, device="cuda")

    def work():
        return tunesmith.sum(tunesmith.ndimage.correlate(x, mask, mode="nearest"), axis=1)

    expected = work().clone()
    work()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(found, expected)
    x.mul_(3)
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(found, expected * 3)


def test_cupys_graphs():
    cupy = pytest.importorskip("cupy")
    plan = tunesmith.dispatcher("cuda").plan("transpose", height=64, width=96)
    tunesmith.dispatcher("cuda").wait_until_ready(30)
    x, out = cupy.random.rand(64, 96, dtype="f"), cupy.zeros((96, 64), "f")
    plan.launch(x, out)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        plan.launch(x, out)
        graph = stream.end_capture()
        x *= 5
        graph.launch(stream)
    stream.synchronize()
    np.testing.assert_array_equal(out.get(), x.get().T)


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_torch_compile_takes_the_operators_whole(mode):
    torch = pytest.importorskip("torch")
    importlib.import_module("tunesmith.torch_ops")
    ops = torch.ops.tunesmith

    def function(x, w):
        y = ops.correlate(x * 2, w, "constant")
        return ops.sum(y, [1]) + ops.elementwise("p + q", [x, y])[:, 0]

    compiled = torch.compile(function, fullgraph=True, mode=mode)
    for n in range(4):
        x, w = torch.rand(64, 96, device="cuda") + n, torch.rand(3, 3, device="cuda")
        torch.testing.assert_close(compiled(x, w), function(x, w), rtol=1e-4, atol=1e-4)


def test_dlpack_alone():
    cupy = pytest.importorskip("cupy")

    class Exported:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

    plan = tunesmith.dispatcher("cuda").plan("reduce", length=image.size)
    x, total = cupy.asarray(image), cupy.zeros(1, "f")
    plan.launch(Exported(x), total)
    np.testing.assert_allclose(total.get()[0], image.sum(), rtol=1e-4)


@both
@pytest.mark.parametrize("case", [name for name, one in cases.items() if one.reference])
def test_settings_that_lie_on_the_gpu(name, case):
    check_settings_of_a_library(case, giver(name), numbers)


@both
def test_a_setting_that_follows_from_the_image(name):
    give = giver(name)
    for _ in range(4):
        x = random.standard_normal((9, 8)).astype("f")
        there = give(x)
        found = tunesmith.ndimage.correlate(there, weights, mode="constant", cval=there.mean())
        np.testing.assert_allclose(
            numbers(found),
            ndimage.correlate(x, weights, mode="constant", cval=x.mean()),
            rtol=1e-4,
            atol=1e-4,
        )


@both
def test_rarer_calls(name):
    check_rarer_calls(giver(name), numbers)


@pytest.mark.parametrize("case", complex_functions)
def test_views_that_pytorch_conjugates_later(case):
    check_conjugates(case, "cuda")


def test_views_that_pytorch_negates_later():
    torch = pytest.importorskip("torch")
    for factor in (1, 2, 3):
        x = torch.arange(35.0, device="cuda").reshape(5, 7) * factor
        for tensor, expected in ((x, x), (torch._neg_view(x), -x), (torch._neg_view(x), -x)):
            torch.testing.assert_close(tunesmith.sum(tensor, axis=1), expected.sum(1))
            torch.testing.assert_close(tunesmith.transpose(tensor), expected.T.contiguous())
            torch.testing.assert_close(tunesmith.vectorize("x * 2")(tensor), expected * 2)
