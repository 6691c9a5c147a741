"""Runs, and comparisons of runs."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _accord, _plot, _show
from ._own import Class

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

By = Literal["flow", "group", "link"]
"""The entities that have a line each in a plot."""

Kind = Literal["flow", "group", "quantile", "link", "aggregate"]
"""The kinds of entities that have series."""


class Run:
    """The run of a point of a scenario in one engine."""

    def __init__(self, inner: _accord.Run, own: Sequence[Any] = ()) -> None:
        """Wrap a run. Use `Scenario.run` or `read` instead."""
        self._inner = inner
        # A pickle needs the classes that the scenario may name.
        self._own = list(own)
        self._record: dict[str, Any] | None = None

    @property
    def engine(self) -> str:
        """The engine."""
        return self._inner.engine

    @property
    def manifest(self) -> dict[str, Any]:
        """The data for repeating the run and verifying the repetition."""
        inner = self._inner
        return {
            "id": inner.id,
            "engine": inner.engine,
            "version": inner.version,
            "scenario_hash": inner.scenario_hash,
            "seed": inner.seed,
            "digest": inner.digest,
            "point": dict(inner.point),
        }

    @property
    def notes(self) -> list[str]:
        """Remarks on the run, for example on a phase without an equilibrium."""
        return self._inner.notes

    @property
    def skipped(self) -> list[tuple[float, float]]:
        """The parts of the run that were skipped: start and end of each in seconds."""
        return self._inner.skipped

    @property
    def steady(self) -> tuple[float, float]:
        """The steady part, over which means are taken: start and end in seconds."""
        return self._inner.steady

    @property
    def series(self) -> _accord.Series:
        """All series as one Arrow table with a row per sample.

        Its columns are engine, entity_kind, entity, metric, unit, time_s and value. It has the
        Arrow PyCapsule interface: ``polars.DataFrame(run.series)``, ``pyarrow.table(run.series)``
        and others take it.

        Example:
            >>> import accord
            >>> run = accord.dumbbell().run("theory")
            >>> import pyarrow
            >>> pyarrow.table(run.series).column_names[-2:]
            ['time_s', 'value']

        """
        return self._inner.series()

    @property
    def time(self) -> NDArray[np.float64]:
        """The ends of the sampling periods in seconds."""
        return np.frombuffer(self._inner.series().times())

    def values(self, metric: str, kind: Kind | None = None) -> dict[str, NDArray[np.float64]]:
        """Return the series of a metric by the names of their entities, one value per `time`.

        A value is NaN where there is none.

        Args:
            metric: The quantity; ``accord list metrics`` lists them.
            kind: ``"flow"``, ``"group"``, ``"quantile"`` (over the flows of a group that is
                recorded as one), ``"link"`` or ``"aggregate"``; by default all.

        Example:
            >>> import accord
            >>> run = accord.dumbbell(flows=2, rate="5 Mbps").run("theory")
            >>> round(run.values("throughput")["all.1"][-1].item() / 1e6, 3)
            2.474

        """
        columns = self._inner.series(metric, kind).columns()
        return {name: np.frombuffer(values) for _, name, _, _, values in columns}

    @property
    def summary(self) -> dict[str, Any]:
        """The means over the steady part and the verdicts, with the keys of ``--json``."""
        if self._record is None:
            self._record = json.loads(_accord.compared([self._inner], 100)[0])
        return self._record

    def mean(self, metric: str, of: str) -> float:
        """Return the mean of a metric over the steady part.

        Args:
            metric: The quantity; ``accord list metrics`` lists them. ``throughput_spread`` and
                ``estimator_bias`` of groups are among them.
            of: The name of a group, a flow, a link or an aggregate at a link
                (``"bottleneck.udp"``). That of a group is the mean over its flows.

        Raises:
            ValueError: There is no such metric.
            KeyError: The run has no value of it.

        Example:
            >>> import accord
            >>> run = accord.dumbbell(flows=2, rate="8 Mbps", duration="20 s").run("theory")
            >>> round(run.mean("throughput", "all") / 1e6, 2)
            3.97

        """
        mean = self._inner.mean(metric, of)
        if mean is None:
            rows = [row for row in Comparison([self]).means if self.engine in row]
            known = ", ".join(f"{row['metric']} of {row['entity']}" for row in rows)
            raise KeyError(
                f"the {self.engine} run has no mean of {metric} of {of}; there are {known}"
            )
        return mean

    def plot(
        self,
        metric: str = "throughput",
        *,
        by: By | None = None,
        of: str | Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a metric over time as ``accord plot`` does, and return the axes. Needs matplotlib.

        A group is the mean of its flows with their span, smoothed where a sample holds few packets.

        Args:
            metric: The quantity; ``accord list metrics`` lists them.
            by: The entities that have a line each: ``"flow"``, ``"group"`` or ``"link"``; by
                default ``"group"`` for metrics of flows.
            of: The names of the flows, groups or links; by default all.
            ax: The axes to draw into; by default those of a new figure.

        Raises:
            ValueError: The run does not have the metric, there is no such name, or there are more
                lines than can be distinguished.

        Example:
            >>> import accord
            >>> axes = accord.dumbbell().run("packet").plot("throughput")
            >>> axes.figure.savefig("throughput.pdf")  # doctest: +SKIP

        """
        return _plot.over_time([self._inner], metric, by, of, ax)

    def __eq__(self, other: object) -> bool:
        """Compare the manifests, which have the digest of everything that happened."""
        return isinstance(other, Run) and self.manifest == other.manifest

    def __hash__(self) -> int:
        """Hash the digest."""
        return hash((self._inner.id, self._inner.engine, self._inner.digest))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the files of its run directory."""
        with TemporaryDirectory() as scratch:
            directory = Path(scratch) / "run"
            _accord.write([self._inner], str(directory), False)
            files = {file.name: file.read_bytes() for file in directory.iterdir()}
        return (_restored, (files, self._own))

    def __repr__(self) -> str:
        """Return engine, id and seed."""
        return f"<Run of {self._inner.id} in {self.engine}, seed {self._inner.seed}>"

    def _picture(self) -> str:
        return Comparison([self])._picture()

    def _repr_html_(self) -> str:
        """Return the table of means and the throughput for a notebook."""
        return Comparison([self])._repr_html_()


def _restored(files: dict[str, bytes], own: list[Any]) -> Run:
    with TemporaryDirectory() as scratch:
        for name, content in files.items():
            (Path(scratch) / name).write_bytes(content)
        (run,) = _accord.read(scratch, own)
    return Run(run, own)


class Comparison:
    """Runs of one point side by side, judged by the expectations of the scenario."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Compare runs of one point. Their seeds may differ, and the drawn values.

        Raises:
            ValueError: There are none, or they are of different scenarios or points.

        """
        self.runs = list(runs)
        record, self._text = _accord.compared([run._inner for run in self.runs], 100)
        self.summary: dict[str, Any] = json.loads(record)

    @property
    def passed(self) -> bool:
        """True if ``accord run`` would exit with 0: each expectation is met, or known to fail.

        Only the expectations of the engines that ran count. With another seed, or values of
        `with_`, the recorded figure of a known failure still has to be met here, while ``accord
        run`` ignores it after ``--seed`` and ``--set``.
        """
        return self.verdict not in ("unjudged", "FAILED")

    @property
    def verdict(self) -> str:
        """The worst class of an expectation, as in `Reproduction.verdict`."""
        return str(self.summary["class"])

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The expectations of the engines that ran, with the measured values and the verdicts."""
        return list(self.summary["checks"])

    @property
    def means(self) -> list[dict[str, Any]]:
        """The means over the steady part: a row per quantity, with a key per engine.

        A row has the keys entity_kind, entity, metric, unit, and those of the engines that have a
        value. A list of such rows is a data frame for polars and pandas.

        Example:
            >>> import accord
            >>> comparison = accord.dumbbell(flows=2, duration="5 s").compare(["theory", "packet"])
            >>> row = comparison.means[0]
            >>> sorted(row)
            ['entity', 'entity_kind', 'metric', 'packet', 'theory', 'unit']

        """
        rows = []
        for row in self.summary["points"][0]["means"]:
            kind = next(kind for kind in ("group", "link", "aggregate") if kind in row)
            means = {v["column"]: v["mean"] for v in row["values"] if "mean" in v}
            head = {
                "entity_kind": kind,
                "entity": row[kind],
                "metric": row["quantity"],
                "unit": row["unit"],
            }
            rows.append(head | means)
        return rows

    def plot(
        self,
        metric: str = "throughput",
        *,
        by: By | None = None,
        of: str | Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a metric over time of all runs that have it; see `Run.plot`. Theory is dashed."""
        return _plot.over_time([run._inner for run in self.runs], metric, by, of, ax)

    def save(self, directory: str | PathLike[str]) -> None:
        """Write a run directory with the page, which `read` and the program read.

        Raises:
            AccordError: The directory has other files, or it cannot be written.

        """
        _accord.write([run._inner for run in self.runs], fspath(directory), True)

    def __eq__(self, other: object) -> bool:
        """Compare the runs."""
        return isinstance(other, Comparison) and self.runs == other.runs

    def __hash__(self) -> int:
        """Hash the runs."""
        return hash(tuple(self.runs))

    def __str__(self) -> str:
        """Return the title, the point and the tables in the form of the terminal."""
        return self._text

    def __repr__(self) -> str:
        """Return the engines and the verdict."""
        engines = ", ".join(run.engine for run in self.runs)
        return f"<Comparison of {engines}: {self.verdict}>"

    def _picture(self) -> str:
        """Return the throughput as HTML, or "" if it cannot be drawn."""
        return _show.picture(lambda ax: self.plot("throughput", ax=ax))

    def _repr_html_(self) -> str:
        """Return the tables and the throughput for a notebook."""
        return f"<pre>{html.escape(self._text)}</pre>{self._picture()}"


def read(directory: str | PathLike[str], *, own: Iterable[Class] = ()) -> list[Run]:
    """Read a run directory of any program: a run per engine and repetition.

    Args:
        directory: The directory.
        own: Classes of controllers and disciplines that its scenario may name.

    Raises:
        AccordError: It is not a run directory, or it is damaged.

    Example:
        >>> import accord, tempfile
        >>> comparison = accord.dumbbell(flows=2, duration="5 s").compare(["packet"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     comparison.save(folder + "/run")
        ...     len(accord.read(folder + "/run"))
        1

    """
    classes = list(own)
    return [Run(run, classes) for run in _accord.read(fspath(directory), classes)]
