"""Writes what conv2d.py measured: a CSV for programs, a page with the goals for people, a picture of the ratios."""

import csv
import html
import math

COLOURS = {
    "PyTorch": "#ee4c2c",
    "PyTorch depthwise": "#f7a58f",
    "CuPy": "#2f7ed8",
    "CuPy FFT": "#9cc3f0",
    "NPP": "#76b900",
}


def figure(us):
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def goals(case, contenders):
    """(goal, met, figure) for each goal of a case; contenders[0] is Tunesmith."""
    ours = contenders[0].hot
    peers = [each for each in contenders if each.peer]
    found = []
    if peers:
        best = min(peers, key=lambda each: each.hot)
        ratio = best.hot / ours
        found.append((f"at least as fast as the best peer ({best.name})", ratio >= 1, f"{ratio:.2f}×"))
        if case.mask >= 7:
            found.append(("at least 3× as fast as the best peer", ratio >= 3, f"{ratio:.2f}×"))
    if case.plain_us:
        found.append((f"no slower than a plain kernel's {case.plain_us} µs", ours <= case.plain_us, f"{figure(ours)} µs"))
    return found


def write_csv(path, results):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "problem", "contender", "hot_us", "cold_us", "graph", "max_error", "note"])
        for case, contenders in results:
            for each in contenders:
                error = "" if each.error is None else f"{each.error:.3g}"
                writer.writerow([case.name, case.problem, each.name, f"{each.hot:.3f}", f"{each.cold:.3f}",
                                 int(each.graph is not None), error, each.note])


def write_markdown(path, results, facts, launches):
    names = []
    for _, contenders in results:
        names += [each.name for each in contenders if each.name not in names]
    lines = [
        "# conv2d: results", "",
        "Written by `bench/conv2d.py`; do not edit. Microseconds of GPU time, the median over rounds in which all",
        f"contenders take turns. *hot*: a replayed CUDA graph of {launches} launches on the same buffers, per launch.",
        "*cold*: one launch after the L2 cache was flushed. Every output was checked against a double-precision",
        "reference before anything was timed.", ""
    ]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    lines += ["", f"![The time of each peer over that of Tunesmith]({path.with_suffix('.svg').name})"]
    for kind in ("hot", "cold"):
        lines += ["", f"## {kind.capitalize()}", "", "| case | " + " | ".join(names) + " |",
                  "| --- |" + " ---: |" * len(names)]
        for case, contenders in results:
            by_name = {each.name: each for each in contenders}
            cells = []
            for name in names:
                each = by_name.get(name)
                mark = " †" if each and kind == "hot" and each.graph is None else ""
                cells.append(figure(getattr(each, kind)) + mark if each else "–")
            lines.append(f"| {case.name} | " + " | ".join(cells) + " |")
    if any(each.graph is None for _, contenders in results for each in contenders):
        lines += ["", "† cannot be captured into a graph: launched in a stream, so launch overhead is part of the time."]
    lines += ["", "## Goals", "", "| case | goal | met | hot |", "| --- | --- | --- | ---: |"]
    for case, contenders in results:
        lines += [f"| {case.name} | {goal} | {'yes' if met else '**no**'} | {text} |"
                  for goal, met, text in goals(case, contenders)]
    lines += ["", "## What dispatch launched", "", "| case | match and variant |", "| --- | --- |"]
    lines += [f"| {case.name} | `{contenders[0].note}` |" for case, contenders in results]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_svg(path, results):
    """A bar a peer: its hot time over Tunesmith's, on a logarithmic axis that begins at 0.5."""
    left, right, bar, top, width = 170, 70, 13, 50, 900
    ratios = [each.hot / contenders[0].hot for _, contenders in results for each in contenders if each.peer]
    scale = (width - left - right) / math.log2(max(ratios + [2.0]) / 0.5)

    def x_of(ratio):
        return left + scale * math.log2(max(ratio, 0.5) / 0.5)

    shapes, x, y = [], left, top
    for name in COLOURS:
        if any(each.name == name for _, contenders in results for each in contenders):
            shapes.append(f'<rect x="{x}" y="27" width="10" height="10" fill="{COLOURS[name]}"/>')
            shapes.append(f'<text x="{x + 14}" y="36">{name}</text>')
            x += 34 + 7 * len(name)
    for case, contenders in results:
        peers = [each for each in contenders if each.peer]
        middle = y + bar * len(peers) / 2 + 4
        shapes.append(f'<text x="{left - 10}" y="{middle:.1f}" text-anchor="end">{html.escape(case.name)}</text>')
        for each in peers:
            ratio = each.hot / contenders[0].hot
            end = x_of(ratio)
            shapes.append(f'<rect x="{left}" y="{y}" width="{end - left:.1f}" height="{bar - 2}" '
                          f'fill="{COLOURS.get(each.name, "#888888")}"/>')
            shapes.append(f'<text x="{end + 4:.1f}" y="{y + bar - 3.5:.1f}" font-size="10">{ratio:.1f}×</text>')
            y += bar
        y += 12
    one = x_of(1)
    shapes.append(f'<line x1="{one:.1f}" y1="{top - 6}" x2="{one:.1f}" y2="{y - 6}" stroke="black" stroke-dasharray="3 3"/>')
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{width}" height="{y}" fill="white"/>\n'
        f'<text x="{left}" y="18" font-weight="bold">Time of each peer / time of Tunesmith (hot, logarithmic)</text>\n' +
        "\n".join(shapes) + "\n</svg>\n", encoding="utf-8")
