"""The sections of a report, each from a database's views. They measure nothing and change nothing; figures are plotly's, and
`tunesmith explain` is asked what dispatch would do."""

from __future__ import annotations

import collections
import concurrent.futures
import datetime
import math
import os
import re
import sqlite3
import statistics
import subprocess
import textwrap

from ._report_data import OPS, Data, Peers, Work, as_text, count, seconds, shorter, size_text, time_text, values_of
from ._report_page import Page, plain
from ._tuning import program

# What a page can show and a reader can take in. Where there is more, the page says so.
_WINNERS = 200  # rows of the table
_FINALS = 14  # winners in the figure of finals
_POINTS = 3000  # in a figure
_AXES = 14
_SWEEP = 13  # problems that `explain` is asked about, per op
_RUNS = 3
_REASONS = 60

# Of Okabe and Ito, without the two that vanish on one of the backgrounds.
_COLOURS = ["#e69f00", "#2a9fd6", "#009e73", "#d55e00", "#cc79a7", "#7f7fff", "#8c8c8c", "#a6761d"]


# ---- figures


def _layout(figure, x: str, y: str, *, height: int = 420, legend: bool = True, **more):
    axis = {"automargin": True, "title": {"standoff": 10}}
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 60, "r": 16, "t": 8, "b": 50},
        colorway=_COLOURS,
        showlegend=legend,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "xanchor": "left"},
        font={"size": 12},
        **more,
    )
    figure.update_xaxes(title_text=x, showgrid=True, zeroline=False, **axis)
    figure.update_yaxes(title_text=y, showgrid=True, zeroline=False, **axis)
    return figure


def _go():
    import plotly.graph_objects

    return plotly.graph_objects


def _log(figure, axis: str = "xy") -> None:
    for name in axis:
        getattr(figure, f"update_{name}axes")(type="log", exponentformat="none")


def _bytes(figure) -> None:
    """Decades alone where there are many, else 2 and 5 too: labels such as 500kB, or 9kB beside 10kB, would overlap."""
    x = [each for trace in figure.data for each in trace.x]
    ratio = max(x) / min(x)
    figure.update_xaxes(tickformat="~s", ticksuffix="B", dtick=1 if ratio > 300 else "D2" if ratio > 4 else None)


# ---- sections


