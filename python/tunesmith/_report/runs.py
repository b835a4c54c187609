# SPDX-License-Identifier: Apache-2.0
"""The runs, and the failures of each."""

from __future__ import annotations

import collections
import datetime
import math
import re
import sqlite3

from .data import Data, count, number, seconds, shorter, values_of
from .page import Page, plain
from .plots import COLOURS, layout, log, plotly

_RUNS = 3
_REASONS = 60


def runs(page: Page, data: Data) -> None:
    page.section(
        "Runs",
        "Each run of a command that measures: how its best improved while it went on, and where its time went.",
    )
    sessions = data.rows(
        "SELECT * FROM sessions WHERE device = ? ORDER BY started_at DESC, id DESC", data.device
    )
    if not sessions:
        page.say("There was no run.")
        return
    _sessions(page, sessions)
    figures, spent, drawn = [], [], 0
    for row in [row for row in sessions if row["measurements"] > 0][:_RUNS]:
        drawn += 1
        started = _moment(row["started_at"])
        label = f"{row['started_at'][:19].replace('T', ' ')}"
        every = data.rows(
            "SELECT op, problem FROM results WHERE session_id = ? GROUP BY op, problem ORDER BY sum(verdict = 'ok') DESC, op, problem",
            row["id"],
        )
        top = [one for one in every if one["op"] in data.ops and data.matches(values_of(one["problem"]))][:6]
        figure = _progress(data, row, started, top)
        if figure.data:
            layout(
                figure,
                "seconds since the " + ("run began" if len(top) == 1 else "problem's first verdict"),
                "best so far / its last best",
                height=360 + 22 * len(figure.data),
            )
            log(figure, "y")
            more = (
                f" The {len(top)} of its {row['problems']} problems with the most verdicts."
                if row["problems"] > len(top)
                else ""
            )
            figures.append(
                (
                    f"Best so far, run of {label}",
                    "Each step is a variant that was faster than all before it." + more,
                    figure,
                    False,
                )
            )
        stages = {
            each["stage"]: each["s"]
            for each in data.rows(
                "SELECT stage, sum(wall_ms) / 1000 AS s FROM results WHERE session_id = ? AND wall_ms IS NOT NULL GROUP BY stage",
                row["id"],
            )
        }
        compiling = data.rows(
            "SELECT sum(compile_ms) / 1000 AS s FROM results WHERE session_id = ?", row["id"]
        )[0]["s"]
        spent.append((label, _length(row), stages, compiling))
    timed = [one for one in spent if one[1] and one[2]]
    if timed:
        told = "; ".join(f"{label}: {seconds(compiling)}" for label, _, _, compiling in spent if compiling)
        figures.append(
            (
                "Where the time went",
                "The device's worker loading, checking and timing, by stage, and the rest of the run."
                + (f" Compilers, which run at the same time: {told}." if told else ""),
                _spent(timed),
                False,
            )
        )
    if figures:
        page.figures(*figures)
    else:
        page.say("No run has a variant that was ok.")
    if drawn and not timed:
        told = ", ".join(
            f"{seconds(compiling)} in the run of {label}" for label, _, _, compiling in spent if compiling
        )
        page.say(
            "Where the time went is not recorded for these runs: they were made before the database kept it."
            + (f" Only the compilers' time is known; they run in parallel: {told}." if told else "")
        )
    if len(sessions) > drawn and drawn == _RUNS:
        page.note(f"Figures are of the newest {_RUNS} runs.")


def _sessions(page: Page, sessions: list[sqlite3.Row]) -> None:
    page.table(
        "Runs",
        [
            "started, UTC",
            "command",
            "state",
            "took, s",
            "verdicts",
            "ok",
            "problems",
            "strategy",
            "version",
            "toolchain",
        ],
        [
            [
                row["started_at"][:19].replace("T", " "),
                # A kernel's file is shown without its folders.
                re.sub(r"[^\s\"']*/(?=[^/\s\"']+\.cu\b)", "", row["command"]),
                row["state"],
                number(_length(row), most=3),
                *((f"{row[each]:,}", row[each]) for each in ("measurements", "ok", "problems")),
                row["strategy"],
                row["tunesmith_version"],
                shorter(row["toolchain"], 40),
            ]
            for row in sessions[:20]
        ],
    )
    if len(sessions) > 20:
        page.note(f"The newest 20 of {len(sessions):,}.")


