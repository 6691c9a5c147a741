"""Fair shares of a network, with a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _accord
from ._graph import Demands, routed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Shares:
    """The solution of `shares`, in the unit of the capacities.

    Attributes:
        rates: The rate of each flow. All arrays are empty if the problem is infeasible.
        prices: The price of each link.
        loads: The sum of the rates on each link.
        lower: A lower bound of each flow's optimal rate. Empty if there is no solution.
        upper: An upper bound of the same rate.
        status: ``"solved"``, ``"not converged"`` or ``"infeasible"``.
        certificate: The residuals of the optimality conditions and the duality gap, as fractions.
        iterations: The number of Newton steps.
        oversubscribed: If infeasible: the link, the rate that its flows need, and its capacity.
        links: The links by their numbers as pairs of nodes, if the routes came from a graph.
        routes: The links of each flow, likewise.

    """

    rates: NDArray[np.float64]
    prices: NDArray[np.float64]
    loads: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    status: str
    certificate: dict[str, float]
    iterations: int
    oversubscribed: tuple[int, float, float] | None
    links: list[tuple[Any, Any]] = field(default_factory=list)
    routes: list[list[int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Return True if there is a solution."""
        return self.status == "solved"


def shares(
    routes: Any,
    capacities: ArrayLike | str = "capacity",
    weights: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
    min_rate: ArrayLike = 0.0,
    max_rate: ArrayLike = np.inf,
    demands: Demands | None = None,
    length: str | None = None,
) -> Shares:
    """Return weighted alpha-fair rates of flows over links, with a proof of their precision.

    Args:
        routes: The links of each flow: a SciPy sparse matrix of flows by links with 1 for each
            link of a flow, a dense array of that shape of 0 and 1 or booleans, or a sequence with
            the indices of the links of each flow, each once. Or a networkx graph, whose flows take
            the shortest paths of `demands`.
        capacities: Capacity of each link, of shape (links,). Positive and finite. For a graph the
            name of the edges' attribute.
        weights: Weight of each flow, of shape (flows,) or one number. Positive. By default 1, and
            in a graph the amounts of the demands.
        alpha: 1 is proportional fairness, 2 minimum potential delay. Positive.
        min_rate: Contracted rate of each flow, of shape (flows,) or one number. The flow's
            weighted share is added to it. Needs alpha 1.
        max_rate: Largest rate of each flow, likewise.
        demands: The flows of a graph: ``{from: {to: weight}}``, or a list of ``(from, to)`` or
            ``(from, to, weight)``. By default ``graph.graph["demands"]``.
        length: The attribute of edges that is their length; by default each edge counts 1.

    Raises:
        ValueError: An array has a wrong shape, or a number is NaN or out of range, or a route has
            an unknown link, a link twice or a part of a link.

    Example:
        Two links, one flow over both and one over each:

        >>> import accord
        >>> accord.shares([[0, 1], [0], [1]], [3.0, 3.0]).rates.round(6).tolist()
        [1.0, 2.0, 2.0]
        >>> accord.shares([[0, 1], [0], [1]], [3.0, 3.0], alpha=2).rates.round(3).tolist()
        [1.243, 1.757, 1.757]

        The same from a graph:

        >>> import networkx
        >>> graph = networkx.DiGraph()
        >>> graph.add_edge("a", "b", capacity=3.0)
        >>> graph.add_edge("b", "c", capacity=3.0)
        >>> accord.shares(graph, demands=[("a", "c"), ("a", "b"), ("b", "c")]).rates.round(6)
        array([1., 2., 2.])

    """
    links_of: list[tuple[Any, Any]] = []
    routes_of: list[list[int]] = []
    if hasattr(routes, "is_multigraph"):
        if not isinstance(capacities, str):
            raise ValueError("capacities: for a graph, the name of the edges' attribute")
        routes, capacities, links_of, amounts = routed(routes, capacities, demands, length)
        routes_of = routes
        weights = amounts if weights is None else weights
    elif demands is not None or isinstance(capacities, str):
        raise ValueError("capacities: expected numbers; names and demands are for graphs")
    capacity = _numbers(capacities, "capacities")
    if capacity.ndim != 1:
        raise ValueError(f"capacities: expected the shape (links,), got {capacity.shape}")
    offsets, links = _compressed(routes, len(capacity))
    flows = len(offsets) - 1

    def per_flow(values: ArrayLike, name: str) -> NDArray[np.float64]:
        array = _numbers(values, name)
        if array.ndim > 0 and array.shape != (flows,):
            raise ValueError(
                f"{name}: expected one number or the shape ({flows},), got {array.shape}"
            )
        if np.isnan(array).any():
            raise ValueError(f"{name}: flow {int(np.isnan(np.atleast_1d(array)).argmax())} is NaN")
        return np.broadcast_to(array, (flows,))

    if not isinstance(alpha, (int, float, np.integer, np.floating)):
        raise ValueError(f"alpha: expected a number, got {alpha!r}")
    least, most = per_flow(min_rate, "min_rate"), per_flow(max_rate, "max_rate")
    if (least < 0).any():
        raise ValueError(f"min_rate: flow {int((least < 0).argmax())} has a negative one")
    if (most < least).any() or (most <= 0).any():
        flow = int(((most < least) | (most <= 0)).argmax())
        raise ValueError(f"max_rate: flow {flow} has {most[flow]}, and min_rate {least[flow]}")

    answer = _accord.shares(
        offsets.tobytes(),
        links.tobytes(),
        capacity.tobytes(),
        per_flow(1.0 if weights is None else weights, "weights").tobytes(),
        least.tobytes(),
        most.tobytes(),
        float(alpha),
    )
    return Shares(
        rates=np.frombuffer(answer["rates"]),
        prices=np.frombuffer(answer["prices"]),
        loads=np.frombuffer(answer["loads"]),
        lower=np.frombuffer(answer["lower"]),
        upper=np.frombuffer(answer["upper"]),
        status=answer["status"],
        certificate=dict(answer["certificate"]),
        iterations=answer["iterations"],
        oversubscribed=answer["oversubscribed"],
        links=links_of,
        routes=routes_of,
    )


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as e:
        raise ValueError(f"{name}: expected numbers: {e}") from e


