"""python -m tunesmith: the command line."""

import os
import sys

from ._tuning import program


def main() -> None:
    os.execv(program(), [program(), *sys.argv[1:]])


if __name__ == "__main__":
    main()