def summary(page: Page, data: Data, peers: Peers | None) -> None:
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    page.section("What is here", f"The database {data.path} on {data.device or 'no device'}, read {made}.")
    if data.is_host:
        page.say("The host runs kernels on an emulator of a GPU: these times rank variants on this machine and say nothing of a GPU.")
    if data.other_devices:
        page.say(f"It also has measurements on {', '.join(data.other_devices)}: choose with --device.")
    if data.left_out:
        page.say(f"Shown are the {OPS} ops with the most measurements; left out, for --op: {', '.join(data.left_out)}.")
    if data.wanted:
        page.say(f"Only problems with {as_text(data.wanted)}.")
    if not data.ops:
        page.say("Nothing was measured yet. `tunesmith tune` measures.")
        return
    page.note("In figures: point at a mark to see its variant, drag to enlarge, double-click to go back, click on a name to hide it.")
    counts = {
        (row["op"], row["ok"]): row["n"]
        for row in data.rows("SELECT op, verdict = 'ok' AS ok, count(*) AS n FROM results WHERE device = ? AND NOT is_stale GROUP BY 1, 2", data.device)
    }
    lines = []
    for op in data.ops:
        winners = [
            row
            for row in data.rows("SELECT problem, speedup_over_base AS ratio FROM winners WHERE op = ? AND device = ?", op, data.device)
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
                (f"{len(data.problems[op]):,}",),
                (f"{ok + failed:,}",),
                (f"{failed:,}",),
                (f"{len(winners):,}",),
                (f"{mean:.2f}×" if mean else "–",),
                ", ".join(data.how[op]),
            ]
        )
    page.table(["op", "problems", "verdicts", "of them failed", "winners", "faster than base, mean", "times are"], lines)
    page.note(
        "Mean: geometric, over problems with a winner and a base. Warm: what fits into the L2 cache stays there between launches; cold: "
        "nothing that a launch reads is there. Apart: a launch between ordinary kernels, as in an application; chained: behind another of the same "
        "variant. Times of different kinds are never compared: each op is shown with the kind that it has most of."
    )
    if peers is not None and not peers.here:
        page.say(f"The results file {peers.name} is of {peers.device}, not of {data.device}: its times are left out.")
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
    if not every:
        page.say("No winner is stored here: `tunesmith tune OP --problem …` names them. A table of anchors alone has none.")
        return
    lines = []
    for row in every[:_WINNERS]:
        interval = f"{row['low_us']:.4g} to {row['high_us']:.4g} µs" if row["low_us"] is not None else "one load"
        runner = f"{row['runner_up']} ({row['runner_up_ratio']:.3f}×)" if row["runner_up"] else "–"
        state = [] if row["newest_verdict"] == "ok" else [f"failed since: {row['newest_verdict']}"]
        state += ["provisional: no finals yet"] if row["provisional"] else []
        state += ["its kernel was edited since"] if row["is_stale"] else []
        state += [f"throttled: {row['throttled']}"] if row["throttled"] else []
        state += [f"another winner on {count(row['other_gpus'], 'other GPU')}"] if row["other_gpus"] else []
        lines.append(
            [
                row["op"],
                data.short(row["op"], row["problem"]),
                f"{row['template']} {row['config']}",
                (time_text(row["median_us"]),),
                (interval,),
                (f"{row['speedup_over_base']:.2f}×" if row["speedup_over_base"] else "–",),
                (str(row["tied"]) if row["tied"] else "–",),
                (f"{row['alignment_bytes']}",),
                ", ".join(state) or "in use",
                f"{row['caches']}, {row['launches']}",
                runner,
            ]
        )
    page.table(
        [
            "op",
            "problem",
            "variant",
            "median",
            "interval",
            "faster than base",
            "set",
            "alignment, bytes",
            "state",
            "times are",
            "runner-up (its time / the winner's)",
        ],
        lines,
    )
    if len(every) > _WINNERS:
        page.note(f"The first {_WINNERS} of {len(every):,}; --op and --problem choose.")
    shown = sorted(every, key=lambda row: (row["op"], row["median_us"]))
    if len(shown) > 3 * _FINALS:
        shown = shown[:: math.ceil(len(shown) / (3 * _FINALS))]
    go = _go()
    labels = [_label(data, row) for row in shown]
    at = list(range(len(shown)))
    times = go.Figure()
    based = [i for i in at if shown[i]["base_us"]]
    if based:
        times.add_scatter(
            x=[shown[i]["base_us"] for i in based],
            y=based,
            mode="markers",
            name="base",
            marker={"symbol": "line-ns-open", "size": 14, "color": _COLOURS[6]},
            hovertemplate="base %{x:.4g} µs<extra></extra>",
        )
    low = [(row["median_us"] - row["low_us"]) if row["low_us"] is not None else 0 for row in shown]
    high = [(row["high_us"] - row["median_us"]) if row["high_us"] is not None else 0 for row in shown]
    times.add_scatter(
        x=[row["median_us"] for row in shown],
        y=at,
        mode="markers",
        name="winner, with interval",
        marker={"size": 9, "color": _COLOURS[1]},
        error_x={"type": "data", "symmetric": False, "array": high, "arrayminus": low},
        text=[plain(f"{row['template']} {shorter(row['config'], 90)}") for row in shown],
        hovertemplate="%{x:.4g} µs<br>%{text}<extra></extra>",
    )
    tall = 130 + 70 * len(shown)
    _layout(times, "microseconds per launch", "", height=tall).update_yaxes(tickvals=at, ticktext=labels, range=[len(shown) - 0.5, -0.5])
    _log(times, "x")
    about = "Median time of the winner and of the base." + (
        f" {len(shown)} of {len(every)} winners, evenly over their times." if len(shown) < len(every) else ""
    )
    figures = [("Winners and base", about, times, len(shown) > 8)]

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
        ratios = go.Figure()
        ratios.add_vline(x=1, line={"width": 2, "color": _COLOURS[1]})
        for tied, name, colour in ((1, "cannot be told from the best", _COLOURS[2]), (0, "slower", _COLOURS[3])):
            points = [(place, one) for place, (_, beside) in enumerate(finals) for one in beside if one["tied"] == tied]
            if points:
                spread = collections.Counter()
                y = []
                for place, one in points:  # finalists of one winner beside each other, not on top
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
        _layout(ratios, "time / the winner's", "", height=150 + 70 * len(finals)).update_yaxes(
            tickvals=list(range(len(finals))), ticktext=labels, range=[len(finals) - 0.5, -0.5]
        )
        figures.append(
            (
                "Finals",
                "Each finalist beside the winner (line at 1), paired over rounds, with 99 % intervals."
                + (f" {len(finals)} winners are shown." if len(finals) < len(every) else ""),
                ratios,
                len(shown) > 8,
            )
        )
    page.figures(*figures)
    if not finals:
        page.say("No finals are recorded for these winners, so nothing is known of sets.")


