#!/usr/bin/env python3
"""Measures `accord emulate` on this machine with iperf3: the rate, the lateness and the CPU per packet.

    python3 tools/emulate/measure.py target/release/accord

Prints a table of Markdown. Each row is the median of three runs of five seconds. UDP of 1200 bytes is sent at nine tenths of
the rate of a path of 10 ms, and TCP (the kernel's default) as fast as it goes. Needs root, iperf3 and an idle
machine; runs in namespaces of its own.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LATE = re.compile(r"late by ([\d.]+) (\w+) \(median\), ([\d.]+) (\w+) \(99 %\)")
RATE = re.compile(r"path: .*? configured, ([\d.]+) Mbps while busy")
COST = re.compile(r"([\d.]+) us of CPU for each packet")
CORE = re.compile(r"used ([\d.]+) % of a core")
US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def run(program, rate, load, place):
    """One emulation: the achieved rate, the lateness, the CPU per packet and link, the part of a core."""
    line = [program, "emulate", "--rate", f"{rate} Mbps", "--delay", "10 ms", "--queue", "droptail:limit=2000"]
    line += ["--server", "iperf3 -s -1 > /dev/null", "--", "iperf3", "-c", "{server}", "-t", "5", *load]
    done = subprocess.run(line, check=False, cwd=place, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(done.stderr)
    late, said = LATE.search(done.stderr), done.stderr
    achieved = RATE.search(said)
    return {
        "rate": float(achieved[1]) if achieved else None,
        "p50": float(late[1]) * US[late[2]],
        "p99": float(late[3]) * US[late[4]],
        "cost": float(COST.search(said)[1]),
        "core": float(CORE.search(said)[1]),
    }


def main():
    """Prints the table."""
    given = sys.argv[1] if len(sys.argv) > 1 else "target/release/accord"
    program = Path(shutil.which(given) or given).resolve()
    print("| path | load | rate while busy | late, median | late, 99 % | CPU per packet and link | core |")
    print("|---|---|---|---|---|---|---|")
    loads = [(rate, "UDP", ["-u", "-l", "1200", "-b", f"{0.9 * rate:.0f}M"]) for rate in (20, 100, 500)]
    loads += [(rate, "TCP", []) for rate in (20, 100, 500, 10000)]
    for rate, name, load in loads:
        with tempfile.TemporaryDirectory() as place:
            runs = [run(program, rate, load, place) for _ in range(3)]
        middle = {
            key: statistics.median(r[key] for r in runs if r[key] is not None)
            for key in runs[0]
            if any(r[key] is not None for r in runs)
        }
        busy = f"{middle['rate']:.3f} Mbps" if "rate" in middle else "–"
        print(
            f"| {rate} Mbps | {name} | {busy} | {middle['p50']:.0f} µs | {middle['p99']:.0f} µs "
            f"| {middle['cost']:.1f} µs | {middle['core']:.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
