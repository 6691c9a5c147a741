"""Plots: the lines of `accord plot`, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _accord
from ._errors import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"bit/s": (1e6, "Mbps"), "s": (1e-3, "ms"), "B": (1e3, "KB"), "1": (1.0, "")}
"""The units of plots and tables: the divisor of the number, and the name."""

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b0568f",
    "#b38600",
    "#2b9bd6",
    "#444444",
    "#8a6d3b",
)
"""The colours of `accord plot`."""

GREY = "#737373"

STYLES: dict[str, dict[str, Any]] = {
    "theory": {"linestyle": "--", "linewidth": 1.1, "color": GREY},
    "fluid": {"linewidth": 2.8, "alpha": 0.4},
    "packet": {"linewidth": 0.9},
    "live": {"linewidth": 0.9, "linestyle": ":"},
}
"""The styles of the engines."""


def new_axes() -> Axes:
    """Return the axes of a new figure."""
    plt = needed("matplotlib.pyplot", "a plot")
    axes: Axes = plt.figure(layout="constrained").add_subplot()
    return axes


def colours_of(ax: Axes) -> int:
    """Return the number of colours that the lines of the axes have."""
    return len({str(line.get_color()) for line in ax.get_lines()} - {GREY})


def legend(ax: Axes) -> None:
    """Draw the legend, to the right of the axes if it is long."""
    if len(ax.get_legend_handles_labels()[1]) > 4:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    else:
        ax.legend(fontsize="small")


def over_time(
    runs: Sequence[_accord.Run],
    metric: str,
    by: str | None,
    of: str | Sequence[str] | None,
    ax: Axes | None,
) -> Axes:
    """Draw a metric over time of runs of one point."""
    names = [] if of is None else [of] if isinstance(of, str) else list(of)
    lines, (across, up), ends = _accord.figure(runs, metric, by, names)
    if ax is None:
        ax = new_axes()
    before = colours_of(ax)
    if not ax.get_lines():
        ax.set_ylim(ends)
    for name, number, engine, *numbers in lines:
        x, y, low, high = map(np.frombuffer, numbers)
        style = {"color": COLOURS[(before + number) % len(COLOURS)]} | STYLES[engine]
        ax.plot(x, y, label=", ".join(filter(None, (name, engine))), **style)
        if low.size:
            ax.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    legend(ax)
    return ax
