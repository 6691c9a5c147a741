"""Monaco over five routers, with four near and four far flows, 4 ms."""

import sys

from study import digits, kb, percent, run, table

points = run("monaco-one-fifo")
if sys.argv[1:] == ["long"]:
    point, = [p for p in points if p.settings == {"router": "small", "delay": "80 ms", "pairs": "1"}]
    table(("three flows at 80 ms over one queue of 20 KB", ""), ("the link is used", percent(point.mean("bottleneck", "utilisation"))))
    raise SystemExit
names = {"two-queues": "two queues", "one-fifo": "one of 200 KB", "small": "one of 20 KB", "red": "one, RED", "avd": "one, AVD"}
rows = [("router", "contracted", "near", "far", "queued by a near flow", "its estimate", "queue", "lost per s", "link used")]
for router, name in names.items():
    point, = [p for p in points if p.settings == {"router": router, "delay": "4 ms", "pairs": "4"}]
    rates = [f"{digits(point.mean(of, 'throughput') / 1e6)} Mbps" for of in ("contracted", "near", "far")]
    estimate = point.mean("near", "accumulation_estimate")
    rows.append((
        name, *rates, kb(point.mean("near", "accumulation"), 2), f"{estimate:.0f} B" if estimate < 1000 else kb(estimate, 2),
        kb(point.mean("bottleneck", "backlog"), 3), f"{point.mean('bottleneck', 'drops') / 40:.0f}", percent(point.mean("bottleneck", "utilisation")),
    ))
table(*rows)
