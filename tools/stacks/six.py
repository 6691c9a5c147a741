"""quinn in packets and quinn live behind six bottlenecks (six.toml), as a table of docs/src/quinn.md.

    cargo build --release --features quic
    PATH=$PWD/target/release:$PATH python3 tools/stacks/six.py

Live runs need root, an idle machine and 20 s each: six, three times. Figures are means over runs with 95 %
confidence intervals. A live run on too busy a machine is named on the standard error.
"""

import math
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../studies"))
from study import digits, run, table

SCENARIO = os.path.join(os.path.dirname(__file__), "six.toml")
# The number of runs, and Student's quantile for a 95 % interval over LIVE runs.
PACKETS, LIVE, STUDENT = 8, 3, 4.303
SHOWN = (("throughput", 1e-6, "Mbps", 3), ("rtt", 1e3, "ms", 3), ("retransmissions", 1, "", 2))


def text(mean, half, scale, unit, count):
    shown = digits(mean * scale, count)
    places = len(shown.partition(".")[2])
    return f"{shown} ± {half * scale:.{places}f} {unit}".strip()


def main():
    names = ("throughput", "round-trip time", "sent again")
    rows = [("bottleneck", *(f"{name}, {engine}" for name in names for engine in ("packets", "live")))]
    packets = run(SCENARIO, "--reps", str(PACKETS))
    rounds = [run(SCENARIO, "--live", "namespaces", engine="live") for _ in range(LIVE)]
    for i, point in enumerate(packets):
        cells = []
        for quantity, scale, unit, count in SHOWN:
            row = point.row("quinn", quantity)
            found = [r[i].mean("quinn", quantity, "live") for r in rounds]
            mean = sum(found) / LIVE
            half = STUDENT * math.sqrt(sum((x - mean) ** 2 for x in found) / (LIVE - 1) / LIVE)
            cells += [text(row["mean"], row["half_width"], scale, unit, count), text(mean, half, scale, unit, count)]
        rows.append((point.settings["bottleneck"], *cells))
    table(*rows)


main()
