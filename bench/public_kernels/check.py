# SPDX-License-Identifier: Apache-2.0
"""Checks public kernels as published: `python3 check.py TUNESMITH FOLDER [NAME…]`.

FOLDER holds checkouts of the repositories of kernels.txt, as OWNER/REPOSITORY or OWNER+REPOSITORY; nothing is fetched. Each kernel's
folder is copied, with those that its description includes, and the description is put beside its file, which stays as it is.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
LARGEST_FILE = 1 << 21  # bytes: folders of samples hold pictures too


def kernels():
    for line in (HERE / "kernels.txt").read_text().splitlines():
        if " | " in line and not line.startswith("#"):
            yield [part.strip() for part in line.split("|")]


def source_of(file: Path) -> tuple[str, str]:
    """Returns the name and the text of the file; a Python script holds its kernel in a text."""
    if file.suffix != ".py":
        return file.name, ""
    found = re.search(r'source = """(.*?)"""', file.read_text(), re.DOTALL)
    if found is None:
        raise SystemExit(f"{file} has no text called source.")
    return file.stem + ".cu", found[1]


def check(program: str, folder: Path, name: str, repository: str, path: str, problem: str) -> str:
    file = next(
        (
            at
            for at in (folder / repository / path, folder / repository.replace("/", "+") / path)
            if at.exists()
        ),
        None,
    )
    if file is None:
        return "not there"
    description = tomllib.loads((HERE / f"{name}.toml").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / path
        for folder_of_files in [".", *description.get("compile", {}).get("include", [])]:
            source, target = file.parent / folder_of_files, place.parent / folder_of_files
            # The parts before ".." must be there.
            os.makedirs(os.path.normpath(target), exist_ok=True)
            for one in source.iterdir():
                if one.is_file() and one.stat().st_size < LARGEST_FILE and one.suffix != ".toml":
                    shutil.copy(one, os.path.normpath(target))
        own, text = source_of(file)
        kernel = place.parent / own
        if text:
            kernel.write_text(text)
        shutil.copy(HERE / f"{name}.toml", kernel.with_suffix(".toml"))
        command = [program, "check", str(kernel), "--device", "host", "--random", "6", "--problem", problem]
        run = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "TUNESMITH_DB": "off"}, check=False
        )
        lines = (run.stdout if run.stdout.strip() and run.returncode < 2 else run.stderr).strip().splitlines()
        return lines[-1].replace(f"{place.parent}/", "") if lines else "nothing"


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    program, folder, names = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]), sys.argv[3:]
    for name, repository, path, problem in kernels():
        if not names or name in names:
            print(name, "|", check(program, folder, name, repository, path, problem), flush=True)


if __name__ == "__main__":
    main()
