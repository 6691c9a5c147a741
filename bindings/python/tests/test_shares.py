"""The solver as a function: right, certified, and clear about wrong input."""

import numpy as np
import pytest
import scipy.sparse

import accord


def test_forms_of_routes_agree():
    lists = [[0, 1], [0], [1]]
    dense = np.array([[1, 1], [1, 0], [0, 1]])
    capacities = [3.0, 3.0]
    expected = [1.0, 2.0, 2.0]
    sparse = [make(dense) for make in (scipy.sparse.csr_array, scipy.sparse.coo_array)]
    sparse += [scipy.sparse.csc_array(dense == 1), scipy.sparse.lil_array(dense)]
    stored_zero = scipy.sparse.csr_array(dense)
    stored_zero[1, 1] = 1
    stored_zero.data[stored_zero.indptr[1] + 1] = 0
    for routes in (lists, dense, dense == 1, dense.astype(float), *sparse, stored_zero):
        answer = accord.shares(routes, capacities)
        assert answer and answer.rates == pytest.approx(expected, rel=1e-9)
        assert answer.loads == pytest.approx(capacities)
        assert (answer.lower <= answer.rates).all() and (answer.rates <= answer.upper).all()
        assert max(answer.certificate.values()) < 1e-11


def test_weights_contracts_and_limits():
    # Each flow gets its contract and a share of the rest by its weight.
    answer = accord.shares([[0]] * 3, [10.0], [1, 1, 2], min_rate=[2, 0, 0])
    assert answer.rates == pytest.approx([4.0, 2.0, 4.0])
    answer = accord.shares([[0]] * 3, [10.0], max_rate=[2, np.inf, np.inf])
    assert answer.rates == pytest.approx([2.0, 4.0, 4.0])
    answer = accord.shares([[0], [0]], [10.0], min_rate=6)
    assert not answer and answer.status == "infeasible"
    assert answer.oversubscribed == pytest.approx((0, 12.0, 10.0))
    assert answer.rates.size == answer.prices.size == answer.loads.size == 0


def test_optimal_by_the_conditions_of_optimality():
    rng = np.random.default_rng(1)
    routes = scipy.sparse.random(300, 40, 0.1, format="csr", rng=rng) != 0
    routes = routes[np.diff(routes.indptr) > 0]
    weights = rng.uniform(1, 5, routes.shape[0])
    capacities = rng.uniform(10, 20, 40)
    answer = accord.shares(routes, capacities, weights)
    incidence = routes.astype(float)
    assert (answer.rates * (incidence @ answer.prices)) == pytest.approx(weights, rel=1e-9)
    assert (incidence.T @ answer.rates <= capacities * (1 + 1e-9)).all()
    slack = capacities - incidence.T @ answer.rates
    assert (answer.prices * slack).max() < 1e-6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0]], [np.nan]), "capacity"),
        (([[0]], [-1.0]), "capacity"),
        (([[2]], [1.0]), "link"),
        (([[-1]], [1.0]), "negative"),
        (([[0]], [[1.0]]), "shape"),
        (([[0]], ["fast"]), "capacities"),
        (([[0], [0]], [1.0], [1.0, 2.0, 3.0]), r"weights.*shape \(2,\)"),
        (([[0], [0]], [1.0], [1.0, np.nan]), "flow 1 is NaN"),
        (([[0]], [1.0], 0.0), "weight"),
        ((np.ones((2, 3)), [1.0]), "1 columns"),
        ((7, [1.0]), "routes"),
        # A matrix is not one of shares or of multiplicities, and lists are no matrix.
        ((np.array([[1, 0.5], [1, 0]]), [1.0, 1.0]), "flow 0 has 0.5 at link 1: expected 1 for"),
        ((np.array([[1], [2]]), [1.0]), "flow 1 has 2 at link 0"),
        ((scipy.sparse.csr_array([[0, 1.0], [0.5, 0]]), [1.0, 1.0]), "flow 1 has 0.5 at link 0"),
        (
            (scipy.sparse.coo_array(([True, True], ([0, 0], [0, 0])), shape=(1, 1)), [1.0]),
            "several entries for one flow and link",
        ),
        (
            (scipy.sparse.csr_array(([1, 0], [0, 0], [0, 2]), shape=(1, 1)), [1.0]),
            "several entries for one flow and link",
        ),
        (([[1, 1], [1, 0], [0, 1]], [1.0, 1.0]), "flow 0 has link 1 twice: expected the indices"),
        (([], [1.0]), "no flow"),
    ],
)
def test_wrong_input_is_a_value_error(arguments, words):
    with pytest.raises(ValueError, match=words):
        accord.shares(*arguments)


