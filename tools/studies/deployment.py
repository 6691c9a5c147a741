"""Four links in a row, of which more and more have priorities or AVD, around deploy.toml of the page.

    python3 tools/studies/deployment.py priorities      priorities, one link after the other
    python3 tools/studies/deployment.py avd             AVD, where the other links have priorities
    python3 tools/studies/deployment.py avd-fifo        AVD, where the other links have one FIFO queue
    python3 tools/studies/deployment.py avd-held        the same with holds_physical
    python3 tools/studies/deployment.py order           two links of four, by place
    python3 tools/studies/deployment.py priorities --plot FILE      all ways in one picture, of one seed
"""

import argparse

from study import digits, drawn, kb, kbps, mbps, run, table

LINKS = range(1, 5)
FIFO = "topology.parking_lot.control_priority=false"
WAYS = {
    "priorities": (FIFO, "link.hop{}.control_priority=true"),
    "avd": ("topology.parking_lot.control_priority=true", "link.hop{}.queue.discipline=avd"),
    "avd-fifo": (FIFO, "link.hop{}.queue.discipline=avd"),
    "avd-held": (
        "topology.parking_lot.control_priority=true",
        "link.hop{}.queue={{ discipline = \"avd\", limit = \"60 KB\", holds_physical = true }}",
    ),
}


def measured(way, places, seeds=3):
    """The point with these links changed, as means of some seeds."""
    all_, one = WAYS[way]
    (point,) = run("deploy.toml", "--reps", str(seeds), sets=[all_, *(one.format(i) for i in places)])
    return point


def mean(point, links, quantity):
    values = [point.mean(f"hop{i}", quantity) for i in links]
    return sum(values) / len(values) if values else None


def cells(point, places):
    others = [i for i in LINKS if i not in places]
    drops = sum(point.mean(f"hop{i}", "drops") for i in LINKS) / 30
    long = point.row("long", "throughput")
    rate = mbps if long["mean"] >= 1e6 else kbps
    width = f" ± {digits(long['half_width'] / 1e3, 2)} Kbps"
    queues = [mean(point, links, "backlog") for links in (places, others)]
    return (
        rate(long["mean"]) + width, f"{1e3 * point.mean('long', 'rtt'):.1f} ms", mbps(point.mean("short", "throughput")),
        *("–" if queue is None else kb(queue) for queue in queues), f"{drops:.0f}",
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=[*WAYS, "order"])
    parser.add_argument("--plot")
    asked = parser.parse_args()
    if asked.plot:
        names = ("priorities in place of FIFO", "AVD in place of priorities", "AVD in place of FIFO", "AVD with holds_physical")
        lines = []
        for (way, name), style in zip(zip(WAYS, names), ("o-", "s-", "^-", "v--")):
            rates = [measured(way, range(1, n + 1), 1).mean("long", "throughput") / 1e6 for n in range(5)]
            lines.append((name, list(enumerate(rates)), style))
        fair = [(0, 20 / 14), (4, 20 / 14)]
        drawn(asked.plot, "links changed, of four", "rate of a long flow, Mbps", [*lines, ("fair share", fair, "--")],
              ends={"ylim": (0, 1.6), "xticks": range(5)})
        return
    head = ("a long flow", "its round trip", "a short flow", "queue of a changed link", "of another", "lost per s, all links")
    if asked.what == "order":
        rows = [("changed links", *head)]
        for places in ((1, 2), (3, 4), (1, 4), (2, 4)):
            rows.append((f"{places[0]} and {places[1]}", *cells(measured("priorities", places), places)))
    else:
        rows = [("changed links", *head)]
        for count in range(5):
            places = range(1, count + 1)
            rows.append((count, *cells(measured(asked.what, places), places)))
    table(*rows)


main()
