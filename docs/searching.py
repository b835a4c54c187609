#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""searching.py: searching.svg from searching.csv, both beside this file: optimum / best found after so many verdicts on Kernel Tuner's
convolution, a recorded space of 4,362 configs. A row has the mean over repeats and the 5th percentile, as `tunesmith replay` prints them;
those of Kernel Tuner are of its own strategies on the same recording, the best one at each budget."""

import csv
import html
import math
import pathlib

COLOURS = ["#e39c00", "#1b6ca8", "#d1495b", "#8a5fbf", "#2e8b57", "#777777"]
LEFT, TOP, WIDTH, HEIGHT = 60, 50, 560, 300
LOWEST, FIRST, LAST = 0.6, 20, 320


def lines(path):
    """{strategy: {verdicts: mean}}, the best after 80 verdicts first"""
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["strategy"], {})[int(row["verdicts"])] = float(row["mean"])
    return dict(sorted(found.items(), key=lambda one: -one[1][80]))


def svg(found):
    def x_of(verdicts):
        return LEFT + WIDTH * math.log(verdicts / FIRST) / math.log(LAST / FIRST)

    def y_of(quality):
        return TOP + HEIGHT * (1 - max(quality - LOWEST, 0) / (1 - LOWEST))

    shapes = []
    for quality in (0.6, 0.7, 0.8, 0.9, 1.0):
        y = y_of(quality)
        shapes.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        shapes.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{quality:.1f}</text>')
    for verdicts in (20, 40, 80, 160, 320):
        shapes.append(
            f'<text x="{x_of(verdicts):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{verdicts}</text>'
        )
    shapes.append(
        f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">verdicts: variants that were tried, failed ones too</text>'
    )
    tall = 18 * len(found) + 8
    shapes.append(
        f'<rect x="{LEFT + WIDTH - 320}" y="{TOP + HEIGHT - tall - 6}" width="314" height="{tall}" fill="white" stroke="#ddd"/>'
    )
    for place, (colour, (name, points)) in enumerate(zip(COLOURS, found.items(), strict=True)):
        dashes = ' stroke-dasharray="6 4"' if "Kernel Tuner" in name else ""
        path = " ".join(f"{x_of(at):.1f},{y_of(quality):.1f}" for at, quality in sorted(points.items()))
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        y = TOP + HEIGHT - tall + 12 + 18 * place
        shapes.append(
            f'<line x1="{LEFT + WIDTH - 312}" x2="{LEFT + WIDTH - 280}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dashes}/>'
        )
        shapes.append(f'<text x="{LEFT + WIDTH - 272}" y="{y}" fill="{colour}">{html.escape(name)}</text>')
    width, height = LEFT + WIDTH + 20, TOP + HEIGHT + 50
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
        f'<text x="{LEFT}" y="18" font-weight="bold">Optimum / best found</text>\n'
        f'<text x="{LEFT}" y="34" fill="#444">Kernel Tuner\'s convolution on an RTX A6000, 4,362 configs; means over repeats</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    page = pathlib.Path(__file__)
    page.with_suffix(".svg").write_text(svg(lines(page.with_suffix(".csv"))), encoding="utf-8")
