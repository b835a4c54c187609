# SPDX-License-Identifier: Apache-2.0
"""The parts that the figures of the page share."""

from __future__ import annotations

# The colours of Okabe and Ito, without the two that vanish on one of the backgrounds.
COLOURS = ["#e69f00", "#2a9fd6", "#009e73", "#d55e00", "#cc79a7", "#7f7fff", "#8c8c8c", "#a6761d"]


def plotly():
    import plotly.graph_objects

    return plotly.graph_objects


def layout(figure, x: str, y: str, *, height: int = 420, legend: bool = True, **more):
    axis = {"automargin": True, "title": {"standoff": 10}}
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 60, "r": 16, "t": 8, "b": 50},
        colorway=COLOURS,
        showlegend=legend,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "xanchor": "left"},
        font={"size": 12},
        **more,
    )
    figure.update_xaxes(title_text=x, showgrid=True, zeroline=False, **axis)
    figure.update_yaxes(title_text=y, showgrid=True, zeroline=False, **axis)
    return figure


def log(figure, axis: str = "xy") -> None:
    for name in axis:
        getattr(figure, f"update_{name}axes")(type="log", exponentformat="none")


def bytes_axis(figure) -> None:
    """Only decades if there are many, else 2 and 5 too: labels such as 500kB, or 9kB beside 10kB, would overlap."""
    x = [each for trace in figure.data for each in trace.x]
    ratio = max(x) / min(x)
    figure.update_xaxes(
        tickformat="~s", ticksuffix="B", dtick=1 if ratio > 300 else "D2" if ratio > 4 else None
    )
