# SPDX-License-Identifier: Apache-2.0
"""Time against size, and the limits of the time."""

from __future__ import annotations

import collections
import math
from typing import NamedTuple

from .data import OWN, Data, Peers, Work, count, shorter, size_text
from .page import Page, plain
from .plots import COLOURS, bytes_axis, layout, log, plotly

_POINTS = 3000  # in a figure


class Limits(NamedTuple):
    """The bounds of a time on the device."""

    rate: float | None  # bytes per second
    where: str  # the place that the bound is from
    arithmetic: float | None  # operations per second


def sizes(page: Page, data: Data, peers: Peers | None) -> None:
    page.section(
        "Time against size, and what limits it",
        "Bytes are those that must be read and written once. The limit of memory is a rate, and below it nothing is faster than an empty launch.",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    work = Work()
    known = {
        op: [(one, work.of(op, one["text"])) for one in data.problems[op] if one["best_us"]]
        for op in data.ops
    }
    limits = Limits(*_bandwidth(data, known, peers), peers.arithmetic if peers else None)
    winners = data.winners()
    for op in data.ops:
        page.part(op)
        _sizes_of(page, data, op, known[op], work, winners, limits, peers)
    if peers is None and data.ops:
        page.note(
            "With --results, such as bench/results/results.csv of a checkout, other libraries' times and the measured limits of the same device are drawn too."
        )


def _sizes_of(
    page: Page,
    data: Data,
    op: str,
    known: list,
    work: Work,
    winners: dict,
    limits: Limits,
    peers: Peers | None,
) -> None:
    points = [(one, done) for one, done in known if done and done[0] > 0 and data.knows(op)]
    if not known:
        page.say("No variant of it was ok.")
        return
    if not points:
        page.say(
            "The bytes of its problems are not known: they are of another version."
            if data.knows(op)
            else f"It is no op of this package. {OWN}"
        )
        return
    unknown = len(known) - len(points)
    step = math.ceil(len(points) / _POINTS)
    points = sorted(points, key=lambda item: item[1][0])[::step]
    names = [plain(shorter(data.short(op, one["text"]), 90)) for one, _ in points]
    figure = _against_size(op, points, names, winners)
    _add_peers(figure, data, op, work, peers)
    x = [done[0] for _, done in points]
    rate = limits.rate
    if rate:
        floor = peers.empty_us if peers and peers.empty_us else min(one["best_us"] for one, _ in points)
        line = (
            [min(x) * (max(x) / min(x)) ** (i / 60) for i in range(61)]
            if max(x) > min(x)
            else [x[0] / 4, x[0], x[0] * 4]
        )
        figure.add_scatter(
            x=line,
            y=[max(floor, each / rate * 1e6) for each in line],
            mode="lines",
            name="limit",
            line={"dash": "dash", "color": COLOURS[3]},
            hoverinfo="skip",
        )
    if data.l2_bytes and min(x) < data.l2_bytes < max(x):
        figure.add_vline(x=data.l2_bytes, line={"dash": "dot", "width": 1, "color": COLOURS[6]})
        figure.add_annotation(
            x=math.log10(data.l2_bytes),
            y=0,
            yref="paper",
            text="L2 cache",
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
        )
    log(layout(figure, "bytes read and written", "microseconds per launch"))
    bytes_axis(figure)
    of_all = (
        count(len(points), "problem")
        + (f", every {step}th of those that there are" if step > 1 else "")
        + "."
    )
    of_all += f" Of {count(unknown, 'other')} the bytes are not known here." if unknown else ""
    about = (
        f"The limit is {rate / 1e9:.4g} GB/s, {limits.where}; below, {'an empty kernel' if peers and peers.empty_us else 'the fastest time of this op'}. "
        if rate
        else ""
    )
    if data.how[op][0] == "warm" and data.l2_bytes:
        about += f"Warm, what fits into the L2 cache ({size_text(data.l2_bytes)}) may be faster. "
    drawn = [("Time against size", about + of_all, figure, False)]
    drawn.append(_roofline(op, points, names, rate, limits.arithmetic, peers))
    page.figures(*drawn)


_SIZE_HOVER = "%{x:.3s}B, %{y:,.4~r} µs<br>%{text}<extra>%{fullData.name}</extra>"


def _against_size(op: str, points: list, names: list[str], winners: dict):
    x = [done[0] for _, done in points]
    figure = plotly().Figure()
    base = [i for i, (one, _) in enumerate(points) if one["base_us"]]
    if base:
        figure.add_scatter(
            x=[x[i] for i in base],
            y=[points[i][0]["base_us"] for i in base],
            text=[names[i] for i in base],
            mode="markers",
            name="base",
            marker={"size": 5, "color": COLOURS[6], "symbol": "circle-open"},
            hovertemplate=_SIZE_HOVER,
        )
    figure.add_scatter(
        x=x,
        y=[one["best_us"] for one, _ in points],
        text=names,
        mode="markers",
        name="best that was found",
        marker={"size": 6, "color": COLOURS[1]},
        hovertemplate=_SIZE_HOVER,
    )
    won = [i for i, (one, _) in enumerate(points) if (op, one["text"]) in winners]
    if won:
        figure.add_scatter(
            x=[x[i] for i in won],
            y=[winners[op, points[i][0]["text"]] for i in won],
            text=[names[i] for i in won],
            mode="markers",
            name="winner",
            marker={"size": 10, "symbol": "diamond-open", "color": COLOURS[2], "line": {"width": 2}},
            hovertemplate=_SIZE_HOVER,
        )
    return figure


def _add_peers(figure, data: Data, op: str, work: Work, peers: Peers | None) -> None:
    of_peers: dict[str, list[tuple[float, float, str]]] = collections.defaultdict(list)
    for contender, kind, problem, us in peers.times(op, data.how[op]) if peers else []:
        done = work.of(op, problem)
        if done and done[0] > 0 and contender not in ("empty kernel", "FFMA"):
            of_peers[f"{contender}, {peers.name}" if kind == "ours" else contender].append(
                (done[0], us, problem)
            )
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
                "color": COLOURS[(number + 3) % len(COLOURS)],
            },
            hovertemplate=_SIZE_HOVER,
        )


