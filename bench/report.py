#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measurements of bench.py as a page with tables and goals, and a picture of the ratios:
`report.py results.csv [more.csv ...]` writes results.md and results.svg beside the first file. Where several files have
the same case, the last file's rows are taken."""

import csv
import html
import math
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

COLUMNS = [
    "op",
    "case",
    "problem",
    "goals",
    "contender",
    "kind",
    "verdict",
    "apart_us",
    "chained_us",
    "cold_us",
    "spread",
    "graph_launches",
    "rounds",
    "max_error",
    "note",
]
TIMES = ["apart", "chained", "cold"]
OURS = "Tunesmith"
TIE = 1.01  # differences under 1 % are ties
COLOURS = {
    "PyTorch": "#ee4c2c",
    "PyTorch compiled": "#f7a58f",
    "PyTorch depthwise": "#c23b1f",
    "CuPy": "#2f7ed8",
    "CuPy FFT": "#9cc3f0",
    "CuPy kernel": "#5a9be0",
    "NPP": "#76b900",
    "cuBLAS geam": "#3f7000",
    "CUB": "#a4d233",
}
OTHER = "#888888"


def figure(us):
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def read(*paths):
    found = {}  # (op, case) -> rows
    for path in paths:
        of_path = defaultdict(list)
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                of_path[row["op"], row["note"] if row["op"] == "run" else row["case"]].append(row)
        found.update(of_path)
    return [row for rows in found.values() for row in rows]


def merged(runs):
    """Merges the rows of several processes that measured the same case: the median of each time, and how far the
    processes are apart. If their verdicts differ, the worse one counts."""
    found = {}
    for rows in runs:
        for row in rows:
            found.setdefault(
                (row["op"], row["case"], row["contender"], row["note"] if row["op"] == "run" else ""), []
            ).append(row)
    together = []
    for rows in found.values():
        row = dict(next((row for row in rows if row["verdict"] != "ok"), rows[0]))
        if row["verdict"] == "ok" and all(row["apart_us"] for row in rows):
            for by in TIMES:
                row[by + "_us"] = f"{statistics.median(float(each[by + '_us']) for each in rows):.3f}"
            apart = [float(each["apart_us"]) for each in rows]
            row["spread"] = f"{max(apart) / min(apart) - 1:.3f}" if len(rows) > 1 and min(apart) > 0 else ""
            row["rounds"] = str(sum(int(each["rounds"]) for each in rows))
        together.append(row)
    return together


class Case:
    """The rows of one case."""

    def __init__(self, rows):
        self.rows = {row["contender"]: row for row in rows}
        first = rows[0]
        self.op, self.name, self.goals = first["op"], first["case"], first["goals"]
        self.by = self.goals.split()[0] if self.goals else "apart"  # the time that the case is compared by

    def us(self, contender, by=None):
        row = self.rows.get(contender)
        text = row[(by or self.by) + "_us"] if row and row["verdict"] == "ok" else ""
        return float(text) if text else None

    def timed(self, kind, by=None):
        """(us, name) of each contender of that kind, fastest first."""
        names = [name for name, row in self.rows.items() if row["kind"] == kind]
        return sorted((self.us(name, by), name) for name in names if self.us(name, by) is not None)


def cases(rows):
    """op -> its cases, in the order of the rows."""
    found = defaultdict(dict)
    for row in rows:
        if row["op"] != "run":
            found[row["op"]].setdefault(row["case"], []).append(row)
    return {op: {name: Case(of_case) for name, of_case in named.items()} for op, named in found.items()}


