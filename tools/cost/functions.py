"""Instructions per packet-hop by function, as a Markdown table.

    cargo build --release
    python3 tools/cost/functions.py target/release/accord

It needs valgrind, and takes two or three minutes. Names are those of callgrind_annotate, without files.
"""

import json
import re
import subprocess
import sys
import tempfile

WORKS = ("newreno-10", "newreno-250", "vegas-250")
GROUPS = {
    "`acknowledge`": (r"Engine::acknowledge|Core::reply|Sender|Controller>::on_ack", "acknowledgements at senders"),
    "`emit_data`": (r"Engine::(pump|emit|process)", "data that senders send, through their host and access link"),
    "`offer_all`": (r"Engine::(offer|enter|follow|pass_all|act$)", "ports, and the uncontended paths behind them"),
    "`answer_ahead`": ("answer_ahead|out_of_order", "receivers, and the paths of their answers"),
    "`advance`": (r"Sorter|Arrival|Engine::(run|advance)", "the loops over the parts of a window, and arrivals put in order"),
    "`Flow::deliver_until`": ("deliver_until", "counts and delays of data that arrives after the next sample"),
    "`Core::sample`": ("sample|area|record|read", "samples and series"),
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
        # Methods are in separate files: accord_sim::windows::ends::<impl accord_sim::windows::engine::Engine>::pump.
        bare = re.sub(r"<impl ([^>]*)>", r"\1", function.split(" [")[0].partition(":")[2])
        sums[next(name for name, (pattern, _) in GROUPS.items() if re.search(pattern, bare))] += count
    for name, count in sums.items():
        found[name].append(count / hops)
print("| function | what |", " | ".join(WORKS), "|")
print("|---" * (2 + len(WORKS)) + "|")
for name, counts in found.items():
    what = GROUPS[name][1] if name in GROUPS else ""
    print(f"| {name} | {what} |", " | ".join(f"{c:.0f}" if c >= 0.5 else "–" for c in counts), "|")
