"""Our CUBIC and the kernel's behind RED (red), and behind droptail (droptail, delays). Needs root."""

import sys

from study import digits, run, table

NAMES = {"ours": "ours", "the kernel's": "the kernel's", "kernel and ours": "the kernel's alongside ours"}
DROPTAIL = 'topology.dumbbell.queue={ discipline = "droptail", limit = "1 BDP" }'


def both(point, engine):
    rates = [digits(point.mean(flow, "throughput", engine) / 1e6) for flow in "ab"]
    again = [f"{point.mean(flow, 'retransmissions', engine):.0f}" for flow in "ab"]
    return f"{' and '.join(rates)} Mbps", f"{1000 * point.mean('a', 'rtt', engine):.1f} ms", " and ".join(again)


def who(sets):
    rows = [("", "throughput of both", "round-trip time", "packets sent again")]
    for point in run("docs/examples/kernel-cubic.toml", engine="packet,live", sets=sets):
        name = point.settings["who"]
        for engine in ("packet", "live") if name == "ours" else ("live",):
            rows.append((f"{NAMES[name]}, {engine}", *both(point, engine)))
    table(*rows)


def delays():
    rows = [("access delay, kernel's and ours", "throughput of both", "round-trip time", "packets sent again")]
    for kernel, ours in (("1.2", "1.2"), ("1.1", "1.1"), ("1.3", "1.3"), ("0.9", "1"), ("0.8", "1"), ("0.7", "1")):
        sets = [DROPTAIL, f'flow.a.access.delay="{kernel} ms"', f'flow.b.access.delay="{ours} ms"']
        point, = run("docs/examples/kernel-cubic.toml", "--point", "3", engine="live", sets=sets)
        rows.append((f"{kernel} ms and {ours} ms", *both(point, "live")))
    table(*rows)


{"red": lambda: who([]), "droptail": lambda: who([DROPTAIL]), "delays": delays}[sys.argv[1]]()
