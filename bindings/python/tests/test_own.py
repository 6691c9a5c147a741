"""Controllers and disciplines in Python: the same door as Rust's, and failures that say where."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest
from networks import plain

import accord


class Keeper(accord.Controller):
    """Keeps a target of its own data queued.

    The law of examples/own-controller.
    """

    parameters = {"target": "10 pkt", "gain": 0.5, "clumsy": False}
    keeps = "target"

    def __init__(self, packet, **parameters):
        super().__init__(packet, **parameters)
        self.starting = True

    def on_ack(self, ack, path, now):
        if ack.in_recovery or not ack.window_limited:
            return
        if self.starting:
            self.window += ack.bytes
        if ack.round_ended:
            excess = self.window * max(1 - path.min_rtt / path.srtt, 0) - self.target
            self.starting = self.starting and excess <= 0
            if not self.starting:
                moved = self.window - self.gain * excess
                self.window = min(max(moved, self.packet), self.window + self.packet)

    def on_congestion(self, what, path, now):
        self.starting = False
        self.window = max(self.window / 2, self.packet)


class Marker(accord.Discipline):
    parameters = {"threshold": "20 kB"}

    def on_arrival(self, packet, queue, now, uniform):
        assert 0 <= uniform < 1 and queue.rate > 0
        return "mark" if queue.bytes > self.threshold else None


class Impatient(accord.Discipline):
    """Drops what has waited too long."""

    parameters = {"most": "5 ms"}

    def on_departure(self, packet, sojourn, queue, now):
        return "drop" if sojourn > self.most else "pass"


FILE = """
duration = "20 s"
topology.dumbbell = { rate = "20 Mbps", delay = "10 ms" }
[flow.light]
count = 2
from = "left"
to = "right"
controller = "keeper"
[flow.heavy]
from = "left"
to = "right"
controller = { name = "keeper", target = "20 pkt", gain = 0.25 }
"""


def test_theory_and_packets_agree():
    comparison = accord.parse(FILE, own=[Keeper]).compare(["theory", "packet"])
    rates = {r["entity"]: r for r in comparison.means if r["metric"] == "throughput"}
    assert rates["heavy"]["theory"] == pytest.approx(10e6)
    assert rates["heavy"]["packet"] == pytest.approx(10e6, rel=0.05)
    assert rates["light"]["packet"] == pytest.approx(5e6, rel=0.05)


def test_a_law_is_the_same_in_either_language():
    class Avoid(accord.Controller):
        def on_ack(self, ack, path, now):
            if not ack.in_recovery and ack.window_limited:
                self.window += ack.bytes

    own = plain(flows=1, controller=Avoid, duration="1 s", rate="1 Gbps", limit="1 GB")
    first = {"name": "newreno", "initial_window": "2 pkt"}
    alike = {"flow.all.controller": first, "flow.all.processing": "0 s"}
    built_in = own.with_(alike)
    # Slow start without losses: the same windows, byte by byte.
    mine, theirs = (s.run("packet").values("throughput")["all"] for s in (own, built_in))
    assert mine.tolist() == theirs.tolist()


def test_runs_repeat_and_scenarios_pickle():
    scenario = accord.dumbbell(controller=Keeper, duration="5 s")
    digest = scenario.run("packet").manifest["digest"]
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario and again.run("packet").manifest["digest"] == digest
    changed = again.with_({"flow.all.controller": {"name": "keeper", "target": "20 pkt"}})
    assert changed.run("packet").manifest["digest"] != digest


def test_disciplines_judge_arrivals_and_departures():
    own = accord.dumbbell(controller="newreno", duration="10 s").with_(
        {"flow.all.controller": {"name": "newreno", "ecn": True}}
    )
    base = own.run("packet").mean("backlog", "bottleneck")
    marked = own.with_({"topology.dumbbell.queue": Marker}).run("packet")
    assert marked.mean("backlog", "bottleneck") < 20e3 < base
    assert marked.mean("drops", "bottleneck") == 0
    setting = {"topology.dumbbell.queue": {"discipline": Impatient, "most": "2 ms"}}
    dropped = own.with_(setting).run("packet")
    # 2 ms at 10 Mbps.
    assert dropped.mean("backlog", "bottleneck") < 2500
    assert dropped.mean("drops", "bottleneck") > 0


def test_other_engines_say_why_not():
    scenario = accord.dumbbell(controller=Keeper)
    with pytest.raises(accord.AccordError, match="written in Python"):
        scenario.run("fluid")
    with pytest.raises(accord.AccordError, match="packet engine only"):
        scenario.run("live")
    with pytest.raises(accord.ScenarioError, match="keeper"):
        accord.parse(FILE)


def test_an_exception_ends_the_run_with_its_traceback():
    class Broken(Keeper):
        def on_ack(self, ack, path, now):
            if now > 1:
                raise LookupError("lost my way")

    with pytest.raises(LookupError, match="lost my way") as caught:
        accord.dumbbell(controller=Broken, duration="1000 s").run("packet")
    assert "raise LookupError" in "".join(traceback.format_exception(caught.value))
    # The exception does not affect the next run on this thread.
    accord.dumbbell(controller=Keeper, duration="1 s").run("packet")

    class Unborn(accord.Controller):
        def __init__(self, packet):
            raise OSError("not today")

    with pytest.raises(OSError, match="not today"):
        accord.dumbbell(controller=Unborn).run("packet")


def test_the_program_leaves_later_runs_as_they_are():
    class Broken(Keeper):
        def on_ack(self, ack, path, now):
            raise LookupError("lost my way")

    accord.kernel("list", own=[Broken])
    with pytest.raises(LookupError, match="lost my way"):
        accord.dumbbell(controller=Broken, duration="1 s").run("packet")


@pytest.mark.parametrize("value", [float("nan"), -1.0, 0, float("inf"), 1e300, "wide", None])
def test_an_invalid_window_is_reported(value):
    class Odd(accord.Controller):
        def on_ack(self, ack, path, now):
            self.window = value

    with pytest.raises(ValueError, match=r"Odd\.window is .*: expected a finite number of bytes"):
        accord.dumbbell(controller=Odd).run("packet")


@pytest.mark.parametrize("value", [float("nan"), -1.0, 0.5, "fast"])
def test_an_invalid_pace_is_reported(value):
    class Odd(accord.Controller):
        def on_ack(self, ack, path, now):
            self.pacing = value

    with pytest.raises(ValueError, match=r"Odd\.pacing is .*: expected a finite number of bit/s"):
        accord.dumbbell(controller=Odd).run("packet")


@pytest.mark.parametrize("value", ["perhaps", True, 7, b"drop"])
def test_an_invalid_verdict_is_reported(value):
    class Odd(accord.Discipline):
        def on_arrival(self, packet, queue, now, uniform):
            return value

    with pytest.raises(ValueError, match='expected "pass", "mark", "drop" or None'):
        accord.dumbbell(discipline=Odd).run("packet")


@pytest.mark.parametrize(
    ("attributes", "error", "words"),
    [
        ({"name": "vegas"}, ValueError, 'two called "vegas"'),
        ({"name": "No Name"}, ValueError, "lower-case"),
        ({"parameters": {"gain": float("nan")}}, TypeError, "parameter gain"),
        ({"parameters": {"gain": "fast"}}, TypeError, "amount, a time or a rate"),
        ({"parameters": {"gain": None}}, TypeError, "truth value"),
        (
            {"parameters": {"gain": -3}},
            TypeError,
            r"gain: a whole number is from 0 .*such as -3\.0",
        ),
        ({"parameters": {"gain": 2**64}}, TypeError, r"parameter gain: a whole number is from 0"),
        ({"keeps": "target"}, ValueError, "keeps"),
    ],
)
def test_a_wrong_declaration_is_reported_at_once(attributes, error, words):
    wrong = type("Wrong", (accord.Controller,), attributes | {"on_ack": Keeper.on_ack})
    with pytest.raises(error, match=words):
        accord.dumbbell(controller=wrong)


def test_an_unrelated_class_is_reported():
    with pytest.raises(TypeError, match="subclass"):
        accord.dumbbell(controller=int)
    with pytest.raises(TypeError, match="subclass"):
        accord.parse(FILE, own=[Keeper(1500)])
    for marks in ({"marks": "everything"}, {"recovery": "prayer"}):
        odd = type("Odd", (accord.Controller,), marks | {"on_ack": Keeper.on_ack})
        with pytest.raises(ValueError, match="expected"):
            accord.dumbbell(controller=odd).run("packet")


@pytest.mark.parametrize(
    ("base", "attributes", "words"),
    [
        (
            accord.Controller,
            {"on_akc": print},
            "Odd.on_akc would never be called: did you mean on_ack",
        ),
        (accord.Controller, {"on_acks": print}, "did you mean on_ack"),
        (accord.Controller, {"onack": Keeper.on_ack}, "did you mean on_ack"),
        (accord.Controller, {"on_timer": print}, "expected on_ack, on_congestion, on_idle"),
        (accord.Controller, {"on_ack": 5}, "Odd.on_ack: expected a method, got 5"),
        (
            accord.Controller,
            {"on_ack": lambda self, ack: None},
            r"expected \(self, ack, path, now\)",
        ),
        (accord.Controller, {"parameters": {"on_ack": 1}}, "parameter on_ack"),
        (accord.Controller, {"parameters": {"window": 1}}, "parameter window"),
        (accord.Controller, {"parameters": {"not a name": 1}}, "expected a name"),
        (accord.Controller, {"parameters": ["gain"]}, "expected a dictionary"),
        (accord.Discipline, {"on_arival": print}, "did you mean on_arrival"),
    ],
)
def test_what_would_do_nothing_is_refused_when_the_class_is_made(base, attributes, words):
    with pytest.raises(TypeError, match=words):
        type("Odd", (base,), attributes)


def test_coroutines_and_empty_classes_are_refused():
    with pytest.raises(TypeError, match="without async"):

        class Odd(accord.Controller):
            async def on_ack(self, ack, path, now):
                pass

    class Empty(accord.Controller):
        pass

    with pytest.raises(TypeError, match="Empty has no method: expected on_ack"):
        accord.dumbbell(controller=Empty)

    class Fixed(accord.Controller):
        def __init__(self, packet, **parameters):
            super().__init__(packet, **parameters)
            self.window = 10.0 * packet

    assert accord.dumbbell(controller=Fixed, duration="1 s").run().mean("throughput", "all") > 0


CLASSES = """
import accord


