"""Compares estimated and measured costs of runs, as a Markdown table.

    cargo build --release
    python3 tools/cost/table.py target/release/accord [WORK...]

The estimate is `accord check WORK --json`, the median of three, since it measures the machine. The
measure is the CPU time and the largest resident memory of `accord run WORK`, and the size of its
directory. It takes five minutes.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORKS = """xia05-fig6
xia05-fig9
low02-table1
har02-multcp
ple03-fig3
clcc-gain
xia05-fig10
xia05-fig9 -e fluid
har02-fig6 -e fluid
unresponsive-comparison
monaco-clocking
har02-fig4
flows-2000.toml
flows-200000.toml""".split("\n")


def number(value):
    """Two digits, or all of those before the point."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def estimated(program, work):
    costs = []
    for _ in range(3):
        out = subprocess.run([program, "check", *work, "--json"], capture_output=True, check=True)
        costs.append(json.loads(out.stdout)["cost"])
    return [
        statistics.median(c[key] for c in costs)
        for key in ("core_seconds", "memory_bytes", "file_bytes")
    ]


def measured(program, work):
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "run")
        child = subprocess.Popen(
            [program, "run", *work, "--quiet", "--fresh", "-o", out],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
        files = [os.path.join(d, f) for d, _, names in os.walk(out) for f in names]
        size = sum(map(os.path.getsize, files))
    return [used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, size]


def main():
    program = os.path.abspath(sys.argv[1])
    os.chdir(HERE)
    print(
        "| scenario | time estimated | measured | ratio | memory estimated | measured | ratio "
        "| files estimated | measured | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for work in sys.argv[2:] or WORKS:
        words = work.split(" ")
        estimates, measures = estimated(program, words), measured(program, words)
        cells = []
        for unit, estimate, measure in zip((1, 1e6, 1e6), estimates, measures):
            cells += [number(estimate / unit), number(measure / unit), f"{estimate / measure:.2f}"]
        name = work.replace(" -e ", ", ").removesuffix(".toml")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


main()
