# SPDX-License-Identifier: Apache-2.0
"""A search strategy of the caller's own: the tuner asks it for configs and tells it verdicts (docs/searching.md)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Config = dict[str, Any]


class Strategy(Protocol):
    """A strategy as a search asks it: an object that is made for a SearchSpace. An exception ends the search with its text."""

    def ask(self) -> Mapping[str, Any] | None:
        """The next config; None: a random one."""

    def tell(self, config: Config, verdict: str, us: float | None) -> None:
        """A config that was measured: one that was asked for, or one that the tuner begins with. verdict: "ok", with the median in microseconds,
        or "failed". Of a config that was asked for again it tells what is known, or "pending"; of one that breaks a rule it tells "illegal", and
        asks again."""


class SearchSpace:
    """The configs that a strategy may choose from. It raises nothing.

    templates: for each template's name the values of its axes, by their names. configs: all legal configs, each a dict of its "template" and its
    axes; None if there are more than 200,000. seed: for what is random.

    >>> space = tunesmith.SearchSpace({'rows': {'BLOCK': [32, 64]}}, [{'template': 'rows', 'BLOCK': 64}], seed=1)
    >>> space
    <tunesmith.SearchSpace of rows: 1 configs>
    """

    def __init__(
        self, templates: dict[str, dict[str, Sequence[Any]]], configs: list[Config] | None, seed: int
    ) -> None:
        self.templates, self.configs, self.seed = templates, configs, seed

    def __repr__(self) -> str:
        count = "many" if self.configs is None else len(self.configs)
        return f"<tunesmith.SearchSpace of {', '.join(self.templates)}: {count} configs>"


class _Numbered:
    """Configs as the tuner names them: by the indices of a template and of its values."""

    def __init__(self, templates: list[dict]):
        self.templates = [(one["name"], one["axes"]) for one in templates]

    def config(self, part: int, places: Sequence[int]) -> Config:
        name, axes = self.templates[part]
        return {"template": name, **{axis: axes[axis][place] for axis, place in zip(axes, places)}}

    def numbers(self, config: Mapping[str, Any]) -> list[int]:
        names = [name for name, _ in self.templates]
        name = config.get("template", names[0] if len(names) == 1 else None)
        if name not in names:
            raise ValueError(f"it proposed the template {name!r}; there are {', '.join(names)}")
        part = names.index(name)
        axes = self.templates[part][1]
        if set(config) - {"template"} != set(axes):
            raise ValueError(f"it proposed {dict(config)!r}; {name} has the axes {', '.join(axes)}")
        for axis, values in axes.items():
            if config[axis] not in values:
                raise ValueError(f"it proposed {axis}={config[axis]!r}; allowed are {values}")
        return [part, *(values.index(config[axis]) for axis, values in axes.items())]


def answer_search(make: Callable[[SearchSpace], Strategy], reader, writer, lock=None) -> None:
    """Answers one search until it ends. Searches at the same time have a strategy each, so that they need no lock."""
    line = reader.readline()
    if not line:
        return
    introduction = json.loads(line)
    named = _Numbered(introduction["templates"])
    configs = None
    if introduction["configs"] is not None:
        lists = [[int(one) for one in reader.readline().split()] for _ in range(introduction["configs"])]
        configs = [named.config(places[0], places[1:]) for places in lists]
    strategy = None
    while line := reader.readline():
        try:
            if strategy is None:
                strategy = make(SearchSpace(dict(named.templates), configs, introduction["seed"]))
            if line == b"ask\n":
                config = strategy.ask()
                words = ["any"] if config is None else [str(one) for one in named.numbers(config)]
            else:
                told = json.loads(line)
                strategy.tell(named.config(told["template"], told["config"]), told["verdict"], told["us"])
                continue
        except Exception as error:  # any exception of the strategy is shown where the search waits
            what = " ".join(str(error).split())[:3000]
            words = [
                f"{getattr(make, '__name__', type(make).__name__)} raised {type(error).__name__}: {what}"
            ]
        writer.write((" ".join(words) + "\n").encode())
        writer.flush()


def serve_strategy(make: Callable[[SearchSpace], Strategy]) -> None:
    """Answers a search on standard input and output until it ends: the last line of a program that is named by
    `tunesmith tune OP --strategy "run:python3 mine.py"`, or by `tunesmith replay`.

    make: a Strategy's class, or a function that makes one for a SearchSpace. Raises OSError if the output is closed.

    >>> code = "import tunesmith; tunesmith.serve_strategy(lambda space: None)"
    >>> subprocess.run([sys.executable, '-c', code], stdin=subprocess.DEVNULL).returncode  # there was no search
    0
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # its own output must not count as an answer
    answer_search(make, sys.stdin.buffer, out)
