"""Utilisation with lost control packets, over eight seeds. Reads lossy.toml of the page."""

from study import run, table

rows = [("each control packet lost with probability", "utilisation, 4-10 s")]
for loss in (0.1, 0.3, 0.5):
    point, = run("lossy.toml", "--reps", "8", sets=[f"topology.dumbbell.control_loss={loss}"])
    row = point.row("bottleneck", "utilisation")
    rows.append((loss, f"{row['mean']:.3f} ± {row['half_width']:.3f}"))
table(*rows)
