# SPDX-License-Identifier: Apache-2.0
"""Tuning from Python: the command line in a separate process, so that this process survives any fault of a variant."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import _dispatchers
from ._core import default_database
from ._device import current_device
from ._references import listening
from ._strategies import SearchSpace, Strategy, answer_search

if TYPE_CHECKING:  # a checker without pandas takes its class for Any
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

Problem = str | Mapping[str, Any]


class Winner(TypedDict):
    """A row of winners(): the variant that dispatch uses for a problem on a device, and its times in microseconds. A number that was not measured is
    None. Rows of a kernel of your own have its metrics too. A dict, which raises KeyError for another name.

    >>> rows = tunesmith.tune('transpose', 'height=9 width=7', device='host', budget='2', database='example.db', progress=False)
    >>> winner: tunesmith.Winner = rows[0] if isinstance(rows, list) else rows.to_dict('records')[0]
    >>> winner['op'], winner['median_us'] > 0
    ('transpose', True)
    """

    op: str
    device: str
    target: str
    problem: str
    template: str
    config: str
    compiled_in: str
    alignment_bytes: int
    caches: str
    launches: str
    objective: str
    median_us: float
    low_us: float | None
    high_us: float | None
    loads: int | None
    spread: float | None
    energy_uj: float | None
    clock_mhz: int | None
    throttled: str
    base_us: float | None
    speedup_over_base: float | None
    worst_us: float | None
    speedup_over_worst: float | None
    tied: int
    runner_up: str
    runner_up_ratio: float | None
    newest_verdict: str
    other_gpus: int
    provisional: int
    source_hash: str
    toolchain: str
    driver: str
    measured_at: str
    since: str


class _ReplayedUntil(TypedDict, total=False):
    """The mark at which a row of replay() looks at the searches; the one that the budget counts in."""

    verdicts: float
    seconds: float


class Replayed(_ReplayedUntil):
    """A row of replay(): how good one strategy's searches of one space are after so many verdicts, or seconds. A dict, which raises KeyError for another
    name.

    >>> row: tunesmith.Replayed = {'space': 'rows', 'configs': 3, 'strategy': 'random', 'prior': 'auto', 'warm_start': 0, 'lag': 0, 'verdicts': 2,
    ...                            'mean': 1.0, 'low': 1.0, 'error': None}
    >>> row['mean']
    1.0
    """

    space: str
    configs: int
    strategy: str
    prior: str
    warm_start: int
    lag: int
    mean: float
    low: float
    error: float | None


_Row = TypeVar("_Row", Winner, Replayed)


def program() -> str:
    """The path of the command-line program that came with this package: `python -m tunesmith` runs it. It raises nothing.

    >>> os.path.basename(tunesmith.program())
    'tunesmith'
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "tunesmith")


def _draws() -> bool:
    """True where a bar can be drawn over and over: on a terminal, and in a notebook. A file or a pipe gets lines."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar:
    """tqdm's bar if it is installed and can be drawn, titled by what is tuned and by the stage; else the program's own lines."""

    def __init__(self, shown: bool, title: str = "", words: Mapping[str, str] | None = None):
        """words: texts of the program's lines, and what is shown in place of them."""
        self.shown, self.title, self.words = shown, title, words or {}
        self.bar = self.stage = None
        if shown and _draws():
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(desc=title, unit=" variants", dynamic_ncols=True)

    def line(self, text: str) -> None:
        if not self.shown:
            return
        for word, instead in self.words.items():
            text = text.replace(word, instead)
        if self.bar is None:
            print(text, file=sys.stderr, flush=True)
            return
        found = re.match(
            r"((?:\S+ )*?)(search|finals|anchors|measured)(: \w+)? (\d+)(?:/(\d+))?(?= \||$)", text
        )
        if not found:
            self.bar.write(text, file=sys.stderr)
            return
        stage = found[2] + (found[3] or "")
        if stage != self.stage:  # finals count other things than the search, from 0 on
            self.stage = stage
            self.bar.unit = " variants" if stage == "search" else " steps"
            self.bar.set_description_str(f"{self.title}: {stage}", refresh=False)
        self.bar.total = int(found[5]) if found[5] else None
        self.bar.n = int(found[4])
        best = re.search(r"best [^|]*", text)
        if best:
            self.bar.set_postfix_str(best[0].strip(), refresh=False)
        self.bar.refresh()

    def close(self, done: bool = False) -> None:
        """done: the run has ended as it should, so that the last count, which is some seconds old, is whole."""
        if self.bar is not None:
            if done and self.bar.total:
                self.bar.n = self.bar.total
                self.bar.refresh()
            self.bar.close()


