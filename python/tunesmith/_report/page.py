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
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 4px 12px }
#theme { float: right }
nav ul { columns: 280px; column-gap: 36px; padding-left: 1.2em; margin: .4em 0 } nav li { break-inside: avoid }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 14px; margin: .7em 0 }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; min-width: 0 }
.figure p { font-size: .9em; color: var(--soft) } .wide { grid-column: 1 / -1 } .stack { display: grid; gap: 14px; align-content: start; min-width: 0 }
.tools { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; margin: .7em 0 -.3em; font-size: .87em; color: var(--soft) }
.tools input { padding: 1px 8px; width: 14em; max-width: 60vw }
.scroll { overflow-x: auto; max-height: 560px; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; margin: .7em 0 }
table { border-collapse: collapse; min-width: 60%; font-size: .87em } th, td { padding: 4px 10px; text-align: left; vertical-align: top;
        border-bottom: 1px solid var(--line) } th { background: var(--card); position: sticky; top: 0; white-space: nowrap }
th button { all: unset; cursor: pointer; font-weight: 600 } th button:focus-visible { outline: 2px solid var(--link) }
th[aria-sort=ascending] button::after { content: " \\25b2" } th[aria-sort=descending] button::after { content: " \\25bc" }
th.number { text-align: right } td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums } td.long, td.longer { min-width: 15em; overflow-wrap: anywhere } td.longer { min-width: 24em }
"""

# Axes, letters and grid follow the theme; colours of marks are readable on both. Where a figure is narrow, its words along the
# axes go onto further lines. A table is sorted by its headings and filtered, and says what of it is in sight.
_SCRIPT = """
const narrow = 480;  // pixels
// The words in lines of at most so many letters; lines beyond `most` become an ellipsis.
function folded(text, letters, most) {
  const lines = [''];
  for (const word of text.replaceAll('<br>', ' ').split(' '))
    if (!lines.at(-1) || lines.at(-1).length + word.length < letters) lines.push((lines.pop() + ' ' + word).trim());
    else lines.push(word);
  const kept = lines.slice(0, most).map(line => line.length > letters + 3 ? line.slice(0, letters + 2) + '…' : line);
  return kept.join('<br>') + (lines.length > most ? '…' : '');
}
function fit({data}, layout, width) {
  if (width >= narrow) return;
  layout.margin = {...layout.margin, l: 40, r: data.some(trace => trace.mode === 'markers+text') ? 56 : 16};
  layout.font = {...layout.font, size: 11};
  for (const [name, axis] of Object.entries(layout)) if (/^[xy]axis/.test(name)) {
    if (axis.title?.text) axis.title = {...axis.title, text: folded(axis.title.text, 28, 3)};
    if (axis.ticktext) axis.ticktext = axis.ticktext.map(text => folded(text, 15, 4));
  }
}
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
    fit(figure, layout, document.getElementById(id).clientWidth);
    Plotly.react(id, figure.data, layout, {responsive: true, displaylogo: false, displayModeBar: false});
  }
}
function choose(dark) { root.dataset.theme = dark ? 'dark' : 'light'; draw(); }
wish.addEventListener('change', () => choose(wish.matches));
document.getElementById('theme').addEventListener('click', () => choose(root.dataset.theme !== 'dark'));
choose(wish.matches);

for (const box of document.querySelectorAll('.scroll')) {
  const table = box.firstElementChild, body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const tools = document.createElement('div'), says = document.createElement('span');
  tools.className = 'tools';
  says.setAttribute('role', 'status');
  function count() {
    const shown = rows.filter(row => !row.hidden).length, at = box.getBoundingClientRect();
    const seen = heads.filter(head => {
      const one = head.getBoundingClientRect(), width = Math.min(one.right, at.right) - Math.max(one.left, at.left);
      return width >= 0.9 * Math.min(one.width, at.width);
    }).length;
    const part = (some, all, word) => (some < all ? `${some} of ` : '') + `${all} ${word}${all === 1 ? '' : 's'}`;
    says.textContent = part(shown, rows.length, 'row') + ', ' + part(seen, heads.length, 'column') +
      (seen < heads.length ? ' in sight: scroll sideways' : '') + (rows.length > 1 ? '; click on a heading to sort' : '');
  }
  if (rows.length > 5) {
    const label = document.createElement('label'), input = document.createElement('input');
    input.type = 'search';
    input.placeholder = 'words of a row';
    label.append('Filter ', input);
    tools.append(label);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\\s+/);
      for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
      count();
    });
  }
  heads.forEach((head, at) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    const value = row => row.cells[at].dataset.v === undefined ? row.cells[at].textContent : +row.cells[at].dataset.v;
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(one => one.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const order = (a, b) => typeof a === typeof b ? (typeof a === 'number' ? a - b : a.localeCompare(b, 'en', {numeric: true})) : typeof a === 'number' ? -1 : 1;
      rows.sort((a, b) => order(value(a), value(b)) * (down && typeof value(a) === typeof value(b) ? -1 : 1));
      body.append(...rows);
    });
  });
  tools.append(says);
  box.before(tools);
  box.addEventListener('scroll', count);
  addEventListener('resize', count);
  count();
}
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

    def table(self, title: str, columns: list[str], rows: list[list]) -> None:
        """A number in a row is right-aligned, and sorted by its value: give (text, value) for that, (text,) if the text has none."""

        def cell(value) -> str:
            if isinstance(value, tuple):
                text, *number = value
                by = f' data-v="{number[0]!r}"' if number and number[0] is not None else ""
                return f'<td class="number"{by}>{html(text)}</td>'
            size = len(str(value))
            return f"<td{' class=longer' if size > 90 else ' class=long' if size > 40 else ''}>{html(value)}</td>"

        right = [bool(rows) and isinstance(value, tuple) for value in (rows[0] if rows else columns)]
        head = "".join(
            f'<th scope="col"{" class=number" if at else ""}>{html(column)}</th>'
            for column, at in zip(columns, right)
        )
        lines = "\n".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
        self._body.append(
            f'<div class="scroll" tabindex="0" role="region" aria-label="{html(title)}"><table aria-label="{html(title)}">'
            f"<thead><tr>{head}</tr></thead><tbody>\n{lines}\n</tbody></table></div>"
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
            f'<div class="figure{" wide" if wide else ""}"><h4 id="{name}-title">{html(title)}</h4><p id="{name}-about">{html(about)}</p>'
            f'<div id="{name}" class="plot" role="img" aria-labelledby="{name}-title" aria-describedby="{name}-about" style="height:{height}px"></div></div>'
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
