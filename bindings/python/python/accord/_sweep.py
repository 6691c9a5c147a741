"""Sweeps: a scenario at many points, on all cores or on other machines."""

from __future__ import annotations

import html
import itertools
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _accord, _plot, _show
from ._carry import Carrier
from ._crew import Crew
from ._designs import quantity
from ._errors import whole
from ._scenario import Engine, Scenario, Skip, Value, classes_in, key_of, listed, skips_steady
from ._show import Fraction, counting
from ._store import Result, Store, identity, key
from ._work import Batch, Done, Job

if TYPE_CHECKING:
    from distributed import Client
    from matplotlib.axes import Axes

Key = tuple[Any, ...]
"""A key of a value that tells two classes with one name apart."""

Over = Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""Values by paths, of which all combinations are run; or a list of points."""

SHOWN = ("throughput", "utilisation", "queuing_delay", "loss_ratio")
"""The metrics of the table in a notebook."""

LINES = 8
"""The number of lines that can be told apart in a plot."""


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep."""

    scenario: Scenario
    names: list[str]
    points: list[dict[str, Value]]
    seeds: list[int]
    reps: int
    engines: tuple[Engine, ...]
    skip: Skip | None
    store: Store | None

    @property
    def count(self) -> int:
        """The number of runs."""
        return len(self.points) * self.reps

    def jobs(self) -> Iterator[Job]:
        """Yield the runs, point by point."""
        for i, k in itertools.product(range(len(self.points)), range(self.reps)):
            yield Job(i * self.reps + k, self.points[i], self.seeds[i] + k)

    def batch(self, jobs: tuple[Job, ...]) -> Batch:
        """Return a batch of runs."""
        return Batch(self.scenario, self.engines, self.skip, self.store, identity(), jobs)

    def key(self, job: Job) -> str:
        """Return the name of a run in a store."""
        return key(self.scenario._set(job.settings), self.engines, job.seed, self.skip)


