"""Measures the kernel's congestion control and ours, and writes docs/examples/kernel-table.csv.

    python3 tools/kernel/table.py target/release/accord            measures, a quarter of an hour
    python3 tools/kernel/table.py --from run.json                   takes the output of accord run --json
    python3 tools/kernel/table.py target/release/accord --check     measures, and compares with the file

It has the requirements of `accord run --live namespaces`. `UPDATE_DOCS=1 cargo test -p accord-cli --test
kernel_table` then makes the table of docs/src/validation.md. With --check nothing is
written, and the exit code is 1 where a deviation of the kernel from ours has moved by more than both
confidence intervals.
"""

import argparse
import csv
import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "docs/examples/kernel-table.toml"
DATA = ROOT / "docs/examples/kernel-table.csv"
COLUMNS = ["setting", "algorithm", "who", "quantity", "unit", "mean", "half_width", "runs"]
QUANTITIES = ["throughput", "rtt", "retransmissions"]


def measured(program):
    """Return the program's output on the runs."""
    command = [program, "run", SCENARIO, "--engine", "packet,live", "--reps", "3", "--json"]
    done = subprocess.run([*command, "-o", "runs/kernel-table"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def rows(record):
    """Return the rows of the table of data."""
    unfit = [run["unfit"] for point in record["points"] for run in point["runs"] if run["unfit"]]
    if unfit:
        sys.exit(f"{len(unfit)} live runs cannot be judged: {unfit[0]}")
    found = []
    for point in record["points"]:
        setting, name = point["settings"]["setting"], point["settings"]["algorithm"]
        algorithm, whose = name.split(", ")

        def add(column, quantity, unit, mean, half_width, runs):
            # The packet engine runs the model either way.
            if whose == "ours" or column == "live":
                who = "packets" if column == "packet" else f"{whose}, live"
                width = "" if half_width is None else f"{half_width:.6g}"
                row = [setting, algorithm, who, quantity, unit, f"{mean:.6g}", width, runs]
                found.append(dict(zip(COLUMNS, map(str, row))))

        for mean in point["means"]:
            if mean.get("group") == "long" and mean["quantity"] in QUANTITIES:
                for value in mean["values"]:
                    if "mean" in value:
                        width, runs = value["half_width"], value["runs"]
                        of = (mean["quantity"], mean["unit"], value["mean"])
                        add(value["column"], *of, width, runs)
        for check in record["checks"]:
            if check["point"] == point["point"] and check["measured"] is not None:
                of = ("completion_time", "s", check["measured"])
                add(check["engine"], *of, check["half_width"], 3)
    return found


def deviations(table):
    """Return the live deviation of the kernel from ours: the fraction, and its half-width."""
    known = {}
    for row in table:
        key = (row["setting"], row["algorithm"], row["quantity"])
        known.setdefault(key, {})[row["who"]] = (float(row["mean"]), float(row["half_width"] or 0))
    found = {}
    for key, by in known.items():
        (kernel, a), (ours, b) = by["kernel, live"], by["ours, live"]
        if ours > 0:
            found[key] = kernel / ours - 1, math.hypot(a, b * kernel / ours) / ours
    return found


def check(fresh):
    """Compare fresh rows with those of the file, and return whether they agree."""
    with DATA.open(newline="") as file:
        stored = deviations(list(csv.DictReader(file)))
    agree = True
    for key, (now, width) in deviations(fresh).items():
        before, earlier = stored[key]
        moved = abs(now - before) > width + earlier
        agree &= not moved
        word = "MOVED" if moved else "as stored"
        print(f"{', '.join(key)}: {now:+.1%} ± {width:.1%}, stored {before:+.1%} ± {earlier:.1%}: {word}")
    return agree


def main():
    """Measure, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--from", dest="record", type=Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if (args.program is None) == (args.record is None):
        parser.error("name the program, or a file with --from")
    record = json.loads(args.record.read_text()) if args.record else measured(args.program)
    fresh = rows(record)
    if args.check:
        return 0 if check(fresh) else 1
    with DATA.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