def _progress(data: Data, row: sqlite3.Row, started: datetime.datetime, top: list[sqlite3.Row]):
    """The best so far of these problems of a run."""
    figure = plotly().Figure()
    for place, one in enumerate(top):
        steps = data.rows(
            "SELECT measured_at, median_us, template, config, caches, launches, stage FROM results WHERE session_id = ? AND op = ? AND problem = ? "
            "AND verdict = 'ok' ORDER BY measurement_id",
            row["id"],
            one["op"],
            one["problem"],
        )
        best, x, y, text = math.inf, [], [], []
        zero = started if len(top) == 1 or not steps else _moment(steps[0]["measured_at"])
        for step in steps:
            if step["median_us"] < best:
                best = step["median_us"]
                x.append((_moment(step["measured_at"]) - zero).total_seconds())
                y.append(best)
                text.append(plain(f"{step['template']} {shorter(step['config'], 90)}"))
        if y:
            x.append(max(x[-1], (_moment(steps[-1]["measured_at"]) - zero).total_seconds()))
            y.append(best)
            text.append("last verdict")
            figure.add_scatter(
                x=x,
                y=[each / best for each in y],
                mode="lines+markers",
                line={"shape": "hv", "color": COLOURS[place % len(COLOURS)]},
                marker={"size": 6},
                name=plain(
                    shorter(
                        (f"{one['op']} " if len(data.ops) > 1 else "")
                        + data.short(one["op"], one["problem"]),
                        44,
                    )
                ),
                text=text,
                customdata=y,
                hovertemplate="after %{x:.2f} s: %{customdata:,.4~r} µs<br>%{text}<extra></extra>",
            )
    return figure


def _spent(timed: list[tuple]):
    """The seconds of each run by stage."""
    bars = plotly().Figure()
    labels = [one[0] for one in timed]
    for place, (stage, name) in enumerate(
        (("search", "search"), ("finals", "finals"), ("table", "table"), ("", "stage not known"))
    ):
        values = [one[2].get(stage, 0.0) for one in timed]
        if any(values):
            bars.add_bar(
                y=labels,
                x=values,
                name=name,
                orientation="h",
                marker={"color": COLOURS[place]},
                hovertemplate="%{x:.2f} s<extra>%{fullData.name}</extra>",
            )
    rest = [max(0.0, one[1] - sum(one[2].values())) for one in timed]
    bars.add_bar(
        y=labels,
        x=rest,
        name="else: references, waiting for compilers, storing",
        orientation="h",
        marker={"color": COLOURS[6]},
        hovertemplate="%{x:.2f} s<extra></extra>",
    )
    layout(bars, "seconds", "", height=190 + 50 * len(timed), barmode="stack").update_yaxes(
        type="category", autorange="reversed"
    )
    return bars


def _length(row) -> float | None:
    return (
        None
        if row["ended_at"] is None
        else (_moment(row["ended_at"]) - _moment(row["started_at"])).total_seconds()
    )


def _moment(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError as error:
        raise ValueError(f'"{text}" in the database is not a date.') from error


def failures(page: Page, data: Data) -> None:
    page.section(
        "What failed, and why",
        "Variants whose newest verdict is not ok. They are never dispatched; each costs its run one row.",
    )
    rows = []
    for op in data.ops:
        rows += [
            row
            for row in data.rows(
                "SELECT op, template, verdict, reason, problem, config FROM failures WHERE op = ? AND device = ?",
                op,
                data.device,
            )
            if data.matches(values_of(row["problem"]))
        ]
    if not rows:
        page.say("Nothing failed." if data.ops else "There is nothing to show.")
        return
    counts = collections.Counter((f"{row['op']}/{row['template']}", row["verdict"]) for row in rows)
    places = sorted(
        {place for place, _ in counts},
        key=lambda place: -sum(n for (at, _), n in counts.items() if at == place),
    )[:30]
    figure = plotly().Figure()
    for place, verdict in enumerate(sorted({verdict for _, verdict in counts})):
        figure.add_bar(
            y=list(map(plain, places)),
            x=[counts.get((place, verdict), 0) for place in places],
            name=verdict.replace("_", " "),
            orientation="h",
            marker={"color": COLOURS[(place + 3) % len(COLOURS)]},
            hovertemplate="%{x} variants<extra>%{fullData.name}</extra>",
        )
    layout(figure, "variants", "", height=170 + 30 * len(places), barmode="stack").update_yaxes(
        type="category", autorange="reversed"
    )
    page.figures(
        (
            "Failed variants by template and verdict",
            f"{count(len(rows), 'variant')} of problems.",
            figure,
            True,
        )
    )
    reasons: dict[tuple, list] = collections.defaultdict(list)
    for row in rows:
        reasons[
            row["op"], row["template"], row["verdict"], re.sub(r"\d+(\.\d+)?", "…", row["reason"])
        ].append(row)
    most = sorted(reasons.items(), key=lambda item: -len(item[1]))
    page.table(
        "Reasons",
        ["op", "template", "verdict", "variants", "reason, for example", "with", "problem"],
        [
            [
                op,
                template,
                verdict.replace("_", " "),
                (f"{len(of):,}", len(of)),
                shorter(of[0]["reason"], 600),
                of[0]["config"],
                data.short(op, of[0]["problem"]),
            ]
            for (op, template, verdict, _), of in most[:_REASONS]
        ],
    )
    page.note(
        "Reasons that differ in numbers alone are one row."
        + (f" The {_REASONS} most frequent of {len(most):,}." if len(most) > _REASONS else "")
    )
