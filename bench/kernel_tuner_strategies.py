#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernel_tuner_strategies.py CACHE.json …: what Kernel Tuner's own strategies find on recorded spaces, as `tunesmith replay -o csv` prints it.

Needs the package kernel_tuner (its version is a column) and no GPU: tune_cache() runs a search on a cache file of an exhaustive run, such as those of
the FAIR benchmark hub (github.com/AutoTuningAssociation/benchmark_hub), with Kernel Tuner's default settings of each strategy. A config counts once, in
the order in which the strategy first evaluated it, and one that failed counts too."""

import argparse
import concurrent.futures
import csv
import importlib.metadata
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile
import unittest.mock

MARKS = (20, 40, 80, 100, 160, 320)
NOT_COMPARED = ("brute_force", "nsga2", "nsga3")  # a list of all, and searches for several objectives


def qualities(order, times, best):
    """optimum / best found after each config, for configs in the order in which they were first evaluated."""
    so_far, steps = math.inf, []
    for config in dict.fromkeys(order):
        so_far = min(so_far, times.get(config, math.inf))  # a config that failed has no time
        steps.append(best / so_far)
    return steps


def at_marks(steps):
    """The quality after each number of verdicts; a search that ended earlier keeps what it had."""
    return [steps[min(mark, len(steps)) - 1] if steps else 0.0 for mark in MARKS]


def search(cache, strategy, seed, budget):
    import kernel_tuner
    import numpy
    from kernel_tuner.runners.simulation import SimulationRunner

    order = []  # the results have only configs that did not fail

    class Runner(SimulationRunner):
        def run(self, parameter_space, tuning_options):
            space = list(parameter_space)
            found = super().run(space, tuning_options)
            order.extend(",".join(map(str, config)) for config, one in zip(space, found) if one is not None)
            return found

    recorded = json.loads(pathlib.Path(cache).read_text())["cache"]
    times = {key: row["time"] for key, row in recorded.items() if isinstance(row["time"], (int, float))}
    random.seed(seed)
    numpy.random.seed(seed)
    with unittest.mock.patch("kernel_tuner.runners.simulation.SimulationRunner", Runner):
        kernel_tuner.tune_cache(
            cache, strategy=strategy, strategy_options={"max_fevals": budget}, quiet=True, verbose=False
        )
    if not order:
        raise RuntimeError("no config was evaluated")
    return at_marks(qualities(order, times, min(times.values())))


def rows_of(cache, strategy, repeats, budget, version):
    """The rows of a strategy, or a sentence why there are none."""
    try:
        runs = [search(cache, strategy, 1 + 1000 * n, budget) for n in range(repeats)]
    except Exception as error:  # of a package that is missing, or of a strategy that cannot search this space
        return f"{strategy} was left out: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    size = len(json.loads(pathlib.Path(cache).read_text())["cache"])
    rows = []
    for mark, values in zip(MARKS, zip(*runs)):
        values = sorted(values)
        error = statistics.stdev(values) / math.sqrt(repeats) if repeats > 1 else math.nan
        rows.append(
            {
                "space": pathlib.Path(cache).stem,
                "configs": size,
                "strategy": strategy,
                "prior": f"kernel_tuner {version}",
                "warm_start": 0,
                "lag": 0,
                "verdicts": mark,
                "mean": round(statistics.fmean(values), 6),
                "low": round(values[int(0.05 * len(values))], 6),
                "error": round(error, 6),
            }
        )
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("caches", nargs="+", metavar="CACHE.json")
    parser.add_argument("--strategy", action="append", help="only this one; may be repeated")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="-", help="a file for the rows (default: standard output)")
    given = parser.parse_args()
    from kernel_tuner.interface import strategy_map

    version = importlib.metadata.version("kernel_tuner")
    strategies = given.strategy or [name for name in strategy_map if name not in NOT_COMPARED]
    out = sys.stdout if given.out == "-" else open(given.out, "w", newline="", encoding="utf-8")
    table = None
    # A process each, in a folder of its own, as some strategies keep state and write files.
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        tasks = {}
        for cache in given.caches:
            copy = pathlib.Path(folder) / pathlib.Path(cache).name  # the tuner may write to its cache
            copy.write_bytes(pathlib.Path(cache).read_bytes())
            for name in strategies:
                tasks[pool.submit(rows_of, str(copy), name, given.repeats, max(MARKS), version)] = name
        for task in concurrent.futures.as_completed(tasks):
            found = task.result()
            if isinstance(found, str):
                print(found, file=sys.stderr)
                continue
            if table is None:
                table = csv.DictWriter(out, found[0], lineterminator="\n")
                table.writeheader()
            table.writerows(found)
            out.flush()


if __name__ == "__main__":
    main()
