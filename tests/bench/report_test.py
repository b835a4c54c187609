# SPDX-License-Identifier: Apache-2.0
"""Tests how bench/report.py judges and shows measurements, on made-up rows."""

import csv
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import report

GOALS = "apart <= 1 CUB; cold <= 1.05 copy; apart <= 2.5 us; apart <= 1.05 best peer"


def row(contender, kind, apart, cold, verdict="ok", case="a", goals=GOALS, graph=20, note=""):
    values = [
        "sum",
        case,
        "n=1",
        goals,
        contender,
        kind,
        verdict,
        apart,
        apart,
        cold,
        "",
        graph,
        9,
        "0.1",
        note,
    ]
    return dict(zip(report.COLUMNS, map(str, values), strict=True))


def rows(ours=2.0, cub=2.5, wrong="ok", **more):
    return [
        row("Tunesmith", "ours", ours, 10.0, **more),
        row("CUB", "peer", cub, 12.0, **more),
        row("PyTorch", "peer", 1.0, 1.0, verdict=wrong, note="why", **more),
        row("copy", "limit", 1.6, 9.6, **more),
        row("empty kernel", "limit", 0.8, 2.0, **more),
    ]


def judged(of_rows):
    named = report.cases(of_rows)["sum"]
    return {goal: (met, reached) for goal, met, reached in report.judged(named["a"], named)}


