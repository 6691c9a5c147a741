"""The experiments that come with Accord."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, cast

from . import _accord
from ._errors import AccordError
from ._run import Comparison
from ._scenario import Engine, Scenario, listed, load
from ._show import Fraction, counting
from ._threads import on_all_cores

CLASSES = ["met", "finding", "open", "ours", "unjudged", "FAILED"]
"""The classes of expectations, from the best to the worst."""


class Reproduction:
    """The result of `reproduce`."""

    def __init__(self, scenario: Scenario, comparisons: list[Comparison]) -> None:
        """Take the computed results. Use `reproduce` instead."""
        self.scenario = scenario
        self.comparisons = comparisons
        """A comparison per point of the experiment's sweep."""

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The expectations of all points with the measured values and the verdicts."""
        points = zip(self.scenario.points, self.comparisons, strict=True)
        return [{"point": point} | check for point, c in points for check in c.checks]

    @property
    def verdict(self) -> str:
        """The worst class of an expectation.

        ``"met"``; ``"finding"``, ``"open"`` or ``"ours"`` for a known failure, whose reason is in
        the scenario; ``"unjudged"`` after a live run that the machine did not keep up with;
        ``"FAILED"`` for another one.
        """
        return max((str(c.summary["class"]) for c in self.comparisons), key=CLASSES.index)

    def __bool__(self) -> bool:
        """Return whether each expectation is met or known to fail."""
        return self.verdict not in ("unjudged", "FAILED")

    def __repr__(self) -> str:
        """Return id, points and verdict."""
        return f"<Reproduction of {self.scenario.id}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Return the tables of all points for a notebook."""
        return "".join(c._repr_html_() for c in self.comparisons)


def reproduce(
    id: str,
    *,
    engines: Engine | Iterable[Engine] | None = None,
    seed: int | None = None,
    progress: Fraction | bool | None = None,
) -> Reproduction:
    """Run an experiment that comes with Accord at all points of its sweep, on all cores.

    Args:
        id: Its id, such as ``"xia05-fig6"``; ``accord list experiments`` shows them.
        engines: The engines; by default theory, packets and those of the expectations. Live is
            among them only if it is named.
        seed: The seed, instead of the experiment's.
        progress: Called with the fraction of the points done, from 0 to 1. True shows a bar of
            tqdm.

    Raises:
        AccordError: There is no such experiment, or an engine has no result for it.

    Example:
        >>> import accord
        >>> result = accord.reproduce("xia05-fig6", engines=["theory"])
        >>> len(result.comparisons) == len(result.scenario.points)
        True

    """
    known = _accord.built_in()
    if id not in known:
        near = difflib.get_close_matches(id, known, 1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise AccordError(
            f'there is no experiment "{id}"', f"{hint}accord list experiments shows them"
        )
    scenario = load(id)
    numbers = range(1, len(scenario.points) + 1)
    named = None if engines is None else list(listed(engines))

    def compare(point: int, go_on: Fraction) -> Comparison:
        chosen = cast("list[Engine]", scenario._inner.engines(point)) if named is None else named
        runs = [scenario.run(engine, seed=seed, point=point, progress=go_on) for engine in chosen]
        count(1)
        return Comparison(runs)

    with counting(progress, len(numbers), "point") as count:
        return Reproduction(scenario, on_all_cores(compare, numbers))
