# SPDX-License-Identifier: Apache-2.0
"""python -m tunesmith: the command line. `report` is made here, all other commands by the compiled program."""

import os
import sys

from ._tuning import program


def main() -> None:
    if sys.argv[1:2] == ["report"]:
        from ._report import main as report

        sys.exit(report(sys.argv[2:]))
    os.execv(program(), [program(), *sys.argv[1:]])


if __name__ == "__main__":
    main()
