#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""searching.py replay.csv …: searching.svg beside this file, from the output of `tunesmith replay -o csv`.

Each file is one line: optimum / best found after so many verdicts, averaged over its spaces; a strategy is a line too."""

import csv
import math
import pathlib
import sys

COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#8a5fbf", "#e39c00", "#777777"]
LEFT, TOP, WIDTH, HEIGHT = 60, 40, 560, 300
LOWEST, FIRST, LAST = 0.6, 20, 320


def lines(paths):
    """{name: {verdicts: mean over spaces}}"""
    found = {}
    for path in paths:
        for row in csv.DictReader(open(path, encoding="utf-8")):
            name = f"{row['strategy']}, prior {row['prior']}" + (
                ", warm start" if row["warm_start"] == "1" else ""
            )
            if row["strategy"] in ("random", "genetic", "neighbours"):
                name = row["strategy"]
            found.setdefault(name, {}).setdefault(int(float(row["verdicts"])), []).append(float(row["mean"]))
    return {
        name: {at: sum(values) / len(values) for at, values in points.items()}
        for name, points in found.items()
    }


def svg(found):
    def x_of(verdicts):
        return LEFT + WIDTH * math.log(verdicts / FIRST) / math.log(LAST / FIRST)

    def y_of(quality):
        return TOP + HEIGHT * (1 - max(quality - LOWEST, 0) / (1 - LOWEST))

    shapes = []
    for quality in (0.6, 0.7, 0.8, 0.9, 1.0):
        shapes.append(
            f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y_of(quality):.1f}" y2="{y_of(quality):.1f}" stroke="#ddd"/>'
        )
        shapes.append(
            f'<text x="{LEFT - 8}" y="{y_of(quality) + 4:.1f}" text-anchor="end">{quality:.1f}</text>'
        )
    for verdicts in (20, 40, 80, 160, 320):
        shapes.append(
            f'<text x="{x_of(verdicts):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{verdicts}</text>'
        )
    for colour, points in zip(COLOURS, found.values()):
        path = " ".join(
            f"{x_of(at):.1f},{y_of(quality):.1f}"
            for at, quality in sorted(points.items())
            if FIRST <= at <= LAST
        )
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for place, (colour, name) in enumerate(zip(COLOURS, found)):
        y = TOP + HEIGHT - 18 * (len(found) - place)
        shapes.append(f'<text x="{LEFT + WIDTH - 8}" y="{y}" text-anchor="end" fill="{colour}">{name}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 40}" '
        'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{LEFT + WIDTH + 20}" height="{TOP + HEIGHT + 40}" fill="white"/>\n'
        f'<text x="{LEFT}" y="20" font-weight="bold">Optimum / best found, by the number of verdicts</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    pathlib.Path(__file__).with_suffix(".svg").write_text(svg(lines(sys.argv[1:])), encoding="utf-8")