class Sweep:
    """The result of `sweep`. With a store, rows are read from there each time."""

    def __init__(self, plan: Plan, results: list[Result | None], made: int) -> None:
        """Take the results. Use `sweep` instead."""
        self._plan = plan
        self._results = results
        self.made = made
        """The number of runs that were made."""
        self.found = plan.count - made
        """The number of runs that were in the store before."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per point, seed, quantity and engine.

        Rows have the parameters, seed, entity_kind, entity, metric, unit, engine and value. Data
        frames take them.
        """
        return list(self)

    @property
    def checks(self) -> list[dict[str, Any]]:
        """A row per point, seed and expectation of an engine that ran.

        Rows have the parameters, the seed, and the keys of `Comparison.checks`.
        """
        return [head | check for _, head, (_, checks) in self._all() for check in checks]

    def _all(self) -> Iterator[tuple[int, dict[str, Any], Result]]:
        """Yield the number of the point, the point with the seed, and the result of each run."""
        plan = self._plan
        for job in plan.jobs():
            head: dict[str, Any] = {name: job.settings.get(name) for name in plan.names}
            head["seed"] = job.seed
            if plan.store is not None:
                result = plan.store.get(plan.key(job))
            else:
                known = self._results[job.number]
                assert known is not None
                result = known
            yield job.number // plan.reps, head, result

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the `rows` one by one."""
        for _, head, (means, _) in self._all():
            for mean in means:
                yield head | mean

    def __len__(self) -> int:
        """Return the number of runs."""
        return self._plan.count

    def means(self) -> list[dict[str, Any]]:
        """Return the means over seeds: a row per point, quantity and engine.

        Rows have the parameters, engine, entity_kind, entity, metric, unit, mean, half_width and
        runs. half_width is that of the 95 % confidence interval by Student's t. It is None for a
        single seed, and where all seeds gave the same value to the bit.

        Warns:
            UserWarning: All seeds gave the same packet run at a point, which then has no interval.

        Example:
            >>> import accord
            >>> scenario = accord.dumbbell(flows=2, duration="5 s")
            >>> rates = {"topology.dumbbell.rate": ["1 Mbps", "2 Mbps"]}
            >>> sweep = accord.sweep(scenario, rates, engines=["theory"])
            >>> all(row["runs"] == 1 for row in sweep.means())
            True

        """
        rows, alike, points = self._means()
        if alike > 0:
            text = (
                f"all seeds gave equal packet runs at {alike} of {points} points: the scenario "
                "draws nothing there, and half_width is None"
            )
            warnings.warn(text, UserWarning, stacklevel=2)
        return [row for _, row in rows]

    def _means(self) -> tuple[list[tuple[int, dict[str, Any]]], int, int]:
        """Return the means, each with the number of its point, and two counts.

        The counts are those of the points with equal packet runs and of all points.
        """
        keys = ("engine", "entity_kind", "entity", "metric", "unit")
        # By the number of the point, since two classes may have one name. One value per seed.
        groups: dict[tuple[Any, ...], tuple[dict[str, Any], dict[int, float]]] = {}
        for point, head, (means, _) in self._all():
            at = {name: head[name] for name in self._plan.names}
            for row in means:
                of = {key: row[key] for key in keys}
                _, by_seed = groups.setdefault((point, *of.values()), (at | of, {}))
                by_seed[head["seed"]] = row["value"]
        rows = []
        # True for a point with packet runs that differ between seeds.
        differ: dict[int, bool] = {}
        points = set()
        for (point, *_), (head, by_seed) in groups.items():
            values = list(by_seed.values())
            equal = len(set(values)) == 1
            mean, half_width = _accord.estimate(values)
            width = None if equal else half_width
            mean = values[0] if equal else mean
            rows.append((point, head | {"mean": mean, "half_width": width, "runs": len(values)}))
            points.add(point)
            if len(values) > 1 and head["engine"] == "packet":
                differ[point] = differ.get(point, False) or not equal
        return rows, sum(not any_differs for any_differs in differ.values()), len(points)

    def plot(
        self,
        metric: str = "throughput",
        *,
        x: str | None = None,
        of: str | Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw means over a parameter with their intervals, and return the axes. Needs matplotlib.

        Args:
            metric: The quantity, one of those in `means`.
            x: The path of the parameter; by default the first one with several values.
            of: The names of groups, links or aggregates; by default all.
            ax: The axes to draw into; by default those of a new figure.

        Raises:
            ValueError: There is no such quantity or parameter, or there are too many lines.

        Example:
            >>> import accord
            >>> over = {"flow.all.count": [2, 4, 8]}
            >>> axes = accord.sweep(accord.dumbbell(), over, engines="theory").plot()
            >>> axes.get_xlabel(), axes.get_ylabel()
            ('flow.all.count', 'throughput (Mbps)')

        """
        names = self._plan.names
        shown_as = self._labels()
        several = [name for name in names if len(shown_as[name]) > 1]
        x = x or next(iter(several or names), None)
        if x not in names:
            raise ValueError(f"x {x!r}: expected one of {', '.join(names) or 'no parameter'}")
        entities = None if of is None else {of} if isinstance(of, str) else set(of)
        means = [row for _, row in self._means()[0]]
        rows = [row for row in means if row["metric"] == metric]
        rows = [row for row in rows if entities is None or row["entity"] in entities]
        if not rows:
            known = sorted({f"{row['metric']} of {row['entity']}" for row in means})
            wanted = metric if of is None else f"{metric} of {of}"
            raise ValueError(f"there are no means of {wanted}; expected one of {', '.join(known)}")
        others = [name for name in several if name != x]
        named = len({row["entity"] for row in rows}) > 1

        def label(row: dict[str, Any]) -> tuple[str, str]:
            parts = [row["entity"]] if named else []
            parts += [f"{name} = {shown_as[name][_key(name, row[name])]}" for name in others]
            return ", ".join(parts), row["engine"]

        lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            lines.setdefault(label(row), []).append(row)
        subjects = list(dict.fromkeys(subject for subject, _ in lines))
        if len(subjects) > LINES:
            raise ValueError(
                f"{len(subjects)} lines per engine are more than the {LINES} that can be told "
                "apart: expected fewer names in `of`, or fewer values"
            )
        if ax is None:
            ax = _plot.new_axes()
        places, unit, ticks = _scale({_key(x, row[x]): row[x] for row in rows}, shown_as[x])
        divisor, shown = _plot.UNITS.get(rows[0]["unit"], (1.0, rows[0]["unit"]))
        engines = list(dict.fromkeys(engine for _, engine in lines))
        before = _plot.colours_of(ax)
        for (subject, engine), its in lines.items():
            style: dict[str, Any] = {
                "color": _plot.COLOURS[(before + subjects.index(subject)) % LINES]
            }
            style |= {"marker": "os^D"[engines.index(engine) % 4], "markersize": 4}
            style |= _plot.STYLES[engine] | {"alpha": 1.0, "linewidth": 1.0}
            at = sorted(its, key=lambda row: places[_key(x, row[x])])
            ax.errorbar(
                [places[_key(x, row[x])] for row in at],
                [row["mean"] / divisor for row in at],
                [(row["half_width"] or 0.0) / divisor for row in at],
                capsize=2,
                label=", ".join(filter(None, (subject, engine))),
                **style,
            )
        if ticks:
            ax.set_xticks(range(len(ticks)), ticks)
        ax.set_xlabel(f"{x} ({unit})" if unit else x)
        name = metric.replace("_", " ")
        ax.set_ylabel(f"{name} ({shown})" if shown else name)
        _plot.legend(ax)
        return ax

    def _labels(self) -> dict[str, dict[Key, str]]:
        """Return the texts of the values of each parameter."""
        plan = self._plan
        values = {name: [point.get(name) for point in plan.points] for name in plan.names}
        if "seed" in values:
            # Rows have it as a number.
            values["seed"] = list(plan.seeds)
        return {name: _texts(name, its) for name, its in values.items()}

    def __repr__(self) -> str:
        """Return the parameters and the number of runs."""
        return f"<Sweep over {', '.join(self._plan.names) or 'seeds'}: {len(self)} runs>"

    def _repr_html_(self) -> str:
        """Show a notebook a table of means: a row per point and engine."""
        means = [(point, row) for point, row in self._means()[0] if row["metric"] in SHOWN]
        columns = list(dict.fromkeys((row["metric"], row["entity"]) for _, row in means))
        table: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
        names, shown_as = self._plan.names, self._labels()
        for point, row in means:
            at = (point, *(shown_as[name][_key(name, row[name])] for name in names), row["engine"])
            table.setdefault(at, {})[row["metric"], row["entity"]] = _shown(row)
        head = [*names, "engine"]
        head += [f"{metric.replace('_', ' ')} of {entity}" for metric, entity in columns]
        rows = [
            [*at, *(cells.get(column, "") for column in columns)]
            for (_, *at), cells in table.items()
        ]
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{_show.table(head, rows)}"


