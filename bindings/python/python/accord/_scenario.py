"""Scenarios."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from . import _accord, _show
from ._errors import AccordError, whole
from ._map import StabilityMap, stability_map
from ._own import Class, Controller, Discipline, check, family_of
from ._run import Comparison, Run
from ._stability import Equilibrium, equilibria

Value = Any
"""The value of a setting: text (``"20 Mbps"``), a number, a truth value, a list or a table; for a
controller or a discipline also a class."""

Engine = Literal["theory", "fluid", "packet", "live"]
"""The engines."""

Skip = Literal["steady"]
"""The part of a packet run that is skipped: that in which nothing changes."""


class Scenario:
    """A network with its flows, as described by a scenario file.

    A scenario does not change. `with_` returns another one.

    Example:
        >>> import accord
        >>> scenario = accord.load("xia05-fig6")
        >>> scenario.id
        'xia05-fig6'
        >>> scenario.with_({"duration": "60 s"}).duration
        60.0

    """

    def __init__(self, inner: _accord.Scenario) -> None:
        """Wrap a scenario. Use `load` or `parse` instead."""
        if not isinstance(inner, _accord.Scenario):
            raise TypeError("accord.load and accord.parse make scenarios")
        self._inner = inner
        # This finds errors now instead of at the first run.
        self._outline = inner.outline()

    @property
    def id(self) -> str:
        """The id: the stem of the file's name, unless the file has another."""
        return self._outline[0]

    @property
    def title(self) -> str:
        """The title."""
        return self._outline[1]

    @property
    def seed(self) -> int:
        """The seed."""
        return self._outline[2]

    @property
    def duration(self) -> float:
        """The length of a run in seconds."""
        return self._outline[3]

    @property
    def points(self) -> list[dict[str, str]]:
        """The settings of each point of the sweeps. Without a sweep it is one empty dictionary."""
        return [dict(point) for point in self._outline[4]]

    @property
    def text(self) -> str:
        """The text of the file, without the settings."""
        return self._inner.parts()[1]

    def toml(self, *, seed: int | None = None, point: int | None = None) -> str:
        """Return a point as a scenario file with every default and every drawn value filled in."""
        return self._inner.toml(_seed(seed), self._number(point))

    def save(
        self, file: str | PathLike[str], *, seed: int | None = None, point: int | None = None
    ) -> None:
        """Write the scenario, or a point of it, into a file, which `load` and the program read.

        Without a seed and a point, a scenario that `load`, `parse` or `dumbbell` returned keeps
        its text, with its sweeps and random values. In all other cases the file has the text of
        `toml`: values that are drawn, such as start times, are those of this seed, and another
        seed of a later run does not change them. This holds for scenarios of `with_`, and for
        those that name other files.

        Raises:
            ValueError: The text of `toml` is of one point; there are several, and none is given.
            OSError: The file cannot be written.

        """
        given = seed is not None or point is not None
        if given or self._inner.parts()[2] or self._inner.files():
            text = self.toml(seed=seed, point=point)
        else:
            text = self.text
            if parse(text, Path(file).name, own=self._inner.classes()).id != self.id:
                # The id is then derived from the name in `load`.
                text = f"id = {_toml_inside(self.id)}\n{text}"
        _accord.write_file(fspath(file), text.encode())

    def _number(self, point: int | None) -> int:
        """Return the number of a point. Only a scenario with a single point has a default."""
        if point is not None:
            return _point(point)
        points = self._outline[4]
        if len(points) == 1:
            return 1
        labels = (", ".join(f"{name} = {value}" for name, value in at) for at in points)
        shown = [f"{i}: {label}" for i, label in enumerate(labels, 1)]
        if len(shown) > 8:
            shown[8:] = ["..."]
        raise ValueError(
            f"{self.id} is a sweep of {len(points)} points: expected point=1 to "
            f"point={len(points)} ({'; '.join(shown)})"
        )

    def with_(self, settings: Mapping[str, Any], *, own: Iterable[Class] = ()) -> Scenario:
        """Return the scenario with other values.

        Args:
            settings: Values by their paths, such as ``{"link.bottleneck.rate": "20 Mbps"}``. A
                controller or a discipline may be a class.
            own: More classes of controllers and disciplines that the scenario may name.

        Raises:
            ScenarioError: A path names nothing, or a value is wrong there.
            ValueError: Two controllers or two disciplines have one name.

        Example:
            >>> import accord
            >>> scenario = accord.dumbbell(flows=2, duration="5 s")
            >>> slower = scenario.with_({"topology.dumbbell.rate": "1 Mbps"})
            >>> round(slower.run("theory").mean("throughput", "all") / 1e6, 2)
            0.49

        """
        return Scenario(self._set(settings, own))

    def _set(self, settings: Mapping[str, Value], own: Iterable[Class] = ()) -> _accord.Scenario:
        """Return the scenario with other values, which are not yet checked."""
        if not isinstance(settings, Mapping):
            raise TypeError(
                "settings: expected values by their paths, such as {'duration': '5 s'}, "
                f"got {type(settings).__name__}"
            )
        pairs = [(_path(path), _setting(path, value)) for path, value in settings.items()]
        classes = classes_in(self._inner.classes(), _own(own), settings.values())
        return self._inner.with_settings(pairs, classes)

    def run(
        self,
        engine: Engine = "packet",
        *,
        seed: int | None = None,
        point: int | None = None,
        progress: _show.Fraction | bool | None = None,
        skip: Skip | None = None,
    ) -> Run:
        """Run a point of the scenario in an engine.

        The run does not block other threads. Ctrl-C ends it within a tenth of a second.

        Args:
            engine: ``"theory"``, ``"fluid"``, ``"packet"`` or ``"live"``.
            seed: The seed, in place of the scenario's.
            point: The number of the point, from 1. A sweep needs it.
            progress: Called some times per second with the fraction done, from 0 to 1. True shows
                tqdm's bar, in a notebook or on the terminal.
            skip: ``"steady"`` skips the time in which nothing changes, as
                ``accord run --skip steady`` does. It has no effect on theory and fluid.

        Raises:
            AccordError: The engine has no result for this scenario.
            IndexError: There is no such point.
            ValueError: There is no such engine; a live run cannot skip; or the scenario is a sweep
                and no point is given.

        Example:
            >>> import accord
            >>> run = accord.dumbbell(flows=2, duration="5 s").run("packet", seed=7)
            >>> run.mean("utilisation", "bottleneck") > 0.5
            True

        """
        inner = self._inner
        if not isinstance(engine, str):
            raise TypeError(f"engine: expected a name such as 'packet', got {engine!r}")
        skips = skips_steady(skip, (engine,))
        with _show.fraction(progress, f"{self.id}, {engine}") as update:
            run = inner.run(engine, _seed(seed), self._number(point), update, skips)
        return Run(run, inner.classes())

    def compare(
        self,
        engines: Engine | Iterable[Engine] = ("theory", "packet"),
        *,
        seed: int | None = None,
        point: int | None = None,
        progress: _show.Fraction | bool | None = None,
        skip: Skip | None = None,
    ) -> Comparison:
        """Run a point in several engines, and compare them with each other and the expectations.

        The arguments are those of `run`, one engine after the other.

        Example:
            >>> import accord
            >>> comparison = accord.dumbbell(flows=10, rate="8 Mbps").compare(["theory"])
            >>> [round(row["theory"] / 1e6, 1) for row in comparison.means
            ...  if row["metric"] == "throughput"]
            [0.8]

        """
        arguments: Any = {"seed": seed, "point": point, "progress": progress, "skip": skip}
        return Comparison([self.run(engine, **arguments) for engine in listed(engines)])

    def stability(self, *, seed: int | None = None, point: int | None = None) -> list[Equilibrium]:
        """Return the equilibria of a point, one per phase, with their stability margins.

        Example:
            >>> import accord
            >>> rest = accord.dumbbell().stability()[-1]
            >>> rest.stable, rest.gain_margin > 1
            (True, True)

        """
        return equilibria(self._inner.stability(_seed(seed), self._number(point)))

    def stability_map(
        self,
        over: Mapping[str, Any],
        *,
        packets: int = 0,
        progress: _show.Fraction | bool | None = None,
    ) -> StabilityMap:
        """Return the margins over one or two parameters, as ``accord stability --x --y`` does.

        Each cell has the margins of the equilibrium in the middle of the steady part.

        Args:
            over: Rising values by path, such as `linspace` and `logspace` make them, of one
                parameter or two.
            packets: The approximate number of values of each parameter with a packet run.
            progress: Called with the fraction of the places done, from 0 to 1. True shows a bar
                of tqdm.

        Raises:
            ScenarioError: A path names nothing, or a value is wrong there.
            ValueError: The values do not rise, or the scenario has a sweep.

        Example:
            >>> import accord
            >>> found = accord.dumbbell(controller="monaco").stability_map(
            ...     {"flow.all.controller.gain": [0.1, 5.0], "topology.dumbbell.delay": ["5 ms"]}
            ... )
            >>> found.stable.tolist()
            [[True, False]]

        """
        return stability_map(self, over, packets, progress)

    def __repr__(self) -> str:
        """Return id, title and number of points."""
        points = len(self._outline[4])
        return f"<Scenario {self.id}: {self.title or 'untitled'}, points: {points}>"

    def _repr_html_(self) -> str:
        """Show a notebook the links, the flows, and theory's throughput at the first point."""
        links, groups = self._inner.contents()
        shown = [
            f"<p>{html.escape(repr(self)[1:-1])}</p>",
            _show.table(["link", "rate", "delay", "queue", "buffer"], links),
            _show.table(["flows", "number", "links", "controller"], groups),
        ]
        # Theory then takes milliseconds.
        if sum(int(row[1]) for row in groups) <= 1000:
            try:
                shown.append(self.run("theory", point=1)._picture())
            except AccordError:
                # Theory has no equilibrium of such flows.
                pass
        return "".join(shown)

    def __eq__(self, other: object) -> bool:
        """Compare text, settings, classes and the contents of the files that the text names."""
        return (
            isinstance(other, Scenario)
            and self._inner.parts() == other._inner.parts()
            and self._inner.classes() == other._inner.classes()
            and self._has_files_of(other)
        )

    def _has_files_of(self, other: Scenario) -> bool:
        """Return whether the files that the text names have the same contents."""
        if self._inner.files() == other._inner.files():
            return True
        # Some may be of scenarios that were made from this one, which share their contents.
        points = range(1, len(self._outline[4]) + 1)
        return all(self._inner.toml(None, i) == other._inner.toml(None, i) for i in points)

    def __hash__(self) -> int:
        """Hash text and settings."""
        name, text, settings = self._inner.parts()
        return hash((name, text, tuple(settings)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle text, settings, classes and the contents of the files that the text names."""
        inner = self._inner
        return (_restored, (*inner.parts(), inner.classes(), inner.files()))


def _restored(
    name: str,
    text: str,
    settings: list[tuple[str, str]],
    classes: list[Class],
    files: list[tuple[str, bytes]],
) -> Scenario:
    inner = _accord.Scenario.parse(text, name, classes, files)
    return Scenario(inner.with_settings(settings, classes))


def listed(engines: Engine | Iterable[Engine]) -> tuple[Engine, ...]:
    """Return engines as a tuple."""
    return (engines,) if isinstance(engines, str) else tuple(engines)


def skips_steady(skip: Skip | None, engines: Iterable[str]) -> bool:
    """Return whether packet runs skip the time in which nothing changes."""
    if skip not in (None, "steady"):
        raise ValueError(f'skip: expected "steady" or None, got {skip!r}')
    if skip is not None and "live" in engines:
        raise ValueError("skip: a live run cannot skip time")
    return skip is not None


def _seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= (seed := whole("seed", seed)) < 2**63:
        raise ValueError(f"seed: expected a whole number from 0 to 2^63 - 1, got {seed}")
    return seed


def _point(point: int) -> int:
    if not 0 < (point := whole("point", point)) < 2**32:
        raise IndexError(f"point {point}: points count from 1")
    return point


def key_of(path: str, value: Value) -> tuple[Any, ...]:
    """Return a key that equal values of a setting share. Classes with one name have two."""
    return (_setting(path, value), *map(id, classes_in([value])))


def _own(classes: Iterable[Any]) -> list[Any]:
    """Return classes, each once."""
    return list(dict.fromkeys(map(check, classes)))


def classes_in(*sources: Iterable[Any]) -> list[Any]:
    """Return the classes among values, without duplicates."""
    found: dict[Any, None] = {}
    for value in itertools.chain(*sources):
        if isinstance(value, type):
            found[check(value)] = None
        elif isinstance(value, Mapping):
            found |= dict.fromkeys(classes_in(value.values()))
        elif isinstance(value, (list, tuple)):
            found |= dict.fromkeys(classes_in(value))
    return list(found)


def _path(path: object) -> str:
    if isinstance(path, str):
        return path
    raise TypeError(f"settings: expected a path such as 'flow.all.count', got {path!r}")


def _setting(path: str, value: Value) -> str:
    try:
        return _toml(value)
    except TypeError as e:
        raise TypeError(f"{path}: {e}; expected text, a number, a list or a table") from None


def _toml(value: Value) -> str:
    """Return a value as TOML; text is unchanged."""
    if isinstance(value, type):
        return family_of(value)
    if isinstance(value, str):
        return value
    return _toml_inside(value)


def _toml_inside(value: Value) -> str:
    if isinstance(value, type):
        return _toml_inside(family_of(value))
    if hasattr(value, "tolist"):
        # NumPy's numbers and arrays.
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        # NumPy's float64 is one, and its repr is not a number.
        return float.__repr__(value)
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c for c in value
        )
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        items = (f"{_toml_inside(str(key))} = {_toml_inside(v)}" for key, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(_toml_inside, value)) + "]"
    raise TypeError(f"a setting cannot be {type(value).__name__}")


def load(name: str | PathLike[str], *, own: Iterable[Class] = ()) -> Scenario:
    """Read a scenario: the file of this name, or the built-in one of this id.

    Args:
        name: The name or the id.
        own: Classes of controllers and disciplines that the scenario may name.

    Raises:
        ScenarioError: The file is invalid; its `problems` have places and hints.
        AccordError: There is neither.

    Example:
        >>> import accord
        >>> accord.load("xia05-fig6").id
        'xia05-fig6'

    """
    return Scenario(_accord.Scenario.load(fspath(name), _own(own)))


def parse(text: str, name: str = "scenario.toml", *, own: Iterable[Class] = ()) -> Scenario:
    """Read a scenario from a text, which errors call `name`.

    Args:
        text: The text.
        name: Its name in errors.
        own: Classes of controllers and disciplines that the scenario may name.

    Raises:
        ScenarioError: The text is invalid; its `problems` have places and hints.

    Example:
        >>> import accord
        >>> text = accord.dumbbell(flows=3).toml()
        >>> accord.parse(text).run("theory").mean("throughput", "all") > 0
        True

    """
    return Scenario(_accord.Scenario.parse(text, name, _own(own)))


def dumbbell(
    *,
    flows: int = 10,
    rate: str = "100 Mbps",
    delay: str = "10 ms",
    controller: str | type[Controller] = "monaco",
    discipline: str | type[Discipline] = "droptail",
    limit: str = "1 BDP",
    duration: str = "20 s",
    seed: int = 1,
) -> Scenario:
    """Return a scenario of flows over one bottleneck: the template of ``accord new dumbbell``.

    Start times are drawn, and round-trip times differ.

    Args:
        flows: The number of flows.
        rate: The rate of the bottleneck.
        delay: The propagation delay of the bottleneck.
        controller: The congestion controller: a name or a class. `controllers` lists the names.
        discipline: The queue discipline: a name or a class. `disciplines` lists the names.
        limit: The size of the buffer, such as ``"100 pkt"`` or ``"1 BDP"``.
        duration: The length of a run. Its second half is the steady part.
        seed: The seed.

    Raises:
        ValueError: A value is wrong.

    Example:
        >>> import accord
        >>> run = accord.dumbbell(rate="5 Mbps").run("theory")
        >>> round(run.mean("throughput", "all"))
        487353

    """
    classes = classes_in([controller, discipline])
    arguments = {
        "flows": whole("flows", flows),
        "rate": rate,
        "delay": delay,
        "controller": _named(controller),
        "discipline": _named(discipline),
        "limit": limit,
        "duration": duration,
        "seed": whole("seed", seed),
    }
    text = _accord.drafted([(name, str(value)) for name, value in arguments.items()], classes)
    return parse(text, "dumbbell.toml", own=classes)


def _named(value: str | Class) -> str:
    return family_of(value) if isinstance(value, type) else value


def controllers() -> dict[str, str]:
    """Return the names of the controllers that come with Accord, with one line about each.

    Example:
        >>> import accord
        >>> "monaco" in accord.controllers()
        True

    """
    return dict(_accord.families()[0])


def disciplines() -> dict[str, str]:
    """Return the queue disciplines that come with Accord: their names, with a line on each.

    Example:
        >>> import accord
        >>> "codel" in accord.disciplines()
        True

    """
    return dict(_accord.families()[1])
