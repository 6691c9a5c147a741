"""Sliders of notebooks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ._errors import needed

seconds: list[float] = []
"""The CPU time of each answer to a slider so far, for the tests of notebooks."""


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
