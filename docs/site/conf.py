# SPDX-License-Identifier: Apache-2.0
"""Settings of the site: pages in Markdown, the reference of Python from docstrings, that of C++ and C from Doxygen's XML.

scripts/site.sh gives the version, and the folder of that XML.
"""

import inspect
import re

project = "Tunesmith"
author = "the Tunesmith project"
html_show_copyright = False
highlight_language = "none"  # a block says its language
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "breathe"]
autosummary_generate = False
root_doc = "index"
html_theme = "furo"
html_title = "Tunesmith"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
smartquotes = False  # "--device" stays what it is

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
suppress_warnings = [
    "misc.highlighting_failure",  # blocks that are outlines, with … in them
    "myst.header",  # a page may begin a part with a heading of the third level
]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
cpp_maximum_signature_line_length = 88
c_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

breathe_default_project = "tunesmith"
breathe_domain_by_file_pattern = {"*/tunesmith.h": "c"}
breathe_show_include = False


def escaped(text: str) -> str:
    """A line of text; `code` stays code."""
    parts = re.split(r"(`[^`]+`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([\\`*|])", r"\\\1", re.sub(r"(\w)_(?!\w)", r"\1\\_", parts[i]))
    for i in range(
        1, len(parts), 2
    ):  # between characters that reStructuredText would not begin or end code at
        parts[i] = f"\\ ``{parts[i].strip('`').strip()}``\\ "
    return "".join(parts)


def parameters(object) -> set[str]:
    try:
        return set(inspect.signature(object).parameters)
    except (TypeError, ValueError):
        return set()


def as_rst(lines: list[str], names: set[str]) -> list[str]:
    """A docstring of this package as reStructuredText: "name: what it is" begins an item, indented lines are code."""
    out: list[str] = []
    in_code = in_item = False
    for line in lines:
        margin = "  " if in_item else ""
        if line.startswith(" "):
            if not in_code:
                language = "python" if "tunesmith." in line or ">>>" in line else "text"
                out += ["", f"{margin}.. code-block:: {language}", ""]
            in_code = True
            out.append(margin + (line if line.startswith("    ") else f"    {line.strip()}"))
            continue
        if in_code and not line.strip():
            out.append("")
            continue
        if in_code:
            out.append("")
        in_code = False
        item = re.match(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)", line)
        if item and set(item[1].split(", ")) <= names:
            if not in_item:
                out.append("")
            in_item = True
            out.append(f"- **{escaped(item[1])}**: {escaped(item[2])}")
        elif not line.strip():
            in_item = False
            out.append("")
        elif re.match(r"(Returns|Raises|Types:) ?", line):
            in_item = False
            out += ["", escaped(line)]
        else:
            out.append(margin + escaped(line))
    return [*out, ""]


def process_docstring(app, what, name, object, options, lines):
    lines[:] = as_rst(list(lines), parameters(object))


def process_signature(app, what, name, object, options, signature, returns):
    """Leaves out `Any`, which says nothing to a reader: the docstring says which arrays are meant."""
    anything = r"'?~?(?:typing\.)?Any'?"
    if signature:
        signature = re.sub(rf": {anything}(?: (=) |(?=[,)]))", r"\1", signature)
        signature = signature.replace("np._NoValue", "...").replace("<no value>", "...")
    return signature, None if returns and re.fullmatch(anything, returns) else returns


def setup(app):
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
