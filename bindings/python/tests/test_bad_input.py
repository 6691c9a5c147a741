"""Bad input is an exception that says what and where, and never the end of the interpreter."""

import signal
import threading

import numpy as np
import pytest
import scipy.sparse
from networks import plain

import accord


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: plain(flows=10**9), "8:17: 1000000000 is out of range.*1000000"),
        (lambda: plain(flows=10**30), "beyond 64 bits"),
        (lambda: plain(flows=-1), "-1 is out of range"),
        (lambda: plain(flows=2.5), "whole number"),
        (lambda: plain(flows=0), "out of range"),
        (lambda: plain(rate="NaN Mbps"), "4:16.*number"),
        (lambda: plain(rate="-1 Mbps"), "4:16"),
        (lambda: accord.dumbbell().with_({"topology.dumbbell.rate": 10}), "expected a rate"),
        (lambda: accord.dumbbell().with_({"flow.all.count": float("nan")}), "not NaN"),
        (lambda: accord.dumbbell().with_({"flow.all.count": np.array([])}), "not a list"),
        (lambda: accord.parse(""), "scenario.toml"),
        (lambda: accord.load("/tmp"), "cannot be read"),
    ],
)
def test_a_wrong_scenario_says_where(make, words):
    with pytest.raises(accord.ScenarioError, match=words):
        make()