def judged(case, others):
    """(goal, met, the value reached) of each goal; met is None if a time is missing. `others`: the op's cases."""
    found = []
    for goal in filter(None, (part.strip() for part in case.goals.split(";"))):
        by, factor, of = re.fullmatch(r"(apart|chained|cold) <= ([\d.]+) (.+)", goal).groups()
        shown = f"{by} ≤ {factor} µs" if of == "us" else f"{by} ≤ {factor} × {of}"
        ours, yardstick = case.us(OURS, by), None
        if of == "us":
            yardstick = 1.0
        elif of == "best peer":
            yardstick = next((us for us, _ in case.timed("peer", by)), None)
        elif of.startswith(f"{OURS} at "):
            other = others.get(of.removeprefix(f"{OURS} at "))
            yardstick = other.us(OURS, by) if other else None
        else:
            yardstick = case.us(of, by)
        if ours is None or yardstick is None:
            found.append((shown, None, ""))
        else:
            ratio = ours / yardstick
            reached = figure(ours) if of == "us" else f"{ratio:.2f}"
            found.append((shown, ratio <= float(factor) * TIE, reached))
    return found


def complaints(rows):
    """A sentence for each case where Tunesmith is wrong, was not timed or missed a goal."""
    found = []
    for op, named in cases(rows).items():
        for case in named.values():
            ours = case.rows.get(OURS)
            if ours is None or ours["verdict"] != "ok":
                found.append(
                    f"{op}, {case.name}: {OURS} {ours['verdict'] if ours else 'is missing'}: "
                    f"{ours['note'] if ours else ''}"
                )
            elif case.us(OURS) is None:
                found.append(f"{op}, {case.name}: {OURS} was not timed: {ours['note']}")
            for goal, met, reached in judged(case, named):
                if met is False:
                    found.append(f"{op}, {case.name}: goal missed: {goal}: {reached}")
    return found


def dagger(row):
    return " †" if row["graph_launches"] == "0" else ""


def cell(case, name):
    row = case.rows.get(name)
    if row is None:
        return "–"
    if row["verdict"] != "ok":
        return f"**{row['verdict']}**"
    if not row["apart_us"]:
        return "not timed"
    return " / ".join(figure(float(row[by + "_us"])) for by in TIMES) + dagger(row)


def against(case, us, name):
    """Two cells: the contender with its time, and Tunesmith's time divided by it."""
    ours = case.us(OURS)
    return f"{name} {figure(us)} | " + (f"{ours / us:.2f}" if ours else "–")


