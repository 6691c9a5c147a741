"""Networks from graphs of networkx."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import _accord
from ._errors import AccordError, needed, whole
from ._scenario import Scenario, parse

Demands = Mapping[Any, Mapping[Any, float]] | Iterable[tuple[Any, ...]]
"""Demands between nodes: ``{from: {to: amount}}``, or pairs ``(from, to)``, or triples with an
amount."""


def from_graph(
    graph: Any,
    demands: Demands | None = None,
    *,
    controller: str = "monaco",
    duration: str = "20 s",
    rate: str = "100 Mbps",
    delay: str = "5 ms",
    unit: str = "1 Mbps",
    delay_unit: str | None = None,
    seed: int = 1,
) -> Scenario:
    """Return the scenario that ``accord import`` makes from a networkx graph.

    Args:
        graph: A graph, directed or not. Edges may have ``capacity`` in `unit`, and ``delay`` or
            ``length``, or nodes ``longitude`` and ``latitude``. A directed graph has those of each
            direction.
        demands: Demands in `unit`, by default those of ``graph.graph["demands"]``, or else twenty
            flows between random nodes.
        controller: The controller of the flows.
        duration: The length of a run.
        rate: The rate of links without a capacity.
        delay: The delay of links without one.
        unit: The unit of capacities and demands.
        delay_unit: The unit of delays that are numbers; without it they are left out.
        seed: The seed of the random flows.

    Raises:
        AccordError: The graph has a mistake. The message names it and its place.

    Example:
        >>> import accord, networkx
        >>> graph = networkx.path_graph(3)
        >>> scenario = accord.from_graph(graph, [(0, 2, 5.0), (0, 1, 5.0)], rate="8 Mbps")
        >>> rates = scenario.run("theory").values("throughput", "flow")
        >>> [round(r[-1].item() / 1e6, 1) for r in rates.values()]
        [3.9, 3.9]

    """
    networkx = needed("networkx", "a graph")
    if not isinstance(graph, networkx.Graph):
        raise TypeError(f"graph: expected a graph of networkx, got {type(graph).__name__}")
    data = networkx.node_link_data(graph, edges="edges")
    if demands is not None:
        table: dict[str, dict[str, float]] = {}
        for source, target, amount in triples(demands):
            row = table.setdefault(str(source), {})
            row[str(target)] = row.get(str(target), 0.0) + amount
        data["graph"] = dict(data["graph"]) | {"demands": table}
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "graph.json"
        try:
            file.write_text(json.dumps(data, default=_plain))
        except TypeError as e:
            raise ValueError(f"graph: {e}") from e
        arguments = ["graph", str(file), "--format", "json"]
        options = {
            "--controller": controller,
            "--duration": duration,
            "--rate": rate,
            "--delay": delay,
            "--unit": unit,
            "--seed": str(whole("seed", seed)),
        }
        if delay_unit is not None:
            options["--delay-unit"] = delay_unit
        for option, value in options.items():
            arguments += [option, value]
        try:
            text = _accord.imported(arguments)
        except AccordError as e:
            hint = None if e.hint is None or "--" in e.hint else e.hint
            raise AccordError(e.message.replace(str(file), "graph"), hint) from None
    return parse(text, "graph.toml")


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def triples(demands: Demands) -> list[tuple[Any, Any, float]]:
    """Return demands as (from, to, amount)."""
    if isinstance(demands, Mapping):
        return [(s, t, float(x)) for s, row in demands.items() for t, x in row.items()]
    found = []
    for i, demand in enumerate(demands):
        if not isinstance(demand, tuple) or len(demand) not in (2, 3):
            raise ValueError(f"demands[{i}]: expected (from, to) or (from, to, amount)")
        amount = float(demand[2]) if len(demand) == 3 else 1.0
        found.append((demand[0], demand[1], amount))
    return found


def routed(
    graph: Any, capacity: str, demands: Demands | None, length: str | None
) -> tuple[list[list[int]], list[float], list[tuple[Any, Any]], list[float]]:
    """Return routes on shortest paths, capacities, links and amounts.

    An edge of an undirected graph is a link in each direction.
    """
    networkx = needed("networkx", "a graph")
    if graph.is_multigraph():
        raise ValueError("routes: parallel edges have no unique links; merge them")
    if demands is None:
        demands = graph.graph.get("demands")
    if demands is None:
        raise ValueError("demands: a graph needs them, as an argument or as graph.graph['demands']")
    links: dict[tuple[Any, Any], int] = {}
    capacities: list[float] = []
    for u, v, attributes in graph.edges(data=True):
        if capacity not in attributes:
            raise ValueError(f"routes: the edge {u!r} - {v!r} has no {capacity!r}")
        for ends in [(u, v)] if graph.is_directed() else [(u, v), (v, u)]:
            if ends not in links:
                links[ends] = len(capacities)
                capacities.append(attributes[capacity])
    wanted = triples(demands)
    trees: dict[Any, Any] = {}
    routes = []
    for i, (source, target, _) in enumerate(wanted):
        for node in (source, target):
            if node not in graph:
                raise ValueError(f"demands[{i}]: unknown node {node!r}")
        if source == target:
            raise ValueError(f"demands[{i}]: from {source!r} to itself")
        if source not in trees:
            trees[source] = networkx.single_source_dijkstra_path(graph, source, weight=length)
        if target not in trees[source]:
            raise ValueError(f"demands[{i}]: there is no path from {source!r} to {target!r}")
        path = trees[source][target]
        routes.append([links[ends] for ends in itertools.pairwise(path)])
    return routes, capacities, list(links), [amount for _, _, amount in wanted]
