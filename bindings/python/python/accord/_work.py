"""The work of sweeps: batches of runs, for a worker."""

from __future__ import annotations

import json
import os
import pickle
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from ._errors import AccordError, noted
from ._scenario import Engine, Scenario, Skip, Value, skips_steady
from ._store import Result, Store, identity, key

COLUMNS = ("entity_kind", "entity", "metric", "unit", "engine", "value")
"""The columns of the means of a run."""


@dataclass(frozen=True)
class Job:
    """One run: its number in the sweep, its point and its seed."""

    number: int
    settings: Mapping[str, Value]
    seed: int


@dataclass(frozen=True)
class Batch:
    """The runs that a worker makes in one task."""

    scenario: Scenario
    engines: tuple[Engine, ...]
    skip: Skip | None
    store: Store | None
    identity: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Done:
    """The results of a batch.

    Attributes:
        results: The results by the numbers of the jobs; None where the store has it.
        made: The number of runs that the store did not have.
        seconds: The time taken.
        refused: The worker and its build, if the build differs. It has then made no runs.

    """

    results: list[tuple[int, Result | None]]
    made: int
    seconds: float
    refused: tuple[str, str] | None = None


class Stop(Exception):
    """The end of a stopped sweep."""


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
        scenario = batch.scenario._set(job.settings)
        name = None
        if batch.store is not None:
            name = key(scenario, batch.engines, job.seed, batch.skip)
            if batch.store.has(name):
                results.append((job.number, None))
                continue
        skips = skips_steady(batch.skip, batch.engines)
        try:
            means, checks = scenario.measure(list(batch.engines), job.seed, go_on, skips)
        except Stop:
            raise
        except Exception as e:
            # The traceback of a class does not name the point.
            settings = ", ".join(f"{path} = {value!r}" for path, value in job.settings.items())
            at = f"{settings}; " if settings else ""
            noted(e, f"at {at}seed {job.seed}, engines {', '.join(batch.engines)}")
            raise
        result = ([dict(zip(COLUMNS, mean, strict=True)) for mean in means], json.loads(checks))
        made += 1
        if batch.store is not None and name is not None:
            batch.store.put(name, result)
            results.append((job.number, None))
        else:
            results.append((job.number, result))
    return Done(results, made, time.monotonic() - before)


def received(content: bytes) -> Done:
    """Run a pickled batch.

    Dask gives up a worker that fails while it reads a task. So the worker gets bytes.

    Raises:
        AccordError: The worker cannot read the batch, for example for lack of a class's module.

    """
    try:
        batch = pickle.loads(content)
    except Exception as e:
        raise AccordError(
            f"{_here()} cannot read a batch: {type(e).__name__}: {e}",
            "each worker needs the modules of the classes that the scenario names",
        ) from e
    return work(batch)


def _here() -> str:
    """Return the name of this worker."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return f"process {os.getpid()}"