def _run(arguments: list[str], shown: bool, title: str = "", words: Mapping[str, str] | None = None) -> str:
    """The program's output. Raises ValueError for wrong input, RuntimeError for other failures, with the program's words."""
    bar = _Bar(shown, title, words)
    process = subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []

    def listen() -> None:
        for line in process.stderr:
            said.append(line.rstrip("\n"))
            bar.line(said[-1])

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        out = process.stdout.read()
        process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)  # the program keeps its verdicts
        process.wait()
        raise
    finally:
        listener.join()
        bar.close(process.returncode == 0)
        process.stdout.close()
        process.stderr.close()
    if process.returncode != 0:
        raise (ValueError if process.returncode == 2 else RuntimeError)(
            _why(said, out) or f"{program()} ended with exit code {process.returncode}."
        )
    return out


def _why(said: list[str], out: str) -> str:
    """The last sentence of the program, and then its output before that."""
    begin = max((k for k, line in enumerate(said) if line.startswith("tunesmith: ")), default=len(said))
    before = "\n".join([*said[:begin][-20:], out[-2000:].rstrip()]).strip()
    sentence = "\n".join(said[begin:]).removeprefix("tunesmith: ")
    return f"{sentence}\n\nBefore that it said:\n{before}" if sentence and before else sentence or before


def _text(problem) -> str:
    if isinstance(problem, str):
        return problem
    return " ".join(
        f'{name}="{value}"' if " " in str(value) else f"{name}={value}" for name, value in problem.items()
    )


def _device(device) -> str:
    chosen = current_device()
    # "auto" is the command line's word too: the first GPU, else the host.
    return device or {"host": "auto"}.get(chosen, chosen)


def _seconds(budget) -> str:
    return budget if isinstance(budget, str) else f"{budget}s"


def tune(
    what: str | os.PathLike[str] | Capture,
    problems: Problem | Iterable[Problem] | None = None,
    *,
    device: str | None = None,
    budget: str | float = "60s",
    database: str | os.PathLike[str] | None = None,
    reference: Callable[..., Any] | None = None,
    inputs: Callable[..., Any] | None = None,
    strategy: str | Callable[[SearchSpace], Strategy] | None = None,
    progress: bool = True,
    **options: Any,
) -> list[Winner] | pandas.DataFrame:
    """Finds the fastest kernels for problems and keeps every verdict in the database.

    what: an op's name ("conv2d"), the path of a kernel of your own ("softmax.cu"), or a Capture of the problems that your program used.
    problems: a text ("height=1000 width=2000 ...") or dict, or several.
    device: "cuda", "cuda:1", "cuda:all" or "host"; None: that of set_device(), else the first GPU where there is one.
    budget: for each problem, a time ("30s", a number of seconds) or with a text a number of variants ("500"); for a Capture the time for all
    problems together, which goes to those where it is expected to save most.
    reference: for a kernel of your own, a function that computes its outputs with NumPy, as serve_reference() says; None: the reference that the
    description names, else the untuned kernel. It runs in this process.
    inputs: a function that gives arrays which cannot hold arbitrary numbers, such as indices: from the problem's parameters that its parameters
    name and `seed` it makes a dict of some of the input arrays. It runs in this process. None: as the description says.
    strategy: a word of the command line, such as "random", or one of your own, as serve_strategy() says. It runs in this process.
    database: a file; None: the user's own. options: those of the command line, such as seed=3, jobs=8.
    progress: shows a bar (tqdm's if it is installed) or lines on stderr. Ctrl-C keeps the verdicts so far; a later run reuses them.
    Returns the winners, a Winner each, as winners() does; functions of this package use them from then on.
    Raises ValueError for wrong input, RuntimeError if it failed, for example because the base kernel is wrong.

    >>> found = tunesmith.tune('transpose', 'height=9 width=7', device='host', budget='2', database='example.db', progress=False)
    >>> len(found)
    1
    """
    arguments = ["tune"]
    file = None
    op = None
    try:
        if isinstance(what, Capture):
            with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as made:
                made.write(what.text())
            file = made.name
            if not what.problems:
                raise ValueError("Nothing was captured: call functions of tunesmith within the with-block.")
            arguments += ["--problems", file, "--total", _seconds(budget)]
        else:
            op = os.fspath(what)
            arguments += [op, "--budget", _seconds(budget)]
            given = [problems] if isinstance(problems, (str, dict)) else list(problems or [])
            if not given:
                raise ValueError(f'There is no problem to tune {op} for; give one, such as "{_example(op)}".')
            for problem in given:
                arguments += ["--problem", _text(problem)]
        arguments += ["--device", _device(device)]
        if database is not None:
            arguments += ["--db", os.fspath(database)]
        arguments += _flags(options)
        with contextlib.ExitStack() as answering:
            words: dict[str, str] = {}
            for flag, function in (("--reference", reference), ("--inputs", inputs)):
                if function is not None:
                    address = answering.enter_context(listening(function))
                    words[address] = f"{getattr(function, '__name__', 'a function')}() of Python"
                    arguments += [flag, address]
            if strategy is not None:
                arguments += ["--strategy", answering.enter_context(_strategy_word(strategy, words))]
            _run(arguments, progress, os.path.basename(op) if op else "tuning", words)
    finally:
        if file is not None:
            os.unlink(file)
    _dispatchers.forget_dispatchers()
    return winners(op, database=database)