def summary(named):
    lines = [
        "| case | compared | Tunesmith apart | chained | cold | best peer | ratio | limit | ratio | goals |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for case in named.values():
        times = [
            figure(case.us(OURS, by))
            if case.us(OURS, by)
            else case.rows[OURS]["verdict"]
            if OURS in case.rows
            else "–"
            for by in TIMES
        ]
        best = next((against(case, *found) for found in case.timed("peer")), "– | –")
        limit = next((against(case, *found) for found in reversed(case.timed("limit"))), "– | –")
        marks = {True: "yes", False: "**no**", None: "?"}
        goals = "<br>".join(
            f"{goal}: {marks[met]}{f' ({reached})' if reached else ''}"
            for goal, met, reached in judged(case, named)
        )
        lines.append(f"| {case.name} | {case.by} | {' | '.join(times)} | {best} | {limit} | {goals} |")
    return lines


def all_contenders(named):
    names = list(dict.fromkeys(name for case in named.values() for name in case.rows))
    lines = ["| case | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for case in named.values():
        lines.append(f"| {case.name} | " + " | ".join(cell(case, name) for name in names) + " |")
    return lines


def markdown(rows, picture):
    lines = [
        "# Results",
        "",
        "Written by `bench/bench.py`; do not edit. Times are microseconds of GPU time per launch: the median over",
        "rounds in which all contenders take turns. *apart* (isolated): between ordinary kernels, as in an application:",
        "a graph of pairs of a kernel of one block and the contender, minus a graph of those kernels alone. *chained*",
        "(back to back): the time that each further launch adds to a graph of launches. *cold*: as apart, but the kernel",
        "before it overwrites the L2 cache. The column *compared* says which time counts for a case. Every output was",
        "checked against a computation in double precision before anything was timed; contenders with wrong results",
        "are excluded. A ratio is Tunesmith's time divided by the other's: below 1, Tunesmith is faster. The limit is",
        "the slowest of the unavoidable costs (copy, arithmetic, empty launch), measured in the same way. A goal counts as met",
        "up to 1 % above it, since smaller differences are ties. [Measuring](../../docs/measuring.md) has the definitions.",
        "*original* is the Numba kernel that the op replaces.",
        "",
    ]
    facts = defaultdict(list)
    for row in rows:
        if row["op"] == "run" and row["note"] not in facts[row["case"]]:
            facts[row["case"]].append(row["note"])
    lines += [f"- {key}: {'; '.join(values)}" for key, values in facts.items()]
    lines += ["", f"![The best peer's time divided by Tunesmith's, for each case]({picture})"]
    for op, named in cases(rows).items():
        lines += ["", f"## {op}", ""] + summary(named)
        lines += ["", "All contenders, apart / chained / cold:", ""] + all_contenders(named)
        lines += ["", "What Tunesmith launched:", "", "| case | match and variant |", "| --- | --- |"]
        lines += [
            f"| {case.name} | `{case.rows[OURS]['note']}` |" for case in named.values() if OURS in case.rows
        ]
        lines += [
            "",
            *(
                f"- {case.name}: {name} {row['verdict']}: {row['note']}"
                for case in named.values()
                for name, row in case.rows.items()
                if row["verdict"] != "ok" and name != OURS
            ),
        ]
    if any(row["op"] != "run" and row["apart_us"] and dagger(row) for row in rows):
        lines += [
            "",
            "† cannot be captured into a graph: launched in a stream, so the time includes overhead.",
        ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def svg(rows):
    """One bar per case: its best peer's time divided by Tunesmith's, on a logarithmic axis that begins at 0.5."""
    right, bar, top = 160, 16, 50
    shown = []  # op, case, peer, ratio
    for op, named in cases(rows).items():
        for case in named.values():
            best = next(iter(case.timed("peer")), None)
            if best and case.us(OURS):
                shown.append((op, case.name, best[1], best[0] / case.us(OURS)))
    left = max([250] + [20 + 7 * len(name) for _, name, *_ in shown])  # of the names
    width = left + 650
    scale = (width - left - right) / math.log2(max([ratio for *_, ratio in shown] + [2.0]) / 0.5)

    def x_of(ratio):
        return left + scale * math.log2(max(ratio, 0.5) / 0.5)

    shapes, y, last = [], top, None
    for op, name, peer, ratio in shown:
        if op != last:
            y += 18
            shapes.append(
                f'<text x="{left - 10}" y="{y - 4}" text-anchor="end" font-weight="bold">{op}</text>'
            )
            last = op
        end = x_of(ratio)
        shapes.append(f'<text x="{left - 10}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>')
        shapes.append(
            f'<rect x="{left}" y="{y}" width="{end - left:.1f}" height="{bar - 3}" '
            f'fill="{COLOURS.get(peer, OTHER)}"/>'
        )
        shapes.append(
            f'<text x="{end + 4:.1f}" y="{y + 10}" font-size="10">{ratio:.2f}× {html.escape(peer)}</text>'
        )
        y += bar
    one = x_of(1)
    shapes.append(
        f'<line x1="{one:.1f}" y1="{top}" x2="{one:.1f}" y2="{y}" stroke="black" stroke-dasharray="3 3"/>'
    )
    y += 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{y}" fill="white"/>\n'
        f'<text x="{left}" y="18" font-weight="bold">Time of the best peer / time of Tunesmith (logarithmic)</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def write(path, rows):
    """results.md and results.svg beside the CSV."""
    picture = path.with_suffix(".svg")
    picture.write_text(svg(rows), encoding="utf-8")
    path.with_suffix(".md").write_text(markdown(rows, picture.name), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]), read(*sys.argv[1:]))
