"""Controllers and queue disciplines written in Python."""

from __future__ import annotations

import difflib
import inspect
import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ._accord import Ack, Packet, Path, Queue


def _check_callbacks(cls: type, base: type) -> None:
    """Reject methods that would never be called, and parameters that would hide attributes.

    Raises:
        TypeError: The class has such a method or parameter.

    """
    known = [name for name in vars(base) if name.startswith("on_")]
    for name, value in vars(cls).items():
        near = difflib.get_close_matches(name, known, 1, 0.8)
        if name not in known and (name.startswith("on_") or (near and callable(value))):
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
            raise TypeError(f"{cls.__name__}.{name} would never be called: {hint}")
        if name not in known:
            continue
        if not inspect.isfunction(value):
            raise TypeError(f"{cls.__name__}.{name}: expected a method, got {value!r}")
        if inspect.iscoroutinefunction(value) or inspect.isgeneratorfunction(value):
            raise TypeError(f"{cls.__name__}.{name}: expected a method without async and yield")
        arguments = list(inspect.signature(vars(base)[name]).parameters)
        try:
            inspect.signature(value).bind(*arguments)
        except TypeError as e:
            text = f"{cls.__name__}.{name}: {e}; expected ({', '.join(arguments)})"
            raise TypeError(text) from None
    parameters = vars(cls).get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise TypeError(f"{cls.__name__}.parameters: expected a dictionary, got {parameters!r}")
    taken = {*dir(base), *inspect.get_annotations(base)}
    for name in parameters:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise TypeError(f"{cls.__name__}: parameter {name!r}: expected a name")
        if name in taken or name in known:
            raise TypeError(f"{cls.__name__}: parameter {name}: the name of an attribute")


class Controller:
    """The base class of congestion controllers in Python.

    A controller runs in the packet engine. It limits the data in flight by its attribute `window`,
    in bytes, and the sending rate by `pacing`, in bit/s or None. Both are read after each call. An
    exception in a method ends the run.

    Parameters become attributes: amounts in bytes, times in seconds, rates in bit/s.

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
        >>> scenario = accord.dumbbell(flows=1, rate="10 Mbps", controller=Keeper)
        >>> round(scenario.run("theory").mean("throughput", "all") / 1e6)
        10
        >>> scenario.run("packet").mean("utilisation", "bottleneck") > 0.95
        True

    """

    name: ClassVar[str] = ""
    """The name in scenarios; by default the name of the class in lower case."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """The defaults by name. A scenario sets values of the same type: ``True``, ``3``, ``0.5``,
    ``"10 pkt"``, ``"5 ms"``, ``"1 Mbps"``. A whole number is not
    negative; ``-3.0`` is a number of any sign."""
    keeps: ClassVar[str | None] = None
    """The parameter that is the target accumulation of a flow, or None. With it theory has an
    equilibrium."""
    marks: ClassVar[Literal["nothing", "loss", "price"]] = "nothing"
    """The use of congestion marks: packets cannot be marked, a mark is notified like a loss, or
    acknowledgements count marks."""
    recovery: ClassVar[Literal["newreno", "sack"]] = "newreno"
    """The loss recovery of the transport."""
    version: ClassVar[str | None] = None
    """The version of the code, which its author changes. A store of results needs it."""

    _accord_: ClassVar[str] = "controller"

    window: float
    """The congestion window: the largest amount in flight, in bytes."""
    pacing: float | None
    """The pacing rate in bit/s, or None."""
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
        """Handle congestion: halve the window, unless overridden.

        Args:
            what: ``"loss"``, ``"early loss"``, ``"mark"``, ``"timeout"`` or ``"repeated timeout"``.
            path: The path, with the `in_flight` before the congestion was detected.
            now: The time in seconds.

        """
        self.window = max(self.window / 2, self.packet)

    def on_idle(self) -> None:
        """Handle the end of an idle time longer than the retransmission time-out."""

    @classmethod
    def family_name(cls) -> str:
        """Return the name in scenarios."""
        return cls.name or cls.__name__.lower()

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the methods and the parameters of a class."""
        super().__init_subclass__(**options)
        _check_callbacks(cls, Controller)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a parameter."""


class Discipline:
    """The base class of queue disciplines in Python.

    A discipline runs in the packet engine. A verdict is ``"pass"``, ``"mark"``, ``"drop"`` or None,
    which passes. A mark drops a packet that cannot carry it. The port enforces the buffer's limit.

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
    """The name in scenarios; by default the name of the class in lower case."""
    parameters: ClassVar[Mapping[str, Any]] = {}
    """The defaults by name, as for `Controller`. A packet in an amount is 1000 bytes."""
    version: ClassVar[str | None] = None
    """The version of the code, which its author changes. A store of results needs it."""

    _accord_: ClassVar[str] = "discipline"

    def __init__(self, **parameters: Any) -> None:
        """Take the parameters."""
        self.__dict__.update(parameters)

    def on_arrival(
        self, packet: Packet, queue: Queue, now: float, uniform: float
    ) -> Literal["pass", "mark", "drop"] | None:
        """Return the verdict on an arriving packet that fits into the buffer.

        Args:
            packet: The packet.
            queue: The queue without it.
            now: The time in seconds.
            uniform: A random number from 0 to 1, the same in each run with the same seed. Numbers
                of Python's `random` are not.

        """
        return None

    def on_departure(
        self, packet: Packet, sojourn: float, queue: Queue, now: float
    ) -> Literal["pass", "mark", "drop"] | None:
        """Return the verdict on the next packet to send, `sojourn` seconds after its arrival."""
        return None

    @classmethod
    def family_name(cls) -> str:
        """Return the name in scenarios."""
        return cls.name or cls.__name__.lower()

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the methods and the parameters of a class."""
        super().__init_subclass__(**options)
        _check_callbacks(cls, Discipline)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a parameter."""

    @classmethod
    def judges_departures(cls) -> bool:
        """Return whether the class overrides `on_departure`."""
        return cls.on_departure is not Discipline.on_departure


Class = type[Controller] | type[Discipline]
"""A class of controllers or disciplines."""


def check(value: Any) -> Any:
    """Return a class of controllers or disciplines.

    Raises:
        TypeError: It is not such a class, or it overrides no method.

    """
    for base in (Controller, Discipline):
        if isinstance(value, type) and issubclass(value, base):
            names = [name for name in vars(base) if name.startswith("on_") or name == "__init__"]
            if all(getattr(value, name) is getattr(base, name) for name in names):
                known = ", ".join(name for name in names if name != "__init__")
                raise TypeError(f"{value.__name__} has no method: expected {known}")
            return value
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    raise TypeError(f"expected a subclass of accord.Controller or accord.Discipline, got {name}")


def family_of(value: Any) -> str:
    """Return the name of a class in scenarios."""
    return str(check(value).family_name())
