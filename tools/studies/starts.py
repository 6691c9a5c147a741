"""The first ten seconds of CUBIC by its slow start, over four paths, around starts.toml of the page."""

import csv
import pathlib
import tempfile

from study import called, digits, percent, table

LINK = "topology.dumbbell"
PATHS = {
    "20 Mbps, 40 ms, 1 BDP": [],
    "100 Mbps, 20 ms, 0.5 BDP": [f'{LINK}.rate="100 Mbps"', f'{LINK}.delay="10 ms"', f'{LINK}.queue.limit="0.5 BDP"'],
    "50 Mbps, 60 ms with jitter, 1 BDP": [f'{LINK}.rate="50 Mbps"', f'{LINK}.delay="30 ms"', f'{LINK}.jitter={{ uniform = ["0 ms", "20 ms"] }}'],
    "20 Mbps, 600 ms, 1 BDP": [f'{LINK}.delay="300 ms"'],
}
RATES = (20e6, 100e6, 50e6, 20e6)
STARTS = {"plain": "until a loss", "hystart-plus": "HyStart++", "search": "SEARCH", "rapid": "Rapid Start"}


def series(sets):
    """The samples of the flow's throughput and of the link's drops: (time, value) each."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run")
        called("run", "starts.toml", "-e", "packet", "--json", "-q", "--csv", "-o", str(out), *[w for s in sets for w in ("--set", s)])
        with open(out / "series.csv") as file:
            rows = list(csv.DictReader(file))
    return [[(float(r["time_s"]), float(r["value"])) for r in rows if r["metric"] == metric] for metric in ("throughput", "drops")]


rows = [("path", "slow start", "90 % of the rate after", "link used in 10 s", "packets lost")]
for (path, sets), rate in zip(PATHS.items(), RATES):
    for start, name in STARTS.items():
        throughput, drops = series([*sets, f'flow.f.controller.slow_start="{start}"'])
        reached = [t for t, x in throughput if x >= 0.9 * rate]
        used = sum(x for _, x in throughput) / len(throughput) / rate
        rows.append((path, name, f"{digits(reached[0], 2)} s" if reached else "–", percent(used), f"{sum(x for _, x in drops):.0f}"))
table(*rows)
