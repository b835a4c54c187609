# SPDX-License-Identifier: Apache-2.0
"""program_texts.py PROGRAM --man FILE --bash FILE --page FILE: the program's manual, completions and page, from what its --help says.

The words of commands and options are written once, in the sources of the program. CLI11 has no other form of them than the help.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess


@dataclasses.dataclass
class Item:
    names: list[str]  # "-h", "--help"; of a positional its name
    kind: str  # "TEXT=60s"
    text: str


@dataclasses.dataclass
class Command:
    words: list[str]
    what: str
    usage: str
    positionals: list[Item]
    options: list[Item]
    commands: list[Command]


def help_of(program: str, words: list[str]) -> str:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    run = subprocess.run(
        [program, *words, "--help"], capture_output=True, text=True, env=environment, check=False
    )
    if run.returncode != 0 or not run.stdout:
        raise SystemExit(
            f"program_texts.py: {program} {' '.join([*words, '--help'])} fails with exit code {run.returncode}: {run.stderr}"
        )
    return run.stdout


def items(lines: list[str]) -> list[Item]:
    """The rows of a section: a head of two blanks, and its text in a column that goes on below."""
    found: list[Item] = []
    for line in lines:
        if re.match(r"  \S", line):
            head, _, text = line.strip().partition("  ")
            names, _, kind = head.partition(" ")
            flag = re.match(r"(.*?)\{.*\}$", names)  # --no-energy{false}
            found.append(Item((flag[1] if flag else names).split(","), kind, text.strip()))
        elif line.strip() and found:
            found[-1].text = f"{found[-1].text} {line.strip()}".strip()
    return found


def read(program: str, words: list[str], otherwise: str = "") -> Command:
    text = help_of(program, words)
    if "\nUsage: " not in text:  # `report`, whose options the Python package has
        return Command(words, otherwise, " ".join(["tunesmith", *words, "[OPTIONS]"]), [], [], [])
    what, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in rest.splitlines():
        if re.fullmatch(r"\w+:", line):
            lines = sections.setdefault(line[:-1], [])
        elif line and not line.startswith(" "):
            lines = []  # the sentence at the end
        else:
            lines.append(line)
    if "Options" not in sections:
        raise SystemExit(
            f"program_texts.py: The help of {' '.join([program, *words])} has no part Options: it is not laid out as CLI11 does it."
        )
    # A subcommand may have options in parts of its own.
    options = [
        item
        for title, part in sections.items()
        if title not in ("Positionals", "Subcommands")
        for item in items(part)
    ]
    commands = [
        read(program, [*words, item.names[0]], item.text) for item in items(sections.get("Subcommands", []))
    ]
    return Command(words, what.strip(), usage, items(sections.get("Positionals", [])), options, commands)


def all_of(command: Command) -> list[Command]:
    return [command, *(below for child in command.commands for below in all_of(child))]


def shown(item: Item) -> tuple[str, str]:
    """Returns the text that a reader types, and the default."""
    kind, _, default = item.kind.partition("=")
    kind = kind.replace("REQUIRED", "").strip()
    named = item.names[-1].startswith("-")
    default = default.split(" ")[0].split(":")[0]
    excludes = re.search(r"(Excludes|Needs): .*", kind)
    kind = re.sub(r"(Excludes|Needs): .*|:.*", "", kind).replace(" ...", "…").strip()
    note = f" ({excludes[0][0].lower()}{excludes[0][1:]})" if excludes else ""
    text = ", ".join(item.names) + (f" {kind}" if kind and named else "")
    return text, item.text + note + (f" (default: {default})" if default else "")


def man(program: Command, version: str) -> str:
    def escaped(text: str) -> str:
        text = text.replace("\\", "\\e").replace("-", "\\-")
        text = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", text)
        return "\\&" + text if text.startswith((".", "'")) else text

    lines = [
        ".\\\" Made by scripts/program_texts.py of the program's help.",
        f'.TH TUNESMITH 1 "" "Tunesmith {version}" "User Commands"',
        ".SH NAME",
        "tunesmith \\- tune CUDA kernels, and see what was measured",
        ".SH SYNOPSIS",
        ".B tunesmith",
        "COMMAND [OPTIONS]",
        ".SH DESCRIPTION",
        escaped(program.what),
        ".PP",
        'A problem or a config is written as name=value pairs: "height=1000 width=2000 mask_height=3 mask_width=3".',
        ".SH COMMANDS",
    ]
    for command in all_of(program)[1:]:
        lines += [
            f".SS {escaped(' '.join(['tunesmith', *command.words]))}",
            escaped(command.what),
            ".PP",
            f"\\fB{escaped(command.usage)}\\fR",
        ]
        for item in [*command.positionals, *command.options]:
            if "--help" in item.names:
                continue
            head, text = shown(item)
            lines += [".TP", f"\\fB{escaped(head)}\\fR", escaped(text)]
    lines += [
        ".SH FILES",
        ".TP",
        "\\fI~/.local/share/tunesmith/tunesmith.db\\fR",
        "The database, unless TUNESMITH_DB or \\-\\-db names another.",
        ".SH ENVIRONMENT",
        "TUNESMITH_DB, TUNESMITH_CXX and others: docs/environment.md of the documentation.",
        ".SH EXIT STATUS",
        "0: done. 1: it failed, or a variant is wrong. 2: the request is not valid.",
    ]
    return "\n".join(lines) + "\n"


def bash(program: Command) -> str:
    """A completion for bash, which zsh reads too after bashcompinit."""
    cases = []
    for command in all_of(program):
        words = [child.words[-1] for child in command.commands]
        words += [name for item in command.options for name in item.names if name.startswith("--")]
        cases.append(f'    "{" ".join(command.words)}") words="{" ".join(words)}" ;;')
    parents = [" ".join(command.words) for command in all_of(program) if command.commands and command.words]
    return f"""# Made by scripts/program_texts.py of the program's help. zsh reads it after: autoload bashcompinit && bashcompinit
