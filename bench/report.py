#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measurements of bench.py as a page with tables and goals, and a picture of the ratios:
`report.py results.csv [more.csv ...]` writes results.md and results.svg beside the first file. Where several files have
the same case, the last file's rows are taken. `report.py --by-op by_op.svg results.csv [more.csv ...]` draws one bar per op of
each file, and of products.csv, which products.py writes, one per type."""

import csv
import html
import math
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

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
DRAWN = {
    "permute60": "drawn permutations"
}  # cases that pictures show as one bar, by the first word of their names
TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}


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


def ratios(rows):
    """(op, case, peer, the best peer's time / Tunesmith's) of each case with both."""
    for op, named in cases(rows).items():
        for case in named.values():
            best = next(iter(case.timed("peer")), None)
            if best and case.us(OURS):
                yield op, case.name, best[1], best[0] / case.us(OURS)


def device(rows):
    return next((row["note"].split(",")[0] for row in rows if row["case"] == "device"), "an unknown GPU")


class Bar(NamedTuple):
    name: str
    ratio: float
    words: str
    colour: str
    ends: tuple = ()  # the least and the largest ratio of what it stands for


def bars(title, groups):
    """A picture of (heading, bars) of ratios. A bar begins at 1, where both are equally fast, on a logarithmic axis."""
    thick, top = 16, 46
    every = [bar for _, of_group in groups for bar in of_group]
    right = max([160] + [20 + 6 * len(bar.words) for bar in every])
    found = [ratio for bar in every for ratio in (bar.ratio, *bar.ends)]
    least, most = min([1.0, *found]), max([2.0, *found])
    left = max([200] + [20 + 7 * len(bar.name) for bar in every])  # of the names
    width = left + 490 + right
    scale = (width - left - right) / math.log2(most / least)
    bottom = top + 26 + sum((18 if heading else 6) + thick * len(of_group) for heading, of_group in groups)

    def x_of(ratio):
        return left + scale * math.log2(ratio / least)

    shapes = []
    for power in range(math.ceil(math.log2(least) - 1e-9), math.floor(math.log2(most) + 1e-9) + 1):
        x, dashes = x_of(2.0**power), "" if power == 0 else ' stroke-dasharray="2 3"'
        shapes.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom - 22}" stroke="{"#333" if power == 0 else "#bbb"}"{dashes}/>'
        )
        shapes.append(
            f'<text x="{x:.1f}" y="{bottom - 8}" text-anchor="middle" font-size="10">{2.0**power:g}×</text>'
        )
    y = top
    for heading, of_group in groups:
        y += 18 if heading else 6
        if heading:
            shapes.append(
                f'<text x="{left - 10}" y="{y - 4}" text-anchor="end" font-weight="bold">{html.escape(heading)}</text>'
            )
        for bar in of_group:
            one, other = sorted((x_of(1), x_of(bar.ratio)))
            shapes.append(
                f'<text x="{left - 10}" y="{y + 11}" text-anchor="end">{html.escape(bar.name)}</text>'
            )
            shapes.append(
                f'<rect x="{one:.1f}" y="{y}" width="{max(other - one, 0.5):.1f}" height="{thick - 3}" fill="{bar.colour}"/>'
            )
            if bar.ends:
                a, b = map(x_of, bar.ends)
                shapes.append(
                    f'<path d="M{a:.1f} {y + 3}v7m0 -3.5H{b:.1f}m0 -3.5v7" fill="none" stroke="#333"/>'
                )
            shapes.append(
                f'<text x="{max(other, *map(x_of, bar.ends or (1.0,))) + 5:.1f}" y="{y + 10}" font-size="10">{html.escape(bar.words)}</text>'
            )
            y += thick
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{bottom}" fill="white"/>\n'
        f'<text x="20" y="20" font-weight="bold">{html.escape(title[0])}</text>\n'
        f'<text x="20" y="36" font-size="11" fill="#444">{html.escape(title[1])}</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def series_of(name):
    return DRAWN.get(name.split()[0])


def mean_bar(name, found, colour):
    """A bar of the geometric mean of some ratios, with a line from the least to the largest."""
    mean, least, most = statistics.geometric_mean(found), min(found), max(found)
    words = f"{mean:.2f}× ({least:.2f} to {most:.3g}), {len(found)} case{'s' if len(found) > 1 else ''}"
    return Bar(name, mean, words, colour, (least, most))


def products(path):
    """The bars of products.csv: the newest ratio of each product and layer, by kind and type."""
    newest = defaultdict(dict)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kind = "products" if re.match(r"\d|batch", row["problem"]) else "layers"
            if (
                row["variant"] == "choice, chained"
                and row["dtype"] in TYPES
                and not row["problem"].startswith("causal")
            ):
                newest[kind, row["dtype"]][row["problem"]] = float(row["peer_us"]) / float(row["us"])
    return [
        mean_bar(f"{kind}, {TYPES[dtype]}", newest[kind, dtype].values(), "#1b6ca8")
        for kind in ("products", "layers")
        for dtype in TYPES
        if (kind, dtype) in newest
    ]


def svg(rows):
    """One bar per case: its best peer's time divided by Tunesmith's; one of all cases that are drawn by a seed."""
    groups, drawn = defaultdict(list), defaultdict(list)
    for op, name, peer, ratio in ratios(rows):
        if series_of(name):
            drawn[op, series_of(name)].append(ratio)
        else:
            groups[op].append(Bar(name, ratio, f"{ratio:.2f}× {peer}", COLOURS.get(peer, OTHER)))
    for (op, name), of_series in drawn.items():
        groups[op].append(mean_bar(name, of_series, OTHER))
    return bars(
        (
            f"How many times as fast as the fastest other library, {device(rows)}",
            "GPU time per launch: time of the best peer / time of Tunesmith, logarithmic; bars begin at 1, equally fast",
        ),
        list(groups.items()),
    )


def by_op(files, of_products=()):
    """One bar per op, the geometric mean of its cases, with a line from the least to the largest; `files`: the rows of each;
    `of_products`: the bars of products(), which are a group of their own."""
    groups = []
    for rows in files:
        untuned = any(row["op"] == "run" and row["case"] == OURS for row in rows)
        found = defaultdict(list)
        for op, name, _, ratio in ratios(rows):
            found[series_of(name) or op].append(ratio)
        colour = "#7fa8c9" if untuned else "#1b6ca8"
        groups.append(
            ("untuned" if untuned else "tuned", [mean_bar(op, of_op, colour) for op, of_op in found.items()])
        )
    if of_products:
        groups.append(("tensor, chosen by its table", list(of_products)))
    return bars(
        (
            f"How many times as fast as the fastest other library, {device(files[0])}",
            "GPU time per launch: geometric mean over an op's cases, and a line from the least to the largest; logarithmic, bars begin at 1",
        ),
        groups,
    )


def write(path, rows):
    """results.md and results.svg beside the CSV."""
    picture = path.with_suffix(".svg")
    picture.write_text(svg(rows), encoding="utf-8")
    path.with_suffix(".md").write_text(markdown(rows, picture.name), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--by-op":
        of_products = [one for one in sys.argv[3:] if Path(one).name == "products.csv"]
        files = [read(one) for one in sys.argv[3:] if one not in of_products]
        Path(sys.argv[2]).write_text(
            by_op(files, [bar for one in of_products for bar in products(one)]), encoding="utf-8"
        )
        sys.exit()
    write(Path(sys.argv[1]), read(*sys.argv[1:]))
