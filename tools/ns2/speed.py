#!/usr/bin/env python3
"""The works of `accord bench`, here and in ns-2.

    tools/ns2/speed.py target/release/accord [NAME ...]

Each work runs here and in ns-2 in turn, five times, so that both run under the same conditions. The
result is the median of the ratios of packet-hops per CPU-second. Neither records series: both read their
counters at the end. ns-2 has to be installed (apt-get install ns2).
"""

import json
import pathlib
import statistics
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("speed.tcl")
# The durations of the works, each of which is one sample.
WORKS = {"newreno-10": 60, "newreno-250": 10, "vegas-250": 20}
PAIRS = 5


def call(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def main(program, *names):
    print(f"{'work':12} {'million hops/s':>15} {'in ns-2':>15} {'median':>7}  ratio of each pair")
    for name in names or WORKS:
        pairs = []
        for _ in range(PAIRS):
            here = call(program, "bench", name, "--json", "--set", f"sample={WORKS[name]} s")
            hops, cpu = map(float, call("ns", str(SCRIPT), name).split()[:2])
            pairs.append((json.loads(here)[0]["hops_per_cpu_second"], hops / cpu))
        here, there = (statistics.median(speeds) / 1e6 for speeds in zip(*pairs))
        ratios = [a / b for a, b in pairs]
        each = " ".join(f"{ratio:.1f}" for ratio in ratios)
        print(f"{name:12} {here:15.1f} {there:15.2f} {statistics.median(ratios):7.1f}  {each}", flush=True)


main(*sys.argv[1:])
