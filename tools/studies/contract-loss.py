"""What is left of a contract on an access link that loses packets, over four seeds."""

from study import digits, run, table

WAYS = {"default": [], '`recovery = "packet"`': ['flow.site.controller.recovery="packet"']}
rows = [("lost", *(f"site, {way}" for way in WAYS), "each of the others")]
for loss in (0, 0.001, 0.01):
    cells = [f"{100 * loss:g} %" if loss else "none"]
    for sets in WAYS.values():
        point, = run("docs/examples/contract-loss.toml", "--reps", "4", sets=[f"flow.site.access.loss={loss}", *sets])
        row = point.row("site", "throughput")
        cells.append(f"{row['mean'] / 1e6:.2f} ± {row['half_width'] / 1e6:.2f} Mbps")
        if not sets:
            others = f"{digits(point.mean('plain', 'throughput') / 1e6)} Mbps"
    rows.append((*cells, others))
table(*rows)
