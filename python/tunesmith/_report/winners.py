# SPDX-License-Identifier: Apache-2.0
"""The contents of the database, and the winners that dispatch uses."""

from __future__ import annotations

import collections
import datetime
import math
import sqlite3
import statistics
import textwrap

from .data import OPS, Data, Peers, as_text, count, digits, number, shorter, time_unit, values_of
from .page import Page, plain
from .plots import COLOURS, layout, log, plotly

_WINNERS = 200  # rows of the table
_FINALS = 14  # winners in the figure of finals


def summary(page: Page, data: Data, peers: Peers | None) -> None:
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    page.section("What is here", f"The database {data.path} on {data.device or 'no device'}, read {made}.")
    if data.is_host:
        page.say(
            "The host runs kernels on an emulator of a GPU: these times rank variants on this machine and say nothing of a GPU."
        )
    if data.other_devices:
        page.say(f"It also has measurements on {', '.join(data.other_devices)}: choose with --device.")
    if data.left_out:
        page.say(
            f"Shown are the {OPS} ops with the most measurements; left out, for --op: {', '.join(data.left_out)}."
        )
    if data.wanted:
        page.say(f"Only problems with {as_text(data.wanted)}.")
    if not data.ops:
        page.say("Nothing was measured yet. `tunesmith tune` measures.")
        return
    page.note(
        "In figures: point at a mark to see its variant, drag to enlarge, double-click to go back, click on a name to hide it."
    )
    counts = {
        (row["op"], row["ok"]): row["n"]
        for row in data.rows(
            "SELECT op, verdict = 'ok' AS ok, count(*) AS n FROM results WHERE device = ? AND NOT is_stale GROUP BY 1, 2",
            data.device,
        )
    }
    lines = []
    for op in data.ops:
        winners = [
            row
            for row in data.rows(
                "SELECT problem, speedup_over_base AS ratio FROM winners WHERE op = ? AND device = ?",
                op,
                data.device,
            )
            if data.matches(values_of(row["problem"]))
        ]
        best: dict[str, float] = {}
        for row in winners:
            if row["ratio"]:
                best[row["problem"]] = max(best.get(row["problem"], 0), row["ratio"])
        mean = math.exp(statistics.fmean(map(math.log, best.values()))) if best else None
        ok, failed = counts.get((op, 1), 0), counts.get((op, 0), 0)
        lines.append(
            [
                op,
                *(
                    (f"{each:,}", each)
                    for each in (len(data.problems[op]), ok + failed, failed, len(winners))
                ),
                (f"{mean:.2f}×", mean) if mean else ("–",),
                ", ".join(data.how[op]),
            ]
        )
    page.table(
        "What is here",
        ["op", "problems", "verdicts", "of them failed", "winners", "faster than base, mean", "times are"],
        lines,
    )
    page.note(
        "Mean: geometric, over problems with a winner and a base. Warm: what fits into the L2 cache stays there between launches; cold: "
        "nothing that a launch reads is there. Apart: a launch between ordinary kernels, as in an application; chained: back to back with the same "
        "variant. Times of different kinds are never compared: each op is shown with the kind that it has most of."
    )
    if peers is not None and not peers.here:
        page.say(
            f"The results file {peers.name} is of {peers.device}, not of {data.device}: its times are left out."
        )
    elif peers is not None and peers.wrong:
        page.say(
            f"Of the results file {peers.name}, {count(peers.wrong, 'row')} without a right result {'is' if peers.wrong == 1 else 'are'} left out."
        )