class Keeper(accord.Controller):
    parameters = {"target": "10 pkt"}
    keeps = "target"

    def on_ack(self, ack, path, now):
        self.window = 20.0 * self.packet


class Broken(Keeper):
    def on_ack(self, ack, path, now):
        raise LookupError("lost my way")
"""


def test_the_program_runs_a_class(tmp_path):
    program = Path(sys.executable).parent / "accord"
    (tmp_path / "my.py").write_text(CLASSES)
    (tmp_path / "x.toml").write_text(plain(duration="2 s").text)

    def call(*arguments):
        command = [program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    def run(*arguments):
        return call("run", "x.toml", "-e", "packet", "--json", "-q", *arguments)

    done = run("--controller", "my.py:Keeper", "-o", "own")
    assert done.returncode == 0, done.stderr
    assert "keeper" in (tmp_path / "own" / "scenario.toml").read_text()
    setting = 'flow.all.controller={ name = "my.py:Keeper", target = "20 pkt" }'
    assert run("--set", setting, "-o", "set").returncode == 0
    assert call("plot", "own", "-m", "throughput", "-o", "own.svg").returncode == 0
    built_in = run("--controller", "reno", "-o", "reno")
    assert built_in.returncode == 0
    assert 'name = "reno"' in (tmp_path / "reno" / "scenario.toml").read_text()
    for arguments, words in [
        (("--controller", "my.py:Nobody"), "my.py has no class Nobody"),
        (("--controller", "none.py:Keeper"), "there is no file none.py"),
        (("--controller", "my.py:accord"), "expected a subclass"),
        (("--controller", "my.py:Broken"), "LookupError: lost my way"),
    ]:
        done = run(*arguments, "-o", "wrong")
        assert done.returncode == 2 and words in done.stderr, done.stderr


def test_parameters_are_checked_as_those_of_rust():
    setting = {"flow.all.controller": {"name": "keeper", "target": "10 parsecs"}}
    with pytest.raises(accord.ScenarioError, match="parsecs"):
        accord.dumbbell(controller=Keeper).with_(setting)
    setting = {"flow.all.controller": {"name": "keeper", "tarjet": "10 pkt"}}
    with pytest.raises(accord.ScenarioError, match="tarjet"):
        accord.dumbbell(controller=Keeper).with_(setting)


def test_an_interrupt_reaches_a_callback(interrupts):
    class Endless(accord.Controller):
        def on_ack(self, ack, path, now):
            while True:
                pass

    with pytest.raises(KeyboardInterrupt):
        # To the process, as from a terminal.
        threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
        accord.dumbbell(controller=Endless).run("packet")


def test_runs_on_several_threads_have_failures_of_their_own():
    class Fails(Keeper):
        def on_ack(self, ack, path, now):
            super().on_ack(ack, path, now)
            if self.clumsy:
                raise LookupError

    def scenario(clumsy):
        value = {"name": "fails", "clumsy": clumsy}
        return accord.dumbbell(controller=Fails, duration="5 s").with_(
            {"flow.all.controller": value}
        )

    outcomes = []

    def work(clumsy):
        try:
            scenario(clumsy).run("packet")
            outcomes.append((clumsy, "ran"))
        except LookupError:
            outcomes.append((clumsy, "failed"))

    threads = [threading.Thread(target=work, args=[i % 2 == 0]) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [(False, "ran")] * 3 + [(True, "failed")] * 3
