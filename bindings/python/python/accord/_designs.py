"""Designs: the points of a sweep."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import needed

_QUANTITY = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")


@dataclass(frozen=True)
class Range:
    """The values from `low` to `high`; use `between`."""

    low: float
    high: float
    unit: str | None
    log: bool
    whole: bool

    def at(self, part: float) -> Any:
        """Return the value at a part of the range, from 0 to 1."""
        if self.log:
            value = self.low * (self.high / self.low) ** part
        else:
            value = self.low + (self.high - self.low) * part
        if self.whole:
            # Each whole number, including the ends, has an equal part.
            value = min(math.floor(self.low + (self.high - self.low + 1) * part), int(self.high))
        return value if self.unit is None else f"{_short(value)} {self.unit}".strip()


def _short(value: float) -> str:
    """Return a number in decimal notation with twelve digits."""
    text = f"{value:.12g}"
    return text if "e" not in text else f"{value:.12f}".rstrip("0").rstrip(".")


def between(
    low: float | str, high: float | str, *, log: bool = False, whole: bool = False
) -> Range:
    """Return the range of values from `low` to `high`, for designs.

    Args:
        low: The lowest value: a number, or a quantity such as ``"1 Mbps"``.
        high: The highest, in the same unit.
        log: True if values are spread evenly by their logarithms.
        whole: True if values are whole numbers.

    Raises:
        ValueError: The ends are in different units, or not in this order, or not finite.

    Example:
        >>> import accord
        >>> accord.between("1 Mbps", "100 Mbps", log=True).at(0.5)
        '10 Mbps'

    """
    (a, unit), (b, other) = quantity(low), quantity(high)
    if unit != other:
        raise ValueError(f"expected ends in one unit, got {low!r} and {high!r}")
    if not (math.isfinite(a) and math.isfinite(b) and a < b):
        raise ValueError(f"expected a lower and a higher end, got {low!r} and {high!r}")
    if log and a <= 0:
        raise ValueError(f"a logarithmic range: expected a lower end above zero, got {low!r}")
    if log and whole:
        raise ValueError("a range: expected log or whole, got both")
    return Range(a, b, unit, log, whole)


def quantity(value: float | str) -> tuple[float, str | None]:
    """Return the number and the unit of a value. The unit of a plain number is None."""
    if not isinstance(value, str):
        return float(value), None
    found = _QUANTITY.fullmatch(value)
    try:
        if found is not None:
            return float(found[1]), found[2]
    except ValueError:
        pass
    raise ValueError(f"expected a number with a unit, such as '10 Mbps', got {value!r}")


def linspace(low: float | str, high: float | str, count: int) -> list[Any]:
    """Return `count` values from `low` to `high` in equal steps.

    Example:
        >>> import accord
        >>> accord.linspace("10 ms", "30 ms", 3)
        ['10 ms', '20 ms', '30 ms']

    """
    return _spaced(between(low, high), count)


def logspace(low: float | str, high: float | str, count: int) -> list[Any]:
    """Return `count` values from `low` to `high` in equal ratios.

    Example:
        >>> import accord
        >>> accord.logspace("1 Mbps", "100 Mbps", 3)
        ['1 Mbps', '10 Mbps', '100 Mbps']

    """
    return _spaced(between(low, high, log=True), count)


def _spaced(of: Range, count: int) -> list[Any]:
    if count < 2:
        raise ValueError(f"count: expected at least 2, got {count}")
    return [of.at(i / (count - 1)) for i in range(count)]


def grid(over: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return all combinations of values.

    Example:
        >>> import accord
        >>> accord.grid({"flow.all.count": [1, 2], "duration": ["5 s"]})
        [{'flow.all.count': 1, 'duration': '5 s'}, {'flow.all.count': 2, 'duration': '5 s'}]

    """
    columns = [list(values) for values in over.values()]
    return [dict(zip(over, row, strict=True)) for row in itertools.product(*columns)]


def latin_hypercube(
    over: Mapping[str, Range], count: int, *, seed: int = 1
) -> list[dict[str, Any]]:
    """Return points of a Latin hypercube: one in each of `count` equal parts of each range.

    Needs SciPy.

    Example:
        >>> import accord
        >>> points = accord.latin_hypercube({"seed": accord.between(0, 9, whole=True)}, 10)
        >>> sorted(point["seed"] for point in points) == list(range(10))
        True

    """
    qmc = needed("scipy.stats", "a design").qmc
    return _scaled(over, qmc.LatinHypercube(d=len(over), rng=seed).random(_counted(count)))


def sobol(over: Mapping[str, Range], count: int, *, seed: int = 1) -> list[dict[str, Any]]:
    """Return the first `count` points of a scrambled Sobol sequence. Needs SciPy.

    Args:
        over: Ranges by paths.
        count: The number of points. A power of two gives a balanced design.
        seed: The seed of the scrambling.

    Example:
        >>> import accord
        >>> len(accord.sobol({"topology.dumbbell.rate": accord.between("1 Mbps", "9 Mbps")}, 8))
        8

    """
    qmc = needed("scipy.stats", "a design").qmc
    sequence = qmc.Sobol(d=len(over), rng=seed)
    power = (_counted(count) - 1).bit_length()
    return _scaled(over, sequence.random_base2(power)[:count])


def _counted(count: int) -> int:
    if count < 1:
        raise ValueError(f"count: expected at least 1, got {count}")
    return count


def _scaled(over: Mapping[str, Range], parts: Iterable[Iterable[float]]) -> list[dict[str, Any]]:
    wrong = [name for name, of in over.items() if not isinstance(of, Range)]
    if wrong:
        raise ValueError(f"{wrong[0]}: expected a range from accord.between")
    return [
        {name: of.at(float(part)) for (name, of), part in zip(over.items(), row, strict=True)}
        for row in parts
    ]