def winners(page: Page, data: Data) -> None:
    page.section(
        "Winners",
        "What dispatch uses for each problem that was tuned, and how sure its rank is: the interval is where the median lies with 95 % "
        "confidence over independent loads; the set are the finalists that could not be told from the best.",
    )
    every = _stored(data)
    if not every:
        page.say(
            "No winner is stored here: `tunesmith tune OP --problem …` names them. A table of anchors alone has none."
        )
        return
    _table(page, data, every)
    shown = sorted(every, key=lambda row: (row["op"], row["median_us"]))
    if len(shown) > 3 * _FINALS:
        shown = shown[:: math.ceil(len(shown) / (3 * _FINALS))]
    about = "Median time of the winner and of the base." + (
        f" {len(shown)} of {len(every)} winners, evenly over their times." if len(shown) < len(every) else ""
    )
    figures = [("Winners and base", about, _times(data, shown), len(shown) > 8)]
    finals = []
    for row in shown:
        beside = data.rows(
            "SELECT f.ratio, f.ratio_low, f.ratio_high, f.tied, r.template, r.config FROM finalist f "
            "JOIN results r USING (measurement_id) WHERE f.winner_id = ? AND f.measurement_id <> f.winner_id ORDER BY f.ratio",
            row["measurement_id"],
        )
        if beside:
            finals.append((row, beside))
    if finals:
        finals = finals[:: math.ceil(len(finals) / _FINALS)]
        figures.append(
            (
                "Finals",
                "The time of each finalist / that of the winner (line at 1), paired over rounds, with 99 % intervals."
                + (f" {len(finals)} winners are shown." if len(finals) < len(every) else ""),
                _ratios(data, finals),
                len(shown) > 8,
            )
        )
    page.figures(*figures)
    if not finals:
        page.say("No finals are recorded for these winners, so nothing is known of sets.")


def _stored(data: Data) -> list[sqlite3.Row]:
    every = []
    for op in data.ops:
        every += [
            row
            for row in data.rows(
                "SELECT * FROM winners JOIN kernel USING (measurement_id) WHERE op = ? AND device = ? ORDER BY problem, median_us",
                op,
                data.device,
            )
            if data.matches(values_of(row["problem"]))
        ]
    return every


def _table(page: Page, data: Data, every: list[sqlite3.Row]) -> None:
    shown = every[:_WINNERS]
    unit, scale = time_unit(row["median_us"] for row in shown)
    lines = []
    for row in shown:
        interval = (
            (f"{digits(row['low_us'] / scale)} to {digits(row['high_us'] / scale)}", row["low_us"])
            if row["low_us"] is not None
            else ("one load",)
        )
        runner = f"{row['runner_up']} ({row['runner_up_ratio']:.3f}×)" if row["runner_up"] else "–"
        state = [] if row["newest_verdict"] == "ok" else [f"failed since: {row['newest_verdict']}"]
        state += ["provisional: no finals yet"] if row["provisional"] else []
        state += ["its kernel was edited since"] if row["is_stale"] else []
        state += [f"throttled: {row['throttled']}"] if row["throttled"] else []
        state += [f"another winner on {count(row['other_gpus'], 'other GPU')}"] if row["other_gpus"] else []
        ratio = row["speedup_over_base"]
        lines.append(
            {
                "op": row["op"],
                "problem": data.short(row["op"], row["problem"]),
                "variant": f"{row['template']} {row['config']}",
                f"median, {unit}": number(row["median_us"], scale),
                f"95 % interval, {unit}": interval,
                "faster than base": (f"{ratio:.2f}×", ratio) if ratio else ("–",),
                "set": (str(row["tied"]), row["tied"]) if row["tied"] else ("–",),
                "alignment, bytes": (f"{row['alignment_bytes']}", row["alignment_bytes"]),
                "state": ", ".join(state) or "in use",
                "times are": f"{row['caches']}, {row['launches']}",
                "runner-up (its time / the winner's)": runner,
            }
        )
    same = []
    if len(lines) > 1:  # what all rows have in common needs no column
        for name in ("op", "alignment, bytes", "state", "times are"):
            if len({line[name] for line in lines}) == 1:
                value = lines[0][name]
                same.append(f"{name}: {value[0] if isinstance(value, tuple) else value}")
                for line in lines:
                    del line[name]
    page.table("Winners", list(lines[0]), [list(line.values()) for line in lines])
    if same:
        page.note(f"The same in all rows: {'; '.join(same)}.")
    if len(every) > _WINNERS:
        page.note(f"The first {_WINNERS} of {len(every):,}; --op and --problem choose.")