def _compressed(routes: Any, links: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return routes in compressed rows: the start of each row, and the links."""
    if hasattr(routes, "tocsr"):
        return _of_sparse(routes, links)
    if isinstance(routes, np.ndarray) and routes.ndim == 2:
        _check_matrix(routes, links)
        wrong = ~((routes == 0) | (routes == 1))
        if wrong.any():
            flow, link = (int(i[0]) for i in np.nonzero(wrong))
            raise _wrong_entry(flow, link, routes[flow, link])
        rows, columns = np.nonzero(routes)
        counts = np.bincount(rows, minlength=routes.shape[0])
        return _indices(np.concatenate([[0], np.cumsum(counts)])), _indices(columns)
    if not isinstance(routes, Sequence):
        raise ValueError(
            "routes: expected a sparse matrix, an array of flows by links, or lists of links, "
            f"got {type(routes).__name__}"
        )
    try:
        lengths = [len(route) for route in routes]
        flat = np.fromiter((index(i) for route in routes for i in route), dtype=np.int64)
    except (TypeError, OverflowError) as e:
        raise ValueError(f"routes: expected the indices of the links of each flow: {e}") from e
    links_of = _indices(flat)
    flows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((links_of, flows))
    twice = (np.diff(flows[order]) == 0) & (np.diff(flat[order]) == 0)
    if twice.any():
        at = order[int(twice.argmax())]
        raise ValueError(
            f"routes: flow {flows[at]} has link {flat[at]} twice: expected the indices of the "
            "links of each flow, or an array of flows by links"
        )
    return _indices(np.concatenate([[0], np.cumsum(lengths)])), links_of


def _of_sparse(routes: Any, links: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return a sparse matrix of flows by links in compressed rows."""
    matrix = routes.tocsr()
    _check_matrix(matrix, links)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if routes.format in ("coo", "csc", "csr") and matrix.nnz != routes.nnz:
        raise ValueError("routes: the sparse matrix has several entries for one flow and link")
    wrong = ~((matrix.data == 0) | (matrix.data == 1))
    if wrong.any():
        at = int(wrong.argmax())
        flow = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise _wrong_entry(flow, matrix.indices[at], matrix.data[at])
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return _indices(matrix.indptr), _indices(matrix.indices)


def _check_matrix(matrix: Any, links: int) -> None:
    if matrix.shape[1] != links:
        raise ValueError(f"routes: expected {links} columns, one per link, got {matrix.shape[1]}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"routes: expected numbers, got the type {matrix.dtype}")


def _wrong_entry(flow: int, link: int, value: Any) -> ValueError:
    return ValueError(
        f"routes: flow {flow} has {value} at link {link}: expected 1 for a link of the flow, or 0"
    )


def _indices(values: Any) -> NDArray[np.uint32]:
    array = np.asarray(values)
    if array.size and (array.min() < 0 or array.max() >= 2**32):
        raise ValueError("routes: an index is negative or beyond 32 bits")
    return np.ascontiguousarray(array, dtype=np.uint32)
