# SPDX-License-Identifier: Apache-2.0
"""The dependence of times on the choices."""

from __future__ import annotations

import collections
import math
import re
import sqlite3

from .data import Data, count, digits, shorter, values_of
from .page import Page, plain
from .plots import COLOURS, layout, log, plotly

_POINTS = 3000  # in a figure
_AXES = 14


def landscape(page: Page, data: Data) -> None:
    page.section(
        "Landscape",
        "How times depend on the choices, for the problem of each op with the most variants that ran (--problem chooses another).",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    for op in data.ops:
        page.part(op)
        _landscape_of(page, data, op)


def _landscape_of(page: Page, data: Data, op: str) -> None:
    tried = [one for one in data.problems[op] if one["ok"]]
    if not tried:
        page.say("No variant of it was ok.")
        return
    problem = max(tried, key=lambda one: (one["ok"], one["text"]))
    page.note(problem["text"])
    rows = data.rows(
        "SELECT template, config, median_us, is_base FROM results WHERE op = ? AND device = ? AND problem = ? AND verdict = 'ok' "
        "AND is_current AND caches = ? AND launches = ? ORDER BY median_us",
        op,
        data.device,
        problem["text"],
        *data.how[op],
    )
    if len(rows) < 3:
        page.say(f"Only {count(len(rows), 'variant')} ran on this problem: too few to compare.")
        return
    best = rows[0]["median_us"]
    step = math.ceil(len(rows) / _POINTS)
    figures = [
        (
            "All variants by time",
            f"{len(rows):,} variants ran; the slowest takes {rows[-1]['median_us'] / best:.1f} times as long as the fastest."
            + (f" Every {step}th is drawn." if step > 1 else ""),
            _order(rows, step),
            False,
        )
    ]
    # The base has no axes to compare.
    template = next((row for row in rows if not row["is_base"]), rows[0])["template"]
    own = [(row["median_us"], values_of(row["config"])) for row in rows if row["template"] == template]
    cost: dict[str, dict[str, float]] = collections.defaultdict(dict)
    tries: dict[tuple[str, str], int] = collections.Counter()
    for us, axes in own:
        for axis, value in axes.items():
            cost[axis][value] = min(cost[axis].get(value, math.inf), us / best)
            tries[axis, value] += 1
    varied = sorted(
        (axis for axis in cost if len(cost[axis]) > 1), key=lambda axis: -max(cost[axis].values())
    )
    if not varied:
        page.figures(*figures)
        page.say(f"The variants of {template}, the fastest template but the base, do not differ in an axis.")
        return
    choices = _choices(cost, tries, varied[:_AXES])
    figures.append(
        (
            f"What a choice costs, of {template}",
            f"For each value of an axis the best of the {len(own):,} variants with it, where all else is free. In brackets: how many have it. "
            "A ring is a single variant, which says little of the value."
            + (f" The {_AXES} axes of {len(varied)} that cost most." if len(varied) > _AXES else ""),
            choices,
            False,
        )
    )
    if len(varied) > 1:
        heat = _pairs(own, best, cost, *varied[:2])
        # The figure is as tall as the two figures beside it, if its rows can fill that height.
        choices.update_layout(
            height=max(choices.layout.height, min(420 + heat.layout.height, 110 + 90 * len(varied[:_AXES])))
        )
        figures[0] = [
            figures[0],
            (
                "The two axes that cost most",
                "Best time in microseconds of each pair; empty: none was ok or tried.",
                heat,
                False,
            ),
        ]
    page.figures(*figures)


def _order(rows: list[sqlite3.Row], step: int):
    """All variants, the fastest first."""
    order = plotly().Figure()
    for number, template in enumerate(sorted({row["template"] for row in rows})):
        points = [
            (place + 1, row)
            for place, row in enumerate(rows)
            if row["template"] == template and place % step == 0
        ]
        if points:
            order.add_scatter(
                x=[place for place, _ in points],
                y=[row["median_us"] for _, row in points],
                mode="markers",
                name=plain(template),
                marker={"size": 6, "color": COLOURS[number % len(COLOURS)]},
                text=[plain(shorter(row["config"], 100)) for _, row in points],
                hovertemplate="%{y:,.4~r} µs<br>%{text}<extra>%{fullData.name}</extra>",
            )
    base = next((row["median_us"] for row in rows if row["is_base"]), None)
    if base:
        order.add_scatter(
            x=[1, len(rows)],
            y=[base, base],
            mode="lines",
            name="time of the base",
            line={"dash": "dot", "color": COLOURS[6]},
            hoverinfo="skip",
        )
    log(layout(order, "variants, the fastest first", "microseconds per launch"), "y")
    if len(rows) <= 10:
        order.update_xaxes(dtick=1)  # there is no variant 1.5
    return order


def _choices(cost: dict[str, dict[str, float]], tries: dict[tuple[str, str], int], shown: list[str]):
    """The best time with each value of each axis, and the number of variants that have it."""
    choices = plotly().Figure()
    points = [
        (axis, value, ratio)
        for axis in shown
        for value, ratio in sorted(cost[axis].items(), key=lambda item: item[1])
    ]
    most = math.log(max(ratio for _, _, ratio in points)) or 0.01
    labels: list[str] = []
    first = 0
    # Values that lie close to each other have one label.
    for place, (axis, value, ratio) in enumerate(points):
        if (
            place
            and points[first][0] == axis
            and math.log(ratio / points[first][2]) < most * (0.04 + 0.018 * len(labels[first]))
        ):
            labels[first] += f", {value} ({tries[axis, value]})"
            labels.append("")
        else:
            first = place
            labels.append(f"{value} ({tries[axis, value]})")
    choices.add_scatter(
        x=[ratio for _, _, ratio in points],
        y=[axis for axis, _, _ in points],
        mode="markers+text",
        customdata=[plain(value) for _, value, _ in points],
        text=[plain(shorter(label, 34)) for label in labels],
        hovertext=[count(tries[axis, value], "variant") for axis, value, _ in points],
        textposition="top right",
        cliponaxis=False,
        textfont={"size": 10},
        marker={
            "size": 9,
            "symbol": ["circle-open" if tries[axis, value] == 1 else "circle" for axis, value, _ in points],
            "color": [ratio for _, _, ratio in points],
            "colorscale": [[0, COLOURS[2]], [0.5, COLOURS[0]], [1, COLOURS[3]]],
        },
        hovertemplate="%{y}=%{customdata}: %{x:.3f} of the best time, the best of %{hovertext}<extra></extra>",
    )
    layout(
        choices, "best time with this value / best of all", "", height=110 + 46 * len(shown), legend=False
    ).update_yaxes(autorange="reversed")
    log(choices, "x")
    choices.update_xaxes(range=[-0.02 * most / math.log(10), 1.2 * most / math.log(10)])
    return choices


def _pairs(own: list, best: float, cost: dict[str, dict[str, float]], one: str, two: str):
    """The best time with each pair of values of two axes."""
    go = plotly()
    across, down = (sorted(cost[axis], key=_in_order) for axis in (one, two))
    grid: dict[tuple[str, str], float] = {}
    for us, axes in own:
        at = (axes.get(two, ""), axes.get(one, ""))
        grid[at] = min(grid.get(at, math.inf), us)
    cells = [[grid.get((y, x)) for x in across] for y in down]
    heat = go.Figure(
        go.Heatmap(
            z=[[None if cell is None else math.log10(cell / best) for cell in line] for line in cells],
            x=list(map(plain, across)),
            y=list(map(plain, down)),
            text=[["" if cell is None else digits(cell) for cell in line] for line in cells],
            texttemplate="%{text}",
            textfont={"color": "#101418"},
            colorscale=[[0, "#5fc9a0"], [0.5, "#f2d06b"], [1, "#ee8a5b"]],
            showscale=False,
            xgap=2,
            ygap=2,
            hoverongaps=False,
            hovertemplate=f"{plain(one)}=%{{x}} {plain(two)}=%{{y}}: %{{text}} µs<extra></extra>",
        )
    )
    layout(heat, plain(one), plain(two), legend=False, height=max(240, 110 + 44 * len(down)))
    heat.update_xaxes(type="category", showgrid=False).update_yaxes(type="category", showgrid=False)
    return heat


def _in_order(value: str) -> tuple[int, float, str]:
    return (0, float(value), "") if re.fullmatch(r"\d+", value) else (1, 0.0, value)
