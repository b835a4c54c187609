# SPDX-License-Identifier: Apache-2.0
"""The log of a running call's launches, by which the call can be repeated (_recording.py)."""

from __future__ import annotations

import threading


class Log:
    """A call's launches, the new arrays that they use, and the number that an array without dimensions was converted to."""

    def __init__(self):
        self.launches, self.allocated, self.constants = [], [], []
        self.check = self.number = None
        self.only_launches = True


class Recording(threading.local):
    log: Log | None = None
    inside = False  # a public function is running that is not recorded


recording = Recording()


def assign(library, out, value) -> None:
    """Writes `value` into the elements of `out` by the array's own library. A call that does so does more than launch, and is not recorded."""
    if recording.log is not None:
        recording.log.only_launches = False
    library.assign(out, value)
