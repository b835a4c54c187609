#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Tunesmith's ops with PyTorch, CuPy, NPP, cuBLAS, CUB and Numba on one CUDA GPU, in one run; the README.md
of this folder explains how.

Every output is checked against a double-precision computation before anything is timed. The rows of a case are written
as soon as it is done, so that a run that is stopped keeps what it has measured."""

import argparse
import csv
import datetime
import importlib
import re
import subprocess
import sys
import time
from pathlib import Path

import contenders as of
import ops
import report
import timing
import torch

begin = time.monotonic()


def say(text):
    print(f"{time.monotonic() - begin:6.1f} s  {text}", file=sys.stderr, flush=True)


class Results:
    """Writes results.csv."""

    def __init__(self, path, resume):
        self.path = path
        self.done = set()
        self.uncaptured = set()  # (op, contender) that launches in a stream
        path.parent.mkdir(parents=True, exist_ok=True)
        if resume and path.exists():
            rows = report.read(path)
            self.done = {(row["op"], row["case"]) for row in rows}
            self.uncaptured = {
                (row["op"], row["contender"])
                for row in rows
                if row["graph_launches"] == "0" and row["apart_us"]
            }
        else:
            self.write([report.COLUMNS], "w")

    def write(self, rows, mode="a"):
        with open(self.path, mode, newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def facts(self, facts):
        self.write(
            [["run", key] + [""] * (len(report.COLUMNS) - 3) + [value] for key, value in facts.items()]
        )

    def case(self, op, case, contenders):
        rows = []
        for each in contenders:
            if each.samples and not each.captured:
                self.uncaptured.add((op, each.name))
            rows.append(
                [
                    op,
                    case.name,
                    case.problem,
                    case.goals,
                    each.name,
                    each.kind,
                    each.verdict,
                    *("" if each.us(by) is None else f"{each.us(by):.3f}" for by in report.TIMES),
                    "",
                    each.launches if each.captured else 0,
                    len(each.samples.get("apart", [])),
                    "" if each.error is None else f"{each.error:.3g}",
                    each.note,
                ]
            )
        self.write(rows)


def attempt(contender, work, *given):
    """Calls work(contender, *given); a failure becomes the contender's verdict."""
    try:
        work(contender, *given)
    except Exception as error:
        contender.verdict, contender.note = "failed", timing.sentence(error)


def made(name, kind, make, *given):
    """The contender make(*given), or None if there is nothing to measure."""
    try:
        contender = make(*given)
    except Exception as error:
        contender = timing.Contender(None, verdict="failed", note=timing.sentence(error))
    if contender is not None:
        contender.name, contender.kind = name, kind
    return contender


def run_case(op, module, case, tunesmith, given, uncaptured):
    """All contenders with verdicts and samples, Tunesmith first; and True if the device still works."""
    inputs = module.inputs(case)

    def ours():
        return tunesmith.contender(op, case.problem, *module.tunesmith(case, *inputs))

    entrants = [made("Tunesmith", "ours", ours)]
    for kind, makers in (("peer", module.PEERS), ("limit", module.LIMITS)):
        entrants += [made(name, kind, make, case, *inputs) for name, make in makers.items()]
    entrants = [each for each in entrants if each is not None]
    for each in entrants:  # a capture that fails can break the process
        each.capture = each.capture and (op, each.name) not in uncaptured

    expected = module.expected(case, *inputs)
    for each in entrants:
        if each.verdict == "ok":
            attempt(each, timing.check, expected)
    del expected
    sound = all(each.verdict != "failed" for each in entrants) or timing.is_sound()
    if sound:
        right = [each for each in entrants if each.verdict == "ok"]
        try:
            timing.measure(right, given.rounds, given.seconds, tunesmith.launch_spacer, say)
        except Exception as error:
            entrants[0].note = f"timing stopped early: {timing.sentence(error)}; {entrants[0].note}"
        sound = all(each.captured or not each.capture for each in right) or timing.is_sound()
    return entrants, sound


def print_case(entrants):
    for each in entrants:
        if not each.samples:
            say(f"    {each.name:18} {each.verdict}: {each.note}")
        else:
            say(
                f"    {each.name:18} "
                + "  ".join(f"{by} {report.figure(each.us(by)):>7}" for by in report.TIMES)
                + ("" if each.captured else " †")
            )


