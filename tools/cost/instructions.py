"""Instructions per packet-hop, compared with the limits in crates/cli/benches/instructions.csv.

    cargo build --release
    python3 tools/cost/instructions.py target/release/accord
    python3 tools/cost/instructions.py target/release/accord --write

A count does not depend on other work of the machine. Each work runs for two durations, and the
difference is divided by that of the packet-hops, so reading the scenario and the first windows
do not count. It needs valgrind, and takes some minutes. --write sets each limit to the count
and 2 %. The last column is the ratio to the first work.

Exit code: 0 all are within their limits, or valgrind is not here; 1 one is not.
"""

import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

LIMITS = pathlib.Path(__file__).resolve().parents[2] / "crates/cli/benches/instructions.csv"
# The two durations of each work: its queue is full, or at rest, before the first one ends.
WORKS = {
    "newreno-10": ("8 s", "12 s"),
    "newreno-250": ("2 s", "2.5 s"),
    "vegas-250": ("1 s", "1.2 s"),
    "monaco-20": ("3 s", "5 s"),
    "cubic-rack-10": ("4 s", "7 s"),
    "bbr3-10": ("4 s", "7 s"),
    "cubic-bbr3-10": ("4 s", "7 s"),
    "on-off-100": ("4 s", "7 s"),
    "web-500": ("4 s", "7 s"),
}
DISCIPLINES = ("red", "pie", "codel", "fq-codel", "avq", "avd", "rem", "bat")
WORKS |= {f"newreno-10-{discipline}": ("3 s", "5 s") for discipline in DISCIPLINES}


def counted(program, work, duration):
    """The instructions and the packet-hops of a run."""
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
         program, "bench", work, "--json", "--set", f"duration={duration}",
         "--set", "sample=100 ms"],
        capture_output=True, text=True)
    total = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode or not total:
        sys.exit(f"{work}: {done.stderr}")
    return int(total[1].replace(",", "")), json.loads(done.stdout)[0]["packet_hops"]


def main():
    if not shutil.which("valgrind"):
        print("SKIPPED: instructions per packet-hop need valgrind", file=sys.stderr)
        return 0
    runs = [(work, duration) for work, durations in WORKS.items() for duration in durations]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda run: counted(sys.argv[1], *run), runs))
    found = {}
    for work, (first, before), (last, after) in zip(WORKS, counts[::2], counts[1::2]):
        found[work] = (last - first) / (after - before)
    if "--write" in sys.argv:
        lines = [f"{work},{count * 1.02:.1f}\n" for work, count in found.items()]
        LIMITS.write_text("work,most\n" + "".join(lines))
    with LIMITS.open() as file:
        most = {row["work"]: float(row["most"]) for row in csv.DictReader(file)}
    for work, count in found.items():
        verdict = "" if count <= most[work] else "  TOO MANY"
        ratio = count / found["newreno-10"]
        print(f"{work:19} {count:6.1f} instructions per packet-hop, at most {most[work]:.1f}, {ratio:.2f}{verdict}")
    return int(any(count > most[work] for work, count in found.items()))


sys.exit(main())
