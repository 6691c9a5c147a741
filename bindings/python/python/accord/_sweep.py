"""Sweeps: a scenario at many points, on all cores or on other machines."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from . import _accord
from ._carry import Carrier
from ._crew import Crew
from ._scenario import Scenario, Skip, Value, skips_steady
from ._show import Bar, counting
from ._store import Result, Store, identity, key
from ._work import Batch, Done, Job

if TYPE_CHECKING:
    from distributed import Client

Over = Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]]
"""Values by paths, all combinations of which are run; or single points."""


class Sweep:
    """The result of `sweep`. With a store, rows are read from it on demand."""

    def __init__(
        self,
        parameters: list[str],
        results: Callable[[], Iterator[tuple[dict[str, Any], Result]]],
        made: int,
        found: int,
    ) -> None:
        """Take the computed results; use `sweep`."""
        self._parameters = parameters
        self._results = results
        self.made = made
        """The number of runs made."""
        self.found = found
        """The number of runs found in the store."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per point, seed, quantity and engine.

        Rows have the parameters, seed, entity_kind, entity, metric, unit, engine and value. Data
        frames take them.
        """
        return list(self)

    @property
    def checks(self) -> list[dict[str, Any]]:
        """A row per point, seed and expectation.

        Rows have the parameters, seed, and the columns of `Comparison.checks`.
        """
        return [head | check for head, (_, checks) in self._results() for check in checks]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the `rows` one by one."""
        for head, (means, _) in self._results():
            for mean in means:
                yield head | mean

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.made + self.found

    def means(self) -> list[dict[str, Any]]:
        """Return the means over seeds: a row per point, quantity and engine.

        Rows have the parameters, engine, entity_kind, entity, metric, unit, mean, half_width and
        runs. half_width is that of the 95 % confidence interval by Student's t, or None for a
        single seed.
        """
        groups: dict[tuple[str, ...], tuple[dict[str, Any], list[float]]] = {}
        keys = [*self._parameters, "engine", "entity_kind", "entity", "metric", "unit"]
        for row in self:
            head = {k: row[k] for k in keys}
            _, values = groups.setdefault(tuple(map(repr, head.values())), (head, []))
            values.append(row["value"])
        rows = []
        for head, values in groups.values():
            mean, half_width = _accord.estimate(values)
            rows.append(head | {"mean": mean, "half_width": half_width, "runs": len(values)})
        return rows

    def __repr__(self) -> str:
        """Return the parameters and the number of runs."""
        return f"<Sweep over {', '.join(self._parameters) or 'seeds'}: {len(self)} runs>"


def sweep(
    scenario: Scenario,
    over: Over,
    *,
    reps: int = 1,
    engines: str | Iterable[str] = ("packet",),
    skip: Skip | None = None,
    executor: Executor | Client | None = None,
    store: str | os.PathLike[str] | None = None,
    store_options: dict[str, Any] | None = None,
    progress: Bar | bool | None = None,
    task_seconds: float = 1.0,
) -> Sweep:
    """Run a scenario at many points, and return one tidy table.

    The result does not depend on the executor or on the number of cores.

    Args:
        scenario: The scenario, without a sweep.
        over: Values by paths, all combinations of which are run; or single points, each as values
            by paths, such as those of `latin_hypercube` and `sobol`.
        reps: The number of seeds per point, from the scenario's seed up.
        engines: The engines of each run.
        skip: The time that packets may skip, as for `Scenario.run`.
        executor: The executor of the runs: a ``distributed.Client``, or an executor of
            concurrent.futures; by default threads, one per core. Each worker needs this build of
            this package. A Dask worker with another one is named in a warning and not used.
        store: A directory, or a place such as ``"s3://bucket/study"`` that fsspec knows. Results
            are kept there, and existing ones are not computed again. Workers need to reach it.
            Only the requested results are read back.
        store_options: Options of fsspec for the place.
        progress: A progress bar with an ``update`` method, or True for that of tqdm.
        task_seconds: The work per task of an executor, in seconds. A scheduler with
            hundreds of workers needs longer ones.

    Raises:
        ScenarioError: A point is invalid. All points are checked before the first run.
        ValueError: The scenario has a sweep, or there is nothing to run or to skip.
        AccordError: No worker has this build, or the store cannot be used.

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
        raise ValueError("the scenario has a sweep; remove it, or run the scenario itself")
    if reps < 1:
        raise ValueError(f"reps: expected at least 1, got {reps}")
    if not task_seconds > 0:
        raise ValueError(f"task_seconds: expected more than zero, got {task_seconds}")
    points = list(_points(over))
    names = list(dict.fromkeys(name for point in points for name in point))
    engines = (engines,) if isinstance(engines, str) else tuple(engines)
    if not points or not engines:
        raise ValueError("there is nothing to run: no points, or no engines")
    skips_steady(skip, engines)
    seeds = [scenario.with_(point).seed for point in points]
    count = len(points) * reps
    kept = None if store is None else Store(store, store_options)
    if kept is not None:
        # A class without a version is found before the first run.
        key(scenario.with_(points[0]), engines, seeds[0], skip)
    results: list[Result | None] = [] if kept is not None else [None] * count
    made = 0

    def jobs() -> Iterator[Job]:
        for i, k in itertools.product(range(len(points)), range(reps)):
            yield Job(i * reps + k, points[i], seeds[i] + k)

    def batch_of(chosen: tuple[Job, ...]) -> Batch:
        return Batch(scenario, engines, skip, kept, identity(), chosen)

    def done(what: Done) -> None:
        nonlocal made
        made += what.made
        for number, result in what.results:
            if result is not None:
                results[number] = result
        if bar is not None:
            bar.update(len(what.results))

    with counting(progress, count, "run") as bar:
        Carrier(Crew(executor), jobs(), count, batch_of, task_seconds).carry_out(done)

    def all_results() -> Iterator[tuple[dict[str, Any], Result]]:
        for job in jobs():
            head: dict[str, Any] = {name: job.settings.get(name) for name in names}
            head["seed"] = job.seed
            if kept is None:
                result = results[job.number]
                assert result is not None
            else:
                result = kept.get(key(scenario.with_(job.settings), engines, job.seed, skip))
            yield head, result

    return Sweep(names, all_results, made, count - made)


def _points(over: Over) -> Iterator[dict[str, Value]]:
    if isinstance(over, Mapping):
        values = [list(v) if not isinstance(v, str) else [v] for v in over.values()]
        for combination in itertools.product(*values):
            yield dict(zip(over, combination, strict=True))
    else:
        yield from map(dict, over)
