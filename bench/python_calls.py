# SPDX-License-Identifier: Apache-2.0
"""Measures the time of a call from Python, and of the same call of PyTorch, CuPy, and NumPy or SciPy on the processor: docs/python_calls.md.

    python3 bench/python_calls.py [--out docs] [--quick]

Each time is of the whole call as a user makes it: a loop of calls with one wait for the GPU at its end, the least of several loops. Every result is compared with
NumPy's or SciPy's first. The exit code is 1 if a result differs. Needs a GPU, CuPy, PyTorch and SciPy, and the installed package.
"""

import argparse
import csv
import pathlib
import sys
import time

import cupy
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.special
import torch
import tunesmith

random = np.random.default_rng(5)
functional = torch.nn.functional


def real(*shape):
    return random.standard_normal(shape, np.float32)


def torch_conv(x, w, mode):
    """PyTorch's way to a cross-correlation with a boundary."""
    h, k = w.shape[-2] // 2, w.shape[-1] // 2
    if mode == "constant":
        return functional.conv2d(x[None, None], w[None, None], padding=(h, k))[0, 0]
    padded = functional.pad(
        x[None, None], (k, k, h, h), mode={"nearest": "replicate", "mirror": "reflect"}[mode]
    )
    return functional.conv2d(padded, w[None, None])[0, 0]


gaussian_pdf = tunesmith.vectorize("exp(-0.5 * ((x - m) / s) * ((x - m) / s)) / (s * 2.5066282746310002)")


def pdf(library, x, m, s):
    z = (x - m) / s
    return library.exp(-0.5 * z * z) / (s * 2.5066282746310002)


def as_array(found):
    """The first of several numbers."""
    return found[0] if isinstance(found, tuple) else found


class Case:
    """A call in each library's words; `others` maps a contender to its function and may lack some."""

    def __init__(self, name, inputs, ours, cpu, tolerance=1e-4, **others):
        self.name, self.inputs, self.ours, self.cpu, self.tolerance, self.others = (
            name,
            inputs,
            ours,
            cpu,
            tolerance,
            others,
        )