@contextlib.contextmanager
def _strategy_word(strategy, words: dict[str, str]):
    """The word for --strategy; words: gets what is shown in its place."""
    if isinstance(strategy, str):
        yield strategy
        return
    with listening(strategy, answer_search) as address:
        words[address] = getattr(strategy, "__name__", type(strategy).__name__)
        yield address


def replay(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    strategy: str | Callable[[SearchSpace], Strategy] | Iterable[str | Callable[[SearchSpace], Strategy]] = (
        "auto",
        "random",
    ),
    *,
    budget: int | str = 320,
    repeats: int = 20,
    progress: bool = False,
    **options: Any,
) -> list[Replayed] | pandas.DataFrame:
    """Searches spaces that were measured before, without a device, as `tunesmith replay` does.

    sources: a database, a T4 file, a Kernel Tuner cache or a table of verdicts, or several. strategy: a word of the command line, or one of your own,
    as serve_strategy() says; or several. budget: a number of verdicts, or a time as a text ("60s"). repeats: searches with different seeds.
    options: those of the command line, such as prior="none", op="conv2d", lag=4. progress: shows what the program says on stderr.
    Returns a row for each space, strategy and number of verdicts, a Replayed: a pandas DataFrame if pandas is installed, else a list of dicts. Its
    columns are space, configs, strategy, prior, warm_start, lag, verdicts (or seconds), mean (of optimum / best found over the repeats), low (the 5th percentile)
    and error (the mean's standard error). Raises ValueError for wrong input, RuntimeError if a strategy failed.

    >>> lines = [f'rows,BLOCK={block},ok,{us},1' for block, us in ((32, 3.0), (64, 2.0), (128, 4.0))]
    >>> with open('recorded.csv', 'w') as file:
    ...     print('template,config,verdict,median_us,compile_ms', *lines, sep=chr(10), file=file)
    >>> len(tunesmith.replay('recorded.csv', ['exhaustive', 'random'], repeats=1))
    2
    """
    several = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    wanted = [strategy] if isinstance(strategy, str) or callable(strategy) else list(strategy)
    arguments = ["replay", *map(os.fspath, several), "--format", "json"]
    arguments += ["--budget", str(budget), "--repeats", str(repeats), *_flags(options)]
    words: dict[str, str] = {}
    with contextlib.ExitStack() as answering:
        named = [answering.enter_context(_strategy_word(one, words)) for one in wanted]
        rows = json.loads(_run([*arguments, "--strategy", ",".join(named)], progress, words=words))
    for row in rows:
        row["strategy"] = words.get(row["strategy"], row["strategy"])
    return _table(rows)


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Options of the command line by the names of Python's keywords."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not False and value is not None:
            flags += [flag, str(value)]
    return flags


