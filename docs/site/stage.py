# SPDX-License-Identifier: Apache-2.0
"""stage.py ROOT FOLDER: copies the pages that README and docs/README.md lead to into FOLDER, as sources of the site.

The pages stay as they are in the repository, where their links are read too. Here a link to a source file leads to a page that shows
it, a link to a folder to a page that lists it, and the pictures lie beside the pages. The order of the pages is that of docs/README.md.
"""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shutil
import sys

root, site = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
pictures = {".png", ".svg"}
languages = {".c": "c", ".cpp": "cpp", ".cu": "cuda", ".h": "cpp", ".py": "python", ".sh": "bash", ".sql": "sql",
             ".toml": "toml", ".cff": "yaml", ".cuh": "cuda", ".inl": "cpp"}  # fmt: skip
largest_shown = 200_000  # bytes; larger files, and tables, are offered to be saved
waiting = [root / "README.md", root / "docs/README.md"]
done: set[pathlib.Path] = set()


def page_of(path: pathlib.Path) -> pathlib.Path:
    """The staged page of a file or folder, relative to the site."""
    path = path.relative_to(root)
    if path == pathlib.Path("README.md"):
        return pathlib.Path("index.md")
    if (root / path).is_dir():
        return path / "README.md" if (root / path / "README.md").exists() else path / "files.md"
    return path if path.suffix == ".md" else path.with_name(path.name + ".md")


def is_shown(path: pathlib.Path) -> bool:
    return path.is_dir() or (path.suffix != ".csv" and path.stat().st_size <= largest_shown)


def rewritten(text: str, page: pathlib.Path) -> str:
    """The text with its links as they are in the site; notes what they lead to."""

    def link(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        path, _, heading = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return match[0]
        there = (page.parent / path).resolve()
        if root not in [there, *there.parents] or not there.exists():
            raise SystemExit(
                f"stage.py: {page.relative_to(root)} links to {target}, which is no file of the repository."
            )
        waiting.append(there)
        if there.suffix in pictures or not is_shown(there):
            return match[0]
        new = os.path.relpath(page_of(there), page_of(page).parent)
        return f"{before}{new}{'#' + heading if heading else ''}{after}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(\]\()([^()\s]+)(\))", link, parts[i])
        parts[i] = re.sub(r'(<img src=")([^"]+)(")', link, parts[i])
    return "".join(parts)


def source_page(path: pathlib.Path) -> str:
    text = path.read_text()
    name = path.relative_to(root)
    language = languages.get(path.suffix, "text")
    return f"---\norphan: true\n---\n# {name.name}\n\n`{name}`\n\n`````{language}\n{text.rstrip()}\n`````\n"


def folder_page(path: pathlib.Path) -> str:
    files = sorted(
        child for child in path.iterdir() if not child.name.startswith((".", "__")) and child.suffix != ".md"
    )
    lines = [f"- [{child.name}]({path.name}/{child.name})" for child in files]
    text = f"# {path.relative_to(root)}\n\n" + "\n".join(lines) + "\n"
    return "---\norphan: true\n---\n" + rewritten(text, path)


def order() -> tuple[str, set[pathlib.Path]]:
    """The tables of contents of the site, the sections of docs/README.md after "Where to start"; and the pages that they have."""
    ordered = {pathlib.Path("index.md"), pathlib.Path("docs/README.md")}
    sections = re.split(r"^## ", (root / "docs/README.md").read_text(), flags=re.MULTILINE)[2:]
    text = "\n```{toctree}\n:hidden:\n\ndocs/README\n```\n"
    for section in sections:
        title = section.splitlines()[0]
        links = re.findall(r"(?:^- |· |: )\[[^]]+\]\(([^)#]+\.md)\)", section, re.MULTILINE)
        pages = [page_of((root / "docs" / target).resolve()) for target in links]
        ordered |= set(pages)
        pages = [page.with_suffix("") for page in pages]
        if title == "Reference":
            pages = [
                *map(pathlib.Path, ("reference/python", "reference/cpp", "reference/c", "reference/program")),
                *pages,
            ]
        body = "\n".join(map(str, pages))
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{body}\n```\n"
    return text, ordered


contents, ordered = order()
while waiting:
    path = waiting.pop()
    if path in done:
        continue
    done.add(path)
    if path.is_dir() and (path / "README.md").exists():
        waiting.append(path / "README.md")
        continue
    if path.suffix in pictures or not is_shown(path):
        there = site / path.relative_to(root)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
        continue
    there = site / page_of(path)
    there.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        text = folder_page(path)
    elif path.suffix == ".md":
        text = rewritten(path.read_text(), path)
        if path == root / "README.md":
            text += contents
        elif page_of(path) not in ordered:
            text = "---\norphan: true\n---\n" + text
    else:
        text = source_page(path)
    there.write_text(text)


def names_of(module: str) -> list[str]:
    """The names that a module of the package offers."""
    source = root / "python" / module.replace(".", "/")
    source = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
    lists = [
        node.value
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    return ast.literal_eval(lists[0])


def listed(match: re.Match[str]) -> str:
    """A table of the names that the automodule below describes, in place of its line "NAMES"."""
    module, left_out = match[1], set(re.split(r", |\n", match[2] or ""))
    names = [f"   {module}.{name}" for name in names_of(module) if name not in left_out]
    return (
        ".. autosummary::\n   :nosignatures:\n\n"
        + "\n".join(names)
        + "\n\n"
        + match[0].removeprefix("NAMES\n\n")
    )


for path in (root / "docs/site").rglob("*"):
    there = site / path.relative_to(root / "docs/site")
    if path.suffix == ".rst":
        there.parent.mkdir(parents=True, exist_ok=True)
        automodule = r"NAMES\n\n\.\. automodule:: (\S+)\n   :members:\n(?:   :exclude-members: (.*)\n)?"
        there.write_text(re.sub(automodule, listed, path.read_text()))
    elif path.name in ("conf.py", "site.css"):
        shutil.copyfile(path, there)