def _bandwidth(data: Data, known: dict, peers: Peers | None) -> tuple[float | None, str]:
    """Bytes per second, and the source of that number."""
    if peers and peers.bandwidth:
        return peers.bandwidth, f"the highest of a copy in {peers.name}, with cold caches"
    every = [
        (done[0], done[0] / one["best_us"] * 1e6)
        for of in known.values()
        for one, done in of
        if done and done[0] > 0
    ]
    large = [rate for size, rate in every if data.l2_bytes and size > 2 * data.l2_bytes]
    if large:
        return max(large), "the highest that was reached here by a problem of more than twice the L2 cache"
    return (
        (
            max(rate for _, rate in every),
            "the highest that was reached here by any problem: the true one may be higher",
        )
        if every
        else (None, "")
    )


def _roofline(
    op: str, points: list, names: list[str], rate: float | None, arithmetic: float | None, peers: Peers | None
):
    """Operations against operations per byte, or if none are counted, bytes per second against bytes."""
    figure = plotly().Figure()
    counted = [i for i, (_, done) in enumerate(points) if done[1]]
    if counted:
        x = [points[i][1][1] / points[i][1][0] for i in counted]
        y = [points[i][1][1] / points[i][0]["best_us"] / 1e3 for i in counted]
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            text=[names[i] for i in counted],
            marker={"size": 6, "color": COLOURS[1]},
            name="best that was found",
            hovertemplate="%{x:.3g} operations per byte, %{y:,.4~r} GFLOP/s<br>%{text}<extra></extra>",
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
                line={"dash": "dash", "color": COLOURS[3]},
                hoverinfo="skip",
            )
        log(layout(figure, "operations per byte", "10<sup>9</sup> operations per second"))
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
        marker={"size": 6, "color": COLOURS[1]},
        hovertemplate="%{x:.3s}B, %{y:,.4~r} GB/s<br>%{text}<extra></extra>",
    )
    if rate:
        ends = [min(x) / 1.5, max(x) * 1.5]
        figure.add_scatter(
            x=ends,
            y=[rate / 1e9] * 2,
            mode="lines",
            name="roof",
            line={"dash": "dash", "color": COLOURS[3]},
            hoverinfo="skip",
        )
    log(layout(figure, "bytes read and written", "GB per second"))
    bytes_axis(figure)
    return (
        "Roofline of memory",
        f"Operations of {op} are {'none' if op == 'transpose' else 'not counted here'}, so memory is its roof.",
        figure,
        False,
    )
