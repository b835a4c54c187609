# SPDX-License-Identifier: Apache-2.0
"""The data of a report: a database's views, the bytes and operations of problems, and the times of other libraries."""

from __future__ import annotations

import collections
import csv
import math
import os
import re
import sqlite3
import statistics
import subprocess
import urllib.parse

from .._core import ops, work
from .._tuning import program

_APPLICATION = 1414745428  # PRAGMA application_id and user_version of db/schema.sql
_SCHEMA = 1
OPS = 10  # on a page
OWN = "If it is a kernel of your own, name its file with --kernel FILE.cu: then this part is drawn too."


def digits(value: float, most: int = 4) -> str:
    """The number with so many digits, without an exponent."""
    places = most - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{min(max(places, 0), 12)}f}"


def time_unit(times) -> tuple[str, float]:
    """The unit that a column of microseconds is shown in, and the microseconds of one: its shortest time has no leading zeros."""
    shortest = min((us for us in times if us), default=0)
    return ("s", 1e6) if shortest >= 1e6 else ("ms", 1e3) if shortest >= 1e3 else ("µs", 1.0)


def number(value, scale: float = 1, most: int = 4) -> tuple:
    """A cell of a table (Page.table)."""
    return ("–",) if value is None else (digits(value / scale, most), value)


def seconds(s: float) -> str:
    return f"{s:.3g} s" if s < 100 else f"{s / 60:.3g} min" if s < 6000 else f"{s / 3600:.3g} h"