class Report(unittest.TestCase):
    def test_goals(self):
        self.assertEqual(
            judged(rows(wrong="wrong")),
            {
                "apart ≤ 1 × CUB": (True, "0.80"),
                "cold ≤ 1.05 × copy": (True, "1.04"),
                "apart ≤ 2.5 µs": (True, "2.00"),
                "apart ≤ 1.05 × best peer": (True, "0.80"),
            },
        )
        self.assertEqual(
            judged(rows())["apart ≤ 1.05 × best peer"], (False, "2.00")
        )  # PyTorch, now that it is right

    def test_a_tie_is_met(self):
        self.assertTrue(judged(rows(ours=2.52))["apart ≤ 1 × CUB"][0])
        self.assertFalse(judged(rows(ours=2.54))["apart ≤ 1 × CUB"][0])

    def test_what_was_not_measured_is_neither_met_nor_missed(self):
        self.assertEqual(
            judged([each for each in rows() if each["contender"] != "CUB"])["apart ≤ 1 × CUB"], (None, "")
        )
        self.assertEqual(judged(rows(cub=""))["apart ≤ 1 × CUB"], (None, ""))

    def test_another_case_as_the_yardstick(self):
        both = rows(goals="apart <= 1.3 Tunesmith at b") + rows(ours=1.5, case="b", goals="apart <= 9 us")
        self.assertEqual(judged(both), {"apart ≤ 1.3 × Tunesmith at b": (False, "1.33")})

    def test_complaints(self):
        self.assertEqual(report.complaints(rows(wrong="failed")), [])
        self.assertEqual(
            report.complaints(rows(ours=2.6, wrong="failed")),
            ["sum, a: goal missed: apart ≤ 1 × CUB: 1.04", "sum, a: goal missed: apart ≤ 2.5 µs: 2.60"],
        )
        wrong = [row("Tunesmith", "ours", "", "", verdict="wrong", note="3 elements differ")] + rows()[1:]
        self.assertEqual(report.complaints(wrong), ["sum, a: Tunesmith wrong: 3 elements differ"])
        self.assertEqual(len(report.complaints(rows()[1:])), 1)

    def test_page(self):
        run = dict.fromkeys(report.COLUMNS, "") | {"op": "run", "case": "device", "note": "a GPU"}
        of_rows = [run, *rows(wrong="wrong"), *rows(case="b", graph=0, goals="cold <= 2 copy")]
        page = report.markdown(of_rows, "results.svg")
        self.assertIn("- device: a GPU\n", page)
        self.assertIn(
            "| a | apart | 2.00 | 2.00 | 10.0 | CUB 2.50 | 0.80 | copy 1.60 | 1.25 | "
            "apart ≤ 1 × CUB: yes (0.80)<",
            page,
        )
        self.assertIn(
            "| b | cold | 2.00 | 2.00 | 10.0 | PyTorch 1.00 | 10.00 | copy 9.60 | 1.04 | "
            "cold ≤ 2 × copy: yes",
            page,
        )
        self.assertIn(
            "| a | 2.00 / 2.00 / 10.0 | 2.50 / 2.50 / 12.0 | **wrong** | 1.60 / 1.60 / 9.60 |", page
        )
        self.assertIn("| b | 2.00 / 2.00 / 10.0 † |", page)
        self.assertIn("\n\n- a: PyTorch wrong: why\n", page)
        picture = report.svg(of_rows)
        xml.etree.ElementTree.fromstring(picture)
        self.assertIn("1.25× CUB", picture)
        # A bar is drawn from 1 to its ratio: one that is twice as fast, and one that is half as fast, are equally long.
        both = report.svg(rows(ours=1.25, wrong="wrong") + rows(ours=5.0, case="b", wrong="wrong"))
        fast, slow = (
            tuple(map(float, one)) for one in re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', both)
        )
        self.assertAlmostEqual(fast[1], slow[1], delta=0.2)
        self.assertAlmostEqual(slow[0] + slow[1], fast[0], delta=0.2)

    def test_a_bar_per_op(self):
        tuned, untuned = rows(ours=1.25, wrong="wrong"), rows(ours=5.0, wrong="wrong")
        run = dict.fromkeys(report.COLUMNS, "") | {
            "op": "run",
            "case": "Tunesmith",
            "note": "nothing was tuned",
        }
        picture = report.by_op([tuned, [run, *untuned]])
        xml.etree.ElementTree.fromstring(picture)
        for words in ("2.00× (2.00 to 2), 1 case", "0.50× (0.50 to 0.5), 1 case", ">tuned<", ">untuned<"):
            self.assertIn(words, picture)

    def test_products_and_drawn_cases_have_a_bar_together(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "products.csv"
            lines = [
                '8x8x8,f32,"choice, chained",4,PyTorch,2,a',
                '8x8x8,f32,"choice, chained",2,PyTorch,4,b',  # the newest counts
                '9x9x9,f32,"choice, chained",1,PyTorch,8,b',
                "9x9x9,f32,first guess,1,PyTorch,800,b",
                'NHWC 1x2x3x3 to 4 3x3,bf16,"choice, chained",1,PyTorch,3,b',
            ]
            path.write_text(
                "problem,dtype,variant,us,peer,peer_us,commit\n" + "\n".join(lines) + "\n", encoding="utf-8"
            )
            found = [(bar.name, round(bar.ratio, 6), bar.ends) for bar in report.products(path)]
            self.assertEqual(found, [("products, float32", 4, (2, 8)), ("layers, bfloat16", 3, (3, 3))])
            self.assertIn(">layers, bfloat16<", report.by_op([rows()], report.products(path)))
        drawn = [*rows(ours=0.5, case="permute60 a"), *rows(ours=2.0, case="permute60 b")]
        self.assertIn(">1.00× (0.50 to 2), 2 cases<", report.svg(drawn))
        self.assertIn(">drawn permutations<", report.by_op([drawn]))

    def test_processes(self):
        one, two, three = (rows(ours=us) for us in (2.0, 2.2, 2.1))
        together = report.merged([one, two, three])
        ours = together[0]
        self.assertEqual((ours["apart_us"], ours["spread"], ours["rounds"]), ("2.100", "0.100", "27"))
        self.assertEqual(len(together), len(one))
        three[0]["verdict"], three[0]["note"] = "wrong", "3 elements differ"
        self.assertEqual(report.merged([one, two, three])[0]["note"], "3 elements differ")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("results.csv", "more.csv")]
            for path, of_rows in zip(paths, (rows() + rows(case="b"), rows(ours=1.0)[:2]), strict=True):
                with open(path, "w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, report.COLUMNS)
                    writer.writeheader()
                    writer.writerows(of_rows)
            self.assertEqual(report.read(paths[0]), rows() + rows(case="b"))
            # The later file's rows of a case replace all rows of the earlier file.
            self.assertEqual(report.read(*paths), rows(ours=1.0)[:2] + rows(case="b"))
            report.write(paths[0], report.read(*paths))
            self.assertIn("| a | apart | 1.00 |", paths[0].with_suffix(".md").read_text(encoding="utf-8"))
            self.assertTrue(paths[0].with_suffix(".svg").exists())


if __name__ == "__main__":
    unittest.main()
