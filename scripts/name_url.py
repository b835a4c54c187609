# SPDX-License-Identifier: Apache-2.0
"""TUNESMITH_URL=https://… python3 scripts/name_url.py FOLDER: names the project's address in the sources of a release.

FOLDER is a copy of the checkout (`git archive`), from which the release is built: the checkout itself names no address, because
whoever releases chooses it. pyproject.toml gets [project.urls], CITATION.cff and SECURITY.md the repository, the CMake packages their
home page, and relative links of python/README.md, which a package index shows, lead to the repository.
"""

import os
import pathlib
import re
import sys


def named(folder: pathlib.Path, url: str) -> dict[pathlib.Path, str]:
    """The new texts of the files that name the address."""
    version = re.search(r"TUNESMITH_VERSION (\d+\.\d+\.\d+)", (folder / "CMakeLists.txt").read_text())
    tree = f"{url}/blob/v{version[1]}" if version else ""
    edits = {
        "pyproject.toml": (
            r"^\[project\.scripts\]$",
            f'[project.urls]\nRepository = "{url}"\nDocumentation = "{tree}/docs/README.md"\nIssues = "{url}/issues"\n'
            f'Changelog = "{tree}/CHANGELOG.md"\n\n[project.scripts]',
        ),
        "CITATION.cff": (r"^license: .*$", rf'\g<0>\nrepository-code: "{url}"'),
        "SECURITY.md": (r"the project's issue tracker", f"[the project's issue tracker]({url}/issues)"),
        "SUPPORT.md": (r"the project's issue tracker", f"[the project's issue tracker]({url}/issues)"),
        "README.md": (r"^## Install$", f"Source, issues and releases: <{url}>\n\n## Install"),
        "python/README.md": (r"\]\(\.\./([^)]+)\)", rf"]({tree}/\1)"),
        "cmake/install.cmake": (
            r"^set\(CPACK_PACKAGE_CONTACT .*$",
            rf'\g<0>\nset(CPACK_PACKAGE_HOMEPAGE_URL "{url}")\nset(CPACK_DEBIAN_PACKAGE_HOMEPAGE "{url}")',
        ),
    }
    texts = {}
    for name, (pattern, words) in edits.items():
        text, count = re.subn(pattern, words, (folder / name).read_text(), flags=re.MULTILINE)
        if count == 0:
            raise SystemExit(
                f"name_url.py: {folder / name} has no place for the address ({pattern}); is it a copy of this checkout?"
            )
        texts[folder / name] = text
    return texts


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("name_url.py: Give the folder of a release's sources: name_url.py FOLDER")
    folder, url = pathlib.Path(sys.argv[1]), os.environ.get("TUNESMITH_URL", "").rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", url):
        raise SystemExit(
            f'name_url.py: TUNESMITH_URL is "{url}"; set it to the address of the repository, https://HOST/OWNER/NAME.'
        )
    if (folder / ".git").exists():
        raise SystemExit(f"name_url.py: {folder} is a checkout; give a copy of it, made by git archive.")
    for path, text in named(folder, url).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