def size_text(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024
    return ""


def count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def values_of(text: str) -> dict[str, str]:
    """A problem or a config as a dict; a value with blanks is quoted in the text."""
    return {name: value.strip('"') for name, value in re.findall(r'(\w+)=("[^"]*"|\S*)', text)}


def as_text(values: dict[str, str]) -> str:
    return " ".join(
        f'{name}="{value}"' if not re.fullmatch(r"[\w.+-]+", value) or value[:1] == "-" else f"{name}={value}"
        for name, value in values.items()
    )


def shorter(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# ---- the database


class Data:
    """A database, opened for reading, and the part of it that the page shows."""

    def __init__(self, path: str, ops: list[str], problem: str, device: str | None):
        self.path = path
        self.files: dict[str, str] = {}  # of kernels of the user's that the report was given, by op
        self._varied: dict[str, set[str]] = {}  # by op, the parameters in which its problems differ
        self.sql = _open(path)
        try:
            self._select(ops, problem, device)
        except sqlite3.Error as error:
            raise ValueError(
                f"{path} could not be read: {error}. `tunesmith db status --db` says whether it is intact."
            ) from error

    def rows(self, sql: str, *given) -> list[sqlite3.Row]:
        return self.sql.execute(sql, given).fetchall()

    def _select(self, ops: list[str], problem: str, device: str | None) -> None:
        devices = self.rows(
            "SELECT device, count(*) AS n FROM results GROUP BY device ORDER BY n DESC, device"
        )
        names = [row["device"] for row in devices]
        found = [name for name in names if device is None or device.lower() in name.lower()]
        if device is not None and not found:
            raise ValueError(
                f'No device in {self.path} has "{device}" in its name; there are {", ".join(names) or "none"}.'
            )
        self.device = next((name for name in found if name == device), found[0] if found else "")
        self.other_devices = [name for name in names if name != self.device]
        facts = self.rows("SELECT * FROM device WHERE name = ? ORDER BY id LIMIT 1", self.device)
        self.l2_bytes = facts[0]["l2_bytes"] if facts else 0
        self.is_host = bool(facts) and facts[0]["kind"] == "host"
        known = self.rows(
            "SELECT op, count(*) AS n FROM results WHERE device = ? GROUP BY op ORDER BY n DESC, op",
            self.device,
        )
        for name in ops:
            if name not in [row["op"] for row in known]:
                raise ValueError(
                    f"There are no measurements of {name} on {self.device or 'any device'} in {self.path}; "
                    f"there are some of {', '.join(row['op'] for row in known) or 'nothing'}."
                )
        self.ops = [row["op"] for row in known if not ops or row["op"] in ops]
        self.left_out = self.ops[OPS:]
        self.ops = self.ops[:OPS]
        self.wanted = values_of(problem)
        if problem and not self.wanted:
            raise ValueError(
                f'"{problem}" is not a problem: give names with values, such as "height=1000 width=2000".'
            )
        self.how: dict[
            str, tuple[str, str]
        ] = {}  # caches and launches of an op: times of others do not compare
        self.problems: dict[str, list[dict]] = {}
        for name in self.ops:
            how = self.rows(
                "SELECT caches, launches FROM results WHERE op = ? AND device = ? AND verdict = 'ok' AND NOT is_stale GROUP BY 1, 2 "
                "ORDER BY count(*) DESC, caches DESC, launches LIMIT 1",
                name,
                self.device,
            )
            self.how[name] = tuple(how[0]) if how else ("warm", "apart")
            grouped = self.rows(
                "SELECT problem AS text, min(CASE WHEN verdict = 'ok' THEN median_us END) AS best_us, "
                "min(CASE WHEN verdict = 'ok' AND is_base THEN median_us END) AS base_us, sum(verdict = 'ok') AS ok "
                "FROM results WHERE op = ? AND device = ? AND is_current AND caches = ? AND launches = ? GROUP BY problem",
                name,
                self.device,
                *self.how[name],
            )
            problems = [dict(row, values=values_of(row["text"])) for row in grouped]
            self.problems[name] = [one for one in problems if self.matches(one["values"])]
        if self.wanted and not any(self.problems.values()):
            raise ValueError(
                f'No problem on {self.device} in {self.path} has the values "{problem}"; `tunesmith query` lists those with winners.'
            )

    def knows(self, op: str) -> bool:
        """Returns if it is a built-in op, or of a kernel whose file the report was given."""
        return op in self.files or op in ops()

    def winners(self) -> dict[tuple[str, str], float]:
        """The times of winners by op and problem, of those that compare with the op's other times."""
        return {
            (row["op"], row["problem"]): row["median_us"]
            for row in self.rows(
                "SELECT op, problem, caches, launches, min(median_us) AS median_us FROM winners WHERE device = ? GROUP BY op, problem",
                self.device,
            )
            if self.how.get(row["op"]) == (row["caches"], row["launches"])
        }

    def matches(self, values: dict[str, str]) -> bool:
        return all(values.get(name) == value for name, value in self.wanted.items())

    def short(self, op: str, text: str) -> str:
        """The values that distinguish a problem from the op's others, and if none of them is a size, its numbers above 1 too."""
        values = values_of(text)
        if op not in self._varied:
            given = collections.defaultdict(set)
            for one in self.problems.get(op, []):
                for name, value in one["values"].items():
                    given[name].add(value)
            self._varied[op] = {name for name, found in given.items() if len(found) > 1}
        kept = {name: value for name, value in values.items() if name in self._varied[op]}
        if not any(value.isdigit() and value != "0" for value in kept.values()):
            kept |= {
                name: value for name, value in values.items() if value.isdigit() and value not in ("0", "1")
            }
            kept = {name: value for name, value in values.items() if name in kept}
        return " ".join(f"{name}={value}" for name, value in (kept or values).items())


def _open(path: str) -> sqlite3.Connection:
    if not path:
        raise ValueError("There is no database, because TUNESMITH_DB is off; give one with --db.")
    if not os.path.exists(path):
        raise ValueError(f"There is no database {path}; `tunesmith tune` makes one, --db names another.")
    try:
        sql = sqlite3.connect(f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro", uri=True)
        application = sql.execute("PRAGMA application_id").fetchone()[0]
        version = sql.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise ValueError(f"{path} could not be read as a database: {error}.") from error
    if application != _APPLICATION:
        sql.close()
        raise ValueError(f"{path} is not a database of Tunesmith.")
    if version > _SCHEMA:
        sql.close()
        raise ValueError(
            f"{path} was written by a newer version of Tunesmith, or by one before 0.1.0 (schema {version}; this one reads up to {_SCHEMA}): "
            "update the package, or export it with the version that wrote it and import that."
        )
    if version < _SCHEMA:  # its views are older too: the program migrates a copy
        sql.close()
        dumped = subprocess.run(
            [program(), "db", "dump", "--db", path], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if dumped.returncode != 0:
            raise ValueError(dumped.stderr.strip() or f"{path} could not be migrated.")
        sql = sqlite3.connect(":memory:")
        sql.executescript(dumped.stdout)
    sql.row_factory = sqlite3.Row
    sql.execute("PRAGMA trusted_schema = OFF")  # a file may have been written by anybody
    sql.execute("PRAGMA query_only = ON")
    return sql


# ---- bytes and operations of a problem


class Work:
    def __init__(self):
        self._known: dict[tuple[str, str], tuple[float, float | None] | None] = {}

    def of(self, op: str, text: str) -> tuple[float, float | None] | None:
        """The bytes that must be read and written, and the operations (None: elementwise's are not comparable); None for an op that is
        not built in."""
        if (op, text) not in self._known:
            try:
                moved, operations = work(op, text)
                self._known[op, text] = moved, None if op == "elementwise" else operations
            except ValueError:
                self._known[op, text] = None
        return self._known[op, text]


# ---- other libraries


class Peers:
    """A results file of bench/bench.py."""

    def __init__(self, path, data: Data):
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} could not be read as a results file: {error}.") from error
        if (
            not rows
            or not {"op", "problem", "contender", "kind", "verdict", "apart_us", "note"} <= rows[0].keys()
        ):
            raise ValueError(
                f"{path} is not a results file: columns such as op, problem, contender, kind, verdict, apart_us and note are missing."
            )
        self.name = os.path.basename(os.fspath(path))
        self.device = next(
            (row["note"] for row in rows if row["op"] == "run" and row["case"] == "device"),
            "an unknown device",
        )
        self.here = bool(data.device) and self.device.startswith(data.device)
        self.rows = (
            [row for row in rows if row["op"] in data.ops and data.matches({**values_of(row["problem"])})]
            if self.here
            else []
        )
        self.wrong = sum(row["verdict"] != "ok" for row in self.rows)
        self.rows = [row for row in self.rows if row["verdict"] == "ok" and row["problem"]]
        every = [row for row in rows if self.here and row["kind"] == "limit" and row["verdict"] == "ok"]
        self.bandwidth = self._rate(every, "copy", r"([\d.e+]+) bytes", 1)
        self.arithmetic = self._rate(every, "FFMA", r"([\d.e+]+) multiply-adds", 2)
        empty = [
            float(row["apart_us"]) for row in every if row["contender"] == "empty kernel" and row["apart_us"]
        ]
        self.empty_us = statistics.median(empty) if empty else None

    @staticmethod
    def _rate(rows: list[dict], contender: str, pattern: str, times: float) -> float | None:
        """The highest rate per second with cold caches, because then nothing comes from the L2 cache."""
        rates = []
        for row in rows:
            found = re.search(pattern, row["note"])
            if row["contender"] == contender and found and row.get("cold_us"):
                rates.append(times * float(found[1]) / float(row["cold_us"]) * 1e6)
        return max(rates, default=None)

    def times(self, op: str, how: tuple[str, str]) -> list[tuple[str, str, str, float]]:
        """(contender, kind, problem, microseconds) for the same caches and launches."""
        column = "cold_us" if how[0] == "cold" else "chained_us" if how[1] == "chained" else "apart_us"
        return [
            (row["contender"], row["kind"], row["problem"], float(row[column]))
            for row in self.rows
            if row["op"] == op and row.get(column)
        ]