def cases():
    for n in (1000, 10**6, 1 << 26):
        yield Case(f"sum of {n}", [real(n)], tunesmith.sum, np.sum, torch=torch.sum, cupy=cupy.sum)
    yield Case(
        "mean of 500000x33, axis 0",
        [real(500000, 33)],
        lambda x: tunesmith.mean(x, axis=0),
        lambda x: x.mean(axis=0),
        torch=lambda x: x.mean(0),
        cupy=lambda x: x.mean(axis=0),
    )
    yield Case(
        "maximum of 4096x4096, axis 1",
        [real(4096, 4096)],
        lambda x: tunesmith.max(x, axis=1),
        lambda x: x.max(axis=1),
        torch=lambda x: x.amax(1),
        cupy=lambda x: x.max(axis=1),
    )
    for height, width in ((100, 100), (4096, 4096), (7, 1000000)):
        yield Case(
            f"transpose of {height}x{width}",
            [real(height, width)],
            tunesmith.transpose,
            lambda x: np.ascontiguousarray(x.T),
            0,
            torch=lambda x: x.T.contiguous(),
            cupy=lambda x: cupy.ascontiguousarray(x.T),
        )
    for rows, columns in ((64, 128), (4096, 1024)):
        yield Case(
            f"softmax of {rows}x{columns}",
            [real(rows, columns)],
            tunesmith.softmax,
            lambda x: scipy.special.softmax(x, axis=1),
            torch=lambda x: torch.softmax(x, 1),
        )
        yield Case(
            f"layer_norm of {rows}x{columns}",
            [real(rows, columns), real(columns)],
            lambda x, w: tunesmith.layer_norm(x, weight=w),
            lambda x, w: (
                (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5)) * w
            ),
            torch=lambda x, w: functional.layer_norm(x, w.shape, w),
        )
    for n in (1000, 10**6, 10**7):
        yield Case(
            f"gaussian pdf of {n}",
            [real(n)],
            lambda x: gaussian_pdf(x, 0.25, 1.5),
            lambda x: pdf(np, x, np.float32(0.25), np.float32(1.5)),
            torch=lambda x: pdf(torch, x, 0.25, 1.5),
            cupy=lambda x: pdf(cupy, x, np.float32(0.25), np.float32(1.5)),
        )
    for n, bins in ((10000, 50), (5 * 10**6, 100)):
        yield Case(
            f"histogram of {n}, {bins} bins",
            [real(n)],
            lambda x, bins=bins: tunesmith.histogram(x, bins, (-4, 4))[0],
            lambda x, bins=bins: np.histogram(x, bins, (-4, 4))[0],
            0,
            torch=lambda x, bins=bins: torch.histc(x, bins, -4, 4),
            cupy=lambda x, bins=bins: cupy.histogram(x, bins, (-4, 4))[0],
        )
    yield Case(
        "bincount of 5000000 u8",
        [random.integers(0, 256, 5 * 10**6).astype("u1")],
        lambda x: tunesmith.bincount(x, minlength=256),
        lambda x: np.bincount(x, minlength=256),
        0,
        torch=lambda x: torch.bincount(x, minlength=256),
        cupy=lambda x: cupy.bincount(x, minlength=256),
    )
    for n, k in ((1000, 31), (10**6, 101)):
        yield Case(
            f"convolve {n} with {k}, same",
            [real(n), real(k)],
            lambda x, w: tunesmith.convolve(x, w, "same"),
            lambda x, w: np.convolve(x, w, "same"),
            1e-3,
            torch=lambda x, w: functional.conv1d(
                x[None, None], w.flip(0)[None, None], padding=w.shape[0] // 2
            )[0, 0],
            cupy=lambda x, w: cupy.convolve(x, w, "same"),
        )
    for shape, mask, mode in (
        ((100, 100), 3, "constant"),
        ((1000, 2000), 3, "nearest"),
        ((1080, 1920), 15, "mirror"),
        ((4096, 4096), 5, "constant"),
    ):
        yield Case(
            f"ndimage.correlate {shape[0]}x{shape[1]} with {mask}x{mask}, {mode}",
            [real(*shape), real(mask, mask)],
            lambda x, w, mode=mode: tunesmith.ndimage.correlate(x, w, mode=mode),
            lambda x, w, mode=mode: scipy.ndimage.correlate(x, w, mode=mode),
            1e-3,
            torch=lambda x, w, mode=mode: torch_conv(x, w, mode),
            cupy=lambda x, w, mode=mode: cupyx.scipy.ndimage.correlate(x, w, mode=mode),
        )
    yield Case(
        "ndimage.gaussian_filter 1080x1920, sigma 2",
        [real(1080, 1920)],
        lambda x: tunesmith.ndimage.gaussian_filter(x, 2.0),
        lambda x: scipy.ndimage.gaussian_filter(x, 2.0),
        cupy=lambda x: cupyx.scipy.ndimage.gaussian_filter(x, 2.0),
    )
    for word, given in (
        ("sobel", (0,)),
        ("laplace", ()),
        ("gaussian_filter", (1.0,)),
        ("gaussian_laplace", (1.0,)),
        ("gaussian_gradient_magnitude", (1.0,)),
        ("maximum_filter", (9,)),
        ("median_filter", (5,)),
        ("grey_opening", (15,)),
        ("white_tophat", (15,)),
        ("variance", ()),
        ("center_of_mass", ()),
    ):
        ours, theirs, on_gpu = (getattr(one.ndimage, word) for one in (tunesmith, scipy, cupyx.scipy))
        yield Case(
            f"ndimage.{word} 1080x1920{''.join(f', {one}' for one in given)}",
            [np.abs(real(1080, 1920))],
            lambda x, function=ours, given=given: as_array(function(x, *given)),
            lambda x, function=theirs, given=given: as_array(function(x, *given)),
            cupy=lambda x, function=on_gpu, given=given: as_array(function(x, *given)),
        )
    yield Case(
        "ndimage.uniform_filter 2048x2048, size 5",
        [real(2048, 2048)],
        lambda x: tunesmith.ndimage.uniform_filter(x, 5),
        lambda x: scipy.ndimage.uniform_filter(x, 5),
        cupy=lambda x: cupyx.scipy.ndimage.uniform_filter(x, 5),
    )
    yield Case(
        "signal.convolve2d 512x512 with 9x9, same",
        [real(512, 512), real(9, 9)],
        lambda x, w: tunesmith.signal.convolve2d(x, w, "same"),
        lambda x, w: scipy.signal.convolve2d(x, w, "same"),
        1e-3,
        torch=lambda x, w: torch_conv(x, w.flip(0, 1), "constant"),
        cupy=lambda x, w: cupyx.scipy.signal.convolve2d(x, w, "same"),
    )


