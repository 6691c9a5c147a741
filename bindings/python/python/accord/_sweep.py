"""Sweeps: a scenario at many points, on all cores or on other machines."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

from . import _accord
from ._run import Comparison, Run
from ._scenario import Scenario, Value


class Bar(Protocol):
    """A progress bar, such as tqdm's."""

    def update(self, n: int) -> object:
        """Count `n` more runs as done."""


@dataclass(frozen=True)
class _Task:
    """One run: what a worker gets."""

    scenario: Scenario
    engines: tuple[str, ...]
    seed: int


class _Stop(Exception):
    """The sweep was stopped."""


def _run(task: _Task, stop: threading.Event | None = None) -> tuple[list[Any], list[Any]]:
    """Run a task: the means and the checks."""

    def stopped(_: float) -> None:
        if stop is not None and stop.is_set():
            raise _Stop

    runs: list[Run] = [
        task.scenario.run(engine, seed=task.seed, progress=stopped) for engine in task.engines
    ]
    comparison = Comparison(runs)
    return comparison.means, comparison.checks


class Sweep:
    """The result of `sweep`."""

    def __init__(
        self,
        parameters: list[str],
        rows: list[dict[str, Any]],
        checks: list[dict[str, Any]],
    ) -> None:
        """Take what was computed; use `sweep`."""
        self._parameters = parameters
        self.rows = rows
        """A row per point, seed, quantity and engine: the parameters, seed, engine, entity_kind,
        entity, metric, unit and value. Data frames take it."""
        self.checks = checks
        """A row per point, seed and expectation: the parameters, seed, and what `Comparison.checks`
        has."""

    def means(self) -> list[dict[str, Any]]:
        """Return the means over seeds: a row per point, quantity and engine.

        Rows have the parameters, engine, entity_kind, entity, metric, unit, mean, half_width and
        runs. half_width is that of the 95 % confidence interval by Student's t, or None for a
        single seed.
        """
        groups: dict[tuple[Any, ...], list[float]] = {}
        keys = [*self._parameters, "engine", "entity_kind", "entity", "metric", "unit"]
        for row in self.rows:
            groups.setdefault(tuple(map(repr, (row[k] for k in keys))), []).append(row["value"])
        first: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in self.rows:
            first.setdefault(tuple(map(repr, (row[k] for k in keys))), row)
        rows = []
        for key, values in groups.items():
            mean, half_width = _accord.estimate(values)
            head = {k: first[key][k] for k in keys}
            rows.append(head | {"mean": mean, "half_width": half_width, "runs": len(values)})
        return rows

    def __repr__(self) -> str:
        """Return the parameters and the number of rows."""
        return f"<Sweep over {', '.join(self._parameters) or 'seeds'}: {len(self.rows)} rows>"


def sweep(
    scenario: Scenario,
    over: Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]],
    *,
    reps: int = 1,
    engines: Iterable[str] = ("packet",),
    executor: Executor | None = None,
    progress: Bar | None = None,
) -> Sweep:
    """Run a scenario at many points, and return one tidy table.

    The result does not depend on the executor or on the number of cores.

    Args:
        scenario: The scenario, without a sweep of its own.
        over: Values by paths, of which all combinations are run; or the points one by one, each as
            values by paths.
        reps: The number of seeds per point, from the scenario's seed up.
        engines: The engines of each run.
        executor: Where runs are made, as concurrent.futures has it; by default threads, one per
            core. ``client.get_executor()`` of dask.distributed is one: scenarios and results are
            pickled, and each worker needs this package.
        progress: A progress bar with an ``update`` method, such as ``tqdm(total=...)``.

    Raises:
        ScenarioError: A point is wrong. All points are checked before the first run.
        ValueError: The scenario has a sweep of its own, or there is nothing to run.

    Example:
        >>> import accord
        >>> swept = accord.sweep(
        ...     accord.dumbbell(duration="5 s"),
        ...     {"topology.dumbbell.rate": ["4 Mbps", "8 Mbps"]},
        ...     engines=["theory"],
        ... )
        >>> [(row["topology.dumbbell.rate"], row["mean"] / 1e6) for row in swept.means()
        ...  if row["metric"] == "throughput"]
        [('4 Mbps', 2.0), ('8 Mbps', 4.0)]

    """
    if len(scenario.points) > 1:
        raise ValueError("the scenario has a sweep of its own; remove it, or run it as it is")
    if reps < 1:
        raise ValueError(f"reps: expected at least 1, got {reps}")
    points = list(_points(over))
    names = list(dict.fromkeys(name for point in points for name in point))
    engines = tuple(engines)
    if not points or not engines:
        raise ValueError("there is nothing to run: no points, or no engines")
    scenarios = [scenario.with_(point) for point in points]
    tasks = [_Task(s, engines, s.seed + k) for s in scenarios for k in range(reps)]
    results = _all(tasks, executor, progress)
    rows: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    for i, (means, verdicts) in enumerate(results):
        head: dict[str, Any] = {name: points[i // reps].get(name) for name in names}
        head["seed"] = tasks[i].seed
        for mean in means:
            quantity = {k: mean[k] for k in ("entity_kind", "entity", "metric", "unit")}
            for engine in engines:
                if engine in mean:
                    rows.append(head | {"engine": engine} | quantity | {"value": mean[engine]})
        checks.extend(head | check for check in verdicts)
    return Sweep(names, rows, checks)


def _points(
    over: Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]],
) -> Iterator[dict[str, Value]]:
    if isinstance(over, Mapping):
        values = [list(v) if not isinstance(v, str) else [v] for v in over.values()]
        for combination in itertools.product(*values):
            yield dict(zip(over, combination, strict=True))
    else:
        yield from map(dict, over)


def _all(
    tasks: list[_Task], executor: Executor | None, progress: Bar | None
) -> list[tuple[list[Any], list[Any]]]:
    """Run all tasks, and return their results in the order of the tasks."""
    if executor is not None:
        return _submitted(executor, tasks, None, progress)
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        try:
            return _submitted(threads, tasks, stop, progress)
        except BaseException:
            # Ctrl-C reaches this thread. The others end at their next look at `stop`.
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _submitted(
    executor: Executor,
    tasks: list[_Task],
    stop: threading.Event | None,
    progress: Bar | None,
) -> list[tuple[list[Any], list[Any]]]:
    """Keep some tasks ahead of the workers. An interrupt then leaves few to cancel."""
    arguments: tuple[Any, ...] = () if stop is None else (stop,)
    results: list[Any] = [None] * len(tasks)
    waiting: dict[Future[Any], int] = {}
    ahead = 64
    queue = iter(enumerate(tasks))
    try:
        while True:
            for i, task in itertools.islice(queue, ahead - len(waiting)):
                waiting[executor.submit(_run, task, *arguments)] = i
            if not waiting:
                return results
            # With a timeout, so that an interrupt that another thread caught is seen.
            done, _ = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                results[waiting.pop(future)] = future.result()
                if progress is not None:
                    progress.update(1)
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
