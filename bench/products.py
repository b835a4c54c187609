#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times matrix products by what the library chooses, beside PyTorch's, each in a CUDA graph of launches one behind the other, and compares the results with double precision.

products.py results.csv COMMIT [--of I/N] measures the products of the rows `choice, chained` of results.csv, or the I-th of N parts of them, and writes rows to standard output.
"""

import csv
import statistics
import sys

import torch
import tunesmith

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
BOUNDS = {
    "f32": 2e-6,
    "f16": 1e-3,
    "bf16": 8e-3,
    "f64": 1e-14,
}  # of the largest result, beside sqrt(k) roundings


def chained_us(call, target_us=3000):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        begin.record()
        call()
        end.record()
        end.synchronize()
        launches = max(1, min(60, int(target_us / max(1.0, 1e3 * begin.elapsed_time(end)))))
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                call()
        samples = []
        for _ in range(9):
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            samples.append(1e3 * begin.elapsed_time(end) / launches)
    return statistics.median(samples[2:])


def operand(rows, columns, turned, dtype):
    made = torch.randn((columns, rows) if turned else (rows, columns), device="cuda").to(TYPES[dtype])
    return made.t() if turned else made


def measure(problem, dtype):
    extents, layout = (problem + " nn").split()[:2]
    m, n, k = map(int, extents.split("x"))
    a, b = operand(m, k, layout[0] == "t", dtype), operand(k, n, layout[1] == "t", dtype)

    def ours():
        return tunesmith.einsum("ik,kj->ij", a, b)

    expected = a.double() @ b.double()
    error = ((ours().double() - expected).abs().max() / expected.abs().max()).item()
    if not error <= BOUNDS[dtype] * (1 if dtype in ("f16", "bf16") else k**0.5):
        raise ArithmeticError(f"{problem} {dtype} is wrong by {error:.2g} of the largest result.")
    return chained_us(ours), chained_us(lambda: a @ b)


def main():
    results, commit = sys.argv[1:3]
    part, parts = map(int, sys.argv[4].split("/")) if len(sys.argv) > 3 else (0, 1)
    tunesmith.set_dispatcher(tunesmith.Dispatcher("cuda", compile="now"))
    with open(results) as file:
        rows = [row for row in csv.DictReader(file) if row["variant"] == "choice, chained"]
    problems = list(dict.fromkeys((row["problem"], row["dtype"]) for row in rows))
    out = csv.writer(sys.stdout, lineterminator="\n")
    for problem, dtype in problems[part::parts]:
        us, peer_us = measure(problem, dtype)
        out.writerow([problem, dtype, "choice, chained", f"{us:.2f}", "PyTorch", f"{peer_us:.2f}", commit])
        sys.stdout.flush()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