def _times(data: Data, shown: list[sqlite3.Row]):
    labels = [_label(data, row) for row in shown]
    at = list(range(len(shown)))
    times = plotly().Figure()
    based = [i for i in at if shown[i]["base_us"]]
    if based:
        times.add_scatter(
            x=[shown[i]["base_us"] for i in based],
            y=based,
            mode="markers",
            name="base",
            marker={"symbol": "line-ns-open", "size": 14, "color": COLOURS[6]},
            hovertemplate="base %{x:,.4~r} µs<extra></extra>",
        )
    low = [(row["median_us"] - row["low_us"]) if row["low_us"] is not None else 0 for row in shown]
    high = [(row["high_us"] - row["median_us"]) if row["high_us"] is not None else 0 for row in shown]
    times.add_scatter(
        x=[row["median_us"] for row in shown],
        y=at,
        mode="markers",
        name="winner, with interval",
        marker={"size": 9, "color": COLOURS[1]},
        error_x={"type": "data", "symmetric": False, "array": high, "arrayminus": low},
        text=[plain(f"{row['template']} {shorter(row['config'], 90)}") for row in shown],
        hovertemplate="%{x:,.4~r} µs<br>%{text}<extra></extra>",
    )
    tall = 130 + 70 * len(shown)
    layout(times, "microseconds per launch", "", height=tall).update_yaxes(
        tickvals=at, ticktext=labels, range=[len(shown) - 0.5, -0.5]
    )
    log(times, "x")
    return times


def _ratios(data: Data, finals: list[tuple[sqlite3.Row, list]]):
    ratios = plotly().Figure()
    ratios.add_vline(x=1, line={"width": 2, "color": COLOURS[1]})
    for tied, name, colour in ((1, "cannot be told from the best", COLOURS[2]), (0, "slower", COLOURS[3])):
        points = [
            (place, one) for place, (_, beside) in enumerate(finals) for one in beside if one["tied"] == tied
        ]
        if points:
            spread = collections.Counter()
            y = []
            for place, _ in points:  # finalists of one winner beside each other, not on top
                y.append(place + 0.13 * (spread[place] % 5) - 0.26 + (0.06 if tied else 0))
                spread[place] += 1
            ratios.add_scatter(
                x=[one["ratio"] for _, one in points],
                y=y,
                mode="markers",
                name=name,
                marker={"size": 7, "color": colour},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "thickness": 1,
                    "array": [(one["ratio_high"] or one["ratio"]) - one["ratio"] for _, one in points],
                    "arrayminus": [one["ratio"] - (one["ratio_low"] or one["ratio"]) for _, one in points],
                },
                text=[plain(f"{one['template']} {shorter(one['config'], 90)}") for _, one in points],
                hovertemplate="%{x:.3f} of the winner's time<br>%{text}<extra></extra>",
            )
    labels = [_label(data, row) for row, _ in finals]
    layout(ratios, "time / the winner's", "", height=150 + 70 * len(finals)).update_yaxes(
        tickvals=list(range(len(finals))), ticktext=labels, range=[len(finals) - 0.5, -0.5]
    )
    return ratios


def _label(data: Data, row: sqlite3.Row) -> str:
    op = f"{row['op']} " if len(data.ops) > 1 else ""
    lines = textwrap.wrap(f"{op}{data.short(row['op'], row['problem'])}", 28, break_on_hyphens=False)
    lines = lines[:2] + [shorter("".join(lines[2:3]), 20)] if len(lines) > 2 else lines
    return "<br>".join(map(plain, [*lines, f"alignment {row['alignment_bytes']}"]))
