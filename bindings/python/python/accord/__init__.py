"""Accord: closed-loop congestion control, one scenario in four engines.

Example:
    >>> import accord
    >>> scenario = accord.dumbbell(flows=2, rate="8 Mbps", duration="20 s")
    >>> comparison = scenario.compare(["theory", "packet"])
    >>> comparison.passed
    True

"""

from ._accord import Ack, Packet, Path, Queue, Series, __version__
from ._errors import AccordError, Problem, ScenarioError
from ._own import Controller, Discipline
from ._run import Comparison, Run, read
from ._scenario import Scenario, dumbbell, load, parse
from ._shares import Shares, shares
from ._sweep import Sweep, sweep

__all__ = [
    "AccordError",
    "Ack",
    "Comparison",
    "Controller",
    "Discipline",
    "Packet",
    "Path",
    "Problem",
    "Queue",
    "Run",
    "Scenario",
    "ScenarioError",
    "Series",
    "Shares",
    "Sweep",
    "__version__",
    "dumbbell",
    "load",
    "parse",
    "read",
    "shares",
    "sweep",
]
