#!/usr/bin/env python3
"""Compares the kernel's CUBIC and BBR in an emulation with those of the packet engine, over six queues.

    python3 tools/emulate/agreement.py target/release/accord

Prints a table of Markdown: means over 5 to 24 s of one flow over 20 Mbps and 20 ms, emulated (iperf3) and in packets
(`--like`), and all drops; of three runs the one with the median throughput. Needs root, iperf3 and a quiet machine; takes
a quarter of an hour.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUEUES = ["droptail:limit=33", "droptail:limit=67", "droptail:limit=268", "codel", "fq-codel", "pie"]
PATH = ["--rate", "20 Mbps", "--delay", "20 ms", "--flows", "2"]
RUNS = 3


def means(file, engine):
    """The means of an engine by quantity, and the sum of the drops."""
    sums, times = {}, set()
    with open(file, encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            time = float(row["time_s"])
            flow = row["metric"] == "throughput" and row["entity"].startswith("to-server")
            path = row["metric"] in ("backlog", "drops") and row["entity"] == "path"
            if row["engine"] == engine and (flow or path) and 5 <= time <= 24 and row["value"]:
                times.add(time)
                sums[row["metric"]] = sums.get(row["metric"], 0) + float(row["value"])
    return {m: s if m == "drops" else s / len(times) for m, s in sums.items()}


def once(program, controller, queue):
    """One emulation: the means emulated, and in packets."""
    with tempfile.TemporaryDirectory() as place:
        line = [program, "emulate", *PATH, "--queue", queue, "--like", controller, "--csv", "-q", "-o", "run"]
        line += ["--server", "iperf3 -s -1 > /dev/null", "--"]
        line += ["iperf3", "-c", "{server}", "-C", controller, "-t", "25"]
        done = subprocess.run(line, check=False, cwd=place, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        file = Path(place) / "run/series.csv"
        return means(file, "live"), means(file, "packet")


def main():
    """Prints the table."""
    given = sys.argv[1] if len(sys.argv) > 1 else "target/release/accord"
    program = Path(shutil.which(given) or given).resolve()
    print("| sender | queue | throughput, emulated | in packets | backlog, emulated | in packets | drops, emulated | in packets |")
    print("|---|---|---|---|---|---|---|---|")
    for controller, name in (("cubic", "CUBIC"), ("bbr", "BBR")):
        for queue in QUEUES:
            runs = [once(program, controller, queue) for _ in range(RUNS)]
            e, p = sorted(runs, key=lambda run: run[0]["throughput"])[RUNS // 2]
            rates = f"{e['throughput'] / 1e6:.2f} Mbps | {p['throughput'] / 1e6:.2f} Mbps"
            backlogs = f"{e['backlog'] / 1e3:.1f} KB | {p['backlog'] / 1e3:.1f} KB"
            print(f"| {name} | {queue} | {rates} | {backlogs} | {e['drops']:.0f} | {p['drops']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
