#!/usr/bin/env python3
"""Tunesmith's conv2d against PyTorch, CuPy and NPP on one CUDA GPU, in one run; README.md beside this file says how.

Every output is checked against a double-precision reference before anything is timed. The contenders take turns in
rounds, so that a drift of the clocks meets all alike; a figure is the median over the rounds."""

import argparse
import datetime
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as functional

import contenders as of
import report

LAUNCHES = 20  # in a graph


@dataclass
class Case:
    height: int
    width: int
    mask: int  # rows and columns, odd
    mode: str = "correlation"
    batch: int = 1
    plain_us: float = 0  # what a quick hand-made kernel took on an H200; 0: not known

    @property
    def name(self):
        return (f"{self.batch}×" if self.batch > 1 else "") + f"{self.height}×{self.width}, {self.mask}×{self.mask}"

    @property
    def problem(self):
        return (f"batch={self.batch} height={self.height} width={self.width} mask_height={self.mask} "
                f"mask_width={self.mask} mode={self.mode}")


CASES = [
    Case(200, 200, 13, mode="convolution", plain_us=5.5),
    Case(1000, 2000, 3, plain_us=6.9),
    Case(1080, 1920, 7, plain_us=10.2),
    Case(4096, 4096, 3, plain_us=47),
    Case(4096, 4096, 5, plain_us=56),
    Case(4096, 4096, 7, plain_us=67),
    Case(4096, 4096, 13, plain_us=133),
    Case(4096, 4096, 31, plain_us=653),
    Case(512, 512, 5, batch=64),
]


# CuPy warns of its own parts and of the streams that a capture needs.
warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", category=FutureWarning)


def complain(sentence):
    print(sentence, file=sys.stderr)


def reference(case, image, mask):
    """The result in double, and the error that a plain f32 sum may have: (taps + 1) u sum|w x|."""
    weights = of.as_correlation(case, mask).double()[None, None]
    value = torch.empty_like(image, dtype=torch.double)
    size = torch.empty_like(value)
    half, rows = case.mask // 2, 256  # a band at a time, for libraries that unfold the image
    for b in range(case.batch):
        framed = functional.pad(image[b], (0, 0, half, half)).double()[None, None]
        for y in range(0, case.height, rows):
            band = framed[:, :, y:y + rows + 2 * half]
            value[b, y:y + rows] = functional.conv2d(band, weights, padding=(0, half))[0, 0]
            size[b, y:y + rows] = functional.conv2d(band.abs(), weights.abs(), padding=(0, half))[0, 0]
    return value, size * (case.mask**2 + 1) * 2.0**-24


def is_right(contender, value, bound):
    contender.launch()
    torch.cuda.synchronize()
    if contender.output is None:
        return True
    error = (contender.output().reshape(value.shape).double() - value).abs()
    contender.error = (error / bound).max().item()
    # A peer may sum in another order or among frequencies; what it may not do is compute something else.
    return contender.error <= 1 if not contender.peer else error.max().item() <= 1e-3 * value.abs().max().item()


def capture(contender):
    """A graph of LAUNCHES launches, or None where the contender cannot be captured."""
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            for _ in range(3):  # what is made once is made before the capture, on its stream
                contender.launch()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
            for _ in range(LAUNCHES):
                contender.launch()
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except Exception as error:  # whatever a library does that a capture forbids
        complain(f"  {contender.name} cannot be captured: {str(error).splitlines()[0][:120]}")
        torch.cuda.synchronize()
        return None


def elapsed_us(work):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000


def run_hot(contender):
    if contender.graph is not None:
        contender.graph.replay()
        return
    for _ in range(LAUNCHES):
        contender.launch()


def measure(contenders, rounds):
    flush = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
    for contender in contenders:
        contender.graph = capture(contender)
    for _ in range(5):  # clocks settle
        for contender in contenders:
            run_hot(contender)
    for _ in range(rounds):
        for contender in contenders:
            run_hot(contender)
            contender.hot_samples.append(elapsed_us(lambda: run_hot(contender)) / LAUNCHES)
        for contender in contenders:
            flush.zero_()  # takes longer than what follows takes to be enqueued
            contender.cold_samples.append(elapsed_us(contender.launch))


def run_case(case, tunesmith, npp, rounds):
    """The contenders that are right, timed, Tunesmith first; and whether all were right."""
    image = torch.rand(case.batch, case.height, case.width, device="cuda") * 2 - 1
    mask = torch.rand(case.mask, case.mask, device="cuda") * 2 - 1
    value, bound = reference(case, image, mask)
    entrants = [tunesmith.contender(case, image, mask)]
    entrants += of.pytorch(case, image, mask) + of.with_cupy(case, image, mask)
    entrants += of.with_npp(npp, case, image, mask) + of.limits(image)
    right = []
    for contender in entrants:
        try:
            if is_right(contender, value, bound):
                right.append(contender)
            else:
                complain(f"  {contender.name} is wrong: its error is {contender.error:.3g} times the bound")
        except Exception as error:
            complain(f"  {contender.name} fails: {error}")
    if right[0] is not entrants[0]:
        sys.exit("Tunesmith is not right; nothing is timed.")
    del value, bound
    measure(right, rounds)
    for each in right:
        complain(f"  {each.name:18} hot {report.figure(each.hot):>7}  cold {report.figure(each.cold):>7}")
    return right, len(right) == len(entrants)


def facts_of_run(npp, rounds):
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    try:
        driver = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", Path("/proc/driver/nvidia/version").read_text()).group()
    except (OSError, AttributeError):
        driver = "unknown"
    return {
        "device": f"{properties.name}, {properties.multi_processor_count} multiprocessors, driver {driver}",
        "PyTorch": f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}, benchmark on, TF32 off",
        "CuPy": of.cupy.__version__ if of.cupy else "not installed, not measured",
        "NPP": "`nppiFilterBorder_32f_C1R_Ctx`, the image in a frame of zeros" if npp else "not found, not measured",
        "rounds": rounds,
        "date": datetime.date.today().isoformat(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="build/bench/bench/libtunesmith_bench.so", help="from the preset bench")
    parser.add_argument("--db", default="", help="a tuned database; else only the winners built into the library")
    parser.add_argument("--device", type=int, default=0, help="as cudaSetDevice counts")
    parser.add_argument("--npp", default="", help="the folder of libnppif.so, where it is not found by itself")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--case", type=int, action="append", help="only this case, from 0; may be given again")
    parser.add_argument("--out", type=Path, default=Path("docs/results.md"), help="a .csv and a .svg go beside it")
    given = parser.parse_args()

    torch.cuda.set_device(given.device)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    tunesmith = of.Tunesmith(Path(given.library).resolve(), given.db, f"cuda:{given.device}")
    npp = of.find_npp(given.npp)

    results, all_right = [], True
    for case in [CASES[i] for i in given.case] if given.case else CASES:
        complain(case.name)
        timed, right = run_case(case, tunesmith, npp, given.rounds)
        results.append((case, timed))
        all_right = all_right and right
        torch.cuda.empty_cache()

    given.out.parent.mkdir(parents=True, exist_ok=True)
    report.write_csv(given.out.with_suffix(".csv"), results)
    report.write_svg(given.out.with_suffix(".svg"), results)
    report.write_markdown(given.out, results, facts_of_run(npp, given.rounds), LAUNCHES)
    missed = [(case, goal, text) for case, timed in results for goal, met, text in report.goals(case, timed) if not met]
    for case, goal, text in missed:
        complain(f"Goal missed, {case.name}: {goal}: {text}")
    sys.exit(0 if all_right and not missed else 1)


if __name__ == "__main__":
    main()
