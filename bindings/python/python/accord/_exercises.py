"""Exercises of notebooks, with individual numbers for each student."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ._scenario import Scenario
from ._shares import shares


@dataclass(frozen=True)
class Grade:
    """The verdict on an answer, shown in a notebook.

    Attributes:
        question: The question, with the student's numbers.
        answer: The answer, or None before there is one.
        right: Whether the answer is right, or None before there is one.
        hint: The help after a wrong answer.

    """

    question: str
    answer: Any
    right: bool | None
    hint: str

    def __bool__(self) -> bool:
        """Return True if the answer is right."""
        return self.right is True

    def __repr__(self) -> str:
        """Return the question and the verdict."""
        if self.right is None:
            verdict = "? not answered yet"
        elif self.right:
            verdict = f"✓ {self.answer} is right"
        else:
            verdict = f"✗ {self.answer} is not right. {self.hint}".rstrip()
        return f"{self.question}\n{verdict}"


@dataclass(frozen=True)
class Exercise:
    """A question whose numbers depend on the student, graded by a computation.

    Attributes:
        question: The question. ``{name}`` stands for a number of the student's.
        numbers: The values from which the numbers are drawn, by name.
        value: The function that computes the right answer: it takes the notebook's scenario, or
            None, and the numbers by name.
        within: The tolerance, as a fraction of the right answer.
        hint: The help after a wrong answer, with ``{name}`` as in the question.

    Example:
        >>> import accord
        >>> half = accord.Exercise("Half of {n}?", {"n": [4]}, lambda scenario, n: n / 2)
        >>> half.grade(2, student="Ada")
        Half of 4?
        ✓ 2 is right

    """

    question: str
    numbers: Mapping[str, Sequence[Any]]
    value: Callable[..., float]
    within: float = 0.05
    hint: str = ""

    def case(self, student: str) -> dict[str, Any]:
        """Return a student's numbers, which depend only on the name, in any case of letters."""
        key = f"{self.question}\n{student.strip().lower()}"
        rest = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=16).digest(), "big")
        drawn = {}
        for name, values in self.numbers.items():
            rest, place = divmod(rest, len(values))
            drawn[name] = values[place]
        return drawn

    def grade(
        self, answer: float | None, *, student: str = "", scenario: Scenario | None = None
    ) -> Grade:
        """Grade an answer.

        Args:
            answer: The answer, or None for the question alone.
            student: The student's name, or any other text, which draws the numbers.
            scenario: The scenario that ``value`` runs, if it does.

        Raises:
            ValueError: The right answer is not finite, which is a mistake in the exercise.

        """
        numbers = self.case(student)
        question, hint = self.question.format(**numbers), self.hint.format(**numbers)
        if answer is None:
            return Grade(question, None, None, hint)
        right = float(self.value(scenario, **numbers))
        if not math.isfinite(right):
            raise ValueError(f"the right answer of the exercise is {right}: {question}")
        try:
            off = abs(float(answer) - right)
        except (TypeError, ValueError):
            return Grade(question, answer, False, "A number is expected.")
        return Grade(question, answer, off <= self.within * max(abs(right), 1e-12), hint)


def exercise(
    name: str,
    answer: float | None = None,
    *,
    student: str = "",
    scenario: Scenario | None = None,
) -> Grade:
    """Grade an answer to an exercise of the notebooks that come with Accord.

    Args:
        name: The name of the exercise.
        answer: The answer, or None for the question alone.
        student: The student's name, or any other text, which draws the numbers.
        scenario: The notebook's scenario, for exercises that run it.

    Raises:
        ValueError: The exercise is unknown, or it needs a scenario and none was given.

    Example:
        >>> import accord
        >>> accord.exercise("window after a loss", student="Ada")
        A window of 36 packets meets a loss. How many packets is it then?
        ? not answered yet

    """
    if name not in EXERCISES:
        known = ", ".join(map(repr, EXERCISES))
        raise ValueError(f"there is no exercise {name!r}; there are {known}")
    return EXERCISES[name].grade(answer, student=student, scenario=scenario)


