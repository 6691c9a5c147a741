"""Measures the speed-up of the long experiments on two cores, and their memory.

    cargo build --release
    python3 tools/cost/cores.py target/release/accord [ID...] [--least 2] [--pairs 3]

Prints a Markdown table: the given experiments, or all that take at least `--least` seconds on one core, in theory,
fluid and packets with their pages, on one core and on two in turn, as medians of the pairs. Needs two idle cores.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time


def made(program, experiment, threads):
    """The wall-clock time in seconds, and the peak of resident memory in MB."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "reproduce", experiment, "--quiet", "--fresh", "-o", out]
        before = time.monotonic()
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"RAYON_NUM_THREADS": str(threads)},
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            raise SystemExit(f"{experiment} ended with {child.returncode}")
        return time.monotonic() - before, used.ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("ids", nargs="*")
    arguments.add_argument("--least", type=float, default=2, metavar="SECONDS")
    arguments.add_argument("--pairs", type=int, default=3)
    asked = arguments.parse_args()
    listed = subprocess.run([asked.program, "list", "experiments", "--json"], capture_output=True, text=True, check=True)
    rows = []
    for experiment in asked.ids or [e["id"] for e in json.loads(listed.stdout)]:
        if not asked.ids and made(asked.program, experiment, 1)[0] < asked.least:
            continue
        pairs = [(made(asked.program, experiment, 1), made(asked.program, experiment, 2)) for _ in range(asked.pairs)]
        ones, twos = zip(*pairs)
        ratio = statistics.median(one[0] / two[0] for one, two in pairs)
        wall = [statistics.median(r[0] for r in runs) for runs in (ones, twos)]
        memory = [max(r[1] for r in runs) for runs in (ones, twos)]
        rows.append((ratio, f"| {experiment} | {wall[0]:.1f} s | {wall[1]:.1f} s | {ratio:.2f} | {memory[0]:.0f} | {memory[1]:.0f} |"))
    print("| experiment | one core | two cores | ratio | MB on one | MB on two |\n|---|---|---|---|---|---|")
    for _, row in sorted(rows):
        print(row)


main()
