"""Controllers and queue disciplines written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from ._accord import Ack, Packet, Path, Queue


class Controller:
    """A user-defined congestion controller: subclass it, and pass the class to a scenario.

    It runs in the packet engine, like those that come with Accord. It controls the bytes in flight
    by its attribute `window`, and the sending rate by `pacing`, in bit/s or None.
    Both are read after each call. An exception in a method ends the run.

    Parameters become attributes. Amounts are in bytes there, times in seconds, rates in bit/s.

    Example:
        >>> import accord
        >>> class Keeper(accord.Controller):
        ...     parameters = {"target": "10 pkt", "gain": 0.5}
        ...     keeps = "target"
        ...
        ...     def on_ack(self, ack, path, now):
        ...         if ack.round_ended:
        ...             queued = self.window * (1 - path.min_rtt / path.srtt)
        ...             step = self.gain * (self.target - queued)
        ...             self.window = max(self.packet, self.window + min(step, self.packet))
        >>> scenario = accord.dumbbell(flows=1, controller=Keeper, duration="20 s")
        >>> round(scenario.run("theory").mean("throughput", "all") / 1e6)
        10
        >>> scenario.run("packet").mean("utilisation", "bottleneck") > 0.95
        True

    """

    name: ClassVar[str] = ""
    """The name in scenarios; by default that of the class in lower case."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """Defaults by names. Their types define the values in scenarios: ``True``, ``3``, ``0.5``,
    ``"10 pkt"``, ``"5 ms"``, ``"1 Mbps"``."""
    keeps: ClassVar[str | None] = None
    """The parameter with the target accumulation of a flow, if it has one. Theory has an
    equilibrium then."""
    marks: ClassVar[Literal["nothing", "loss", "price"]] = "nothing"
    """The meaning of congestion marks: packets cannot be marked, a mark is notified like a loss,
    or
    acknowledgements count marks."""
    recovery: ClassVar[Literal["newreno", "sack"]] = "newreno"
    """The loss repair of the transport."""
    version: ClassVar[str | None] = None
    """Changed by its author with the code. A store of results needs it."""

    _accord_: ClassVar[str] = "controller"

    window: float
    """The maximum data in flight, in bytes."""
    pacing: float | None
    """The highest rate in bit/s, or None."""
    weight: float
    """The weight of the flow's service."""
    packet: int
    """The size of a packet in bytes."""

    def __init__(self, packet: int, **parameters: Any) -> None:
        """Take the size of a packet in bytes, and the parameters."""
        self.packet = packet
        self.window = 2.0 * packet
        self.pacing = None
        self.weight = 1.0
        self.__dict__.update(parameters)

    def on_ack(self, ack: Ack, path: Path, now: float) -> None:
        """Handle an acknowledgement, at `now` in seconds."""

    def on_congestion(self, what: str, path: Path, now: float) -> None:
        """Handle congestion; halves the window unless overridden.

        Args:
            what: ``"loss"``, ``"early loss"``, ``"mark"``, ``"timeout"`` or ``"repeated timeout"``.
            path: The path; its `in_flight` is that before the congestion was found.
            now: The time in seconds.

        """
        self.window = max(self.window / 2, self.packet)

    def on_idle(self) -> None:
        """Handle the first packet after an idle time longer than the timeout."""

    @classmethod
    def family_name(cls) -> str:
        """Return the name in scenarios."""
        return cls.name or cls.__name__.lower()


class Discipline:
    """A user-defined queue discipline: subclass it, and pass the class to a scenario.

    It runs in the packet engine, like those that come with Accord. A verdict is ``"pass"``,
    ``"mark"``, ``"drop"`` or None, which passes. A mark on a packet that cannot carry it drops it.
    The port has the limit of the buffer.

    Example:
        >>> import accord
        >>> class Marker(accord.Discipline):
        ...     parameters = {"threshold": "20 kB"}
        ...
        ...     def on_arrival(self, packet, queue, now, uniform):
        ...         return "mark" if queue.bytes > self.threshold else "pass"
        >>> scenario = accord.dumbbell(controller="newreno", discipline=Marker, duration="10 s")
        >>> scenario.run("packet").mean("backlog", "bottleneck") < 200e3
        True

    """

    name: ClassVar[str] = ""
    """The name in scenarios; by default that of the class in lower case."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """Defaults by names, as for a `Controller`. An amount in packets is of 1000 bytes each."""
    version: ClassVar[str | None] = None
    """Changed by its author with the code. A store of results needs it."""

    _accord_: ClassVar[str] = "discipline"

    def __init__(self, **parameters: Any) -> None:
        """Take the parameters."""
        self.__dict__.update(parameters)

    def on_arrival(
        self, packet: Packet, queue: Queue, now: float, uniform: float
    ) -> Literal["pass", "mark", "drop"] | None:
        """Judge an arrival that would fit.

        Args:
            packet: The packet.
            queue: The queue without it.
            now: The time in seconds.
            uniform: A number from 0 to 1 of the run's own random stream. It is the same in each run
                of a seed, which numbers of Python's `random` are not.

        """
        return None

    def on_departure(
        self, packet: Packet, sojourn: float, queue: Queue, now: float
    ) -> Literal["pass", "mark", "drop"] | None:
        """Judge a packet before its transmission, `sojourn` seconds after its arrival."""
        return None

    @classmethod
    def family_name(cls) -> str:
        """Return the name in scenarios."""
        return cls.name or cls.__name__.lower()

    @classmethod
    def judges_departures(cls) -> bool:
        """Return True if a class has a method for departures."""
        return cls.on_departure is not Discipline.on_departure


Class = type[Controller] | type[Discipline]
"""A class of controllers or disciplines."""


def check(value: Any) -> Class:
    """Return a class, if it is a controller or a discipline."""
    if isinstance(value, type) and issubclass(value, (Controller, Discipline)):
        return value
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    raise TypeError(f"expected a subclass of accord.Controller or accord.Discipline, got {name}")


def family_of(value: Any) -> str:
    """Return the name of a class in scenarios."""
    return check(value).family_name()
