# SPDX-License-Identifier: Apache-2.0
"""compile_plainly.py compile_commands.json <FILES: checks each of these sources with its command there, and makes no object."""

import json
import os
import shlex
import subprocess
import sys

with open(sys.argv[1]) as file:
    commands = {os.path.realpath(one["file"]): one for one in json.load(file)}
failed = 0
for name in sys.stdin.read().split():
    one = commands.get(os.path.realpath(name))
    if one is None:
        continue  # not of this build: an example of a package, say
    words = shlex.split(one["command"])
    out = words.index("-o")
    failed += (
        subprocess.run([*words[:out], *words[out + 2 :], "-fsyntax-only"], cwd=one["directory"]).returncode
        != 0
    )
sys.exit(min(failed, 1))
