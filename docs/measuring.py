#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measuring.py: measuring.svg from measuring.csv, both beside this file: how times of one binary differ between visits.

A row of the CSV is the median of one visit, launches apart, and what happened since the visit before."""

import csv
import html
import pathlib
import statistics
import textwrap

LEFT, TOP, PANEL, GAP, HEIGHT, MOST = (
    110,
    60,
    300,
    20,
    240,
    6.0,
)  # MOST: percent at the panel's upper and lower edge
COLOURS = ["#1b6ca8", "#777777", "#2e8b57", "#8a5fbf", "#e39c00", "#d1495b"]


def visits(path):
    """{kernel: {what was between: [us]}}"""
    found = {}
    for row in csv.DictReader(open(path, encoding="utf-8")):
        found.setdefault(row["kernel"], {}).setdefault(row["between"], []).append(float(row["median_us"]))
    return found


def panel(left, kernel, groups):
    def y_of(percent):
        return TOP + HEIGHT / 2 * (1 - max(min(percent, MOST), -MOST) / MOST)

    middle = statistics.median(us for group in groups.values() for us in group)
    shapes = [
        f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{html.escape(kernel)}, {middle:.2f} µs</text>'
    ]
    for percent in (-5, -2.5, 0, 2.5, 5):
        shapes.append(
            f'<line x1="{left}" x2="{left + PANEL}" y1="{y_of(percent):.1f}" y2="{y_of(percent):.1f}" stroke="#ddd"/>'
        )
        if left == LEFT:
            shapes.append(
                f'<text x="{left - 8}" y="{y_of(percent) + 4:.1f}" text-anchor="end">{f"{percent:+g}" if percent else 0} %</text>'
            )
    wide = PANEL / len(groups)
    for place, (colour, (between, group)) in enumerate(zip(COLOURS, groups.items(), strict=True)):
        own = statistics.median(group)
        for visit, us in enumerate(group):
            x = left + wide * (place + 0.1 + 0.8 * visit / len(group))
            shapes.append(
                f'<circle cx="{x:.1f}" cy="{y_of(100 * (us / own - 1)):.1f}" r="1.6" fill="{colour}"/>'
            )
        x, y = left + wide * (place + 0.5), TOP + HEIGHT + 14
        for line, words in enumerate(textwrap.wrap(between.replace(" MB", "\u00a0MB"), 9)):
            shapes.append(
                f'<text x="{x:.1f}" y="{y + 12 * line}" text-anchor="middle" fill="{colour}" font-size="10">{html.escape(words)}</text>'
            )
    return shapes


def svg(found):
    width, height = LEFT + len(found) * (PANEL + GAP), TOP + HEIGHT + 50
    shapes = [
        shape
        for place, (kernel, groups) in enumerate(found.items())
        for shape in panel(LEFT + place * (PANEL + GAP), kernel, groups)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="{width}" height="{height}" fill="white"/>\n'
        f'<text x="{LEFT}" y="22" font-weight="bold">60 visits to one binary each, by what came between two of them: '
        "difference from their median</text>\n" + "\n".join(shapes) + "\n</svg>\n"
    )


if __name__ == "__main__":
    page = pathlib.Path(__file__)
    page.with_suffix(".svg").write_text(svg(visits(page.with_suffix(".csv"))), encoding="utf-8")
