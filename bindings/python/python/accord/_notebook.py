"""Sliders and graded exercises of notebooks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._errors import needed

seconds: list[float] = []
"""The CPU time of each answer to a slider so far, for the tests of notebooks."""


@dataclass(frozen=True)
class Grade:
    """The verdict on an answer; a notebook shows it."""

    what: str
    answer: Any
    right: bool | None
    hint: str

    def __bool__(self) -> bool:
        """Return True if the answer is right."""
        return self.right is True

    def __repr__(self) -> str:
        """Return the verdict in a line."""
        if self.right is None:
            return f"? {self.what}: not answered yet. {self.hint}".strip()
        if self.right:
            return f"✓ {self.what}: {self.answer} is right"
        return f"✗ {self.what}: {self.answer} is not right. {self.hint}".strip()


def expect(
    what: str, answer: float | str | None, value: Any, *, within: float = 0.05, hint: str = ""
) -> Grade:
    """Grade an answer to an exercise.

    Args:
        what: The quantity asked for, with its unit.
        answer: The answer, or None before there is one.
        value: The right answer: a number, a word, or a function that computes it.
        within: The tolerance of a number, as a fraction of the right one.
        hint: A hint after a wrong answer.

    Raises:
        ValueError: The right value is not finite, which is a mistake in the exercise.

    Example:
        >>> import accord
        >>> run = accord.dumbbell(flows=2, rate="6 Mbps").run("theory")
        >>> share = lambda: run.mean("throughput", "all") / 1e6
        >>> accord.expect("share in Mbps", 3, share)
        ✓ share in Mbps: 3 is right
        >>> accord.expect("share in Mbps", 6, share, hint="There are two flows.")
        ✗ share in Mbps: 6 is not right. There are two flows.

    """
    right = value() if callable(value) else value
    if isinstance(right, str):
        same = isinstance(answer, str) and answer.strip().lower() == right.lower()
        return Grade(what, answer, None if answer is None else same, hint)
    if not math.isfinite(right):
        raise ValueError(f"{what}: the right value is {right}")
    if answer is None:
        return Grade(what, answer, None, hint)
    try:
        off = abs(float(answer) - right)
    except (TypeError, ValueError):
        return Grade(what, answer, False, "A number is expected.")
    return Grade(what, answer, off <= within * max(abs(right), 1e-12), hint)


def explore(draw: Callable[..., Any], **sliders: Any) -> Any:
    """Show sliders, and the plot of a function of their values.

    Args:
        draw: The function.
        **sliders: Its arguments, as ``ipywidgets.interact`` takes them, such as ``(1, 10)``.

    """
    ipywidgets = needed("ipywidgets", "a slider")

    def timed(**values: Any) -> Any:
        before = time.process_time()
        try:
            return draw(**values)
        finally:
            seconds.append(time.process_time() - before)

    ipywidgets.interact(timed, **sliders)
