"""The part of a contract that remains on an access link that loses packets."""

from study import digits, run, table

PRINTED = ['flow.site.controller.loss="window"', 'flow.site.controller.recovery="packet"']

rows = [("lost", "site", "site, the papers' answer", "each of the others", "each of the others, the papers' answer")]
for loss in (0, 0.001, 0.01, 0.03):
    cells, others = [f"{100 * loss:g} %" if loss else "none"], []
    for sets in ([], PRINTED):
        (point,) = run("docs/examples/contract-loss.toml", "--reps", "4", sets=[f"flow.site.access.loss={loss}", *sets])
        row = point.row("site", "throughput")
        cells.append(f"{row['mean'] / 1e6:.2f} ± {row['half_width'] / 1e6:.2f} Mbps")
        others.append(f"{digits(point.mean('plain', 'throughput') / 1e6)} Mbps")
    rows.append((*cells, *others))
table(*rows)
