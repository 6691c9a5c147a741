"""Instructions per packet-hop by function, as the Markdown table of docs/src/performance.md.

    tools/profiled
    python3 tools/cost/functions.py target/$(rustc -vV | sed -n 's/^host: //p')/dist/accord

It needs valgrind, and takes two or three minutes. Names are those of callgrind_annotate, without files.
"""

import json
import re
import subprocess
import sys
import tempfile

WORKS = ("newreno-10", "newreno-250", "vegas-250")
GROUPS = {
    "`Simulation::deliver`": ("Simulation::(deliver$|pump|emit|process)", "acknowledgements at senders, and what they then send through their host and access link"),
    "`Simulation::go`": ("Simulation::go", "ports, wires and stretches, receivers and their answers"),
    "`Simulation::offer_all`": ("offer_all|release", "departures from the last station, and the way home of acknowledgements"),
    "`Sorter::take`": ("Sorter|Arrival", "arrivals at a station, put in order"),
    "`Simulation::run`": ("Simulation::(run|advance)", "the loops over the parts of a window"),
    "`Flow::deliver_until`": ("deliver_until", "counts and delays of what receivers get after the next sample"),
    "`Simulation::sample`": ("sample|area|record|read", "samples and series"),
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
        # Methods stand in files of their own: accord_sim::ends::<impl accord_sim::engine::Simulation>::deliver.
        bare = re.sub(r"<impl ([^>]*)>", r"\1", function.split(" [")[0].partition(":")[2])
        sums[next(name for name, (pattern, _) in GROUPS.items() if re.search(pattern, bare))] += count
    for name, count in sums.items():
        found[name].append(count / hops)
print("| function | what |", " | ".join(WORKS), "|")
print("|---" * (2 + len(WORKS)) + "|")
for name, counts in found.items():
    what = GROUPS[name][1] if name in GROUPS else ""
    print(f"| {name} | {what} |", " | ".join(f"{c:.0f}" if c >= 0.5 else "–" for c in counts), "|")
