# SPDX-License-Identifier: Apache-2.0
"""environment.py ROOT: docs/environment.md names each environment variable that a source or script reads, and no other."""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
name = r"[A-Z][A-Z0-9_]{3,}"


def read_by(path: pathlib.Path) -> set:
    """The variables that a file reads."""
    if path.suffix not in (".cpp", ".h", ".c", ".py", ".sh") and path.name != "run":
        return set()
    text = path.read_text()
    if path.suffix in (".cpp", ".h", ".c"):
        calls = re.findall(r"getenv\((\"?[^)]*)\)", text)
        # Where the name is not in the call it is in a table of the file, and cli/tune.cpp hands getenv on to Shard.
        if "Environment& variable" in text or any(not call.startswith('"') for call in calls):
            # Tests also have axes, and save and restore what others read.
            own = r"TUNESMITH_[A-Z_]+" if "tests" in path.parts else name
            return set(re.findall(rf'"({own})"', text))
        return {call.strip('"') for call in calls}
    if path.suffix == ".py":
        return set(re.findall(rf'(?:environ(?:\.get\(|\.setdefault\(|\[)|getenv\()"({name})"', text))
    return set(re.findall(r"\$\{(TUNESMITH_[A-Z_]+)(?::?[-+=?])", text))


tracked = subprocess.run(
    ["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False
).stdout.split("\n")
files = [root / line for line in tracked if line] or [
    path for path in root.rglob("*") if path.is_file() and "build" not in path.relative_to(root).parts
]
readers: dict = {}
for path in files:
    for variable in read_by(path) if path.is_file() else ():
        readers.setdefault(variable, path.relative_to(root))
page = (root / "docs/environment.md").read_text()
told = {
    variable
    for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    for variable in re.findall(rf"`({name})`", row)
}
wrong = [
    f"{readers[variable]} reads {variable}, and docs/environment.md has no row of it."
    for variable in sorted(set(readers) - told)
]
wrong += [
    f"docs/environment.md has a row of {variable}, and no file reads it."
    for variable in sorted(told - set(readers))
]
print("\n".join(wrong) or f"The page has all {len(told)} variables.")
sys.exit(1 if wrong or not told else 0)