def seconds(function, wait, least: float) -> float:
    """us of one call: the least of the loops that fit, each of at least 20 ms."""
    function()
    wait()
    begin = time.perf_counter()
    function()
    wait()
    once = max(time.perf_counter() - begin, 1e-6)
    loop = max(1, min(20000, int(0.02 / once)))
    best, end = float("inf"), time.perf_counter() + least
    while time.perf_counter() < end or best == float("inf"):
        begin = time.perf_counter()
        for _ in range(loop):
            function()
        wait()
        best = min(best, (time.perf_counter() - begin) / loop)
    return best


def numbers(array) -> np.ndarray:
    return (
        array.get()
        if hasattr(array, "get")
        else array.cpu().numpy()
        if hasattr(array, "cpu")
        else np.asarray(array)
    )


def differs(case, found, expected) -> str:
    found, expected = numbers(found), np.asarray(expected)
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    off = float(np.abs(found.astype("f8") - expected).max(initial=0)) / scale
    return "" if off <= case.tolerance else f"off by {off:.2g}"


def to_torch(x):
    return torch.from_numpy(x).cuda()


def measure(case, least):
    """us by contender, and the faults of our results."""
    expected, found, wrong = case.cpu(*case.inputs), {}, []
    here = case.inputs
    contenders = [
        ("Tunesmith, PyTorch's arrays", case.ours, to_torch, torch.cuda.synchronize),
        ("Tunesmith, CuPy's arrays", case.ours, cupy.asarray, lambda: cupy.cuda.Device().synchronize()),
        ("PyTorch", case.others.get("torch"), to_torch, torch.cuda.synchronize),
        ("CuPy", case.others.get("cupy"), cupy.asarray, lambda: cupy.cuda.Device().synchronize()),
        ("NumPy or SciPy", case.cpu, np.asarray, lambda: None),
    ]
    for name, function, give, wait in contenders:
        if function is None:
            continue
        arrays = [give(x) for x in here]
        try:
            result = function(*arrays)
            tunesmith.dispatcher("cuda").wait_until_ready(60)
            result = function(*arrays)
            if (what := differs(case, result, expected)) and name.startswith("Tunesmith"):
                wrong.append(f"{case.name}, {name}: {what}")
            elif what:
                print(f"  {name}: {what}", flush=True)
            found[name] = (
                seconds(lambda function=function, arrays=arrays: function(*arrays), wait, least) * 1e6
            )
        except Exception as error:  # a library that cannot do it
            if name.startswith("Tunesmith"):
                wrong.append(f"{case.name}, {name}: {type(error).__name__}: {error}")
            print(
                f"  {name}: {type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}",
                flush=True,
            )
    return found, wrong


