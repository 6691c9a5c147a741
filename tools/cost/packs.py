"""Measures the packs of `accord evaluate`.

    cargo build --release
    python3 tools/cost/packs.py target/release/accord [quick|whole] [PACK...]

The CPU time is that of all threads. The wall-clock time depends on other work of the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
import time


def roles(program):
    """The kind of subject of each pack that comes with the program."""
    listed = subprocess.run([program, "list", "packs", "--json"], capture_output=True, check=True, text=True)
    return {pack["name"]: pack["subject"] for pack in json.loads(listed.stdout)}


def seconds(value):
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def measured(program, pack, role, tier, directory):
    rival = ["codel", "droptail"] if role == "discipline" else ["cubic", "newreno"]
    order = ["--pack", pack, "--tier", tier, "--subject", rival[0], "--against", rival[1]]
    begun = time.monotonic()
    process = subprocess.Popen(
        [os.path.abspath(program), "evaluate", *order, "-o", pack],
        cwd=directory,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    # 1 says that a section fails.
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"accord evaluate {' '.join(order)} failed")
    wall = time.monotonic() - begun
    print(
        f"| `{pack}` | {rival[0]}, {rival[1]} | {seconds(usage.ru_utime + usage.ru_stime)} "
        f"| {seconds(wall)} |",
        flush=True,
    )


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    tier = arguments.pop(0) if arguments and arguments[0] in ("quick", "whole") else "quick"
    print("| pack | subject, rival | CPU time | by the clock |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        known = roles(program)
        for pack in arguments or known:
            measured(program, pack, known.get(pack), tier, directory)


main()
