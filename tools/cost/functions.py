"""Instructions per packet-hop by function, as the Markdown table of docs/src/performance.md.

    cargo build --profile dist -p accord-cli
    python3 tools/cost/functions.py target/dist/accord

It needs valgrind, and takes two or three minutes. Names are those of callgrind_annotate, without files.
"""

import json
import re
import subprocess
import sys
import tempfile

WORKS = ("newreno-10", "newreno-250", "vegas-250")
GROUPS = {
    "`Simulation::run`": ("Simulation::run", "the loop: taking events, acknowledgements at senders, samples"),
    "`Simulation::go`": ("Simulation::go", "ports, wires, adding arrivals to the calendar"),
    "`Simulation::pump`": ("Simulation::pump", "what a sender may send, and the time that its host takes"),
    "`deliver_ahead`, `deliver_until`": ("deliver_ahead|deliver_until", "receivers, and the counts and delays of what they get"),
    "`Calendar::sort`, `bring_near`, `BinaryHeap::pop`": ("Calendar::sort|bring_near|BinaryHeap.*pop", "slots that hold several events, events far ahead"),
    "`Vegas::listen`": ("[Vv]egas.*listen", "the controller"),
    "the rest": ("", "reading the scenario, columns, losses, allocation"),
}
found = {name: [] for name in [*GROUPS, "all"]}
for work in WORKS:
    with tempfile.NamedTemporaryFile() as out:
        words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", sys.argv[1], "bench", work, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        hops = json.loads(done.stdout)[0]["packet_hops"]
        listed = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", out.name], capture_output=True, text=True, check=True)
    sums = dict.fromkeys(found, 0)
    for count, function in re.findall(r"^ *([\d,]+) \( *[\d.]+%\)  (.*)$", listed.stdout, re.M):
        count = int(count.replace(",", ""))
        if "PROGRAM TOTALS" in function:
            sums["all"] = count
            continue
        bare = function.split(" [")[0].partition(":")[2]
        sums[next(name for name, (pattern, _) in GROUPS.items() if re.search(pattern, bare))] += count
    for name, count in sums.items():
        found[name].append(count / hops)
print("| function | what |", " | ".join(WORKS), "|")
print("|---" * (2 + len(WORKS)) + "|")
for name, counts in found.items():
    what = GROUPS[name][1] if name in GROUPS else ""
    print(f"| {name} | {what} |", " | ".join(f"{c:.0f}" if c >= 0.5 else "–" for c in counts), "|")
