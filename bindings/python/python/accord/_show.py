"""Tables, pictures and progress bars of notebooks and terminals."""

from __future__ import annotations

import base64
import html
import io
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._errors import needed

ROWS = 12
"""The number of rows of a table in a notebook."""


Fraction = Callable[[float], object]
"""A function that is called with the fraction done, from 0 to 1."""


def _called(progress: Fraction | bool | None) -> Fraction | None:
    if progress and not callable(progress):
        got = type(progress).__name__
        raise TypeError(f"progress: expected a function of the fraction done, got {got}")
    return progress or None


@contextmanager
def counting(
    progress: Fraction | bool | None, count: int, unit: str
) -> Iterator[Callable[[int], object]]:
    """Yield a function that counts finished parts, and close a bar that this module made."""
    if progress is True:
        tqdm = needed("tqdm.auto", "progress=True").tqdm
        with tqdm(total=count, unit=unit) as bar:
            yield bar.update
        return
    report, done, lock = _called(progress), 0, threading.Lock()

    def update(more: int) -> None:
        nonlocal done
        with lock:
            done += more
            if report is not None:
                report(done / count)

    yield update


@contextmanager
def fraction(progress: Fraction | bool | None, title: str) -> Iterator[Fraction | None]:
    """Yield the function that takes the fraction done, and close a bar that this module made."""
    if progress is not True:
        yield _called(progress)
        return
    tqdm = needed("tqdm.auto", "progress=True").tqdm
    form = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=title, bar_format=form) as bar:

        def update(part: float) -> None:
            bar.update(part - bar.n)

        yield update
        update(1.0)


def table(head: Sequence[str], rows: Sequence[Iterable[str]]) -> str:
    """Return a table in HTML, with only the first rows if there are many."""

    def line(cells: Iterable[str], tag: str) -> str:
        inside = "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    more = len(rows) - ROWS
    shown = "".join(line(row, "td") for row in rows[:ROWS])
    rest = f"<tr><td>and {more} more</td></tr>" if more > 0 else ""
    return f"<table>{line(head, 'th')}{shown}{rest}</table>"


def picture(draw: Callable[[Any], object], width: float = 6.4, height: float = 2.8) -> str:
    """Return a plot by matplotlib as HTML, or "" without matplotlib.

    Args:
        draw: Called with the axes. It raises ValueError if it has no data.
        width: The width in inches.
        height: The height in inches.

    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    # Pyplot would change its current figure, and is not safe for threads.
    figure = Figure(figsize=(width, height), layout="constrained")
    try:
        draw(figure.add_subplot())
    except ValueError:
        return ""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    content = base64.b64encode(file.getvalue()).decode()
    return f'<img src="data:image/png;base64,{content}">'