LINK = "bottleneck"


def _runs(value: Callable[..., float]) -> Callable[..., float]:
    """Return a computation that runs the notebook's scenario, and asks for it if it is missing."""

    @functools.wraps(value)
    def computed(scenario: Scenario | None, *args: Any, **numbers: Any) -> float:
        if not isinstance(scenario, Scenario):
            got = "none" if scenario is None else type(scenario).__name__
            raise ValueError(f"scenario: expected the notebook's scenario, got {got}")
        return value(scenario, *args, **numbers)

    return computed


@_runs
def _rate(scenario: Scenario, rate: int) -> float:
    run = scenario.with_({"topology.dumbbell.rate": f"{rate} Mbps"}).run("packet")
    return sum(run.mean("throughput", flow) for flow in ("first", "second")) / 2e6


@_runs
def _delay(scenario: Scenario, flows: int, packets: int, rate: int) -> float:
    law = {"name": "vegas", "alpha": f"{packets} pkt", "beta": f"{packets} pkt"}
    settings = {"flow.all.count": flows, "flow.all.controller": law}
    run = scenario.with_(settings | {"topology.dumbbell.rate": f"{rate} Mbps"}).run("theory")
    return run.mean("queuing_delay", LINK) * 1e3


def _weighted(_: Scenario | None, factor: int, rate: int) -> float:
    return float(shares([[0]] * 3, [rate], [factor, 1, 1]).rates[0])


def _long(_: Scenario | None, hops: int, rate: int, alpha: int = 1) -> float:
    routes = [list(range(hops))] + [[hop] for hop in range(hops)]
    return float(shares(routes, [float(rate)] * hops, alpha=alpha).rates[0])


def _kept(_: Scenario | None, flows: int, packets: int) -> float:
    return flows * packets


@_runs
def _longer(scenario: Scenario, rate: int) -> float:
    def backlog(base_rtt: str) -> float:
        law = {"name": "vegas", "base_rtt": base_rtt}
        flows = {f"flow.f{i}.controller": law for i in range(5)}
        changed = scenario.with_(flows | {"topology.dumbbell.rate": f"{rate} Mbps"})
        return changed.run("packet").mean("backlog", LINK)

    return backlog("measured") / backlog("known")


@_runs
def _marked(scenario: Scenario, flows: int) -> float:
    run = scenario.with_({"flow.all.count": flows}).run("theory")
    return run.mean("marking_probability", LINK) * 100


@_runs
def _queued(scenario: Scenario, flows: int, rate: int) -> float:
    settings = {"flow.all.count": flows, "topology.dumbbell.rate": f"{rate} Mbps"}
    return scenario.with_(settings).run("theory").mean("queuing_delay", LINK) * 1e3


@_runs
def _goodness(scenario: Scenario, flows: int, rate: int) -> float:
    settings = {"flow.all.count": flows, "topology.dumbbell.rate": f"{rate} Mbps"}
    return scenario.with_(settings).run("theory").mean("throughput", "all") / 1e6


@_runs
def _held(scenario: Scenario, flows: int) -> float:
    return scenario.with_({"flow.all.count": flows}).run("theory").mean("backlog", LINK) / 1e3


def _product(_: Scenario | None, rate: int, rtt: int) -> float:
    return rate * 1e6 * rtt * 1e-3 / 8 / 1000


@_runs
def _used(scenario: Scenario, buffer: int) -> float:
    run = scenario.with_({"topology.dumbbell.queue.limit": f"{buffer} pkt"}).run("packet")
    return run.mean("utilisation", LINK) * 100


@_runs
def _near_to_far(scenario: Scenario, extra: int) -> float:
    settings: dict[str, Any] = {f"flow.{f}.controller": "newreno" for f in ("near", "far")}
    run = scenario.with_(settings | {"flow.far.access.delay": f"{extra} ms"}).run("packet")
    return run.mean("throughput", "near") / run.mean("throughput", "far")


