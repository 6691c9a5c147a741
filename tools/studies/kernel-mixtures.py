"""CUBIC beside BBR over seven queues, in packets and with Linux's. Needs root; takes half an hour.

BBR begins at other times from one repetition to the next, since a run in packets has no other chance.
"""

import sys
from statistics import mean, stdev

from study import digits, percent, run, table

FILE = "docs/examples/kernel-mixtures.toml"
# The repetitions: twelve in packets, and with Linux as many as the time allows.
TIMES = {"packet": 12, "live": 6}


def repetitions(engine):
    """The points of all repetitions, by the queue. Without those that were late, which are named."""
    found = {}
    for n in range(TIMES[engine]):
        for point in run(FILE, engine=engine, sets=[f'flow.bbr.start="1.{30 * n:03} s"']):
            queue = point.settings["queue"]
            points = found.setdefault(queue, [])
            if point.ran(engine):
                points.append(point)
            else:
                print(f"left out: {queue}, repetition {n + 1}", file=sys.stderr)
    for queue, points in found.items():
        if len(points) < 2:
            raise SystemExit(f"{queue}: fewer than two runs of {engine} have values. Leave the machine alone.")
    return found


def spread(values, scale, unit):
    return f"{digits(mean(values) * scale)} ± {digits(stdev(values) * scale, 2)} {unit}"


def row(queue, ours, linux):
    """The row of a queue, with the points of its repetitions."""
    cells = [queue]
    for flow, quantity, scale, unit in (("cubic", "throughput", 1e-6, "Mbps"), ("bbr", "throughput", 1e-6, "Mbps"), ("bbr", "rtt", 1e3, "ms")):
        a = [point.mean(flow, quantity, "packet") for point in ours]
        b = [point.mean(flow, quantity, "live") for point in linux]
        cells += [spread(a, scale, unit), spread(b, scale, unit)]
        if (flow, quantity) == ("bbr", "throughput"):
            cells.append(percent(mean(b) / mean(a) - 1, 1, sign=True))
    return cells


packets, live = repetitions("packet"), repetitions("live")
head = ["queue", "CUBIC, packets", "Linux", "BBR, packets", "Linux", "deviation", "round-trip time, packets", "Linux"]
table(head, *[row(queue, packets[queue], live[queue]) for queue in packets])
