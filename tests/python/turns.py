# SPDX-License-Identifier: Apache-2.0
"""The part of a long list of tests whose turn it is: TUNESMITH_TEST_TURN counts up from commit to commit (scripts/test.sh); without it all.
A file of tests has its turn every third commit, so the next part is that of the third commit after this one."""

import os


def in_turn(items, turns: int) -> list:
    turn = os.environ.get("TUNESMITH_TEST_TURN")
    items = list(items)
    return [item for at, item in enumerate(items) if not turn or (at + int(turn) // 3) % turns == 0]
