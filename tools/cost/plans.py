"""The packet engine's form and the digest of the first point of every scenario and case of a pack.

    cargo build --release
    python3 tools/cost/plans.py target/release/accord [--than OTHER] [FILE...]

Prints a line per file: seconds of CPU time, digest, plan. At the end it prints how many files run in windows and
how many by events. --than runs another build of the program as well and compares the digests.

Exit code: 0 all digests are equal, or there is one program; 1 one differs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made(program, path):
    """The CPU time, the digest and the plan of a run of packets."""
    with tempfile.TemporaryDirectory() as out:
        words = [program, "run", path, "-e", "packet", "--point", "1", "--json", "--quiet", "--fresh", "-o", out]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text, error = child.stdout.read(), child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if not text:
        return None, error.decode().strip().splitlines()[-1:], None
    run = json.loads(text)["points"][0]["runs"][0]
    return used.ru_utime + used.ru_stime, run["digest"], run["plan"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program", type=os.path.abspath)
    arguments.add_argument("files", nargs="*")
    arguments.add_argument("--than", type=os.path.abspath, metavar="OTHER")
    asked = arguments.parse_intermixed_args()
    files = asked.files or sorted(
        str(path.relative_to(ROOT)) for place in ("scenarios", "packs") for path in (ROOT / place).rglob("*.toml")
        if path.name != "pack.toml"
    )
    totals = {name: [0, 0.0] for name in ("windows", "events")}
    different = 0
    for name in files:
        seconds, digest, plan = made(asked.program, ROOT / name)
        if seconds is None:
            print(f"{name}: no run: {digest}", flush=True)
            continue
        total = totals[plan.split(":")[0]]
        total[0], total[1] = total[0] + 1, total[1] + seconds
        note = ""
        if asked.than:
            before, known, old = made(asked.than, ROOT / name)
            note = f" | before {before or 0:.2f} s, {old}"
            if known != digest:
                different += 1
                note += f", ANOTHER DIGEST: {known}"
        print(f"{name}: {seconds:.2f} s, {digest}, {plan}{note}", flush=True)
    for name, (count, seconds) in totals.items():
        print(f"{name}: {count} files, {seconds:.1f} s of CPU time")
    if asked.than:
        print(f"digests that differ: {different}")
    sys.exit(different > 0)


main()
