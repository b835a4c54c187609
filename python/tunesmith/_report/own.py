# SPDX-License-Identifier: Apache-2.0
"""Your own kernels: their winners with the metrics of the description, and how the chosen variant is launched."""

from __future__ import annotations

import json
import os
import subprocess

from .._core import Dispatcher
from .._tuning import program
from .data import Data, count, number, shorter, time_unit
from .page import Page

_ROWS = 60  # winners per kernel
_LAUNCHES = 5  # problems per kernel of which launches are shown


def known(data: Data, kernels: list[str]) -> dict[str, str]:
    """The files by the names of their ops, which the process knows then, as `work` asks for them."""
    files = {}
    for file in kernels:
        rows = _winners(data, file)
        if isinstance(rows, list) and rows:
            files[rows[0]["op"]] = file
            Dispatcher("host", database="", kernels=[file])
    return files


def own(page: Page, data: Data, kernels: list[str]) -> None:
    if not kernels:
        return
    page.section(
        "Your own kernels",
        "The winners of each kernel's problems, with the metrics that its description computes from their times, and how they are launched.",
    )
    for file in kernels:
        page.part(os.path.basename(file))
        rows = _winners(data, file)
        if isinstance(rows, str):
            page.say(rows)
            continue
        if not rows:
            page.say("It has no winners in this database.")
            continue
        metrics = own_metrics(data, file)
        unit, scale = time_unit(one.get("median_us") for one in rows[:_ROWS])
        page.table(
            f"Winners of {os.path.basename(file)}",
            ["problem", "config", f"median, {unit}", "faster than base", *metrics],
            [
                [
                    one["problem"],
                    shorter(str(one.get("config", "")), 120),
                    number(one.get("median_us"), scale),
                    _times(one.get("speedup_over_base")),
                    *(_metric(one.get(name)) for name in metrics),
                ]
                for one in rows[:_ROWS]
            ],
        )
        if len(rows) > _ROWS:
            page.note(
                f"{count(len(rows) - _ROWS, 'winner')} more {'is' if len(rows) == _ROWS + 1 else 'are'} left out."
            )
        for one in rows[:_LAUNCHES]:
            if lines := _launches(data, file, one["problem"]):
                page.note(f"{one['problem']}: {'; '.join(lines)}.")


def own_metrics(data: Data, file: str) -> list[str]:
    """The names of the metrics of the kernel's description."""
    rows, usual = _winners(data, file), _winners(data, None)
    if isinstance(rows, str) or isinstance(usual, str) or not rows or not usual:
        return []
    return [name for name in rows[0] if name not in usual[0]]


def answer(arguments: list[str]):
    """Returns the JSON that the program prints, or a sentence on why it prints nothing."""
    asked = _run(arguments)
    if asked.returncode != 0:
        return (asked.stderr.strip().splitlines() or ["The program did not read it."])[-1]
    return json.loads(asked.stdout or "[]")


def _winners(data: Data, file: str | None):
    """The rows of `tunesmith query`, or a sentence on why there are none."""
    rows = answer(["query", *([file] if file else []), "--format", "json", "--db", data.path])
    if isinstance(rows, str):
        return rows
    return [one for one in rows if file is None or not data.device or one.get("device") == data.device]


def _launches(data: Data, file: str, problem: str) -> list[str]:
    """The lines of `tunesmith explain` on a variant of several steps."""
    device = "host" if data.is_host else data.device
    asked = _run(["explain", file, "--device", device, "--problem", problem, "--db", data.path])
    lines = iter(asked.stdout.splitlines())
    for line in lines:
        if line.startswith("It is launched as"):
            break
    found = []
    for line in lines:
        if not line.startswith("  "):
            break
        found.append(line.strip())
    return found


def _times(ratio) -> tuple:
    return ("–",) if ratio is None else (f"{ratio:.2f}×", ratio)


def _metric(value) -> tuple:
    return number(value) if value is None or isinstance(value, (int, float)) else (str(value),)


def _run(arguments: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run([program(), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
