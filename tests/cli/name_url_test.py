# SPDX-License-Identifier: Apache-2.0
"""name_url_test.py ROOT: a release's sources name the project's address wherever its readers look for it; wrong words are refused."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
scratch = pathlib.Path(tempfile.mkdtemp())
names = ["CMakeLists.txt", "pyproject.toml", "CITATION.cff", "SECURITY.md", "SUPPORT.md", "README.md"]
names += ["python/README.md", "cmake/install.cmake"]
for name in names:
    (scratch / name).parent.mkdir(exist_ok=True)
    shutil.copyfile(root / name, scratch / name)
before = {name: (scratch / name).read_text() for name in names}


def run(url: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-B", root / "scripts/name_url.py", scratch],
        env={**os.environ, "TUNESMITH_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )


wrong = []
url = "https://host.invalid/owner/name"
for refused in (
    "",
    "tunesmith",
    "http://host.invalid/owner",
    "https://host.invalid",
    'https://host.invalid/a"b',
):
    said = run(refused)
    if said.returncode == 0 or "TUNESMITH_URL" not in said.stderr:
        wrong.append(f"TUNESMITH_URL={refused} is not refused: {said.stderr}")
if any((scratch / name).read_text() != text for name, text in before.items()):
    wrong.append("A refused address has changed files.")
(scratch / ".git").mkdir()
if run(url).returncode == 0:
    wrong.append("A checkout is written to.")
(scratch / ".git").rmdir()
said = run(url + "/")
if said.returncode != 0:
    wrong.append(f"It fails: {said.stderr}")
for name in names[1:]:
    text = (scratch / name).read_text()
    if url not in text or "name//" in text:
        wrong.append(f"{name} does not name the address.")
try:
    import tomllib

    found = tomllib.loads((scratch / "pyproject.toml").read_text())["project"]
    version = re.search(r"TUNESMITH_VERSION ([\d.]+)", before["CMakeLists.txt"])[1]
    if found["urls"]["Changelog"] != f"{url}/blob/v{version}/CHANGELOG.md" or "scripts" not in found:
        wrong.append(f"[project.urls] are {found['urls']}.")
except ImportError:  # Python 3.10
    pass
if re.search(r"\]\(\.\./", (scratch / "python/README.md").read_text()):
    wrong.append("python/README.md has relative links, which a package index cannot follow.")
shutil.rmtree(scratch)
print("\n".join(wrong) or "The sources of a release name the address.")
sys.exit(1 if wrong else 0)
