# SPDX-License-Identifier: Apache-2.0
"""Tests how bench/kernel_tuner_strategies.py counts, and that the page on searching has the best of its rows. Kernel Tuner is not needed."""

import csv
import math
import re
import sys
import unittest
from pathlib import Path

bench = Path(sys.argv.pop(1))
sys.path.insert(0, str(bench))
import kernel_tuner_strategies as strategies  # noqa: E402


class Counting(unittest.TestCase):
    def test_a_config_counts_once_and_a_failed_one_too(self):
        times = {"a": 4.0, "b": 2.0, "c": 8.0}
        found = strategies.qualities(["failed", "a", "c", "a", "b"], times, 2.0)
        self.assertEqual(found, [0.0, 0.5, 0.5, 1.0])

    def test_a_search_that_ended_keeps_what_it_had(self):
        steps = [0.25] * 30 + [0.5] * 20
        self.assertEqual(strategies.at_marks(steps), [0.25, 0.5, 0.5, 0.5, 0.5, 0.5])
        self.assertEqual(strategies.at_marks([]), [0.0] * 6)


class Page(unittest.TestCase):
    def test_its_row_is_the_best_of_the_rows(self):
        with open(bench / "results/kernel_tuner_convolution.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(all(row["prior"] == "kernel_tuner 1.5.0" for row in rows))
        best = []
        for mark in strategies.MARKS:
            at = [row for row in rows if int(row["verdicts"]) == mark]
            first = max(at, key=lambda row: float(row["mean"]))
            best.append(f"{float(first['mean']):.3f} / {float(first['low']):.2f}")
            self.assertTrue(0 < float(first["error"]) < 0.03 and not math.isnan(float(first["error"])))
        count = len({row["strategy"] for row in rows})
        page = (bench.parent / "docs/searching.md").read_text(encoding="utf-8")
        said = re.search(rf"best of {count} strategies of Kernel Tuner 1.5.0, at each budget \|(.*)\|", page)
        self.assertEqual([one.strip() for one in said[1].split("|")], best)


unittest.main()
