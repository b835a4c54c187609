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
print(text, end="")