def _shown(row: dict[str, Any]) -> str:
    """Return a mean with its interval as text."""
    divisor, unit = _plot.UNITS.get(row["unit"], (1.0, row["unit"]))
    text = f"{row['mean'] / divisor:.4g}"
    if row["half_width"] is not None:
        text += f" ± {row['half_width'] / divisor:.2g}"
    return f"{text} {unit}".strip()


def _key(name: str, value: Value) -> Key:
    """Return the key of a value of a parameter. A point may have none."""
    return () if value is None else key_of(name, value)


def _texts(name: str, values: Iterable[Value]) -> dict[Key, str]:
    """Return the text of each value by its key. Values of one text get a number, too."""
    texts = {_key(name, value): str(value) for value in values}
    count = Counter(texts.values())
    seen: Counter[str] = Counter()
    for of, text in texts.items():
        seen[text] += 1
        if count[text] > 1:
            texts[of] = f"{text} ({seen[text]})"
    return texts


def _scale(
    values: dict[Key, Value], texts: dict[Key, str]
) -> tuple[dict[Key, float], str, list[str]]:
    """Return the places of values on an axis and its unit. Words become ticks."""
    try:
        numbers = {key: quantity(value) for key, value in values.items()}
    except (TypeError, ValueError):
        numbers = {}
    units = {unit or "" for _, unit in numbers.values()}
    if len(units) == 1:
        return {key: number for key, (number, _) in numbers.items()}, units.pop(), []
    places = {key: float(i) for i, key in enumerate(values)}
    return places, "", [texts[key] for key in values]