def _label(data: Data, row: sqlite3.Row) -> str:
    op = f"{row['op']} " if len(data.ops) > 1 else ""
    lines = textwrap.wrap(f"{op}{data.short(row['op'], row['problem'])}", 28, break_on_hyphens=False)
    lines = lines[:2] + [shorter("".join(lines[2:3]), 20)] if len(lines) > 2 else lines
    return "<br>".join(map(plain, [*lines, f"alignment {row['alignment_bytes']}"]))


def landscape(page: Page, data: Data) -> None:
    page.section(
        "Landscape",
        "How times depend on the choices, for the problem of each op with the most variants that ran (--problem chooses another).",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    go = _go()
    for op in data.ops:
        page.part(op)
        tried = [one for one in data.problems[op] if one["ok"]]
        if not tried:
            page.say("No variant of it was ok.")
            continue
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
            continue
        best = rows[0]["median_us"]
        step = math.ceil(len(rows) / _POINTS)
        order = go.Figure()
        for number, template in enumerate(sorted({row["template"] for row in rows})):
            points = [(place + 1, row) for place, row in enumerate(rows) if row["template"] == template and place % step == 0]
            if points:
                order.add_scatter(
                    x=[place for place, _ in points],
                    y=[row["median_us"] for _, row in points],
                    mode="markers",
                    name=plain(template),
                    marker={"size": 6, "color": _COLOURS[number % len(_COLOURS)]},
                    text=[plain(shorter(row["config"], 100)) for _, row in points],
                    hovertemplate="%{y:.4g} µs<br>%{text}<extra>%{fullData.name}</extra>",
                )
        base = next((row["median_us"] for row in rows if row["is_base"]), None)
        if base:
            order.add_scatter(
                x=[1, len(rows)],
                y=[base, base],
                mode="lines",
                name="time of the base",
                line={"dash": "dot", "color": _COLOURS[6]},
                hoverinfo="skip",
            )
        _log(_layout(order, "variants, the fastest first", "microseconds per launch"), "y")
        if len(rows) <= 10:
            order.update_xaxes(dtick=1)  # there is no variant 1.5
        figures = [
            (
                "All variants by time",
                f"{len(rows):,} variants ran; the slowest takes {rows[-1]['median_us'] / best:.1f} times as long as the fastest."
                + (f" Every {step}th is drawn." if step > 1 else ""),
                order,
                False,
            )
        ]
        template = rows[0]["template"]
        own = [(row["median_us"], values_of(row["config"])) for row in rows if row["template"] == template]
        cost: dict[str, dict[str, float]] = collections.defaultdict(dict)
        for us, axes in own:
            for axis, value in axes.items():
                cost[axis][value] = min(cost[axis].get(value, math.inf), us / best)
        varied = sorted((axis for axis in cost if len(cost[axis]) > 1), key=lambda axis: -max(cost[axis].values()))
        if not varied:
            page.figures(*figures)
            page.say(f"The variants of {template}, the template of the fastest, do not differ in an axis.")
            continue
        shown = varied[:_AXES]
        choices = go.Figure()
        points = [(axis, value, ratio) for axis in shown for value, ratio in sorted(cost[axis].items(), key=lambda item: item[1])]
        most = math.log(max(ratio for _, _, ratio in points)) or 0.01
        labels: list[str] = []
        first = 0
        for place, (axis, value, ratio) in enumerate(points):  # values that lie close to each other have one label
            if place and points[first][0] == axis and math.log(ratio / points[first][2]) < most * (0.04 + 0.018 * len(labels[first])):
                labels[first] += ", " + value
                labels.append("")
            else:
                first = place
                labels.append(value)
        choices.add_scatter(
            x=[ratio for _, _, ratio in points],
            y=[axis for axis, _, _ in points],
            mode="markers+text",
            customdata=[plain(value) for _, value, _ in points],
            text=[plain(shorter(label, 24)) for label in labels],
            textposition="top right",
            textfont={"size": 10},
            marker={
                "size": 9,
                "color": [ratio for _, _, ratio in points],
                "colorscale": [[0, _COLOURS[2]], [0.5, _COLOURS[0]], [1, _COLOURS[3]]],
            },
            hovertemplate="%{y}=%{customdata}: %{x:.3f} of the best time<extra></extra>",
        )
        _layout(choices, "best time with this value / best of all", "", height=110 + 46 * len(shown), legend=False).update_yaxes(
            autorange="reversed"
        )
        _log(choices, "x")
        choices.update_xaxes(range=[-0.02 * most / math.log(10), 1.2 * most / math.log(10)])
        figures.append(
            (
                f"What a choice costs, of {template}",
                "For each value of an axis the best variant with it, where all else is free."
                + (f" The {_AXES} axes of {len(varied)} that cost most." if len(varied) > _AXES else ""),
                choices,
                False,
            )
        )
        if len(varied) > 1:
            one, two = varied[:2]
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
                    text=[["" if cell is None else f"{cell:.4g}" for cell in line] for line in cells],
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
            _layout(heat, plain(one), plain(two), legend=False, height=max(240, 110 + 44 * len(down)))
            heat.update_xaxes(type="category", showgrid=False).update_yaxes(type="category", showgrid=False)
            # As tall as the two figures beside it, as far as its rows can fill that.
            choices.update_layout(height=max(choices.layout.height, min(420 + heat.layout.height, 110 + 90 * len(shown))))
            figures[0] = [
                figures[0],
                ("The two axes that cost most", "Best time in microseconds of each pair; empty: none was ok or tried.", heat, False),
            ]
        page.figures(*figures)


def _in_order(value: str) -> tuple[int, float, str]:
    return (0, float(value), "") if re.fullmatch(r"\d+", value) else (1, 0.0, value)


def sizes(page: Page, data: Data, peers: Peers | None) -> None:
    page.section(
        "Time against size, and what limits it",
        "Bytes are those that must be read and written once. The limit of memory is a rate, and below it nothing is faster than an empty launch.",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    work = Work()
    known = {op: [(one, work.of(op, one["text"])) for one in data.problems[op] if one["best_us"]] for op in data.ops}
    rate, where = _bandwidth(data, known, peers)
    arithmetic = peers.arithmetic if peers else None
    winners = {
        (row["op"], row["problem"]): row["median_us"]
        for row in data.rows(
            "SELECT op, problem, caches, launches, min(median_us) AS median_us FROM winners WHERE device = ? GROUP BY op, problem",
            data.device,
        )
        if data.how.get(row["op"]) == (row["caches"], row["launches"])
    }
    go = _go()
    for op in data.ops:
        page.part(op)
        points = [(one, done) for one, done in known[op] if done and done[0] > 0]
        if not known[op]:
            page.say("No variant of it was ok.")
            continue
        if not points:
            page.say(
                "The bytes of its problems are not known here: it is not built into this package, or the problems are of another version."
            )
            continue
        unknown = len(known[op]) - len(points)
        step = math.ceil(len(points) / _POINTS)
        points = sorted(points, key=lambda item: item[1][0])[::step]
        x = [done[0] for _, done in points]
        names = [plain(shorter(data.short(op, one["text"]), 90)) for one, _ in points]
        figure = go.Figure()
        hover = "%{x:.3s}B, %{y:.4g} µs<br>%{text}<extra>%{fullData.name}</extra>"
        base = [i for i, (one, _) in enumerate(points) if one["base_us"]]
        if base:
            figure.add_scatter(
                x=[x[i] for i in base],
                y=[points[i][0]["base_us"] for i in base],
                text=[names[i] for i in base],
                mode="markers",
                name="base",
                marker={"size": 5, "color": _COLOURS[6], "symbol": "circle-open"},
                hovertemplate=hover,
            )
        figure.add_scatter(
            x=x,
            y=[one["best_us"] for one, _ in points],
            text=names,
            mode="markers",
            name="best that was found",
            marker={"size": 6, "color": _COLOURS[1]},
            hovertemplate=hover,
        )
        won = [i for i, (one, _) in enumerate(points) if (op, one["text"]) in winners]
        if won:
            figure.add_scatter(
                x=[x[i] for i in won],
                y=[winners[op, points[i][0]["text"]] for i in won],
                text=[names[i] for i in won],
                mode="markers",
                name="winner",
                marker={"size": 10, "symbol": "diamond-open", "color": _COLOURS[2], "line": {"width": 2}},
                hovertemplate=hover,
            )
        of_peers: dict[str, list[tuple[float, float, str]]] = collections.defaultdict(list)
        for contender, kind, problem, us in peers.times(op, data.how[op]) if peers else []:
            done = work.of(op, problem)
            if done and done[0] > 0 and contender not in ("empty kernel", "FFMA"):
                of_peers[f"{contender}, {peers.name}" if kind == "ours" else contender].append((done[0], us, problem))
        for number, (contender, times) in enumerate(of_peers.items()):
            figure.add_scatter(
                x=[one[0] for one in times],
                y=[one[1] for one in times],
                text=[plain(shorter(one[2], 90)) for one in times],
                mode="markers",
                name=plain(contender),
                marker={
                    "size": 8,
                    "symbol": ["x", "cross", "triangle-up", "square", "star"][number % 5],
                    "color": _COLOURS[(number + 3) % len(_COLOURS)],
                },
                hovertemplate=hover,
            )
        if rate:
            floor = peers.empty_us if peers and peers.empty_us else min(one["best_us"] for one, _ in points)
            line = [min(x) * (max(x) / min(x)) ** (i / 60) for i in range(61)] if max(x) > min(x) else [x[0] / 4, x[0], x[0] * 4]
            figure.add_scatter(
                x=line,
                y=[max(floor, each / rate * 1e6) for each in line],
                mode="lines",
                name="limit",
                line={"dash": "dash", "color": _COLOURS[3]},
                hoverinfo="skip",
            )
        if data.l2_bytes and min(x) < data.l2_bytes < max(x):
            figure.add_vline(x=data.l2_bytes, line={"dash": "dot", "width": 1, "color": _COLOURS[6]})
            figure.add_annotation(
                x=math.log10(data.l2_bytes), y=0, yref="paper", text="L2 cache", showarrow=False, xanchor="right", yanchor="bottom"
            )
        _log(_layout(figure, "bytes read and written", "microseconds per launch"))
        _bytes(figure)
        of_all = count(len(points), "problem") + (f", every {step}th of those that there are" if step > 1 else "") + "."
        of_all += f" Of {count(unknown, 'other')} the bytes are not known here." if unknown else ""
        about = (
            f"The limit is {rate / 1e9:.4g} GB/s, {where}; below, {'an empty kernel' if peers and peers.empty_us else 'the fastest time of this op'}. "
            if rate
            else ""
        )
        if data.how[op][0] == "warm" and data.l2_bytes:
            about += f"Warm, what fits into the L2 cache ({size_text(data.l2_bytes)}) may be faster. "
        drawn = [("Time against size", about + of_all, figure, False)]
        drawn.append(_roofline(op, points, names, rate, arithmetic, peers))
        page.figures(*drawn)
    if peers is None and data.ops:
        page.note(
            "With --results, such as docs/results.csv of a checkout, other libraries' times and the measured limits of the same device are drawn too."
        )


def _bandwidth(data: Data, known: dict, peers: Peers | None) -> tuple[float | None, str]:
    """Bytes per second, and where that is from."""
    if peers and peers.bandwidth:
        return peers.bandwidth, f"the highest of a copy in {peers.name}, with cold caches"
    every = [(done[0], done[0] / one["best_us"] * 1e6) for of in known.values() for one, done in of if done and done[0] > 0]
    large = [rate for size, rate in every if data.l2_bytes and size > 2 * data.l2_bytes]
    if large:
        return max(large), "the highest that was reached here by a problem of more than twice the L2 cache"
    return (
        (max(rate for _, rate in every), "the highest that was reached here by any problem: the true one may be higher")
        if every
        else (None, "")
    )


def _roofline(op: str, points: list, names: list[str], rate: float | None, arithmetic: float | None, peers: Peers | None):
    """Operations against operations per byte, or where none are counted, bytes per second against bytes."""
    go = _go()
    figure = go.Figure()
    counted = [i for i, (_, done) in enumerate(points) if done[1]]
    if counted:
        x = [points[i][1][1] / points[i][1][0] for i in counted]
        y = [points[i][1][1] / points[i][0]["best_us"] / 1e3 for i in counted]
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            text=[names[i] for i in counted],
            marker={"size": 6, "color": _COLOURS[1]},
            name="best that was found",
            hovertemplate="%{x:.3g} operations per byte, %{y:.4g} GFLOP/s<br>%{text}<extra></extra>",
        )
        ends = [min(x) / 2, max(x) * 2]
        peak = arithmetic if arithmetic else None
        if rate:
            corner = [ends[0], *([peak / rate] if peak and ends[0] < peak / rate < ends[1] else []), ends[1]]
            figure.add_scatter(
                x=corner,
                y=[min(each * rate, peak or math.inf) / 1e9 for each in corner],
                mode="lines",
                name="roof",
                line={"dash": "dash", "color": _COLOURS[3]},
                hoverinfo="skip",
            )
        _log(_layout(figure, "operations per byte", "10<sup>9</sup> operations per second"))
        about = (
            "Operations that must be done (a multiply-add counts as two) over the time of the best variant. The roof is memory's rate"
            + (
                f", then that of f32 multiply-adds in registers ({peak / 1e12:.3g} TFLOP/s in {peers.name}); tensor cores may be above it."
                if peak
                else "; how fast the device can compute is not known here (--results tells)."
            )
        )
        return "Roofline", about, figure, False
    x = [done[0] for _, done in points]
    figure.add_scatter(
        x=x,
        y=[done[0] / one["best_us"] / 1e3 for one, done in points],
        text=names,
        mode="markers",
        name="best that was found",
        marker={"size": 6, "color": _COLOURS[1]},
        hovertemplate="%{x:.3s}B, %{y:.4g} GB/s<br>%{text}<extra></extra>",
    )
    if rate:
        ends = [min(x) / 1.5, max(x) * 1.5]
        figure.add_scatter(
            x=ends, y=[rate / 1e9] * 2, mode="lines", name="roof", line={"dash": "dash", "color": _COLOURS[3]}, hoverinfo="skip"
        )
    _log(_layout(figure, "bytes read and written", "GB per second"))
    _bytes(figure)
    return (
        "Roofline of memory",
        f"Operations of {op} are {'none' if op == 'transpose' else 'not counted here'}, so memory is its roof.",
        figure,
        False,
    )


def between(page: Page, data: Data) -> None:
    page.section(
        "Between the anchors",
        "What dispatch would choose for problems beside those that were measured: one size is swept, all else stays. "
        "Expected loss: by how much its time is expected to be above the best that tuning would find.",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    go = _go()
    for op in data.ops:
        page.part(op)
        swept = _sweep(data, op)
        if swept is None:
            page.say("Its problems have no size that could be swept.")
            continue
        name, values, problem = swept
        answers = _explained(data, op, [(value, as_text({**problem["values"], name: str(value)})) for value in values])
        good = [one for one in answers if one["us"] is not None]
        if not good:
            page.say(f"Dispatch gives no time for these problems{': ' + answers[0]['words'] if answers and answers[0]['words'] else '.'}")
            continue
        page.note(
            f"{name} from {values[0]:,} to {values[-1]:,}; else {as_text({key: value for key, value in problem['values'].items() if key != name})}"
        )
        figure = go.Figure()
        for number, match in enumerate(("exact", "predicted", "other_device", "base")):
            points = [one for one in good if one["match"] == match]
            if points:
                figure.add_scatter(
                    x=[one["at"] for one in points],
                    y=[one["us"] for one in points],
                    mode="markers",
                    name=match.replace("_", " "),
                    marker={"size": 9, "color": _COLOURS[(2, 1, 4, 6)[number]]},
                    text=[plain(shorter(one["variant"], 100)) for one in points],
                    hovertemplate=f"{plain(name)}=%{{x}}: %{{y:.4g}} µs expected<br>%{{text}}<extra>%{{fullData.name}}</extra>",
                )
        along = [
            one
            for one in data.problems[op]
            if one["best_us"] and one["values"].get(name, "").isdigit() and {**one["values"], name: ""} == {**problem["values"], name: ""}
        ]
        if along:
            figure.add_scatter(
                x=[int(one["values"][name]) for one in along],
                y=[one["best_us"] for one in along],
                mode="markers",
                name="measured, " + " ".join(data.how[op]),
                marker={"size": 12, "symbol": "diamond-open", "color": _COLOURS[3], "line": {"width": 2}},
                hovertemplate=f"{plain(name)}=%{{x}}: %{{y:.4g}} µs measured<extra></extra>",
            )
        _log(_layout(figure, plain(name), "expected microseconds", height=380))
        kinds = collections.Counter(one["match"].replace("_", " ") for one in good)
        variants = len({one["variant"] for one in good})
        figures = [
            (
                "Expected time",
                f"Of {count(len(answers), 'problem')}: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}; "
                f"{count(variants, 'different variant')}."
                + (f" {count(len(answers) - len(good), 'answer')} without a time." if len(good) < len(answers) else ""),
                figure,
                False,
            )
        ]
        losing = [one for one in good if one["loss"] is not None]
        if losing:
            loss = go.Figure(
                go.Scatter(
                    x=[one["at"] for one in losing],
                    y=[100 * one["loss"] for one in losing],
                    mode="lines+markers",
                    marker={"size": 8},
                    line={"color": _COLOURS[0]},
                    hovertemplate=f"{plain(name)}=%{{x}}: %{{y:.0f}} %<extra></extra>",
                )
            )
            _layout(loss, plain(name), "expected loss, %", height=380, legend=False).update_yaxes(rangemode="tozero")
            _log(loss, "x")
            mean = statistics.fmean(one["loss"] for one in losing)
            figures.append(
                ("Expected loss", f"{100 * mean:.1f} % in the mean, {100 * max(one['loss'] for one in losing):.0f} % at most.", loss, False)
            )
        page.figures(*figures)
        if not losing:
            page.say("Dispatch expects no gain of tuning that it could name: no table of anchors is near.")


def _sweep(data: Data, op: str):
    """The size with the most different values, values of it between its ends, and the problem that lends the rest."""
    problems = data.problems[op][:5000]
    seen: dict[str, set[int]] = collections.defaultdict(set)
    for one in problems:
        for name, value in one["values"].items():
            if re.fullmatch(r"[1-9]\d{0,9}", value):
                seen[name].add(int(value))
    seen = {name: values for name, values in seen.items() if max(values) > 1}
    if not seen:
        return None
    name = max(seen, key=lambda each: (len(seen[each]), max(seen[each])))
    problem = max((one for one in problems if one["values"].get(name, "").isdigit()), key=lambda one: (one["ok"], one["text"]))
    low, high = min(seen[name]), max(seen[name])
    if len(seen[name]) < 3:  # around what is there
        low, high = max(1, low // 8), high * 8
    step = (high / low) ** (1 / (_SWEEP - 1))
    return name, sorted({round(low * step**i) for i in range(_SWEEP)} | {int(problem["values"][name])}), problem


def _explained(data: Data, op: str, problems: list[tuple[int, str]]) -> list[dict]:
    def ask(given: tuple[int, str]) -> dict:
        at, text = given
        asked = subprocess.run(
            [program(), "explain", op, "--device", "host" if data.is_host else data.device, "--problem", text, "--db", data.path],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        said = asked.stdout
        us = re.search(r"^(?:Used|It would use), [^:]*?([\d.e+-]+) us expected", said, re.M)
        gain = re.search(r"expected to gain ([\d.]+) %", said)
        match, variant = re.search(r"^match: (\w+)", said, re.M), re.search(r"^variant: (.*)", said, re.M)
        return {
            "at": at,
            "us": float(us[1]) if us else None,
            "loss": float(gain[1]) / 100 if gain else 0.0 if match and match[1] == "exact" else None,
            "match": match[1] if match else "",
            "variant": variant[1] if variant else "",
            "words": asked.stderr.strip(),
        }

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(ask, problems))


def runs(page: Page, data: Data) -> None:
    page.section("Runs", "Each run of a command that measures: how its best improved while it went on, and where its time went.")
    sessions = data.rows("SELECT * FROM sessions WHERE device = ? ORDER BY started_at DESC, id DESC", data.device)
    if not sessions:
        page.say("There was no run.")
        return

    def length(row) -> float | None:
        return None if row["ended_at"] is None else (_moment(row["ended_at"]) - _moment(row["started_at"])).total_seconds()

    page.table(
        ["started, UTC", "command", "state", "took", "verdicts", "ok", "problems", "strategy", "version", "toolchain"],
        [
            [
                row["started_at"][:19].replace("T", " "),
                re.sub(r"[^\s\"']*/(?=[^/\s\"']+\.cu\b)", "", row["command"]),  # a kernel's file without its folders
                row["state"],
                (seconds(length(row)) if length(row) is not None else "–",),
                (f"{row['measurements']:,}",),
                (f"{row['ok']:,}",),
                (f"{row['problems']:,}",),
                row["strategy"],
                row["tunesmith_version"],
                shorter(row["toolchain"], 40),
            ]
            for row in sessions[:20]
        ],
    )
    if len(sessions) > 20:
        page.note(f"The newest 20 of {len(sessions):,}.")
    go = _go()
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
        figure = go.Figure()
        for number, one in enumerate(top):
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
                    line={"shape": "hv", "color": _COLOURS[number % len(_COLOURS)]},
                    marker={"size": 6},
                    name=plain(shorter((f"{one['op']} " if len(data.ops) > 1 else "") + data.short(one["op"], one["problem"]), 44)),
                    text=text,
                    customdata=y,
                    hovertemplate="after %{x:.2f} s: %{customdata:.4g} µs<br>%{text}<extra></extra>",
                )
        if figure.data:
            _layout(
                figure,
                "seconds since the " + ("run began" if len(top) == 1 else "problem's first verdict"),
                "best so far / its last best",
                height=360 + 22 * len(figure.data),
            )
            _log(figure, "y")
            more = f" The {len(top)} of its {row['problems']} problems with the most verdicts." if row["problems"] > len(top) else ""
            figures.append(
                (f"Best so far, run of {label}", "Each step is a variant that was faster than all before it." + more, figure, False)
            )
        stages = {
            each["stage"]: each["s"]
            for each in data.rows(
                "SELECT stage, sum(wall_ms) / 1000 AS s FROM results WHERE session_id = ? AND wall_ms IS NOT NULL GROUP BY stage", row["id"]
            )
        }
        compiling = data.rows("SELECT sum(compile_ms) / 1000 AS s FROM results WHERE session_id = ?", row["id"])[0]["s"]
        spent.append((label, length(row), stages, compiling))
    timed = [one for one in spent if one[1] and one[2]]
    if timed:
        bars = go.Figure()
        labels = [one[0] for one in timed]
        for number, (stage, name) in enumerate((("search", "search"), ("finals", "finals"), ("table", "table"), ("", "stage not known"))):
            values = [one[2].get(stage, 0.0) for one in timed]
            if any(values):
                bars.add_bar(
                    y=labels,
                    x=values,
                    name=name,
                    orientation="h",
                    marker={"color": _COLOURS[number]},
                    hovertemplate="%{x:.2f} s<extra>%{fullData.name}</extra>",
                )
        rest = [max(0.0, one[1] - sum(one[2].values())) for one in timed]
        bars.add_bar(
            y=labels,
            x=rest,
            name="else: references, waiting for compilers, storing",
            orientation="h",
            marker={"color": _COLOURS[6]},
            hovertemplate="%{x:.2f} s<extra></extra>",
        )
        _layout(bars, "seconds", "", height=190 + 50 * len(timed), barmode="stack").update_yaxes(type="category", autorange="reversed")
        told = "; ".join(f"{label}: {seconds(compiling)}" for label, _, _, compiling in spent if compiling)
        figures.append(
            (
                "Where the time went",
                "The device's worker loading, checking and timing, by stage, and the rest of the run."
                + (f" Compilers, which run beside it: {told}." if told else ""),
                bars,
                False,
            )
        )
    if figures:
        page.figures(*figures)
    else:
        page.say("No run has a variant that was ok.")
    if drawn and not timed:
        told = ", ".join(f"{seconds(compiling)} in the run of {label}" for label, _, _, compiling in spent if compiling)
        page.say(
            "Where the time went is not recorded for these runs: they were made before the database kept it."
            + (f" What is known is the compilers' time, which run beside each other: {told}." if told else "")
        )
    if len(sessions) > drawn and drawn == _RUNS:
        page.note(f"Figures are of the newest {_RUNS} runs.")


def _moment(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError as error:
        raise ValueError(f'"{text}" in the database is not a date.') from error


def failures(page: Page, data: Data) -> None:
    page.section("What failed, and why", "Variants whose newest verdict is not ok. They are never dispatched; each costs its run one row.")
    rows = []
    for op in data.ops:
        rows += [
            row
            for row in data.rows(
                "SELECT op, template, verdict, reason, problem, config FROM failures WHERE op = ? AND device = ?", op, data.device
            )
            if data.matches(values_of(row["problem"]))
        ]
    if not rows:
        page.say("Nothing failed." if data.ops else "There is nothing to show.")
        return
    counts = collections.Counter((f"{row['op']}/{row['template']}", row["verdict"]) for row in rows)
    places = sorted({place for place, _ in counts}, key=lambda place: -sum(n for (at, _), n in counts.items() if at == place))[:30]
    figure = _go().Figure()
    for number, verdict in enumerate(sorted({verdict for _, verdict in counts})):
        figure.add_bar(
            y=list(map(plain, places)),
            x=[counts.get((place, verdict), 0) for place in places],
            name=verdict.replace("_", " "),
            orientation="h",
            marker={"color": _COLOURS[(number + 3) % len(_COLOURS)]},
            hovertemplate="%{x} variants<extra>%{fullData.name}</extra>",
        )
    _layout(figure, "variants", "", height=170 + 30 * len(places), barmode="stack").update_yaxes(type="category", autorange="reversed")
    page.figures(("Failed variants by template and verdict", f"{count(len(rows), 'variant')} of problems.", figure, True))
    reasons: dict[tuple, list] = collections.defaultdict(list)
    for row in rows:
        reasons[row["op"], row["template"], row["verdict"], re.sub(r"\d+(\.\d+)?", "…", row["reason"])].append(row)
    most = sorted(reasons.items(), key=lambda item: -len(item[1]))
    page.table(
        ["op", "template", "verdict", "variants", "reason, for example", "with", "problem"],
        [
            [
                op,
                template,
                verdict.replace("_", " "),
                (f"{len(of):,}",),
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
