"""The flow of a weight by accumulation and by MulTCP: its rate over the mean of the others."""

from study import digits, kb, run, table

points = run("har02-multcp")


def cells(scheme, weight, paths, whole=True):
    point, = [p for p in points if p.settings == {"scheme": scheme, "weight": str(weight), "paths": paths}]
    ratio = digits(point.mean("weighted", "throughput") / point.mean("plain", "throughput"))
    return [ratio, point.largest_loss, kb(point.mean("bottleneck", "backlog"))] if whole else [ratio]


rows = [("weight", "accumulation", "loss", "queue", "MulTCP", "loss", "queue", "accumulation, paths of Har02", "MulTCP, paths of Har02")]
for point in points:
    loss = {n: c["measured"] for (_, n), c in point.checks.items() if "losses" in n}
    point.largest_loss = f"{max(loss.values()):.0f} packets"
for weight in (1, 3, 10, 30, 100):
    rows.append((weight, *cells("accumulation", weight, "equal"), *cells("multcp", weight, "equal"),
                 *cells("accumulation", weight, "har02", False), *cells("multcp", weight, "har02", False)))
table(*rows)
