# SPDX-License-Identifier: Apache-2.0
"""links.py ROOT: every relative link and picture of the documentation leads to a file, and to a heading of it if it names one."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
skipped = {"build", ".git", ".cache"}


def headings(page: pathlib.Path) -> set:
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


wrong = []
pages = [
    page
    for page in root.rglob("*.md")
    if not skipped & {part.split("-")[0] for part in page.relative_to(root).parts}
]
for page in pages:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^()\s]+)\)", text) + re.findall(r'<img src="([^"]+)"', text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = link.partition("#")
        there = page.parent / path if path else page
        if not there.exists():
            wrong.append(f"{page.relative_to(root)} links to {link}, and there is no such file.")
        elif heading and there.suffix == ".md" and heading not in headings(there):
            wrong.append(
                f"{page.relative_to(root)} links to {link}, and {path or page.name} has no such heading."
            )
print("\n".join(wrong) or f"The links of {len(pages)} pages lead to files.")
sys.exit(1 if wrong else 0)
