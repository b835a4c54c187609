# SPDX-License-Identifier: Apache-2.0
"""Variants than which no other one is both faster and better by a second number: the Pareto sets of `tunesmith query --pareto`."""

from __future__ import annotations

from .data import Data, count, number, shorter, time_unit, values_of
from .own import answer, own_metrics
from .page import Page, plain
from .plots import layout, log, plotly

_OBJECTIVES = {
    "error": "the largest error that the checks met, 1 is what is permitted",
    "energy_uj": "microjoules per launch",
}
_ROWS = 40  # variants per objective
_SETS = 6  # problems in a figure


def trade(page: Page, data: Data) -> None:
    page.section(
        "A second objective",
        "Of each problem, the variants than which no other one is both faster and better by a second number, the fastest first. "
        "Problems of which the fastest variant is the best one too are left out.",
    )
    found = False
    for op in data.ops:
        file = data.files.get(op)
        names = [*_OBJECTIVES, *(own_metrics(data, file) if file else [])]
        sets = {name: one for name in names if (one := _sets(data, op, file, name))}
        if not sets:
            continue
        found = True
        page.part(op)
        for name, problems in sets.items():
            _show(page, data, op, name, problems)
    if not found:
        page.say("There is none: no second number differs between variants, or the fastest are the best.")


def _sets(data: Data, op: str, file: str | None, objective: str) -> dict[str, list[dict]]:
    """By problem the variants of its set, of problems with more than one."""
    rows = answer(["query", file or op, "--pareto", objective, "--format", "json", "--db", data.path])
    sets: dict[str, list[dict]] = {}
    for row in rows if isinstance(rows, list) else []:
        is_shown = (
            row["op"] == op
            and row["device"] == data.device
            and (row["caches"], row["launches"]) == tuple(data.how[op])
            and data.matches(values_of(row["problem"]))
        )
        if is_shown:
            sets.setdefault(row["problem"], []).append(row)
    return {problem: rows for problem, rows in sets.items() if len(rows) > 1}


def _show(page: Page, data: Data, op: str, objective: str, sets: dict[str, list[dict]]) -> None:
    rows = [row for problem in sets.values() for row in problem]
    unit, scale = time_unit(row["median_us"] for row in rows[:_ROWS])
    figure = plotly().Figure()
    for problem, variants in sorted(sets.items(), key=lambda one: -len(one[1]))[:_SETS]:
        figure.add_scatter(
            x=[row["median_us"] for row in variants],
            y=[row[objective] for row in variants],
            name=plain(data.short(op, problem)),
            mode="lines+markers",
            line={"shape": "hv", "width": 1},
            text=[plain(shorter(f"{row['template']} {row['config']}", 120)) for row in variants],
            hovertemplate="%{text}<br>%{x:,.4~r} µs, %{y:,.4~r}<extra></extra>",
        )
    layout(figure, "us", objective)
    log(figure, "x")
    page.figures(
        (
            f"Time and {objective}",
            f"{_OBJECTIVES.get(objective, 'A metric of the description')}."
            + (f" Drawn are {_SETS} of {len(sets)} problems." if len(sets) > _SETS else ""),
            figure,
            False,
        )
    )
    page.table(
        f"Pareto set of time and {objective}, of {op}",
        ["problem", f"median, {unit}", objective, "template", "config"],
        [
            [
                row["problem"],
                number(row["median_us"], scale),
                number(row[objective]),
                row["template"],
                shorter(str(row["config"]), 120),
            ]
            for row in rows[:_ROWS]
        ],
    )
    if len(rows) > _ROWS:
        page.note(
            f"{count(len(rows) - _ROWS, 'variant')} more {'is' if len(rows) == _ROWS + 1 else 'are'} left out."
        )
