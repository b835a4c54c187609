# SPDX-License-Identifier: Apache-2.0
"""One HTML page of sections with tables and figures. It loads nothing: it contains its scripts and data, and the page's own
policy forbids all other scripts and all requests. Every text that is given to it is shown as it is, never read as HTML."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape

_STYLE = """
:root { color-scheme: light; --ink: #1c2329; --soft: #57626c; --paper: #fff; --card: #f5f7f9; --line: #d5dbe1; --link: #0b62a8 }
:root[data-theme=dark] { color-scheme: dark; --ink: #e6eaee; --soft: #a3adb7; --paper: #14181c; --card: #1d2328; --line: #39424a; --link: #74b8f5 }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1360px; padding: 16px clamp(12px, 3vw, 36px) 64px; background: var(--paper); color: var(--ink);
       font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.7rem; margin: .2em 0 } h2 { margin: 2.2em 0 .3em; padding-top: .5em; border-top: 1px solid var(--line) }
h3 { margin: 1.4em 0 .2em } h4 { margin: .6em 0 0; font-weight: 600 }
p { max-width: 92ch; margin: .4em 0 } a { color: var(--link) } .soft { color: var(--soft) } p, h3, h4, li { overflow-wrap: anywhere }
button { float: right; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 4px 12px }
nav ul { columns: 280px; column-gap: 36px; padding-left: 1.2em; margin: .4em 0 } nav li { break-inside: avoid }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 14px; margin: .7em 0 }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; min-width: 0 }
.figure p { font-size: .9em; color: var(--soft) } .wide { grid-column: 1 / -1 } .stack { display: grid; gap: 14px; align-content: start; min-width: 0 }
.scroll { overflow-x: auto; max-height: 560px; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; margin: .7em 0 }
table { border-collapse: collapse; min-width: 60%; font-size: .87em } th, td { padding: 4px 10px; text-align: left; vertical-align: top;
        border-bottom: 1px solid var(--line) } th { background: var(--card); position: sticky; top: 0; white-space: nowrap }
th.number { text-align: right } td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums } td.long, td.longer { min-width: 19em; overflow-wrap: anywhere } td.longer { min-width: 32em }
"""

# Axes, letters and grid follow the theme; colours of marks are readable on both.
_SCRIPT = """
const figures = JSON.parse(document.getElementById('figures').textContent);
const root = document.documentElement, wish = matchMedia('(prefers-color-scheme: dark)');
function draw() {
  const dark = root.dataset.theme === 'dark', ink = dark ? '#e6eaee' : '#1c2329', line = dark ? '#39424a' : '#d5dbe1';
  for (const [id, figure] of Object.entries(figures)) {
    const layout = structuredClone(figure.layout);
    Object.assign(layout, {paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)'});
    layout.font = {...layout.font, color: ink};
    layout.hoverlabel = {bgcolor: dark ? '#2a3138' : '#ffffff', font: {color: ink}, align: 'left'};
    for (const name of Object.keys(layout)) if (/^[xy]axis/.test(name))
      Object.assign(layout[name], {gridcolor: line, linecolor: line, zerolinecolor: line});
    Plotly.react(id, figure.data, layout, {responsive: true, displaylogo: false, displayModeBar: false});
  }
}
function choose(dark) { root.dataset.theme = dark ? 'dark' : 'light'; draw(); }
wish.addEventListener('change', () => choose(wish.matches));
document.getElementById('theme').addEventListener('click', () => choose(root.dataset.theme !== 'dark'));
choose(wish.matches);
"""


class Raw(str):
    """HTML that this module made from escaped texts."""


def html(text) -> str:
    return text if isinstance(text, Raw) else escape(str(text))


def plain(text) -> str:
    """The text for a label in a figure, because plotly interprets a little HTML there."""
    return escape(str(text), quote=False)


def _policy(*scripts: str) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


class Page:
    def __init__(self, title: str):
        self.title = title
        self._body: list[str] = []
        self._contents: list[tuple[str, str, list[tuple[str, str]]]] = []
        self._figures: dict = {}

    def section(self, title: str, about: str) -> None:
        name = f"s{len(self._contents) + 1}"
        self._contents.append((name, title, []))
        self._body.append(f'<h2 id="{name}">{html(title)}</h2><p>{html(about)}</p>')

    def part(self, title: str) -> None:
        section = self._contents[-1]
        name = f"{section[0]}-{len(section[2]) + 1}"
        section[2].append((name, title))
        self._body.append(f'<h3 id="{name}">{html(title)}</h3>')

    def say(self, text) -> None:
        self._body.append(f"<p>{html(text)}</p>")

    def note(self, text) -> None:
        self._body.append(f'<p class="soft">{html(text)}</p>')

    def table(self, columns: list[str], rows: list[list]) -> None:
        """A number in a row is a right-aligned text: give (text,) for that."""

        def cell(value) -> str:
            if isinstance(value, tuple):
                return f'<td class="number">{html(value[0])}</td>'
            size = len(str(value))
            return f"<td{' class=longer' if size > 90 else ' class=long' if size > 40 else ''}>{html(value)}</td>"

        right = [bool(rows) and isinstance(value, tuple) for value in (rows[0] if rows else columns)]
        head = "".join(
            f"<th{' class=number' if at else ''}>{html(column)}</th>" for column, at in zip(columns, right)
        )
        lines = "\n".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
        self._body.append(
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'
        )

    def figures(self, *given) -> None:
        """Each is (title, sentence, plotly figure, wide), or a list of them to stand below each other."""
        self._body.append(f'<div class="figures">{"".join(map(self._place, given))}</div>')

    def _place(self, given) -> str:
        if isinstance(given, list):
            return f'<div class="stack">{"".join(map(self._place, given))}</div>'
        title, about, figure, wide = given
        name = f"figure{len(self._figures) + 1}"
        self._figures[name] = json.loads(figure.to_json())
        height = int(figure.layout.height or 420)
        return (
            f'<div class="figure{" wide" if wide else ""}"><h4>{html(title)}</h4><p>{html(about)}</p>'
            f'<div id="{name}" class="plot" style="height:{height}px"></div></div>'
        )

    def text(self, plotly_js: str) -> str:
        contents = "".join(
            f'<li><a href="#{name}">{html(title)}</a>'
            + (
                ": " + ", ".join(f'<a href="#{part}">{html(word)}</a>' for part, word in parts)
                if parts
                else ""
            )
            + "</li>"
            for name, title, parts in self._contents
        )
        data = (
            json.dumps(self._figures, ensure_ascii=True)
            .replace("<", "\\u003c")
            .replace(">", "\\u003e")
            .replace("&", "\\u0026")
        )
        # A browser normalizes line ends in this way, and the hash is of the text that it reads.
        plotly_js = plotly_js.replace("\r\n", "\n").replace("\r", "\n")
        return f"""<!DOCTYPE html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(plotly_js, _SCRIPT)}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html(self.title)}</title>
<link rel="icon" href="data:,"><style>{_STYLE}</style></head><body>
<button id="theme" type="button">light / dark</button>
<h1>{html(self.title)}</h1>
<noscript><p><b>The figures need JavaScript; the tables do not.</b></p></noscript>
<nav aria-label="Contents"><ul>{contents}</ul></nav>
{"".join(self._body)}
<script type="application/json" id="figures">{data}</script>
<script>{plotly_js}</script>
<script>{_SCRIPT}</script>
</body></html>
"""
