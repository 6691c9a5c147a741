"""Contracts of 130 Mbps on a link of 100 Mbps, with and without limits."""

from study import kb, mbps, run, table

LIMITS = ['flow.north.service.limit="30 KB"', 'flow.south.service.limit="60 KB"']
rows = [("", "north, 60 Mbps", "south, 70 Mbps", "rest", "queue", "lost")]
for name, sets in (("with limits", LIMITS), ("without limits", [])):
    point, = run("docs/examples/oversubscribed.toml", engine="theory,packet", sets=sets)
    # Without limits theory has no equilibrium.
    for engine in ("theory", "packet") if sets else ("packet",):
        rates = [mbps(point.mean(flow, "throughput", engine)) for flow in ("north", "south", "rest")]
        lost = f"{point.mean('bottleneck', 'drops'):.0f} packets" if engine == "packet" else "–"
        rows.append((f"{name}: {engine}", *rates, kb(point.mean("bottleneck", "backlog", engine)), lost))
table(*rows)