def _table(rows: list[_Row]) -> list[_Row] | pandas.DataFrame:
    """A DataFrame if pandas is installed."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def describe(file: str | os.PathLike[str], *, kernel: str | None = None, tuner: str | None = None) -> str:
    """The description of your own kernel in TOML, as far as its file says it. What a person must decide is "?" there.

    file: my_kernel.cu, as it stands. kernel: the __global__ function (default: the only one). tuner: "kernel_tuner" if the file is a Python
    script that calls Kernel Tuner's tune_kernel; it is read and not run, and for a kernel that stands in the script the result is the whole .cu
    (docs/from_kernel_tuner.md). docs/your_own_kernel.md has more. Raises ValueError for a file without such a kernel, or with several of which
    none is named, and for another tuner.

    >>> kernel = "__global__ void twice(const float* x, float* y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    >>> with open("twice.cu", "w") as file:
    ...     file.write(kernel) == len(kernel)
    True
    >>> print(tunesmith.describe("twice.cu"))  # doctest: +ELLIPSIS
    kernel = "twice"...
    """
    more = [*(["--kernel", kernel] if kernel else []), *(["--from", tuner] if tuner else [])]
    return _run(["describe", os.fspath(file), *more], shown=False)


def _example(op: str) -> str:
    return "height=1000 width=2000" if op == "transpose" else "name=value ..."


def winners(
    op: str | os.PathLike[str] | None = None,
    *,
    problem: Problem | None = None,
    device: str | None = None,
    database: str | os.PathLike[str] | None = None,
) -> list[Winner] | pandas.DataFrame:
    """The winners in the database, newest tuning first by problem: a pandas DataFrame if pandas is installed, else a list of
    dicts, a Winner each. op: an op's name, or the path of a kernel of your own; None: all. Columns as in `tunesmith query --format json`: op, device,
    problem, template, config, median_us, low_us, high_us, base_us, speedup_over_base, runner_up and more; times in microseconds. Empty if there is no
    database. Raises ValueError for wrong input, RuntimeError for a file that cannot be read.

    >>> len(tunesmith.winners(database='no_such_file.db'))
    0
    """
    file = os.fspath(database) if database is not None else default_database()
    rows = []
    if file and os.path.exists(file):
        arguments = ["query", "--format", "json", "--db", file]
        if op:
            arguments.insert(1, os.fspath(op))
        if problem:
            arguments += ["--problem", _text(problem)]
        if device:
            arguments += ["--device", device]
        rows = json.loads(_run(arguments, False) or "[]")
    return _table(rows)


class Capture:
    """The problems that were launched within its with-block, by this package's functions; for tune(). See capture(). It raises nothing.

    problems: a list of dicts, that of the greatest lost_us first: op, problem, match, launches, expected_us, expected_loss and lost_us, as of
    Dispatcher.summary().

    >>> with tunesmith.Capture() as used:
    ...     total = tunesmith.sum(np.ones((3, 4)), axis=0)
    >>> used
    <tunesmith.Capture of 1 problems>
    """

    def __init__(self) -> None:
        self.problems: list[dict[str, Any]] = []
        self._before: dict[Any, Any] = {}

    @staticmethod
    def _now() -> dict:
        found = {}
        for ordinal, dispatcher in list(_dispatchers._dispatchers.items()):
            for usage in dispatcher.summary():
                found[ordinal, usage["op"], usage["problem"]] = usage
        return found

    def __enter__(self) -> Capture:
        self._before = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        for key, usage in self._now().items():
            before = self._before.get(key)
            launches = usage["launches"] - (before["launches"] if before else 0)
            if launches > 0:
                part = launches / usage["launches"]
                self.problems.append({**usage, "launches": launches, "lost_us": usage["lost_us"] * part})
        self.problems.sort(key=lambda usage: -usage["lost_us"])

    def text(self) -> str:
        """The problems, one a line, as `tunesmith tune --problems` reads them, weighted by the time that tuning is expected to save. It raises nothing."""
        total = sum(usage["lost_us"] for usage in self.problems)
        return "".join(
            f"{usage['op']} weight={usage['lost_us'] if total else usage['launches']:.6g} {usage['problem']}\n"
            for usage in self.problems
        )

    def __repr__(self) -> str:
        return f"<tunesmith.Capture of {len(self.problems)} problems>"


def capture() -> Capture:
    """`with tunesmith.capture() as c:` around a program's own code notes which problems it uses; then tunesmith.tune(c). It raises nothing.

    >>> with tunesmith.capture() as used:
    ...     total = tunesmith.sum(np.ones((3, 4)), axis=0)
    >>> [(one['op'], one['launches']) for one in used.problems]
    [('reduce', 1)]
    """
    return Capture()
