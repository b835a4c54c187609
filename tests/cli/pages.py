# SPDX-License-Identifier: Apache-2.0
"""pages.py ROOT: the index of the documentation has every page, and pages agree with the files that they quote."""

import csv
import pathlib
import re
import statistics
import sys

root = pathlib.Path(sys.argv[1])
wrong = []


def linked_from(page: pathlib.Path) -> set:
    links = re.findall(r"\]\(([^()#\s]+)", page.read_text())
    return {(page.parent / link).resolve() for link in links if not re.match(r"[a-z]+:", link)}


# The index, which a reader of README finds.
index = root / "docs/README.md"
listed = linked_from(index)
pages = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("templates/*/README.md")]
pages += [root / "CITATION.cff", root / "examples/README.md", root / "bench/README.md"]
for page in pages:
    if page != index and page.resolve() not in listed:
        wrong.append(
            f"docs/README.md has no link to {page.relative_to(root)}: add it where a reader looks for it."
        )
if index.resolve() not in linked_from(root / "README.md"):
    wrong.append("README.md has no link to docs/README.md.")

# The version that is cited is the one that is built.
version = re.search(r"TUNESMITH_VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text())[1]
if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text():
    wrong.append(f'CITATION.cff must have the line "version: {version}", the version of CMakeLists.txt.')

# The reference of C++ and C has each public header.
headers = {header.name for header in root.glob("*/include/tunesmith/*.h")}
headers |= {header.name for header in root.glob("templates/*/tunesmith/*.h")}
reference = "".join(page.read_text() for page in (root / "docs/site/reference").rglob("*.rst"))
for header in sorted(headers - set(re.findall(r"doxygenfile:: (\S+)", reference))):
    wrong.append(f"docs/site/reference has no page with {header}: add it to one, with a heading.")

# Descriptions beside Kernel Tuner's calls are those of the files, which the page's commands run.
page = (root / "docs/from_kernel_tuner.md").read_text()
sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
quoted = 0
for section in sections:
    blocks = re.findall(r"^```(?:toml|cuda)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    file = re.search(r"\]\(\.\./(examples/user_kernels/\w+\.cu)\)", section)
    for line in "".join(blocks).splitlines():
        quoted += 1
        if not file or line not in (root / file[1]).read_text().splitlines():
            wrong.append(
                f'docs/from_kernel_tuner.md quotes "{line}", which {file[1] if file else "no file"} does not have.'
            )
if quoted == 0:
    wrong.append("docs/from_kernel_tuner.md quotes no description.")

# Ratios by op are those of the tables of measurements.
sys.path.insert(0, str(root / "bench"))
sys.dont_write_bytecode = True
import report  # noqa: E402

for name in ("results", "results_untuned"):
    for op, named in report.cases(report.read(root / f"bench/results/{name}.csv")).items():
        both = [(case.us(report.OURS), case.timed("peer")) for case in named.values()]
        ratios = [ours / peers[0][0] for ours, peers in both if ours and peers]
        mean = f"{statistics.geometric_mean(ratios):.2f}"
        row = f"| {op} | {len(ratios)} | {mean} | {min(ratios):.2f} to {max(ratios):.2f} |"
        up_to = f"| {op} | {len(ratios)} | {mean} | up to {max(ratios):.2f} |"
        if not any(text in (root / "docs/results.md").read_text() for text in (row, up_to)):
            wrong.append(f"docs/results.md must have the row {row}")
        if not any(text in (root / "README.md").read_text() for text in (row, f" {op} {mean}")):
            wrong.append(f"README.md must have the row {row}, or say {op} {mean}.")

# Each figure of README's section on speed is in one of those tables, or in a file that docs/figures.csv names, with its commit.
speed = (root / "README.md").read_text().split("## How fast it is", 1)[1].split("\n## ", 1)[0]
commits = set(re.findall(r"\bcommit ([0-9a-f]{7,})", speed))
covered = []
with open(root / "docs/figures.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        covered.append(row["figure"])
        if row["figure"] not in speed or row["commit"] not in commits:
            wrong.append(
                f"docs/figures.csv has {row['figure']} of commit {row['commit']}; README says otherwise."
            )
        if row["row"] not in (root / row["data"]).read_text():
            wrong.append(f"{row['data']} has no row {row['row']}, from which README has {row['figure']}.")
words = re.sub(r"<img [^>]*>|^\|.*|\]\([^)]*\)|commits? [0-9a-f]+", " ", speed, flags=re.MULTILINE)
words = re.sub(r"\b\w+ 0\.\d\d\b(?=[,.])", " ", words)  # ops with their ratios, which are compared above
words = re.sub(
    r"1080×1920|4096³|3×3 layer of 64 channels|b?float(16|32)|after 80 trials|16 strategies of Kernel Tuner 1\.5\.0|5th percentile|one H200|conv[12]d",
    " ",
    words,
)  # what was measured
for figure in covered:
    words = words.replace(figure, " ")
for figure in re.findall(r"\d[\d.,]*", words):
    wrong.append(f"README's section on speed says {figure}, which no row of docs/figures.csv has.")
for name, pattern in (
    ("searching", r"(?<!\d)0?{mean} / 0?{low}\b"),
    ("choosing", r"\| {op} \|.* {problems} \| {mean} \| {low} \|"),
):
    page = (root / f"docs/{name}.md").read_text()
    with open(root / f"docs/{name}.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values = {
                key: re.escape(value.removeprefix("0") if name == "searching" else value)
                for key, value in row.items()
            }
            if row.get("op") != "all" and not re.search(pattern.format(**values), page):
                wrong.append(
                    f"docs/{name}.md lacks the figures {row['mean']} and {row['low']} of docs/{name}.csv."
                )

# How long things take: the page has the rows of its table.
with open(root / "docs/stopwatch.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        line = f"| {row['what']} | {row['seconds']} | {row['processor_seconds']} | {row['commit']} |"
        if line not in (root / "docs/stopwatch.md").read_text():
            wrong.append(f"docs/stopwatch.md must have the row {line}")

# Pictures are those of their tables.
sys.path.insert(0, str(root / "docs"))
import measuring  # noqa: E402
import searching  # noqa: E402

tables = {name: report.read(root / f"bench/results/{name}.csv") for name in ("results", "results_untuned")}
drawn = {f"bench/results/{name}.svg": report.svg(rows) for name, rows in tables.items()}
drawn["bench/results/by_op.svg"] = report.by_op(
    list(tables.values()), report.products(root / "bench/results/products.csv")
)
drawn["docs/searching.svg"] = searching.svg(searching.lines(root / "docs/searching.csv"))
drawn["docs/measuring.svg"] = measuring.svg(measuring.visits(root / "docs/measuring.csv"))
for name, picture in drawn.items():
    if (root / name).read_text(encoding="utf-8") != picture:
        wrong.append(
            f"{name} is not the picture of its table; bench/report.py or the script beside it draws it anew."
        )

print("\n".join(wrong) or f"The index has all {len(pages)} pages.")
sys.exit(1 if wrong else 0)