def test_limits_need_proportional_fairness():
    with pytest.raises(ValueError, match="alpha"):
        accord.shares([[0]], [1.0], alpha=2, max_rate=0.5)


def test_a_graph_is_its_routes():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph(demands={"a": {"c": 1, "b": 1}, "b": {"c": 2}})
    graph.add_edge("a", "b", capacity=3.0, delay=1)
    graph.add_edge("b", "c", capacity=3.0, delay=1)
    graph.add_edge("a", "c", capacity=100.0, delay=9)
    near = accord.shares(graph, length="delay")
    assert near.links[near.routes[0][0]] == ("a", "b") and len(near.routes[0]) == 2
    index = {link: i for i, link in enumerate(near.links)}
    by_hand = [[index["a", "b"], index["b", "c"]], [index["a", "b"]], [index["b", "c"]]]
    capacities = [graph.edges[link]["capacity"] for link in near.links]
    assert near.rates.tolist() == accord.shares(by_hand, capacities, [1, 1, 2]).rates.tolist()
    # By hops, a has a private link to c.
    assert accord.shares(graph).rates == pytest.approx([100.0, 3.0, 3.0])


@pytest.mark.parametrize(
    ("demands", "words"),
    [
        (None, "a graph needs them"),
        ([("a", "z")], r"demands\[0\]: unknown node 'z'"),
        ([("a", "b"), ("c", "a")], r"demands\[1\]: there is no path from 'c' to 'a'"),
        ([("a", "a")], "itself"),
        ([("a",)], r"expected \(from, to\)"),
        ([("a", "b", -1.0)], "weight"),
        ([], "no flow"),
    ],
)
def test_wrong_demands_are_reported(demands, words):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([("a", "b", {"capacity": 1.0}), ("b", "c", {"capacity": 1.0})])
    with pytest.raises(ValueError, match=words):
        accord.shares(graph, demands=demands)
    graph.add_edge("c", "d")
    with pytest.raises(ValueError, match="'c' - 'd' has no 'capacity'"):
        accord.shares(graph, demands=[("a", "b")])


def test_a_graph_becomes_a_scenario():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(3)
    networkx.set_edge_attributes(graph, 8.0, "capacity")
    # A flow gets at most its demand.
    demands = [(0, 1, 1.0), (1, 2, 100.0), (0, 2, 100.0)]
    scenario = accord.from_graph(graph, demands, controller="vegas", duration="10 s")
    rates = scenario.run("theory").values("throughput", "flow")
    expected = accord.shares(graph, "capacity", 1, demands=demands, max_rate=[1, 100, 100])
    assert sorted(r[-1] for r in rates.values()) == pytest.approx(
        sorted(expected.rates * 1e6), rel=1e-3
    )
    with pytest.raises(accord.AccordError, match="7"):
        accord.from_graph(graph, [(0, 7)])
    with pytest.raises(accord.AccordError, match="rate"):
        accord.from_graph(graph, rate="fast")


def test_a_directed_graph_has_a_rate_and_a_delay_of_each_direction():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_edge("gs", "sat", capacity=10, delay=5)
    graph.add_edge("sat", "gs", capacity=2, delay=50)
    scenario = accord.from_graph(graph, [("gs", "sat", 1.0)], delay_unit="1 ms")
    text = scenario.text
    assert 'rate = "10 Mbps", delay = "5 ms"' in text
    assert 'reverse = { rate = "2 Mbps", delay = "50 ms" }' in text