def sweep(
    scenario: Scenario,
    over: Over,
    *,
    reps: int = 1,
    engines: Engine | Iterable[Engine] = ("packet",),
    skip: Skip | None = None,
    executor: Executor | Client | None = None,
    store: str | os.PathLike[str] | None = None,
    store_options: dict[str, Any] | None = None,
    progress: Fraction | bool | None = None,
    task_seconds: float = 1.0,
) -> Sweep:
    """Run a scenario at many points, and return one tidy table.

    The result does not depend on the executor or on the number of cores.

    Args:
        scenario: The scenario, without a sweep of its own.
        over: Values by paths, of which all combinations are run; or a list of points, each with
            values by paths, such as `latin_hypercube` and `sobol` return. A point that equals an
            earlier one is left out.
        reps: The number of seeds per point, from the scenario's seed up. With several, `over` may
            not set the seed.
        engines: The engines of each run.
        skip: The part of packet runs that is skipped, as for `Scenario.run`.
        executor: The workers: a ``distributed.Client``, or an executor of concurrent.futures; by
            default threads, one per core. Each worker needs this build of this package. A Dask
            worker with another one is named in a warning and not used.
        store: A directory, or a place such as ``"s3://bucket/study"`` that fsspec knows. Results
            are kept there, and runs that it has are not repeated. Workers need access to it. The
            client reads results when rows are asked for.
        store_options: The options of fsspec for the place.
        progress: Called with the fraction of the runs done, from 0 to 1. True shows a bar of
            tqdm.
        task_seconds: The work in a task of an executor, in seconds. A scheduler with hundreds of
            workers needs longer tasks.

    Raises:
        ScenarioError: A point is wrong. All points are checked before the first run.
        ValueError: The scenario has a sweep of its own, points or engines are missing, seeds
            are both set and counted by `reps`, or two classes would share the runs of a store.
        AccordError: No worker has this build, or the store cannot be used.

    Warns:
        UserWarning: Points were left out because they equal earlier ones.

    Example:
        >>> import accord
        >>> swept = accord.sweep(
        ...     accord.dumbbell(flows=2, duration="5 s"),
        ...     {"topology.dumbbell.rate": ["4 Mbps", "8 Mbps"]},
        ...     engines=["theory"],
        ... )
        >>> [(row["topology.dumbbell.rate"], round(row["mean"] / 1e6, 3))
        ...  for row in swept.means() if row["metric"] == "throughput"]
        [('4 Mbps', 1.976), ('8 Mbps', 3.971)]

    """
    if not isinstance(scenario, Scenario):
        got = type(scenario).__name__
        raise TypeError(f"scenario: expected a scenario, such as accord.load returns, got {got}")
    if len(scenario.points) > 1:
        raise ValueError("the scenario has a sweep of its own; remove it, or run it as it is")
    if (reps := whole("reps", reps)) < 1:
        raise ValueError(f"reps: expected at least 1, got {reps}")
    if not task_seconds > 0:
        raise ValueError(f"task_seconds: expected more than zero, got {task_seconds}")
    given = list(_points(over))
    distinct: dict[Key, dict[str, Value]] = {}
    for point in given:
        distinct.setdefault(_key_of_point(point), point)
    points = list(distinct.values())
    names = list(dict.fromkeys(name for point in points for name in point))
    engines = listed(engines)
    if not points or not engines:
        raise ValueError("there is nothing to run: no points, or no engines")
    if reps > 1 and "seed" in names:
        raise ValueError("over: seed: expected reps=1, since each repetition has a seed of its own")
    skips_steady(skip, engines)
    seeds = [scenario.with_(point).seed for point in points]
    kept = None if store is None else Store(store, store_options)
    plan = Plan(scenario, names, points, seeds, reps, engines, skip, kept)
    if kept is not None:
        # This finds a class without a version before the first run.
        plan.key(next(plan.jobs()))
        _one_class_per_version(points)
    if len(points) < len(given):
        text = f"over: {len(given) - len(points)} of {len(given)} points equal earlier ones"
        warnings.warn(f"{text} and are left out", UserWarning, stacklevel=2)
    results: list[Result | None] = [] if kept is not None else [None] * plan.count
    made = 0

    def done(batch: Done) -> None:
        nonlocal made
        made += batch.made
        for number, result in batch.results:
            if result is not None:
                results[number] = result
        count(len(batch.results))

    with counting(progress, plan.count, "run") as count:
        Carrier(Crew(executor), plan.jobs(), plan.count, plan.batch, task_seconds).carry_out(done)
    return Sweep(plan, results, made)


def _key_of_point(point: dict[str, Value]) -> Key:
    return tuple((name, key_of(name, value)) for name, value in point.items())


def _one_class_per_version(points: list[dict[str, Value]]) -> None:
    """Reject two classes of one name and version: a store has the same runs for both."""
    known: dict[tuple[str, str], type] = {}
    for own in classes_in(*(point.values() for point in points)):
        name = (own.family_name(), own.version)
        if known.setdefault(name, own) is not own:
            raise ValueError(
                f"store: two classes are called {name[0]!r} and have the version {name[1]!r}; "
                "give one another `version`"
            )


def _points(over: Over) -> Iterator[dict[str, Value]]:
    if isinstance(over, Mapping):
        values = [_values(path, values) for path, values in over.items()]
        for combination in itertools.product(*values):
            yield dict(zip(over, combination, strict=True))
    elif isinstance(over, Iterable):
        yield from map(dict, over)
    else:
        got = type(over).__name__
        raise TypeError(f"over: expected values by their paths, or a list of points, got {got}")


def _values(path: str, values: Value) -> list[Value]:
    if isinstance(values, str):
        return [values]
    if isinstance(values, Iterable):
        return list(values)
    raise TypeError(f"over: {path}: expected a list of values, got {values!r}")
