"""Accord: closed-loop congestion control, one scenario in four engines.

Example:
    >>> import accord
    >>> scenario = accord.dumbbell(flows=2, rate="8 Mbps", duration="20 s")
    >>> comparison = scenario.compare(["theory", "packet"])
    >>> comparison.passed
    True

Read a scenario with `load`, `parse` or `dumbbell`, change it with `Scenario.with_`, and run it with
`Scenario.run` or `Scenario.compare`, which return a `Run` and a `Comparison`. `sweep` runs many
points, `border` finds where a property ends, and `Scenario.stability_map` computes margins.
`Controller` and `Discipline` are the base classes of your own, `shares` solves for fair rates, and
`reproduce` runs the plots and tables of papers. `exercise` makes exercises for a class.

"""

from ._accord import Ack, Packet, Path, Queue, Series, __version__
from ._border import Border, border
from ._designs import Range, between, grid, latin_hypercube, linspace, logspace, sobol
from ._errors import AccordError, Problem, ScenarioError
from ._exercises import Exercise, Grade, exercise
from ._graph import from_graph
from ._map import StabilityMap
from ._notebook import explore
from ._own import Controller, Discipline
from ._program import kernel
from ._reproduce import Reproduction, reproduce
from ._run import Comparison, Run, read
from ._scenario import Scenario, controllers, disciplines, dumbbell, load, parse
from ._shares import Shares, shares
from ._stability import Equilibrium
from ._sweep import Sweep, sweep

__all__ = [
    "AccordError",
    "Ack",
    "Border",
    "Comparison",
    "Controller",
    "Discipline",
    "Equilibrium",
    "Exercise",
    "Grade",
    "Packet",
    "Path",
    "Problem",
    "Queue",
    "Range",
    "Reproduction",
    "Run",
    "Scenario",
    "ScenarioError",
    "Series",
    "Shares",
    "StabilityMap",
    "Sweep",
    "__version__",
    "between",
    "border",
    "controllers",
    "disciplines",
    "dumbbell",
    "exercise",
    "explore",
    "from_graph",
    "grid",
    "kernel",
    "latin_hypercube",
    "linspace",
    "load",
    "logspace",
    "parse",
    "read",
    "reproduce",
    "shares",
    "sobol",
    "sweep",
]