def facts_of_run(given):
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    try:
        driver = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", Path("/proc/driver/nvidia/version").read_text()).group()
    except (OSError, AttributeError):
        driver = "unknown"

    def version(library, name, text):
        return text if library else f"not measured: {of.missing.get(name, 'not found')}"

    return {
        "device": f"{properties.name}, {properties.multi_processor_count} multiprocessors, driver {driver}",
        "PyTorch": f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}, benchmark on, TF32 off",
        "PyTorch compiled": "`torch.compile`, without the compile time" if of.compiles else "not measured",
        "CuPy": version(of.cupy, "CuPy", getattr(of.cupy, "__version__", "")),
        "NPP": version(of.npp, "NPP", "`nppiFilterBorder_32f_C1R_Ctx`, the image in a frame of zeros"),
        "cuBLAS": version(of.cublas, "cuBLAS", "`cublasSgeam`"),
        "CUB": version(of.peers, "CUB", f"{getattr(of.peers, 'version', '')}, through `bench/cub_peers.cu`"),
        "Numba": version(of.numba_cuda, "Numba", "the original kernels (contender `original`)"),
        "rounds": f"at most {given.rounds}, about {given.seconds} s per case",
        "date": datetime.date.today().isoformat(),
    }


def conclude(path):
    """Writes the page and returns the exit code."""
    rows = report.read(path)
    report.write(path, rows)
    say(f"Written: {path.with_suffix('.md')}, .csv and .svg")
    complaints = report.complaints(rows)
    for complaint in complaints:
        say(complaint)
    return 1 if complaints else 0


def in_processes(given):
    """Runs this program given.processes times and writes the medians; returns the exit code."""
    runs = []
    for number in range(1, given.processes + 1):
        say(f"Process {number} of {given.processes}")
        folder = given.out / f"process_{number}"
        subprocess.call([sys.executable, __file__, *sys.argv[1:], "--processes", "1", "--out", str(folder)])
        runs.append(report.read(folder / "results.csv"))
    rows = report.merged(runs)
    for row in rows:
        if row["op"] == "run" and row["case"] == "rounds":
            row["note"] += f", in each of {given.processes} processes"
    path = given.out / "results.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, report.COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return conclude(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--op", action="append", choices=ops.NAMES, help="only this op; may be repeated")
    parser.add_argument("--case", default="", help="only cases with this text in their name")
    parser.add_argument(
        "--library",
        default="build/bench/bench/libtunesmith_bench.so",
        help="built by the preset bench (default: %(default)s)",
    )
    parser.add_argument("--peers", default="", help="libcub_peers.so (default: the one beside --library)")
    parser.add_argument(
        "--database",
        "--db",
        default="",
        help="a tuned database (default: the winners built into the library)",
    )
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU (default: %(default)s)")
    parser.add_argument("--npp", default="", help="the folder of libnppif.so, if it is not found without")
    parser.add_argument(
        "--rounds", type=int, default=31, help="rounds per case, at most (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.5,
        help="measuring a case stops after so many, but not before 5 rounds (default: %(default)s)",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        help="measure so often, each time in a new process; a kernel's time differs from load to load "
        "(default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, without torch.compile and Numba")
    parser.add_argument("--resume", action="store_true", help="keep the CSV and skip the cases that it has")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("bench/results"),
        help="the folder for results.csv, .md and .svg (default: %(default)s)",
    )
    given = parser.parse_args()
    if given.processes > 1:
        sys.exit(in_processes(given))
    if given.quick:
        given.rounds, given.seconds, of.compiles, of.numba_cuda = 7, 0.1, False, None
        of.missing["Numba"] = "left out by --quick"

    torch.cuda.set_device(given.device)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")  # the CUDA context, first of all
    library = Path(given.library).resolve()
    tunesmith = of.Tunesmith(library, given.database, f"cuda:{given.device}")
    of.npp = of.optional("NPP", lambda: of.find_library("nppif", given.npp))
    of.cublas = of.optional("cuBLAS", of.CuBlas)
    of.peers = of.optional("CUB", lambda: of.Peers(given.peers or library.with_name("libcub_peers.so")))
    for name, why in of.missing.items():
        say(f"{name} is not measured: {why}")

    results = Results(given.out / "results.csv", given.resume)
    if not results.done:
        results.facts(facts_of_run(given))
    for op in given.op or ops.NAMES:
        module = importlib.import_module(f"ops.{op}")
        for case in module.CASES:
            if given.case not in case.name or (op, case.name) in results.done:
                continue
            say(f"{op}: {case.name}")
            try:
                entrants, sound = run_case(op, module, case, tunesmith, given, results.uncaptured)
            except Exception as error:  # in the inputs or in the expected values
                failed = timing.Contender(None, name="Tunesmith", kind="ours", verdict="failed")
                failed.note = f"the case could not be set up: {timing.sentence(error)}"
                entrants, sound = [failed], timing.is_sound()
            results.case(op, case, entrants)
            print_case(entrants)
            if not sound:  # a launch broke the CUDA context
                say("The CUDA context is broken; a new process goes on with the next case.")
                again = [argument for argument in sys.argv[1:] if argument != "--resume"] + ["--resume"]
                sys.exit(subprocess.call([sys.executable, __file__, *again]))
            del entrants
            torch.cuda.empty_cache()
            if of.cupy is not None:
                of.cupy.get_default_memory_pool().free_all_blocks()
    sys.exit(conclude(results.path))


if __name__ == "__main__":
    main()
