# SPDX-License-Identifier: Apache-2.0
"""Tests search strategies of one's own: in replays of a recorded space, and in tuning on the host."""

import pathlib
import random
import re
import sys

import pytest
import tunesmith

axes = {"A": [1, 2, 4, 8], "B": [1, 2, 3], "KIND": ["plain", "wide"]}


def time_of(config):
    return 10.0 + (config["A"] - 4) ** 2 + config["B"] + (2 if config["KIND"] == "wide" else 0)


@pytest.fixture
def recorded(tmp_path):
    file = tmp_path / "recorded.csv"
    lines = ["template,config,verdict,median_us,compile_ms"]
    for a in axes["A"]:
        for b in axes["B"]:
            for kind in axes["KIND"]:
                if (a, b) == (8, 1):
                    continue  # not legal
                config = {"A": a, "B": b, "KIND": kind}
                ok = (a, b) != (2, 2)
                name = "one" if b < 3 else "two"
                lines.append(
                    f"{name},A={a} B={b} KIND={kind},{'ok' if ok else 'wrong_result'},{time_of(config) if ok else ''},1"
                )
    file.write_text("\n".join(lines) + "\n")
    return file


class Best:
    """Proposes the best config, which it knows, after one of each kind of answer."""

    made: list = []

    def __init__(self, space):
        self.space, self.told = space, []
        Best.made.append(self)
        best = {"template": "one", "A": 4, "B": 1, "KIND": "plain"}
        self.next = [
            {"template": "one", "A": 2, "B": 2, "KIND": "plain"},  # fails
            {"template": "one", "A": 8, "B": 1, "KIND": "wide"},  # not legal
            {"template": "two", "A": 8, "B": 3, "KIND": "wide"},
            {"template": "two", "A": 8, "B": 3, "KIND": "wide"},  # again
            best,
        ]

    def ask(self):
        return self.next.pop(0) if self.next else None

    def tell(self, config, verdict, us):
        self.told.append((config["template"], config["A"], config["B"], config["KIND"], verdict, us))


def test_a_replay_asks_and_tells(recorded):
    Best.made = []
    rows = tunesmith.replay(recorded, Best, budget=3, repeats=2, seed=5)
    (row,) = list(rows) if isinstance(rows, list) else rows.to_dict("records")
    assert (row["strategy"], row["configs"], row["verdicts"]) == ("Best", 22, 3)
    assert (row["mean"], row["error"], row["low"]) == (1.0, 0.0, 1.0)
    assert len(Best.made) == 2  # one for each search
    first, second = (one.space for one in Best.made)
    assert first.seed != second.seed
    assert set(first.templates) == {"one", "two"} and first.templates["one"]["A"] == axes["A"]
    assert len(first.configs) == 22 and {"template": "two", "A": 8, "B": 3, "KIND": "wide"} in first.configs
    assert all(one["B"] == 3 for one in first.configs if one["template"] == "two")
    assert Best.made[0].told == [
        ("one", 2, 2, "plain", "failed", None),
        ("one", 8, 1, "wide", "illegal", None),
        ("two", 8, 3, "wide", "ok", pytest.approx(31.0)),
        ("two", 8, 3, "wide", "ok", pytest.approx(31.0)),
    ]


def test_with_proposals_in_flight_what_is_known_is_told_later(recorded):
    Best.made = []
    tunesmith.replay(recorded, Best, budget=3, repeats=1, lag=2)
    assert ("two", 8, 3, "wide", "pending", None) in Best.made[0].told


def test_where_it_has_no_proposal_the_search_goes_on(recorded):
    class Silent(Best):
        def ask(self):
            return None

    rows = tunesmith.replay(recorded, ["exhaustive", Silent], budget="all", repeats=2)
    rows = rows if isinstance(rows, list) else rows.to_dict("records")
    assert [row["mean"] for row in rows if row["verdicts"] == 22] == [1.0, 1.0]
    assert {row["strategy"] for row in rows} == {"exhaustive", "Silent"}


@pytest.mark.parametrize(
    "answer, message",
    [
        (
            {"A": 3, "B": 1, "KIND": "plain", "template": "one"},
            r"ValueError: it proposed A=3; allowed are \[1, 2, 4, 8\]",
        ),
        ({"A": 1, "B": 1, "KIND": "plain"}, "it proposed the template None; there are one, two"),
        ({"A": 1, "template": "two"}, "two has the axes A, B, KIND"),
        (
            {"A": 8, "B": 1, "KIND": "plain", "template": "one"},
            "proposed 1000 configs in a row that are not legal",
        ),
    ],
)
def test_a_wrong_proposal_ends_the_search_with_a_sentence(recorded, answer, message):
    class Wrong(Best):
        def ask(self):
            return answer

    with pytest.raises(RuntimeError, match=message):
        tunesmith.replay(recorded, Wrong, budget=3, repeats=1)


def test_an_exception_of_a_strategy_is_shown(recorded):
    class Broken(Best):
        def tell(self, config, verdict, us):
            raise KeyError("no such thing")

    with pytest.raises(RuntimeError, match="Broken raised KeyError: 'no such thing'"):
        tunesmith.replay(recorded, Broken, budget=3, repeats=1)


def test_tuning_asks_it_too(tmp_path):
    class Shuffled:
        told: list = []

        def __init__(self, space):
            self.left = list(space.configs)
            random.Random(space.seed).shuffle(self.left)

        def ask(self):
            return self.left.pop()

        def tell(self, config, verdict, us):
            Shuffled.told.append((config["template"], verdict, us))

    file = tmp_path / "own.db"
    winners = tunesmith.tune(
        "transpose",
        "height=9 width=7",
        device="host",
        budget="14",
        strategy=Shuffled,
        database=file,
        progress=False,
    )
    assert len(winners) == 1
    assert len(Shuffled.told) >= 3
    assert all(us > 0 for _, verdict, us in Shuffled.told if verdict == "ok")


def test_a_program_as_strategy(recorded, tmp_path):
    program = tmp_path / "strategy.py"
    program.write_text(
        "import tunesmith\n"
        "class Backwards:\n"
        "    def __init__(self, space): self.left = list(space.configs)\n"
        "    def ask(self): print('asked'); return self.left.pop() if self.left else None\n"
        "    def tell(self, config, verdict, us): pass\n"
        "tunesmith.serve_strategy(Backwards)\n"
    )
    words = f"run:{sys.executable} {program}"
    rows = tunesmith.replay(recorded, words, budget="all", repeats=1)
    rows = rows if isinstance(rows, list) else rows.to_dict("records")
    assert rows[-1]["mean"] == 1 and rows[-1]["strategy"] == words
    with pytest.raises(RuntimeError, match="The strategy false ended without an answer"):
        tunesmith.replay(recorded, "run:false", budget=3, repeats=1)
    with pytest.raises(ValueError, match="or run:COMMAND and unix:SOCKET for one of your own"):
        tunesmith.replay(recorded, "my_strategy", budget=3, repeats=1)


def test_the_strategy_of_the_page_is_better_than_random(recorded):
    page = (pathlib.Path(__file__).parents[2] / "docs/searching.md").read_text(encoding="utf-8")
    block = re.search(r"^```py\n(.*?)^rows = ", page, re.M | re.S)
    names = {}
    exec(block[1], names)
    rows = tunesmith.replay(recorded, [names["Climb"], "random"], budget=8, repeats=30, prior="none")
    rows = rows if isinstance(rows, list) else rows.to_dict("records")
    climb, chance = (row["mean"] for row in rows if row["verdicts"] == 8)
    assert climb > chance
