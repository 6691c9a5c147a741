"""Equilibria and their stability margins."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The equilibrium of a phase, linearised.

    Attributes:
        start: The start of the phase in seconds.
        end: The end of the phase in seconds.
        error: The reason why there is no linearisation, or None. The rest is empty if there is
            none.
        stable: True if small deviations decay.
        gain_margin: The factor by which a loop's gain may grow before it cycles; infinite if no
            gain
            makes it cycle.
        delay_margin: The additional delay at which it cycles, in seconds; infinite if none does.
        phase_margin: The same as an angle in degrees.
        roots: The rightmost roots, of shape (roots,), complex, in 1/s.
        flows: A row per class of flows: group, flows, rate in bit/s, round_trip in seconds, signal
            (the share marked or lost) and halving_jitter in seconds.

    """

    start: float
    end: float
    error: str | None
    stable: bool
    gain_margin: float
    delay_margin: float
    phase_margin: float
    roots: NDArray[np.complex128]
    flows: list[dict[str, Any]]

    def __bool__(self) -> bool:
        """Return True if it is stable."""
        return self.stable


def equilibria(text: str) -> list[Equilibrium]:
    """Return the engine's results, phase by phase."""

    def number(value: float | None) -> float:
        return float("inf") if value is None else value

    def one(record: dict[str, Any]) -> Equilibrium:
        roots = [complex(*root) for root in record.get("roots", [])]
        flows = record.get("flows", [])
        return Equilibrium(
            start=record["start"],
            end=record["end"],
            error=record["error"],
            stable=record.get("stable", False),
            gain_margin=number(record.get("gain_margin", float("nan"))),
            delay_margin=number(record.get("delay_margin", float("nan"))),
            phase_margin=number(record.get("phase_margin", float("nan"))),
            roots=np.array(roots, dtype=np.complex128),
            flows=[row | {"halving_jitter": number(row["halving_jitter"])} for row in flows],
        )

    return [one(record) for record in json.loads(text)]
