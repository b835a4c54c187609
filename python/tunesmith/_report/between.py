# SPDX-License-Identifier: Apache-2.0
"""The choices of dispatch between measured problems."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import re
import statistics
import subprocess

from .._tuning import program
from .data import OWN, Data, as_text, count, shorter
from .page import Page, plain
from .plots import COLOURS, layout, log, plotly

_SWEEP = 13  # problems that `explain` is asked about, per op
_EVIDENCE = 3  # measured problems that a curve of expected times needs


def between(page: Page, data: Data) -> None:
    page.section(
        "Between the anchors",
        "What dispatch would choose for problems between those that were measured: one size is swept, the others are constant. "
        "Expected loss: how much slower it is expected to be than the best that tuning would find.",
    )
    if not data.ops:
        page.say("There is nothing to show.")
    go = plotly()
    winners = data.winners()
    for op in data.ops:
        page.part(op)
        if not data.knows(op):
            page.say(f"It is no op of this package. {OWN}")
            continue
        swept = _sweep(data, op)
        if swept is None:
            page.say("Its problems have no size that could be swept.")
            continue
        name, values, problem = swept
        answers = _explained(
            data,
            data.files.get(op, op),
            [(value, as_text({**problem["values"], name: str(value)})) for value in values],
        )
        good = [one for one in answers if one["us"] is not None]
        measured = [one for one in data.problems[op] if one["best_us"]]
        named = {problem for one in good for problem in one["evidence"]}
        if good and max(len(measured), len(named)) < _EVIDENCE:
            page.say(
                f"Fewer than {_EVIDENCE} problems of it were measured, and a time of another size that follows from so few would be a guess. "
                "Tune further sizes, or a table: `tunesmith tune --all`."
            )
            continue
        if not good:
            said = next((one["words"] for one in answers if one["words"]), "")
            page.say(f"Dispatch gives no time for these problems{': ' + said if said else '.'}")
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
                    marker={"size": 9, "color": COLOURS[(2, 1, 4, 6)[number]]},
                    text=[plain(shorter(one["variant"], 100)) for one in points],
                    hovertemplate=f"{plain(name)}=%{{x}}: %{{y:,.4~r}} µs expected<br>%{{text}}<extra>%{{fullData.name}}</extra>",
                )
        along = [
            one
            for one in measured
            if one["values"].get(name, "").isdigit()
            and {**one["values"], name: ""} == {**problem["values"], name: ""}
        ]
        if along:
            figure.add_scatter(
                x=[int(one["values"][name]) for one in along],
                y=[winners.get((op, one["text"]), one["best_us"]) for one in along],
                mode="markers",
                name="measured, " + " ".join(data.how[op]),
                marker={"size": 12, "symbol": "diamond-open", "color": COLOURS[3], "line": {"width": 2}},
                hovertemplate=f"{plain(name)}=%{{x}}: %{{y:,.4~r}} µs measured<extra></extra>",
            )
        log(layout(figure, plain(name), "expected microseconds", height=380))
        kinds = collections.Counter(one["match"].replace("_", " ") for one in good)
        variants = len({one["variant"] for one in good})
        figures = [
            (
                "Expected time",
                f"Of {count(len(answers), 'problem')}: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}; "
                f"{count(variants, 'different variant')}. Measured were {count(len(measured), 'problem')}."
                + (
                    f" {count(len(answers) - len(good), 'answer')} without a time."
                    if len(good) < len(answers)
                    else ""
                ),
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
                    line={"color": COLOURS[0]},
                    hovertemplate=f"{plain(name)}=%{{x}}: %{{y:.0f}} %<extra></extra>",
                )
            )
            layout(loss, plain(name), "expected loss, %", height=380, legend=False).update_yaxes(
                rangemode="tozero"
            )
            log(loss, "x")
            mean = statistics.fmean(one["loss"] for one in losing)
            figures.append(
                (
                    "Expected loss",
                    f"{100 * mean:.1f} % in the mean, {100 * max(one['loss'] for one in losing):.0f} % at most.",
                    loss,
                    False,
                )
            )
        page.figures(*figures)
        if not losing:
            page.say("Dispatch expects no gain of tuning that it could name: no table of anchors is near.")


def _sweep(data: Data, op: str):
    """The size with the most different values, some values between its ends, and the problem that gives the other parameters."""
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
    problem = max(
        (one for one in problems if one["values"].get(name, "").isdigit()),
        key=lambda one: (one["ok"], one["text"]),
    )
    low, high = min(seen[name]), max(seen[name])
    if len(seen[name]) < 3:  # values around the existing ones
        low, high = max(1, low // 8), high * 8
    step = (high / low) ** (1 / (_SWEEP - 1))
    return (
        name,
        sorted({round(low * step**i) for i in range(_SWEEP)} | {int(problem["values"][name])}),
        problem,
    )


def _explained(data: Data, op: str, problems: list[tuple[int, str]]) -> list[dict]:
    def ask(given: tuple[int, str]) -> dict:
        at, text = given
        asked = subprocess.run(
            [
                program(),
                "explain",
                op,
                "--device",
                "host" if data.is_host else data.device,
                "--problem",
                text,
                "--db",
                data.path,
            ],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        said = asked.stdout
        us = re.search(r"^(?:Used|It would use), [^:]*?([\d.e+-]+) us expected", said, re.M)
        gain = re.search(r"expected to gain ([\d.]+) %", said)
        near = re.search(r"^By its times on the problems most like this one: (.*)$", said, re.M)
        match, variant = re.search(r"^match: (\w+)", said, re.M), re.search(r"^variant: (.*)", said, re.M)
        return {
            "at": at,
            "us": float(us[1]) if us else None,
            "loss": float(gain[1]) / 100 if gain else 0.0 if match and match[1] == "exact" else None,
            "match": match[1] if match else "",
            "variant": variant[1] if variant else "",
            "evidence": re.findall(r"us for (.*?), where the best takes", near[1]) if near else [],
            "words": asked.stderr.strip(),
        }

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(ask, problems))
