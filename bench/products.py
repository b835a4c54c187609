#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times products, batches and layers by what the library chooses, beside PyTorch's, and compares the results with double precision.

products.py results.csv COMMIT [--problems FILE] [--of I/N] [--apart] [--accuracy tf32] measures the problems of the rows `choice, chained` of results.csv, or those of FILE, a line
`DTYPE PROBLEM` each, or the I-th of N parts of them, and writes rows to standard output. Each call is timed in a CUDA graph of launches one behind the other (`chained`), or, with --apart,
in one where an ordinary kernel stands before each launch, whose own time is taken away. With an accuracy only problems of f32 are measured, with that accuracy here and TF32 allowed in PyTorch. A problem is one of

  4096x4096x688 [nt]                        a product m, n, k; n or t for each side: row by row, or turned
  batch 1000x32x32x64                       a batch of products: count, m, n, k
  NCHW 32x64x56x56 to 64 3x3 [pad 1] [stride 2]   a layer (or NHWC, channels last): the image, its results' channels, the window
  causal 4096x2048 4                        a causal depthwise convolution of times x channels by 4 taps, and SiLU
"""

import argparse
import csv
import re
import statistics
import sys

import torch
import torch.nn.functional as functional
import tunesmith

TYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i8": torch.int8,
    "i8 to i32": torch.int8,
}
BOUNDS = {
    "f32": 2e-6,
    "f16": 1e-3,
    "bf16": 8e-3,
    "f64": 1e-14,
    "i8 to i32": 0,
}  # of the largest result, beside the square root of the number of terms roundings
SHORT = ("f16", "bf16")
ROUNDED_BOUND = 2e-3  # of factors of 11 bits


def graph_us(work, launches, stream, samples=9):
    graph = torch.cuda.CUDAGraph()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    with torch.cuda.stream(stream):
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                work()
        for _ in range(samples):
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(1e3 * begin.elapsed_time(end) / launches)
    return statistics.median(times[2:])


def time_us(call, apart, target_us=3000):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    between = torch.zeros(1 << 16, device="cuda")
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        begin.record()
        call()
        end.record()
        end.synchronize()
    launches = max(1, min(60, int(target_us / max(1.0, 1e3 * begin.elapsed_time(end)))))
    if not apart:
        return graph_us(call, launches, stream)

    def spaced():
        between.add_(1)
        call()

    return graph_us(spaced, launches, stream) - graph_us(lambda: between.add_(1), launches, stream)


def drawn(shape, dtype):
    if TYPES[dtype] == torch.int8:
        return torch.randint(-128, 128, shape, device="cuda").to(torch.int8)
    return torch.randn(shape, device="cuda").to(TYPES[dtype])


def operand(rows, columns, turned, dtype):
    made = drawn((columns, rows) if turned else (rows, columns), dtype)
    return made.t() if turned else made


def product(problem, dtype, accuracy):
    extents, layout = (problem + " nn").split()[:2]
    m, n, k = map(int, extents.split("x"))
    a, b = operand(m, k, layout[0] == "t", dtype), operand(k, n, layout[1] == "t", dtype)
    if dtype == "i8 to i32":
        return (
            k,
            lambda: tunesmith.matmul(a, b, out_dtype="int32"),
            lambda: torch._int_mm(a, b),
            lambda: a.double() @ b.double(),
        )
    return (
        k,
        lambda: tunesmith.matmul(a, b, accuracy=accuracy),
        lambda: a @ b,
        lambda: a.double() @ b.double(),
    )


def batch(problem, dtype, accuracy):
    count, m, n, k = map(int, problem.split()[1].split("x"))
    a, b = drawn((count, m, k), dtype), drawn((count, k, n), dtype)
    return (
        k,
        lambda: tunesmith.matmul(a, b, accuracy=accuracy),
        lambda: a @ b,
        lambda: a.double() @ b.double(),
    )


def layer(problem, dtype, accuracy):
    form = r"(NCHW|NHWC) (\d+)x(\d+)x(\d+)x(\d+) to (\d+) (\d+)x(\d+)(?: pad (\d+))?(?: stride (\d+))?"
    layout, *numbers = re.fullmatch(form, problem).groups()
    images, channels, height, width, results, rows, columns, pad, stride = (
        int(number or 0) for number in numbers
    )
    x, w = drawn((images, channels, height, width), dtype), drawn((results, channels, rows, columns), dtype)
    settings = {"padding": pad, "stride": stride or 1}
    terms = channels * rows * columns
    if layout == "NHWC":
        x, w = (one.contiguous(memory_format=torch.channels_last) for one in (x, w))
    peer = lambda: functional.conv2d(x, w, **settings)  # noqa: E731
    if layout == "NCHW":
        ours = lambda: tunesmith.conv(x, w, accuracy=accuracy, **settings)  # noqa: E731
    else:
        last = x.permute(0, 2, 3, 1)  # as it lies in memory

        def ours():
            made = tunesmith.conv(last, w, channels="last", accuracy=accuracy, **settings)
            return made.permute(0, 3, 1, 2)

    return terms, ours, peer, lambda: functional.conv2d(x.double(), w.double(), **settings)


def causal(problem, dtype, accuracy):
    _, extents, taps = problem.split()
    times, channels = map(int, extents.split("x"))
    x, w = drawn((1, times, channels), dtype), drawn((channels, 1, int(taps)), dtype)
    turned = x.transpose(1, 2).contiguous()  # channels first, as PyTorch takes them
    before = int(taps) - 1
    silu = "out / (1 + exp(-out))"

    def ours():
        return tunesmith.conv(x, w, padding=((before, 0),), groups=channels, channels="last", finish=silu)

    def peer():
        return functional.silu(
            functional.conv1d(functional.pad(turned, (before, 0)), w, groups=channels)
        ).transpose(1, 2)

    def expected():
        wide = functional.conv1d(functional.pad(turned.double(), (before, 0)), w.double(), groups=channels)
        return functional.silu(wide).transpose(1, 2)

    return int(taps), ours, peer, expected


KINDS = {"batch": batch, "NCHW": layer, "NHWC": layer, "causal": causal}


def measure(problem, dtype, apart, accuracy):
    terms, ours, peer, expected = KINDS.get(problem.split()[0], product)(problem, dtype, accuracy)
    right = expected()
    error = ((ours().double() - right).abs().max() / right.abs().max()).item()
    bound = BOUNDS[dtype] * (1 if dtype in SHORT else terms**0.5) if accuracy == "full" else ROUNDED_BOUND
    if not error <= bound:
        raise ArithmeticError(f"{problem} {dtype} is wrong by {error:.2g} of the largest result.")
    del right
    try:
        peer_us = f"{time_us(peer, apart):.2f}"
    except RuntimeError as refused:  # PyTorch has no such product
        print(f"{problem} {dtype}: {str(refused).splitlines()[0]}", file=sys.stderr)
        torch.cuda.synchronize()
        peer_us = ""
    return f"{time_us(ours, apart):.2f}", peer_us


def problems_of(options):
    if options.problems:
        with open(options.problems) as file:
            lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
        names = sorted(TYPES, key=len, reverse=True)
        return [
            next((line[len(name) + 1 :], name) for name in names if line.startswith(name + " "))
            for line in lines
        ]
    with open(options.results) as file:
        rows = [row for row in csv.DictReader(file) if row["variant"] == "choice, chained"]
    return list(dict.fromkeys((row["problem"], row["dtype"]) for row in rows))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results")
    parser.add_argument("commit")
    parser.add_argument("--problems")
    parser.add_argument("--of", default="0/1")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--accuracy", default="full", choices=["full", "tf32", "bf16"])
    options = parser.parse_args()
    rounds = options.accuracy != "full"
    part, parts = map(int, options.of.split("/"))
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = rounds
    tunesmith.set_dispatcher(tunesmith.Dispatcher("cuda", compile="now"))
    how = "choice, apart" if options.apart else "choice, chained"
    if rounds:
        how += f", {options.accuracy}"
    out = csv.writer(sys.stdout, lineterminator="\n")
    wrong = 0
    problems = [one for one in problems_of(options) if not rounds or one[1] == "f32"]
    for problem, dtype in problems[part::parts]:
        try:
            us, peer_us = measure(problem, dtype, options.apart, options.accuracy)
        except ArithmeticError as error:
            print(error, file=sys.stderr)
            wrong += 1
            continue
        out.writerow([problem, dtype, how, us, "PyTorch" if peer_us else "", peer_us, options.commit])
        sys.stdout.flush()
        torch.cuda.empty_cache()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
