"""Rates of tunnels between gateways, compared with their targets.

Words after the name of a table go to its runs. So a short trial is
python3 tools/studies/sites.py beside --set 'duration="6 s"' --set 'steady=["3 s", "6 s"]'
"""

import sys

import study
from study import digits, percent, table


QUEUES = {"fifo": "one FIFO queue", "EF-first": "EF first", "red": "RED", "fq-codel": "FQ-CoDel"}


def run(scenario, *options, **how):
    return study.run(scenario, *options, *sys.argv[2:], **how)


def mbps(point, group, engine="packet"):
    return digits(point.mean(group, "throughput", engine) / 1e6, 3)


def shares():
    """Tunnels a, b and c with other traffic, by queue."""
    points = run("sites")
    beside = {"none": "nothing", "cubic": "CUBIC", "bbr": "BBR"}
    rows = [("bottleneck", "beside the tunnels", "a", "b", "c", "beside")]
    for queue, name in QUEUES.items():
        for cross, other in beside.items():
            point, = (p for p in points if p.settings["queue"] == queue and p.settings["cross"] == cross)
            rate = mbps(point, "cross") if cross != "none" else "–"
            rows.append((name, other, *(mbps(point, site) for site in "abc"), rate))
    table(*rows)


def capacity():
    """Tunnels with 12 Mbps available for contracts of 15."""
    rows = [("limit of each tunnel", "a", "b", "c", "lost packets")]
    for point in run("sites-capacity"):
        lost = digits(point.mean("core", "drops"), 2)
        rows.append((point.settings["limit"], *(mbps(point, site) for site in "abc"), lost))
    table(*rows)


def lie():
    """The receiver's report on a tunnel that claims more weight than agreed."""
    rows = [("weight in use", "c gets", "the receiver reports", "a", "b")]
    for point in run("sites-lie"):
        queued = digits(point.mean("c", "accumulation_estimate") / 1e3, 3)
        rows.append((point.settings["weight"], mbps(point, "c"), f"{queued} KB", mbps(point, "a"), mbps(point, "b")))
    table(*rows)


def path():
    """Tunnels on a path that has become 30 ms longer."""
    rows = [("signal", "a, EF first", "b, EF first", "a, one FIFO queue", "b, one FIFO queue")]
    points = run("sites-path")
    for signal in ("auto", "pairs", "delay"):
        cells = []
        for router in ("EF-first", "fifo"):
            point, = (p for p in points if p.settings["signal"] == signal and p.settings["router"] == router)
            cells += [mbps(point, "a"), mbps(point, "b")]
        rows.append((f"`{signal}`", *cells))
    table(*rows)


def web():
    """A backup beside the web users of another site."""
    rows = [("gateways", "the backup, 2 flows", "web users", "6 other flows")]
    for point in run("sites-web"):
        both = digits(2 * point.mean("backup", "throughput") / 1e6, 3)
        rest = digits(6 * point.mean("bulk", "throughput") / 1e6, 3)
        rows.append((point.settings["gateways"], both, mbps(point, "web"), rest))
    table(*rows)


# The control packets of real gateways.
REAL = [f'flow.{site}.control="140 B"' for site in "abc"]


def live():
    """The rates of tunnels in packets and between real gateways."""
    runs = [run("sites", "--point", "cross=none", engine="packet,live", sets=REAL) for _ in range(2)]
    rows = [("bottleneck", "", "packet", "live", "live against packet")]
    for points in zip(*runs):
        first = True
        for of, quantity, name, scale in (
            ("a", "throughput", "a, Mbps", 1e6),
            ("b", "throughput", "b, Mbps", 1e6),
            ("c", "throughput", "c, Mbps", 1e6),
            ("core", "backlog", "queue, KB", 1e3),
        ):
            packet = points[0].mean(of, quantity)
            both = [point.mean(of, quantity, "live") for point in points]
            shown = ", ".join(digits(value / scale) for value in both)
            apart = ", ".join(percent(value / packet - 1, 1, sign=True) for value in both)
            bottleneck = QUEUES[points[0].settings["queue"]] if first else ""
            rows.append((bottleneck, name, digits(packet / scale), shown, apart))
            first = False
    table(*rows)


def compared(scenario, head, sites, *options, sets):
    """Rows of packets, of six seeds, and of one live run, for each point of a scenario."""
    packets = run(scenario, *options, "--reps", "6", sets=sets)
    lives = run(scenario, *options, engine="live", sets=sets)
    gap = ["–"] * (3 - len(sites))
    rows = []
    for packet, live in zip(packets, lives):
        found = [packet.row(site, "throughput") for site in sites]
        cells = [f"{digits(r['mean'] / 1e6)} ± {digits(r['half_width'] / 1e6, 2)}" for r in found]
        rows.append((*head(packet.settings), "packet", *cells, *gap))
        rows.append(("", "", "live", *(mbps(live, site, "live") for site in sites), *gap))
    return rows


def beside():
    """The same beside other traffic, where packets differ from seed to seed."""
    rows = [("bottleneck", "beside the tunnels", "", "a", "b", "c")]
    for cross, other in (("cubic", "CUBIC"), ("bbr", "BBR")):
        rows += compared("sites", lambda at: (QUEUES[at["queue"]], other), "abc", "--point", f"cross={cross}", sets=REAL)
    table(*rows)


def changes():
    """The same with a change, or with a site that lies."""
    rows = [("scenario", "point", "", "a", "b", "c")]
    for scenario in ("sites-capacity", "sites-path", "sites-lie"):
        sites = "ab" if scenario == "sites-path" else "abc"
        head = lambda at: (f"`{scenario}`", ", ".join(f"{name} {value}" for name, value in at.items()))
        rows += compared(scenario, head, sites, sets=REAL[:len(sites)])
    table(*rows)


{"live": live, "changes": changes, "beside": beside, "shares": shares, "capacity": capacity, "lie": lie, "path": path, "web": web}[sys.argv[1]]()