DUMBBELL = accord.dumbbell(duration="1 s")
SWEEP = accord.load("xia05-fig6")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: accord.dumbbell(flows=10**9), ValueError, "flows 1000000000: expected 1 to"),
        (lambda: accord.dumbbell(flows=-1), ValueError, "flows -1: expected a whole number"),
        (lambda: accord.dumbbell(flows=2.5), TypeError, "float"),
        (lambda: accord.dumbbell(rate="NaN Mbps"), ValueError, "dumbbell: rate NaN Mbps: "),
        (lambda: accord.dumbbell(rate=10), ValueError, "expected a rate"),
        (
            lambda: accord.dumbbell(limit="10 parsecs"),
            ValueError,
            'dumbbell: limit 10 parsecs: unknown unit "parsecs"',
        ),
        (lambda: accord.dumbbell(duration="0 s"), ValueError, "duration 0 s: .*more than zero"),
        (lambda: accord.dumbbell(seed=2**63), ValueError, f"seed {2**63}: "),
        (lambda: accord.dumbbell(controller="monac"), ValueError, 'did you mean "monaco"'),
        (lambda: SWEEP.run("theory"), ValueError, r"2 points: .*point=1 .*\(1: law = xia05; 2:"),
        (lambda: SWEEP.compare(), ValueError, "expected point=1 to point=2"),
        (lambda: SWEEP.stability(), ValueError, "expected point=1 to point=2"),
        (lambda: SWEEP.toml(), ValueError, "expected point=1 to point=2"),
        (lambda: DUMBBELL.run(seed=-1), ValueError, "seed.*-1"),
        (lambda: DUMBBELL.run(seed=2**63), ValueError, "seed"),
        (lambda: DUMBBELL.run(seed="a"), TypeError, "str"),
        (lambda: DUMBBELL.run(point=0), IndexError, "point 0"),
        (lambda: DUMBBELL.run(point=-1), IndexError, "point -1"),
        (lambda: DUMBBELL.run(point=2), IndexError, "points 1 to 1"),
        (lambda: DUMBBELL.run(None), TypeError, "None"),
        (lambda: DUMBBELL.run("ns2"), ValueError, "there are: theory"),
        (lambda: DUMBBELL.with_({"seed": object()}), TypeError, "cannot be object"),
        (lambda: accord.parse(b"x"), TypeError, "bytes"),
        (lambda: accord.load(None), TypeError, "NoneType"),
        (lambda: accord.read("/etc/hostname"), accord.AccordError, "/etc/hostname"),
        (lambda: accord.Comparison([]), ValueError, "no runs"),
        (lambda: DUMBBELL.run("theory").values("rtt", "node"), ValueError, "group, quantile, link"),
        (lambda: DUMBBELL.run("theory").plot("rtt", of="nobody"), ValueError, "nobody"),
        (lambda: DUMBBELL.run("theory").plot("rtt", by="node"), ValueError, '"node" is not known'),
        (lambda: DUMBBELL.run("theory").mean("rtt", "nobody"), KeyError, "there are throughput"),
        (lambda: DUMBBELL.run("theory").mean("rrt", "all"), ValueError, 'did you mean "rtt"'),
        (lambda: accord.border(DUMBBELL, {"seed": [1, 2]}, bool), TypeError, "`between`"),
        (lambda: accord.sweep(DUMBBELL, [{}], engines="ns2"), ValueError, "there are: theory"),
        (lambda: accord.sweep(DUMBBELL, [{}], task_seconds=0), ValueError, "more than zero"),
        (lambda: accord.sweep(DUMBBELL, [{}], reps=1.5), TypeError, "float"),
        (lambda: accord.sweep(DUMBBELL, [{}], reps="3"), TypeError, "reps: expected a whole"),
        (lambda: accord.sweep("xia05-fig6", [{}]), TypeError, "accord.load returns, got str"),
        (lambda: accord.sweep(DUMBBELL, None), TypeError, "over: .*got NoneType"),
        (lambda: accord.sweep(DUMBBELL, {"seed": 3}), TypeError, "over: seed: expected a list"),
        (lambda: accord.dumbbell(flows="3"), TypeError, r"flows: expected a whole .*'3' \(str\)"),
        (lambda: accord.dumbbell(seed=None), TypeError, "seed: expected a whole number"),
        (lambda: accord.Scenario("duration = '3 s'"), TypeError, "accord.parse make"),
        (lambda: DUMBBELL.with_(None), TypeError, "settings: .*got NoneType"),
        (lambda: DUMBBELL.with_({3: 3}), TypeError, "a path such as .*got 3"),
        (lambda: DUMBBELL.with_({"seed": None}), TypeError, "seed: a setting cannot be NoneType"),
        (lambda: DUMBBELL.run(3), TypeError, "engine: expected a name"),
        (lambda: DUMBBELL.run(progress=3), TypeError, "progress: expected a function"),
        (lambda: accord.from_graph(None), TypeError, "networkx, got NoneType"),
        (lambda: accord.sweep(DUMBBELL, [{}], executor=7), TypeError, "executor.*int"),
        (
            lambda: accord.exercise("two equal flows", 5, student="Ada"),
            ValueError,
            "scenario: expected the notebook's scenario, got none",
        ),
        (lambda: accord.exercise("gain of a margin", 5), ValueError, "scenario: expected"),
    ],
)
def test_a_wrong_call_says_what(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0]], [1 + 2j]), "capacities: expected numbers"),
        (([[0]], [object()]), "capacities: expected numbers"),
        (([[0]], [np.inf]), "link 0: the capacity"),
        (([[0]], []), "no link"),
        ((np.zeros((0, 0)), []), "no link"),
        ((np.array([[1.0, np.nan]]), [1.0, 1.0]), "flow 0 has nan at link 1"),
        ((np.array([[1.0], [-1.0]]), [1.0]), "flow 1 has -1.0 at link 0"),
        ((np.array([["a"]]), [1.0]), "routes: expected numbers"),
        ((np.array([1, 0]), [1.0, 1.0]), "routes: expected a sparse matrix"),
        ((np.ones((1, 1, 1)), [1.0]), "routes: expected a sparse matrix"),
        (([[0.5]], [1.0]), "indices"),
        ((["ab"], [1.0]), "indices"),
        (([[2**70]], [1.0]), "indices"),
        (([[2**40]], [1.0]), "beyond 32 bits"),
        (([[0], []], [1.0]), "flow 1 crosses no link"),
        (([[3]], [1.0]), "link"),
        ((scipy.sparse.csr_array(np.array([[np.nan]])), [1.0]), "flow 0 has nan at link 0"),
        ((scipy.sparse.csr_array(np.array([[-1.0]])), [1.0]), "flow 0 has -1.0 at link 0"),
        ((scipy.sparse.csr_array(np.ones((1, 3))), [1.0]), "expected 1 columns"),
        (([[0]], "capacity"), "for graphs"),
    ],
)
def test_wrong_arrays_say_which_and_where(arguments, words):
    with pytest.raises(ValueError, match=words):
        accord.shares(*arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": "x"}, "alpha: expected a number"),
        ({"alpha": [1.0]}, "alpha: expected a number"),
        ({"min_rate": [0.0, -1.0]}, "min_rate: flow 1"),
        ({"min_rate": [0.0, np.nan]}, "min_rate: flow 1 is NaN"),
        ({"min_rate": [0.0, 1.0], "max_rate": 0.5}, "max_rate: flow 1 has 0.5"),
        ({"max_rate": 0.0}, "max_rate: flow 0"),
        ({"max_rate": [[1.0]]}, r"max_rate.*shape \(2,\)"),
    ],
)
def test_wrong_options_of_shares_say_which_and_where(options, words):
    with pytest.raises(ValueError, match=words):
        accord.shares([[0], [0]], [3.0], **options)


def test_whole_numbers_may_be_of_numpy_and_pandas():
    for three in (3, np.int32(3), np.float64(3), 3.0):
        assert accord.dumbbell(flows=three, seed=three).toml() == plain_toml()
    assert DUMBBELL.run("theory", seed=np.float64(3)).manifest["seed"] == 3


def plain_toml():
    return accord.dumbbell(flows=3, seed=3).toml()


def test_a_graph_without_nodes_is_reported_without_a_file():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(accord.AccordError, match=r"^graph: there are no nodes$"):
        accord.from_graph(networkx.Graph())


def test_objects_are_whole_after_an_interrupt(interrupts):
    long = plain(flows=20, rate="1 Gbps", duration="1000 s")
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        long.run("packet")
    # The same object runs again, as if it had not been interrupted.
    short = long.with_({"duration": "0.2 s"})
    fresh = plain(flows=20, rate="1 Gbps", duration="0.2 s")
    assert short.run("packet").values("throughput")["all.1"].tolist() == (
        fresh.run("packet").values("throughput")["all.1"].tolist()
    )
    assert long.run("theory").mean("throughput", "all") == pytest.approx(50e6)
