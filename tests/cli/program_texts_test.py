# SPDX-License-Identifier: Apache-2.0
"""program_texts_test.py SCRIPT PROGRAM: the manual, the completion and the page have each command and option that the program has."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

script, program = sys.argv[1:]
scratch = pathlib.Path(tempfile.mkdtemp())
files = {kind: scratch / kind for kind in ("man", "bash", "page")}
subprocess.run(
    [sys.executable, "-B", script, program, *(word for kind in files for word in (f"--{kind}", files[kind]))],
    check=True,
)
text = {kind: path.read_text() for kind, path in files.items()}
text["man"] = text["man"].replace("\\-", "-")
wrong = []


def help_of(*words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def subcommands(said):
    return re.findall(r"^  ([a-z]+) ", said.partition("\nSubcommands:\n")[2], re.MULTILINE)


def completed(*words):
    line = " ".join(f"'{word}'" for word in words)
    command = f"source '{files['bash']}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _tunesmith; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def look_at(*words):
    said = help_of(*words)
    below = subcommands(said)
    heads = re.findall(r"^  (-\S+)", said, re.MULTILINE)
    options = {word for head in heads for word in re.findall(r"--[a-z][a-z-]*", head)}
    if set(below) - completed("tunesmith", *words, ""):
        wrong.append(f"bash does not complete the commands of tunesmith {' '.join(words)}.")
    if "\nUsage: " in said and options != completed("tunesmith", *words, "--") - {""}:
        wrong.append(
            f"bash completes tunesmith {' '.join(words)} -- with {completed('tunesmith', *words, '--')}, and the help has {options}."
        )
    for word in options - {"--help", "--version"}:
        wrong.extend(
            f"The {kind} lacks {word} of {' '.join(words)}."
            for kind in ("man", "page")
            if word not in text[kind]
        )
    for name in below:
        heading = " ".join([*words, name])
        if f".SS tunesmith {heading}\n" not in text["man"] or f"\n## {heading}\n" not in text["page"]:
            wrong.append(f"The manual or the page has no part on {heading}.")
        look_at(*words, name)


look_at()
if "tune" not in completed("tunesmith", "tu") or completed("tunesmith", "table", "ma") != {"make"}:
    wrong.append(
        f"bash completes tu with {completed('tunesmith', 'tu')}, and table ma with {completed('tunesmith', 'table', 'ma')}."
    )
if shutil.which("groff"):
    run = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-Tutf8", files["man"]], capture_output=True, text=True, check=False
    )
    if run.stderr or run.returncode:
        wrong.append(f"groff says of the manual: {run.stderr}")
shutil.rmtree(scratch)
print("\n".join(wrong) or "The manual, the completion and the page have all commands.")
sys.exit(1 if wrong else 0)
