#!/usr/bin/env python3
"""Compares the kernel's CUBIC and BBR in an emulation with those of the packet engine, over six queues.

    python3 tools/emulate/agreement.py target/release/accord

Prints a table of Markdown: means over 5 to 24 s of one flow over 20 Mbps and 20 ms, emulated (iperf3) and in packets, in
which one seed runs. Needs root, iperf3 and a quiet machine; takes six minutes.
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
WHAT = {("path", "backlog"), ("to-server", "throughput")}
# The controls of the kernel, and our settings of each.
CONTROLS = {"cubic": [], "bbr": ["--set", 'flow.to-server.controller="bbr1"']}


def means(directory):
    """The means of a run by quantity."""
    with open(Path(directory) / "series.csv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if (r["entity"], r["metric"]) in WHAT]
    values = {}
    for row in rows:
        if 5 <= float(row["time_s"]) <= 24 and row["value"]:
            values.setdefault(row["metric"], []).append(float(row["value"]))
    return {m: sum(v) / len(v) for m, v in values.items()}


def call(line, place, stdout=None):
    """Runs a program, or ends with its message."""
    done = subprocess.run(line, check=False, cwd=place, stdout=stdout or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr)


def main():
    """Prints the table."""
    given = sys.argv[1] if len(sys.argv) > 1 else "target/release/accord"
    program = Path(shutil.which(given) or given).resolve()
    print("| queue | CUBIC, emulated | in packets | its backlog, emulated | in packets | BBR, emulated | in packets |")
    print("|---|---|---|---|---|---|---|")
    for queue in QUEUES:
        cells = []
        for control, settings in CONTROLS.items():
            e, p = compare(program, queue, control, settings)
            cells += [f"{x['throughput'] / 1e6:.2f} Mbps" for x in (e, p)]
            if control == "cubic":
                cells += [f"{x['backlog'] / 1e3:.1f} KB" for x in (e, p)]
        print(f"| {queue} | {' | '.join(cells)} |", flush=True)


def compare(program, queue, control, settings):
    """The means of an emulation with a control of the kernel, and of packets."""
    with tempfile.TemporaryDirectory() as place:
        path = [program, "emulate", *PATH, "--queue", queue]
        iperf = ["--server", "iperf3 -s -1 > /dev/null", "--", "iperf3", "-c", "{server}", "-C", control, "-t", "25"]
        call([*path, "-o", "emulated", "--csv", *iperf], place)
        with open(Path(place) / "path.toml", "w", encoding="utf-8") as file:
            call([*path, "--set", "duration=25 s", "--print"], place, file)
        # The reverse flow carries the acknowledgements in the emulation, and nothing in packets.
        stop = ["--set", 'flow.to-client.stop="1 ms"', *settings]
        call([program, "run", "path.toml", "-e", "packet", "-o", "packets", "--csv", *stop], place)
        return means(Path(place) / "emulated"), means(Path(place) / "packets")


if __name__ == "__main__":
    main()
