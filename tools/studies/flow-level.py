"""Completion times of transfers that arrive at random, against processor sharing.

Transfers arrive by a Poisson process at a link of 100 Mbps and 20 ms there and back. The same arrivals are served
by processor sharing without packets: each transfer in service has an equal part of the link at every instant.

    python3 tools/studies/flow-level.py load               by load and controller, exponential sizes of 2 MB
    python3 tools/studies/flow-level.py size               by the law of sizes and their mean, at a load of 0.8
    python3 tools/studies/flow-level.py formula            processor sharing over many arrivals, against the formula
    python3 tools/studies/flow-level.py load --plot FILE
"""

import argparse
import csv
import pathlib
import random
import statistics
import sys
import tempfile

from study import called, digits, drawn, table

LINK = 100e6 / 8  # bytes per second
SECONDS, REST = 100, 100
SEEDS = (1, 2, 3)
CONTROLLERS = {
    "Monaco, `xia05`": '{ name = "monaco", law = "xia05" }',
    "Monaco, `har02`": '{ name = "monaco", law = "har02" }',
    "Monaco, `accord`": '{ name = "monaco", law = "accord" }',
    "Vegas": '{ name = "vegas", alpha = "3 pkt", beta = "3 pkt" }',
    "Vegas, base known": '{ name = "vegas", alpha = "3 pkt", beta = "3 pkt", base_rtt = "known" }',
    "NewReno": '"newreno"',
}
SIZES = {
    "exponential": lambda draw, mean: draw.expovariate(1 / mean),
    "constant": lambda draw, mean: mean,
    "Pareto, 1.5": lambda draw, mean: mean / 3 * draw.paretovariate(1.5),
}


def arrivals(load, law, mean, seed, seconds=SECONDS):
    """Starts in s and sizes in bytes."""
    draw, at, found = random.Random(seed), 0.0, []
    while True:
        at += draw.expovariate(load * LINK / mean)
        if at > seconds:
            return found
        found.append((at, max(1, round(SIZES[law](draw, mean)))))


def shared(transfers):
    """The mean completion time by processor sharing."""
    left, done, at, waiting = {}, {}, 0.0, list(enumerate(transfers))
    while waiting or left:
        ends = min(left.values()) * len(left) / LINK if left else float("inf")
        comes = waiting[0][1][0] - at if waiting else float("inf")
        step = min(ends, comes)
        if left:
            part = step * LINK / len(left)
            left = {i: rest - part for i, rest in left.items()}
        at += step
        if ends <= comes:
            for i in [i for i, rest in left.items() if rest < 1e-3]:
                done[i] = at - transfers[i][0]
                del left[i]
        else:
            i, (_, size) = waiting.pop(0)
            left[i] = size
    return statistics.mean(done.values())


def packets(transfers, controller):
    """The mean completion time in packets."""
    each = ",\n".join(f'{{ start = "{start:.6f} s", demand = {{ size = "{size} B" }} }}' for start, size in transfers)
    text = f"""
duration = "{SECONDS + REST} s"
sample = "1 s"
topology.dumbbell = {{ rate = "100 Mbps", delay = "10 ms", queue = {{ discipline = "droptail", limit = "4 BDP" }} }}
[flow.f]
record = "group"
from = "left"
to = "right"
controller = {controller}
each = [
{each}
]
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "transfers.toml").write_text(text)
        called("run", str(path / "transfers.toml"), "-e", "packet", "--csv", "-q", "-o", str(path / "out"))
        with open(path / "out" / "transfers.csv") as file:
            durations = [row["duration_s"] for row in csv.DictReader(file)]
    if len(durations) != len(transfers) or "" in durations:
        raise SystemExit(f"{controller}: {durations.count('')} of {len(transfers)} transfers are not done")
    return statistics.mean(map(float, durations))


def compared(load, law, mean, controller):
    """The mean completion time relative to processor sharing with 95 % confidence, and the difference."""
    found = []
    for seed in SEEDS:
        transfers = arrivals(load, law, mean, seed)
        found.append((packets(transfers, controller), shared(transfers)))
    ratios = [took / ideal for took, ideal in found]
    width = 4.30 * statistics.stdev(ratios) / len(ratios) ** 0.5  # Student's t of three
    more = statistics.mean(took - ideal for took, ideal in found)
    return statistics.mean(ratios), f"{statistics.mean(ratios):.2f} ± {width:.2f}, {more:+.2f} s"


def by_load(plot):
    loads, mean = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95), 2e6
    rows, lines = [("load", "x/(C·(1 − ρ))", "processor sharing", *CONTROLLERS)], {name: [] for name in CONTROLLERS}
    for load in loads:
        same = statistics.mean(shared(arrivals(load, "exponential", mean, seed)) for seed in SEEDS)
        cells = []
        for name, controller in CONTROLLERS.items():
            ratio, cell = compared(load, "exponential", mean, controller)
            cells.append(cell)
            lines[name].append((load, ratio))
        rows.append((load, f"{digits(mean / LINK / (1 - load))} s", f"{digits(same)} s", *cells))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)
    if plot:
        styles = ("o-", "s-", "^-", "v--", "D--", "x:")
        named = [(name.replace("`", ""), points, style) for (name, points), style in zip(lines.items(), styles)]
        drawn(plot, "load", "completion time over processor sharing", named, ends={"ylim": (0, 5)})


def by_size():
    names = ("Monaco, `xia05`", "Vegas, base known")
    rows = [("sizes", "mean", "x/(C·(1 − ρ))", "processor sharing", *names)]
    for law, mean in (("exponential", 0.2e6), ("exponential", 2e6), ("exponential", 20e6), ("constant", 2e6), ("Pareto, 1.5", 2e6)):
        same = statistics.mean(shared(arrivals(0.8, law, mean, seed)) for seed in SEEDS)
        cells = [compared(0.8, law, mean, CONTROLLERS[name])[1] for name in names]
        rows.append((law, f"{mean / 1e6:g} MB", f"{digits(mean / LINK / 0.2)} s", f"{digits(same)} s", *cells))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)


def by_formula():
    """Processor sharing without packets over many arrivals, against the formula."""
    rows = [("load", "sizes", "arrivals", "their mean size", "x/(C·(1 − ρ))", "processor sharing")]
    for load in (0.3, 0.5, 0.8):
        for law in ("exponential", "constant"):
            transfers = arrivals(load, law, 2e6, 7, 3000)
            mean = statistics.mean(size for _, size in transfers)
            rows.append((load, law, len(transfers), f"{digits(mean / 1e6)} MB", f"{digits(2e6 / LINK / (1 - load))} s", f"{digits(shared(transfers))} s"))
    table(*rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["load", "size", "formula"])
    parser.add_argument("--plot")
    asked = parser.parse_args()
    if asked.what == "load":
        by_load(asked.plot)
    else:
        {"size": by_size, "formula": by_formula}[asked.what]()


main()