_tunesmith() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] && break
    case "$command" in
      "" | {" | ".join(f'"{parent}"' for parent in parents)}) command="${{command:+$command }}${{COMP_WORDS[i]}}" ;;
      *) break ;;
    esac
  done
  case "$command" in
{chr(10).join(cases)}
  esac
  if [[ $current != -* && -n $command ]]; then
    case "$command" in {"|".join(f'"{parent}"' for parent in parents)}) ;; *) words= ;; esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _tunesmith tunesmith
"""


def page(program: Command) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")

    lines = ["# The program", "", program.what, "", "| command | what it does |", "| --- | --- |"]
    for command in all_of(program)[1:]:
        name = " ".join(command.words)
        lines.append(f"| [{name}](#{name.replace(' ', '-')}) | {cell(command.what)} |")
    for command in all_of(program)[1:]:
        lines += ["", f"## {' '.join(command.words)}", "", command.what + ".", "", f"`{command.usage}`"]
        rows = [
            shown(item) for item in [*command.positionals, *command.options] if "--help" not in item.names
        ]
        if rows:
            lines += ["", "| option | what it does |", "| --- | --- |"]
            lines += [f"| `{head}` | {cell(text)} |" for head, text in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    for kind in ("man", "bash", "page"):
        parser.add_argument(f"--{kind}", type=pathlib.Path, metavar="FILE")
    asked = parser.parse_args()
    version = subprocess.run([asked.program, "--version"], capture_output=True, text=True, check=True)
    command = read(asked.program, [])
    for path, text in (
        (asked.man, lambda: man(command, version.stdout.split()[-1])),
        (asked.bash, lambda: bash(command)),
        (asked.page, lambda: page(command)),
    ):
        if path:
            path.write_text(text())


if __name__ == "__main__":
    main()
