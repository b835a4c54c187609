# SPDX-License-Identifier: Apache-2.0
"""header_text.py FILE: the header as Doxygen reads it: its opening comment describes the file, and namespaces are gone.

The pages of the reference say which namespace the names are in: each header opens it, and Sphinx takes only one to describe it."""

import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
opening = re.match(r"// SPDX.*\n((?://.*\n)*)", text)
if opening and opening[1]:
    described = re.sub(r"^// ?", "/// ", opening[1], flags=re.MULTILINE)
    text = "/// @file\n" + described + "\n" + text[opening.end() :]
text = re.sub(r"^(inline )?namespace \w+ \{\n", "", text, flags=re.MULTILINE)
text = re.sub(r"^\}  // namespace \w+\n", "", text, flags=re.MULTILINE)
text = re.sub(r"^extern template [^;]*;\n", "", text, flags=re.MULTILINE)  # the template is enough
# Indented lines of a comment are examples.
text = re.sub(r"((?:^ *///   +\S.*\n)+)", r"/// @code{.cpp}\n\1/// @endcode\n", text, flags=re.MULTILINE)
text = re.sub(r"  // NOLINT.*$", "", text, flags=re.MULTILINE)


def with_shared_comments(lines: list[str]) -> list[str]:
    """A comment describes all declarations below it up to an empty line; Doxygen gives it to the first only."""
    out: list[str] = []
    comment: list[str] = []  # that describes the next declarations
    has_own = False  # it stands directly above
    before = ""  # the name of the function before
    i = 0
    while i < len(lines):
        line = lines[i].strip()
        if line.startswith("///"):
            comment = [*comment, lines[i]] if has_own else [lines[i]]
            has_own = True
        elif not line or line.startswith(("//", "#", "}", "{", "public:", "private:")):
            comment, has_own = [], False
        else:
            end = i
            while end + 1 < len(lines) and not re.search(r"[;{}]\s*(//.*)?$", lines[end]):
                end += 1
            declaration = "\n".join(lines[i : end + 1])
            function = re.search(r"(\w+)\(", declaration)
            name = function[1] if function else ""
            if comment and not has_own and "///<" not in declaration:
                margin = re.match(r" *", lines[i])[0]
                out += [f"{margin}/// As the form above."] if name and name == before else comment
            has_own, before = False, name
            if re.search(r"\{\s*(//.*)?$", lines[end]):
                comment = []
            out += lines[i : end + 1]
            i = end + 1
            continue
        out.append(lines[i])
        i += 1
    return out


print("\n".join(with_shared_comments(text.splitlines())))
