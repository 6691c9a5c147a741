#!/usr/bin/env python3
"""Contracts of two tunnels by their limits, in packets, behind long buffers. Prints a table as Markdown.

    python3 gateway/tools/limits.py target/release/accord
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Contracts in Mbps, and the target of a tunnel in bytes: three packets of 1480.
CONTRACTS = {"a": 10, "b": 5}
TARGET = 3 * 1480
# Round trip in ms, buffer in round trips of the rate, connections of CUBIC outside, rate in Mbps.
PATHS = [(20, 4, 8, 30), (20, 10, 8, 30), (60, 4, 4, 30), (60, 10, 4, 30), (150, 4, 4, 30), (20, 40, 0, 12)]


def in_time(seconds):
    return lambda mbps: f', limit = "{int(mbps * 1e6 / 8 * seconds) + TARGET} B"'


LIMITS = {
    "100 KB": lambda _: ', limit = "100 KB"',
    "250 ms": in_time(0.25),
    "500 ms": in_time(0.5),
    "none": lambda _: "",
}


def scenario(round_trip, buffer, outside, rate, limit):
    size = int(rate * 1e6 / 8 * round_trip / 1e3 * buffer)
    text = f"""title = "Contracts by their limits"
duration = "40 s"
steady = ["15 s", "40 s"]
[link.core]
from = "west"
to = "hub"
rate = "{rate} Mbps"
delay = "{round_trip / 2} ms"
control_priority = false
queue = {{ discipline = "droptail", limit = "{size} B" }}
"""
    for name, contract in CONTRACTS.items():
        text += f"""[flow.{name}]
from = "west"
to = "hub"
controller = "monaco"
packet = "1480 B"
tunnel = {{}}
service = {{ contract = "{contract} Mbps"{limit(contract)} }}
[flow.{name}-users]
count = 4
from = "west"
through = "{name}"
controller = "cubic"
"""
    if outside:
        text += f"""[flow.outside]
count = {outside}
from = "west"
to = "hub"
controller = "cubic"
packet = "1500 B"
"""
    return text


def measured(program, text):
    """The rate of the first tunnel in Mbps, and the queue of both in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "limits.toml"
        file.write_text(text)
        command = [program, "run", str(file), "--engine", "packet", "--json"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(run.stdout)["points"][0]["means"]
    mean = {(r.get("group"), r["quantity"]): r["values"][0]["mean"] for r in rows}
    return mean["a", "throughput"] / 1e6, mean["a", "accumulation"] + mean["b", "accumulation"]


def main():
    program = sys.argv[1]
    print("| round trip, queue of the buffer, others | " + " | ".join(LIMITS) + " |")
    print("|---" * (len(LIMITS) + 1) + "|")
    queues = []
    for path in PATHS:
        round_trip, buffer, outside, rate = path
        found = [measured(program, scenario(*path, limit)) for limit in LIMITS.values()]
        others = f"{outside} CUBIC" if outside else f"none, on {rate} Mbps"
        cells = " | ".join(f"{mbps:.1f} Mbps" for mbps, _ in found)
        print(f"| {round_trip} ms, {round_trip * buffer} ms, {others} | {cells} |")
        queues = [f"{queued * 8e3 / (rate * 1e6):.0f}" for _, queued in found]
    print("The queue of the last row in ms:", ", ".join(queues))


if __name__ == "__main__":
    main()
