"""Linux's BBR over our router, and ours in packets: the table of models/bbr1.md. Needs root."""

from study import digits, kb, mbps, percent, run, table

point, = run("docs/examples/kernel-bbr.toml", engine="packet,live")
rows = [("figure", "packets", "Linux", "deviation")]
for name, of, quantity, shown in (
    ("throughput", "a", "throughput", mbps), ("round-trip time", "a", "rtt", lambda v: f"{digits(1000 * v)} ms"),
    ("backlog", "bottleneck", "backlog", kb), ("window", "a", "cwnd", kb),
):
    ours, linux = (point.mean(of, quantity, engine) for engine in ("packet", "live"))
    rows.append((name, shown(ours), shown(linux), percent(linux / ours - 1, 1, sign=True)))
table(*rows)
