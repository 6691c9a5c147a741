"""Mean rates of one, two and four contracted sites alongside other traffic."""

from study import digits, run, table

points = run("contracts-cross-traffic")
queues = ("50 KB", "250 KB", "1250 KB", "AVD, 250 KB")
names = {"tunnel": "a tunnel without a contract", "constant": "a constant 25 Mbps", "newreno": "NewReno", "cubic": "CUBIC"}
rows = [("other traffic", *queues)]
for cross, name in names.items():
    cells = [name]
    for queue in queues:
        found = [p for p in points if p.settings["cross"] == cross and p.settings["queue"] == queue]
        rates = {p.settings["sites"]: p.mean("site", "throughput") / 1e6 for p in found}
        cells.append(", ".join(f"{rates[sites]:.1f}" for sites in ("1", "2", "4")))
    rows.append(cells)
table(*rows)
