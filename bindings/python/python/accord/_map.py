"""Maps of stability over one or two parameters."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _accord, _plot, _show
from ._designs import quantity
from ._threads import on_all_cores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._scenario import Scenario


@dataclass(frozen=True, eq=False)
class StabilityMap:
    """The margins of an equilibrium over one or two parameters.

    The arrays have the shape (values of the first,), or with two parameters (values of the second,
    values of the first).

    Attributes:
        id: The id of the scenario.
        axes: Path, unit and values of each parameter.
        gain_margin: The factor on all gains at which small deviations begin to grow; NaN where
            there is no linearisation, infinite where no gain is too large.
        delay_margin: The additional delay at which they begin to grow, in seconds, likewise.
        growth: The growth rate of small deviations in 1/s, negative where the equilibrium is
            stable.
        queue_variation: Standard deviation over mean of the longest queue of the packet run, NaN
            where there is none.
        errors: The reason why there is no result, or None.

    """

    id: str
    axes: list[tuple[str, str, NDArray[np.float64]]]
    gain_margin: NDArray[np.float64]
    delay_margin: NDArray[np.float64]
    growth: NDArray[np.float64]
    queue_variation: NDArray[np.float64]
    errors: NDArray[Any]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """True where small deviations decay."""
        return np.asarray(self.growth < 0)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per place: the values by paths, and those of the arrays. Data frames take them."""
        columns = ("gain_margin", "delay_margin", "growth", "queue_variation", "errors")
        arrays = {name.removesuffix("s"): getattr(self, name).ravel().tolist() for name in columns}
        return [
            dict(zip((path for path, _, _ in self.axes), at, strict=True))
            | {name: array[i] for name, array in arrays.items()}
            for i, at in enumerate(self._places())
        ]

    def _places(self) -> list[list[float]]:
        values = [axis[2].tolist() for axis in reversed(self.axes)]
        return [list(reversed(at)) for at in itertools.product(*values)]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the gain margin, and with two parameters the border of stability. Needs matplotlib.

        Dots are packet runs. Their size shows the variation of the queue.

        Args:
            ax: Axes to draw into.

        Example:
            >>> import accord
            >>> over = {"flow.all.controller.gain": accord.linspace(0.1, 2, 5)}
            >>> ax = accord.dumbbell(controller="monaco").stability_map(over).plot()
            >>> ax.get_xlabel()
            'flow.all.controller.gain'

        """
        if ax is None:
            ax = _plot.new_axes()
        labels = [path if not unit else f"{path} ({unit})" for path, unit, _ in self.axes]
        x = self.axes[0][2]
        ax.set_xlabel(labels[0])
        size = 150 * np.nan_to_num(self.queue_variation)
        ran = ~np.isnan(self.queue_variation)
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.where(np.isinf(self.gain_margin), np.nan, self.gain_margin)
            decibels = 20 * np.log10(np.where(margin > 0, margin, np.nan))
        if len(self.axes) == 1:
            ax.plot(x, decibels)
            ax.axhline(0, color="grey", linewidth=0.8)
            ax.scatter(x[ran], decibels[ran], size[ran] + 4, color="black")
            ax.set_ylabel("gain margin (dB)")
            return ax
        y = self.axes[1][2]
        ax.set_ylabel(labels[1])
        mesh = ax.pcolormesh(x, y, decibels, cmap="RdBu", vmin=-20, vmax=20, shading="nearest")
        assert ax.figure is not None
        ax.figure.colorbar(mesh, ax=ax, label="gain margin (dB)")
        if min(self.growth.shape) > 1 and self.stable.any() and not self.stable.all():
            ax.contour(x, y, np.ma.masked_invalid(decibels), levels=[0], colors="black")
        across, up = np.meshgrid(x, y)
        ax.scatter(across[ran], up[ran], size[ran] + 4, color="black")
        return ax

    def save(self, directory: str | PathLike[str]) -> None:
        """Write the files of ``accord stability --x``: ``map.html``, ``map.csv`` and a manifest.

        Raises:
            AccordError: The directory has other files, or it cannot be written.

        """
        cells = [
            (
                at,
                (
                    float(self.gain_margin.flat[i]),
                    float(self.delay_margin.flat[i]),
                    float(self.growth.flat[i]),
                    None if np.isnan(v := self.queue_variation.flat[i]) else float(v),
                    self.errors.flat[i],
                ),
            )
            for i, at in enumerate(self._places())
        ]
        axes = [(path, unit, values.tolist()) for path, unit, values in self.axes]
        _accord.write_map(fspath(directory), self.id, axes, cells)

    def __repr__(self) -> str:
        """Return the parameters and the number of stable places."""
        paths = ", ".join(path for path, _, _ in self.axes)
        return (
            f"<StabilityMap of {self.id} over {paths}: {int(self.stable.sum())} of "
            f"{self.growth.size} stable>"
        )

    def _repr_html_(self) -> str:
        """Return the map for a notebook."""
        return f"<p>{html.escape(repr(self))}</p>" + _show.picture(
            lambda ax: self.plot(ax=ax), height=4.0
        )


def stability_map(
    scenario: Scenario,
    over: Mapping[str, Any],
    packets: int,
    progress: _show.Fraction | bool | None,
) -> StabilityMap:
    """Compute a map on all cores: see `Scenario.stability_map`."""
    if len(scenario.points) > 1:
        raise ValueError("the scenario is a sweep: expected one with a single point")
    if not 1 <= len(over) <= 2:
        raise ValueError(f"over: expected one parameter or two, got {len(over)}")
    if packets < 0:
        raise ValueError(f"packets: expected none or more places per parameter, got {packets}")
    values = {path: list(given) for path, given in over.items()}
    axes = [_axis(path, given) for path, given in values.items()]
    shape = tuple(len(given) for given in reversed(values.values()))
    paths = list(reversed(values))
    chosen = [_chosen(count, packets) for count in shape]

    def cell(place: tuple[int, ...], go_on: _show.Fraction) -> Any:
        at = {path: values[path][i] for path, i in zip(paths, place, strict=True)}
        runs = all(i in among for i, among in zip(place, chosen, strict=True))
        result = scenario.with_(at)._inner.stability_cell(runs, go_on if runs else None)
        count(1)
        return result

    places = list(np.ndindex(*shape))
    # This finds a wrong path before the first place is computed.
    scenario.with_({path: given[0] for path, given in values.items()})
    with _show.counting(progress, len(places), "place") as count:
        cells = on_all_cores(cell, places)

    def column(index: int) -> NDArray[np.float64]:
        numbers = [np.nan if cell[index] is None else cell[index] for cell in cells]
        return np.array(numbers, dtype=np.float64).reshape(shape)

    errors = np.array([cell[4] for cell in cells], dtype=object).reshape(shape)
    margins = [column(i) for i in range(4)]
    return StabilityMap(scenario.id, axes, margins[0], margins[1], margins[2], margins[3], errors)


def _axis(path: str, given: list[Any]) -> tuple[str, str, NDArray[np.float64]]:
    """Return path, unit and numbers of a parameter."""
    if not given:
        raise ValueError(f"{path}: there are no values")
    numbers, units = zip(*(quantity(value) for value in given), strict=True)
    if len(set(units)) > 1:
        raise ValueError(f"{path}: expected values in one unit, got {given}")
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise ValueError(f"{path}: expected values that rise, got {given}")
    return path, units[0] or "", array


def _chosen(count: int, packets: int) -> set[int]:
    """Return about `packets` values of a parameter for packet runs."""
    if packets == 0:
        return set()
    every = max(count // packets, 1)
    return set(range(every // 2, count, every))
