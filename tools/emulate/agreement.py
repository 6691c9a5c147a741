#!/usr/bin/env python3
"""Compares the kernel's CUBIC in an emulation with CUBIC in the packet engine, over six queues.

    python3 tools/emulate/agreement.py target/release/accord

Prints a table of Markdown: means over 5 to 24 s of one flow over 20 Mbps and 20 ms, emulated (iperf3) and in packets, in
which one seed runs, and all drops. Needs root, iperf3 and a quiet machine; takes three minutes.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUEUES = ["droptail:limit=33", "droptail:limit=67", "droptail:limit=268"]
QUEUES += [f"{name}:limit=1 BDP" for name in ("codel", "fq-codel", "pie")]
PATH = ["--rate", "20 Mbps", "--delay", "20 ms"]
WHAT = {("path", "backlog"), ("path", "drops"), ("to-server", "throughput")}


def means(directory):
    """The means of a run by quantity, and the sum of the drops."""
    with open(Path(directory) / "series.csv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if (r["entity"], r["metric"]) in WHAT]
    values = {}
    for row in rows:
        if 5 <= float(row["time_s"]) <= 24 and row["value"]:
            values.setdefault(row["metric"], []).append(float(row["value"]))
    return {m: sum(v) if m == "drops" else sum(v) / len(v) for m, v in values.items()}


def call(line, place, stdout=None):
    """Runs a program, or ends with its message."""
    done = subprocess.run(line, check=False, cwd=place, stdout=stdout or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr)


def main():
    """Prints the table."""
    given = sys.argv[1] if len(sys.argv) > 1 else "target/release/accord"
    program = Path(shutil.which(given) or given).resolve()
    print("| queue | throughput, emulated | in packets | backlog, emulated | in packets | drops, emulated | in packets |")
    print("|---|---|---|---|---|---|---|")
    for queue in QUEUES:
        with tempfile.TemporaryDirectory() as place:
            path = [program, "emulate", *PATH, "--queue", queue]
            iperf = ["--server", "iperf3 -s -1 > /dev/null", "--", "iperf3", "-c", "{server}", "-C", "cubic", "-t", "25"]
            call([*path, "-o", "emulated", "--csv", *iperf], place)
            with open(Path(place) / "path.toml", "w", encoding="utf-8") as file:
                call([*path, "--set", "duration=25 s", "--print"], place, file)
            # The reverse flow carries the acknowledgements in the emulation, and nothing in packets.
            stop = ["--set", 'flow.to-client.stop="1 ms"']
            call([program, "run", "path.toml", "-e", "packet", "-o", "packets", "--csv", *stop], place)
            e, p = means(Path(place) / "emulated"), means(Path(place) / "packets")
        rates = f"{e['throughput'] / 1e6:.2f} Mbps | {p['throughput'] / 1e6:.2f} Mbps"
        backlogs = f"{e['backlog'] / 1e3:.1f} KB | {p['backlog'] / 1e3:.1f} KB"
        print(f"| {queue} | {rates} | {backlogs} | {e['drops']:.0f} | {p['drops']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
