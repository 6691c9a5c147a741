"""The work of sweeps: batches of runs, for a worker."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from ._run import Comparison
from ._scenario import Scenario, Skip, Value
from ._store import Result, Store, identity, key


@dataclass(frozen=True)
class Job:
    """One run: its number in the sweep, its point and its seed."""

    number: int
    settings: Mapping[str, Value]
    seed: int


@dataclass(frozen=True)
class Batch:
    """A batch of runs for a worker."""

    scenario: Scenario
    engines: tuple[str, ...]
    skip: Skip | None
    store: Store | None
    identity: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Done:
    """The results of a batch.

    Attributes:
        results: The results by the numbers of the jobs; None where the store has it.
        made: The number of runs that were not stored before.
        seconds: The duration.
        refused: The worker and its build, if the builds differ. It has run nothing then.

    """

    results: list[tuple[int, Result | None]]
    made: int
    seconds: float
    refused: tuple[str, str] | None = None


class Stop(Exception):
    """The sweep was stopped."""


def work(batch: Batch, stop: threading.Event | None = None) -> Done:
    """Run a batch."""
    if batch.identity != identity():
        return Done([], 0, 0.0, (_here(), identity()))

    def go_on(_: float) -> None:
        if stop is not None and stop.is_set():
            raise Stop

    before = time.monotonic()
    results: list[tuple[int, Result | None]] = []
    made = 0
    for job in batch.jobs:
        scenario = batch.scenario.with_(job.settings) if job.settings else batch.scenario
        name = None
        if batch.store is not None:
            name = key(scenario, batch.engines, job.seed, batch.skip)
            if batch.store.has(name):
                results.append((job.number, None))
                continue
        runs = [
            scenario.run(e, seed=job.seed, progress=go_on, skip=batch.skip) for e in batch.engines
        ]
        result = _result(Comparison(runs), batch.engines)
        made += 1
        if batch.store is not None and name is not None:
            batch.store.put(name, result)
            results.append((job.number, None))
        else:
            results.append((job.number, result))
    return Done(results, made, time.monotonic() - before)


def _result(comparison: Comparison, engines: tuple[str, ...]) -> Result:
    rows = []
    for mean in comparison.means:
        quantity = {k: mean[k] for k in ("entity_kind", "entity", "metric", "unit")}
        rows += [quantity | {"engine": e, "value": mean[e]} for e in engines if e in mean]
    return rows, comparison.checks


def _here() -> str:
    """Return the name of this worker."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return f"process {os.getpid()}"
