"""The border of a property: refinement where it changes."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._designs import Range
from ._scenario import Scenario, Value, listed
from ._sweep import sweep

Corner = tuple[int, ...]


@dataclass(frozen=True)
class Border:
    """The result of `border`.

    Attributes:
        points: All points that were run, each as values by paths.
        holds: For each of them, True if the property holds.
        cells: The smallest boxes that the border crosses: lower and upper ends by paths.

    """

    points: list[dict[str, Value]]
    holds: list[bool]
    cells: list[tuple[dict[str, Value], dict[str, Value]]]


def border(
    scenario: Scenario,
    over: Mapping[str, Range],
    holds: Callable[[dict[tuple[str, str], float]], bool],
    *,
    start: int = 4,
    rounds: int = 4,
    **options: Any,
) -> Border:
    """Find where a property begins to fail, by runs along its border.

    A grid comes first. Each round then halves the boxes whose corners disagree. Along one
    parameter a round costs one point, where a grid would double its points. A border that
    lies within one box of the first grid, with all its corners on one side, is not found.

    Args:
        scenario: The scenario.
        over: Ranges by paths, as `between` makes them.
        holds: Called with the means of a point by metric and entity. Over seeds they are averaged.
        start: The number of parts of each range in the first grid.
        rounds: The number of halvings.
        **options: Options of `sweep`: reps, engines, executor, store.

    Warns:
        UserWarning: The property holds at all points, or at none, so there are no cells.

    Example:
        Vegas keeps a bottleneck full. How small may its buffer be?

        >>> import accord
        >>> found = accord.border(
        ...     accord.dumbbell(flows=1, duration="10 s"),
        ...     {"topology.dumbbell.queue.limit": accord.between("2 kB", "40 kB")},
        ...     lambda mean: mean["utilisation", "bottleneck"] > 0.95,
        ... )
        >>> len(found.cells)
        1
        >>> len(found.points) < 4 * 2**4
        True

    """
    if start < 1 or rounds < 0 or not over:
        raise ValueError("border: expected at least one range, one part and no negative rounds")
    for name, of in over.items():
        if not isinstance(of, Range):
            raise TypeError(f"{name}: expected a range from `between`, got {of!r}")
    engines = listed(options.get("engines", "packet"))
    if len(engines) != 1:
        raise ValueError(f"engines: expected exactly one, got {list(engines)}")
    finest = start * 2**rounds
    known: dict[Corner, bool] = {}

    def at(corner: Corner) -> dict[str, Value]:
        return {n: of.at(i / finest) for (n, of), i in zip(over.items(), corner, strict=True)}

    def judge(corners: list[Corner]) -> None:
        # Whole numbers may be the same at several corners.
        points = {repr(point): point for point in map(at, corners)}
        swept = sweep(scenario, points.values(), **options)
        means: dict[str, dict[tuple[str, str], float]] = {}
        for row in swept.means():
            point = repr({name: row[name] for name in over})
            means.setdefault(point, {})[row["metric"], row["entity"]] = row["mean"]
        for corner in corners:
            known[corner] = bool(holds(means[repr(at(corner))]))

    size = 2**rounds
    cells = list(itertools.product(range(0, finest, size), repeat=len(over)))
    while True:
        ends = {cell: list(itertools.product(*((i, i + size) for i in cell))) for cell in cells}
        new = dict.fromkeys(c for corners in ends.values() for c in corners if c not in known)
        if new:
            judge(list(new))
        cells = [cell for cell in cells if len({known[c] for c in ends[cell]}) > 1]
        if size == 1 or not cells:
            break
        size //= 2
        halves = (itertools.product(*((i, i + size) for i in cell)) for cell in cells)
        cells = list(itertools.chain.from_iterable(halves))
    if not cells:
        where = (
            f"all {len(known)} points" if all(known.values()) else f"none of {len(known)} points"
        )
        text = f"border: the property holds at {where}; expected wider ranges, or a larger `start`"
        warnings.warn(text, UserWarning, stacklevel=2)
    boxes = [(at(cell), at(tuple(i + size for i in cell))) for cell in cells]
    return Border([at(c) for c in known], list(known.values()), boxes)
