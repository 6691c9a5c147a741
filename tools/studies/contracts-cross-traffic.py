"""Mean rates of one, two and four contracted sites beside other traffic."""

import sys

from study import digits, run, table

if sys.argv[1:] == ["bounds"]:
    rows = [("`max_delay` of AVD", "each of two sites beside CUBIC")]
    for bound in ("1 s", "200 ms", "50 ms", "20 ms"):
        # The 47th point: CUBIC, AVD, two sites. A name with a comma in it cannot be given.
        setting = f'sweep.queue.values."AVD, 250 KB"."topology.dumbbell.queue".max_delay="{bound}"'
        point, = run("contracts-cross-traffic", "--point", "47", sets=[setting])
        rows.append((bound, f"{digits(point.mean('site', 'throughput') / 1e6, 2)} Mbps"))
    table(*rows)
    raise SystemExit
points = run("contracts-cross-traffic")
queues = ("50 KB", "250 KB", "1250 KB", "AVD, 250 KB")
names = {"tunnel": "a tunnel without a contract", "constant": "a constant 25 Mbps", "newreno": "NewReno", "cubic": "CUBIC"}
rows = [("beside them", *queues)]
for cross, name in names.items():
    cells = [name]
    for queue in queues:
        found = [p for p in points if p.settings["cross"] == cross and p.settings["queue"] == queue]
        rates = {p.settings["sites"]: p.mean("site", "throughput") / 1e6 for p in found}
        cells.append(", ".join(f"{rates[sites]:.1f}" for sites in ("1", "2", "4")))
    rows.append(cells)
table(*rows)