@_runs
def _by_weight(scenario: Scenario, weight: int, extra: int) -> float:
    settings: dict[str, Any] = {f"flow.{f}.controller": "monaco" for f in ("near", "far")}
    settings |= {"flow.far.access.delay": f"{extra} ms", "flow.far.service": {"weight": weight}}
    run = scenario.with_(settings).run("theory")
    return run.mean("throughput", "far") / run.mean("throughput", "near")


@_runs
def _gold(scenario: Scenario, contract: int, weight: int) -> float:
    service = {"contract": f"{contract} Mbps", "weight": weight}
    run = scenario.with_({"flow.gold.service": service}).run("theory")
    return run.mean("throughput", "gold") / 1e6


def _plain(_: Scenario | None, contract: int, plain: int) -> float:
    weights, least = [2] + [1] * plain, [contract] + [0] * plain
    return float(shares([[0]] * (1 + plain), [30.0], weights, min_rate=least).rates[1])


@_runs
def _margin(scenario: Scenario, gain: float) -> float:
    law = {"name": "monaco", "law": "xia05", "gain": gain}
    return scenario.with_({"flow.all.controller": law}).stability()[0].gain_margin


@_runs
def _gain(scenario: Scenario, margin: float) -> float:
    return 0.5 * _margin(scenario, 0.5) / margin


EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {
        "two equal flows": Exercise(
            "Let the link have {rate} Mbps. What is the mean rate of each flow in packets, in Mbps,"
            " once both are there (the last half)?",
            {"rate": [6, 8, 12, 14, 16, 18, 20, 24]},
            _rate,
            within=0.15,
            hint="Two equal windows, one link of {rate} Mbps.",
        ),
        "window after a loss": Exercise(
            "A window of {window} packets meets a loss. How many packets is it then?",
            {"window": [36, 44, 52, 60, 68, 76, 84, 96]},
            lambda _, window: window / 2,
            hint="Multiplicative decrease.",
        ),
        "queuing delay": Exercise(
            "{flows} flows keep {packets} packets of 1000 bytes each. What is the queuing delay at"
            " {rate} Mbps, in milliseconds?",
            {"flows": [2, 3, 4, 5], "packets": [2, 3, 4], "rate": [8, 12, 16, 20]},
            _delay,
            hint="Bytes queued, by the rate of the link.",
        ),
        "weighted rates": Exercise(
            "Three flows share {rate} Mbps. The first keeps {factor} times the data that each of"
            " the others keeps. What is its rate in Mbps?",
            {"factor": [2, 3, 4, 6], "rate": [10, 12, 15, 20]},
            _weighted,
            hint="Rates are as weights where flows share one link.",
        ),
        "long flow": Exercise(
            "What does the long flow get over {hops} links of {rate} Mbps in proportional fairness,"
            " in Mbps?",
            {"hops": [2, 3, 4, 5, 6], "rate": [9, 12, 15, 20]},
            _long,
            hint="Each of the {hops} links asks the long flow the same price.",
        ),
        "long flow by alpha": Exercise(
            "What does the long flow get over {hops} links of {rate} Mbps with an alpha of {alpha},"
            " in Mbps?",
            {"alpha": [2, 3, 4, 6], "hops": [2, 3, 4, 5], "rate": [9, 12, 15, 20]},
            _long,
            within=0.03,
            hint="accord.shares has an argument alpha.",
        ),
        "queue without errors": Exercise(
            "How long is the queue of {flows} flows in packets, if each keeps the {packets} packets"
            " that it should?",
            {"flows": [3, 4, 5, 6, 7], "packets": [2, 3, 4]},
            _kept,
            hint="Each keeps its own.",
        ),
        "factor of the backlog": Exercise(
            "Let five flows share {rate} Mbps. By what factor is the mean backlog longer with"
            " measured base round-trip times (packets, last half)?",
            {"rate": [12, 16, 20, 24, 30]},
            _longer,
            within=0.25,
            hint='run.mean("backlog", "bottleneck") of both.',
        ),
        "marks of REM": Exercise(
            "What part of the packets does the REM link mark for {flows} flows by theory, in per"
            " cent?",
            {"flows": [2, 3, 5, 6, 8]},
            _marked,
            hint="The metric is marking_probability, of the bottleneck.",
        ),
        "delay as the price": Exercise(
            "{flows} flows of Vegas at {rate} Mbps know their base round-trip time and keep 2"
            " packets each. What is the price, the queuing delay in milliseconds, by theory?",
            {"flows": [2, 3, 5, 6, 8], "rate": [10, 16, 20, 25]},
            _queued,
            hint="Packets of 1000 bytes.",
        ),
        "rate over AVD": Exercise(
            "{flows} flows share an AVD link of {rate} Mbps. What does each get by theory, in"
            " Mbps?",
            {"flows": [2, 3, 5, 6], "rate": [10, 20, 30, 40]},
            _goodness,
            within=0.005,
            hint="They share the rate of the virtual link.",
        ),
        "data kept over droptail": Exercise(
            "{flows} flows of Monaco keep 3 packets each over droptail. How many KB are queued?",
            {"flows": [2, 3, 5, 6, 7, 8]},
            _held,
            hint="Packets of 1000 bytes.",
        ),
        "bandwidth-delay product": Exercise(
            "What is the bandwidth-delay product of {rate} Mbps and a round trip of {rtt} ms, in"
            " packets of 1000 bytes?",
            {"rate": [8, 16, 20, 24, 40], "rtt": [20, 30, 50, 80]},
            _product,
            hint="The rate times the round trip.",
        ),
        "utilisation of one flow": Exercise(
            "Which part of the link does one flow use with a buffer of {buffer} packets, in per"
            " cent?",
            {"buffer": [4, 8, 16, 32, 64]},
            _used,
            within=0.02,
            hint="The sweep above has such points.",
        ),
        "round-trip times under Monaco": Exercise(
            "Let both flows be Monaco's, and `far` have a weight of {weight} and an access delay of"
            " {extra} ms. How many times the rate of `near` does it get by theory?",
            {"weight": [2, 3, 4, 5], "extra": [15, 25, 35, 55, 65]},
            _by_weight,
            hint="Their data is in one queue: rates are as the data that they keep.",
        ),
        "round-trip times under NewReno": Exercise(
            "How many times the rate of `far` does `near` get under NewReno in packets, with an"
            " access delay of {extra} ms?",
            {"extra": [15, 25, 35, 55, 65]},
            _near_to_far,
            within=0.1,
            hint="flow.far.access.delay is the access delay.",
        ),
        "contract": Exercise(
            "What does `gold` get by theory with a contract of {contract} Mbps and a weight of"
            " {weight}, in Mbps?",
            {"contract": [6, 9, 12, 15, 18], "weight": [1, 2, 3, 4]},
            _gold,
            hint="The contract, and its weighted share of the rest.",
        ),
        "share of the rest": Exercise(
            "What does a plain flow get from accord.shares, in Mbps, with {plain} plain flows and a"
            " `gold` of weight 2 and a contract of {contract} Mbps?",
            {"contract": [6, 12, 16, 18, 20], "plain": [2, 3, 4]},
            _plain,
            hint="The contract is min_rate.",
        ),
        "gain margin": Exercise(
            "What is the gain margin at a gain of {gain} and a delay of 20 ms?",
            {"gain": [0.2, 0.3, 0.4, 0.6, 0.8]},
            _margin,
            hint="point(gain, delay).stability() has it.",
        ),
        "gain of a margin": Exercise(
            "At which gain is the gain margin {margin}?",
            {"margin": [1.25, 1.5, 2.5, 3, 4, 5]},
            _gain,
            hint="The gain margin is the factor by which the gain may grow.",
        ),
    }
)