def overhead(least):
    """us of a call whose kernel takes less time than its launch: the processor's work."""
    x, y = torch.rand(64, 64, device="cuda"), torch.empty(64, 64, device="cuda")
    a, b = cupy.asarray(x), cupy.asarray(y)
    kernel = cupy.RawKernel(
        'extern "C" __global__ void nothing(const float* x, float* y) { if (x == y) *y = 0; }', "nothing"
    )
    plan = tunesmith.dispatcher("cuda").plan("transpose", height=64, width=64)
    tunesmith.dispatcher("cuda").wait_until_ready(60)
    wait = torch.cuda.synchronize
    stream = torch.cuda.current_stream().cuda_stream
    rows = {
        "an empty kernel by cupy.RawKernel": lambda: kernel((1,), (256,), (a, b)),
        "plan.launch(x, y), PyTorch's tensors": lambda: plan.launch(x, y),
        "plan.launch(x, y, stream=...), PyTorch's tensors": lambda: plan.launch(x, y, stream=stream),
        "plan.launch(x, y), CuPy's arrays": lambda: plan.launch(a, b),
        "tunesmith.transpose(x, out=y), PyTorch's tensors": lambda: tunesmith.transpose(x, out=y),
        "tunesmith.transpose(x), PyTorch's tensors": lambda: tunesmith.transpose(x),
        "tunesmith.transpose(x), CuPy's arrays": lambda: tunesmith.transpose(a),
        "y.copy_(x.T) of PyTorch": lambda: y.copy_(x.T),
        "x.T.contiguous() of PyTorch": lambda: x.T.contiguous(),
        "torch.add(x, x) of PyTorch": lambda: torch.add(x, x),
        "cupy.ascontiguousarray(x.T)": lambda: cupy.ascontiguousarray(a.T),
        "cupy.add(x, x)": lambda: cupy.add(a, a),
    }
    return {name: seconds(function, wait, least) * 1e6 for name, function in rows.items()}


def page(rows, costs, device) -> str:
    names = ["Tunesmith, PyTorch's arrays", "Tunesmith, CuPy's arrays", "PyTorch", "CuPy", "NumPy or SciPy"]
    shown = lambda us: "–" if us is None else f"{us:.1f}" if us < 100 else f"{us:,.0f}"  # noqa: E731
    lines = [
        "# Calls from Python, measured",
        "",
        f"Microseconds per call, on one {device}: a loop of calls with one wait at its end, the fastest of several loops. Results were",
        "compared with NumPy's or SciPy's. Small calls are bound by the CPU, so they compare the work of Python and the libraries before a kernel starts.",
        f"Made by `bench/python_calls.py` with PyTorch {torch.__version__}, CuPy {cupy.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}; NumPy and SciPy ran on one thread of the same machine.",
        "",
        "| call | " + " | ".join(names) + " | best of PyTorch and CuPy / Tunesmith |",
        "| --- |" + " --- |" * (len(names) + 1),
    ]
    for case, times in rows:
        ours = min((times[name] for name in names[:2] if name in times), default=None)
        peer = min((times[name] for name in names[2:4] if name in times), default=None)
        ratio = f"{peer / ours:.2f}" if ours and peer else "–"
        lines.append(f"| {case} | " + " | ".join(shown(times.get(name)) for name in names) + f" | {ratio} |")
    lines += [
        "",
        "The CPU time of a call, for a kernel that is shorter than that (64x64 floats, transposed):",
        "",
        "| call | us |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {us:.2f} |" for name, us in costs.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", default="docs", help="the folder for python_calls.md and .csv (default: docs)"
    )
    parser.add_argument("--quick", action="store_true", help="short loops")
    options = parser.parse_args()
    least = 0.05 if options.quick else 0.3
    costs = overhead(least)
    for name, us in costs.items():
        print(f"{us:8.2f} us  {name}", flush=True)
    rows, wrong = [], []
    for case in cases():
        print(case.name, flush=True)
        times, what = measure(case, least)
        wrong += what
        rows.append((case.name, times))
        print("  " + ", ".join(f"{name} {us:.1f}" for name, us in times.items()), flush=True)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "python_calls.md").write_text(page(rows, costs, torch.cuda.get_device_name()))
    with open(out / "python_calls.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["call", "contender", "us"])
        table.writerows([name, "", f"{us:.3f}"] for name, us in costs.items())
        table.writerows([case, name, f"{us:.3f}"] for case, times in rows for name, us in times.items())
    for sentence in wrong:
        print("WRONG:", sentence)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
