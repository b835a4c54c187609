# SPDX-License-Identifier: Apache-2.0
"""A tuning database as an HTML page: tunesmith.report() and `python -m tunesmith report`."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys

from .._core import default_database
from .._tuning import _text
from . import between, landscape, own, runs, sizes, trade, winners
from .data import Data, Peers
from .page import Page


def report(
    file="report.html", *, op=None, problem=None, device=None, database=None, results=None, kernels=()
) -> str:
    """See tunesmith.report()."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "A report is drawn with plotly, which is not installed: pip install 'tunesmith[report]', or pip install plotly."
        ) from error
    path = os.fspath(database) if database is not None else default_database()
    ops = [op] if isinstance(op, str) else list(op or [])
    data = Data(path, ops, "" if problem is None else _text(problem), device)
    try:
        files = [os.fspath(one) for one in kernels]
        page = Page(f"Tunesmith: {data.device or os.path.basename(path)}")
        peers = Peers(results, data) if results is not None else None
        winners.summary(page, data, peers)
        winners.winners(page, data)
        own.own(page, data, files)
        data.files = own.known(data, files)
        landscape.landscape(page, data)
        trade.trade(page, data)
        sizes.sizes(page, data, peers)
        between.between(page, data)
        runs.runs(page, data)
        runs.failures(page, data)
        text = page.text(get_plotlyjs())
    except sqlite3.Error as error:
        raise ValueError(
            f"{path} could not be read: {error}. `tunesmith db status --db` says whether it is intact."
        ) from error
    finally:
        data.sql.close()
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return os.fspath(file)


def main(arguments: list[str]) -> int:
    """python -m tunesmith report."""
    parser = argparse.ArgumentParser(
        prog="tunesmith report", description="Write a tuning database as one HTML page of tables and figures."
    )
    parser.add_argument(
        "-o", "--output", default="report.html", metavar="FILE", help="the page (default: report.html)"
    )
    parser.add_argument("--op", action="append", help="only this op; may be repeated")
    parser.add_argument("--problem", help='only problems with these values, such as "height=1000 width=2000"')
    parser.add_argument(
        "--device", help="part of a device's name (default: the device with the most measurements)"
    )
    parser.add_argument("--db", help="database file (default: $TUNESMITH_DB, else in the user's data folder)")
    parser.add_argument(
        "--results",
        metavar="CSV",
        help="of bench/bench.py, such as bench/results/results.csv: times of other libraries and of copies",
    )
    parser.add_argument(
        "--kernel",
        action="append",
        metavar="FILE.cu",
        help="a kernel of your own, whose metrics and launches are shown; may be repeated",
    )
    given = parser.parse_args(arguments)
    try:
        print(
            report(
                given.output,
                op=given.op,
                problem=given.problem,
                device=given.device,
                database=given.db,
                results=given.results,
                kernels=given.kernel or (),
            )
        )
    except (ValueError, ImportError, OSError) as error:
        print(f"tunesmith: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    return 0
