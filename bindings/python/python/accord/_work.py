"""The work of sweeps: batches of runs, and those who carry them out."""

from __future__ import annotations

import itertools
import os
import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ._errors import AccordError
from ._run import Comparison
from ._scenario import Scenario, Value
from ._store import Result, Store, identity, key


@dataclass(frozen=True)
class Job:
    """One run: its number in the sweep, its point and its seed."""

    number: int
    settings: Mapping[str, Value]
    seed: int


@dataclass(frozen=True)
class Batch:
    """Some runs: what a worker gets."""

    scenario: Scenario
    engines: tuple[str, ...]
    store: Store | None
    identity: str
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Done:
    """What a worker gives back.

    Attributes:
        results: The results by the numbers of the jobs; None where the store has it.
        made: How many runs were not there before.
        seconds: The time that it took.
        refused: The worker and its build, if that is another one. It has run nothing then.

    """

    results: list[tuple[int, Result | None]]
    made: int
    seconds: float
    refused: tuple[str, str] | None = None


class Stop(Exception):
    """The sweep was stopped."""


def work(batch: Batch, stop: threading.Event | None = None) -> Done:
    """Carry out a batch."""
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
            name = key(scenario, batch.engines, job.seed)
            if batch.store.has(name):
                results.append((job.number, None))
                continue
        runs = [scenario.run(e, seed=job.seed, progress=go_on) for e in batch.engines]
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


class Crew:
    """Those who carry out batches: the threads of this process, an executor, or a Dask client."""

    def __init__(self, executor: Any) -> None:
        """Take an executor, a ``distributed.Client``, or None for threads."""
        self._stop = threading.Event()
        self._client = _client(executor)
        self._refused: set[str] = set()
        self._threads = None
        if executor is None:
            self._threads = ThreadPoolExecutor(os.cpu_count())
        elif self._client is None and not isinstance(executor, Executor):
            raise TypeError(
                "executor: expected one of concurrent.futures or a distributed.Client, "
                f"got {type(executor).__name__}"
            )
        self._executor = executor

    @property
    def batches(self) -> bool:
        """Whether tasks cost something, so that runs go in batches."""
        return self._threads is None

    def ahead(self) -> int:
        """Return how many tasks may be under way."""
        if self._client is not None:
            return 2 * max(int(sum(self._client.nthreads().values())), 2)
        workers = getattr(self._threads or self._executor, "_max_workers", 0)
        return 2 * max(int(workers), 2)

    def submit(self, batch: Batch) -> Any:
        """Begin a batch, and return its future."""
        if self._threads is not None:
            return self._threads.submit(work, batch, self._stop)
        if self._client is None:
            return self._executor.submit(work, batch)
        workers = None
        if self._refused:
            workers = [w for w in self._client.nthreads() if w not in self._refused]
            if not workers:
                raise AccordError(
                    "no worker has this build of Accord", "install one wheel everywhere"
                )
        return self._client.submit(work, batch, workers=workers, pure=False)

    def refuse(self, worker: str, build: str) -> None:
        """Use a worker no more, which has another build."""
        if worker not in self._refused:
            text = f"{worker} has Accord {build} and is not used: this is {identity()}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        self._refused.add(worker)
        if self._client is None:
            raise AccordError(f"{worker} has Accord {build}, and this is {identity()}")

    def lost(self, future: Any) -> bool:
        """Return whether a task was lost and not failed: it is to begin again."""
        return self._client is not None and future.status in ("cancelled", "lost")

    def close(self, waiting: list[Any], finished: bool) -> None:
        """End what is under way."""
        if not finished:
            # Ctrl-C reaches the main thread. The others end at their next look.
            self._stop.set()
            for future in waiting:
                future.cancel()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)


def _client(executor: Any) -> Any:
    """Return the Dask client, if the executor is one or belongs to one."""
    client = getattr(executor, "_client", executor)
    return client if hasattr(client, "scheduler_info") else None


def carry_out(
    crew: Crew,
    jobs: Iterator[Job],
    count: int,
    batch_of: Callable[[tuple[Job, ...]], Batch],
    done: Callable[[Done], None],
    task_seconds: float,
) -> None:
    """Carry out all jobs. Only those that are under way are in memory."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting: dict[Any, Batch] = {}
    again: list[Batch] = []
    left, spent, made = count, 0.0, 0
    losses = 0
    finished = False
    ahead, asked = crew.ahead(), time.monotonic()
    try:
        while True:
            if time.monotonic() - asked > 5:
                # Workers come and go.
                ahead, asked = crew.ahead(), time.monotonic()
            while len(waiting) < ahead and (again or left > 0):
                if again:
                    batch = again.pop()
                else:
                    size = 1
                    if crew.batches and made > 0:
                        # So much work, and at the end no more than a part of what is left.
                        size = int(task_seconds / max(spent / made, 1e-6)) + 1
                        size = max(1, min(size, left // ahead))
                    chosen = tuple(itertools.islice(jobs, size))
                    left -= len(chosen)
                    batch = batch_of(chosen)
                future = crew.submit(batch)
                waiting[future] = batch
                future.add_done_callback(arrived.put)
            if not waiting:
                finished = True
                return
            try:
                # With a timeout, so that an interrupt that another thread caught is seen.
                future = arrived.get(timeout=0.1)
            except queue.Empty:
                continue
            batch = waiting.pop(future)
            try:
                result = future.result()
            except (CancelledError, Exception) as e:
                if not crew.lost(future) or losses > 100:
                    raise
                # The cluster forgot the task: a scheduler that restarts does. It begins again.
                losses += 1
                if losses == 1:
                    warnings.warn(f"the cluster lost a task: {e}", RuntimeWarning, stacklevel=3)
                again.append(batch)
                continue
            if result.refused is not None:
                crew.refuse(*result.refused)
                again.append(batch)
                continue
            spent, made = spent + result.seconds, made + len(result.results)
            done(result)
    finally:
        crew.close(list(waiting), finished)
