"""Queue and loss by the number of flows at a link of 1 Gbps, around buffers.toml and tunnel.toml of the page.

    python3 tools/studies/buffers.py flows                 five ways, 1 to 100 000 flows
    python3 tools/studies/buffers.py avd                   AVD where flows have few packets per round trip
    python3 tools/studies/buffers.py flows --plot FILE
"""

import argparse
import sys

from study import digits, drawn, percent, run, table

PIPE = 1250  # packets of 1000 bytes in a round trip of 10 ms
QUEUE = "topology.dumbbell.queue"


def point(flows, way, law="xia05"):
    """The last quarter of a run that begins near its equilibrium."""
    window = max(1, min(1000, round(PIPE / flows + (3 if way.startswith("droptail") else 0))))
    seconds = 4 if 100 < flows < 100_000 else 16
    if flows == 10_000 and way != "droptail":
        seconds = 2
    if way == "site":
        return run("tunnel.toml", sets=['duration="16 s"', 'steady=["12 s", "16 s"]', f"flow.f.count={flows}"])[0]
    sets = [f'duration="{seconds} s"', f'steady=["{0.75 * seconds} s", "{seconds} s"]', f"flow.f.count={flows}"]
    if way == "rem":
        start = max(2, window)
        sets += [f"{QUEUE}.discipline=rem", f'flow.f.controller={{ name = "vegas-rem", initial_window = "{start} pkt" }}']
    else:
        sets += [f"flow.f.controller.initial_window={window}", f"flow.f.controller.law={law}"]
    if way == "droptail-bdp":
        sets.append(f'{QUEUE}.limit="{PIPE} KB"')
    if way == "avd":
        sets.append(f"{QUEUE}.discipline=avd")
    return run("buffers.toml", sets=sets)[0]


def size(value):
    return f"{digits(value / 1e6)} MB" if value >= 1e6 else f"{digits(value / 1e3)} KB" if value >= 1e3 else f"{value:.0f} B"


def lost(found, link="bottleneck"):
    return percent(found.mean(link, "loss_ratio"), 1)


def by_flows(plot):
    rows = [("flows", "accumulations", "droptail", "droptail of 1.25 MB: queue", "lost", "AVD", "REM", "one site: queue", "its edge", "lost there")]
    lines = {name: [] for name in ("accumulations of 3 KB", "droptail", "AVD", "REM, Vegas/REM", "one site, in the network", "one site, at its edge")}
    for flows in (1, 10, 100, 1000, 10_000, 100_000):
        row = [f"{flows:,}".replace(",", " "), size(3000 * flows)]
        found = {}
        for way in ("droptail", "droptail-bdp", "avd", "rem", "site"):
            if flows < 100_000 or way == "droptail":
                found[way] = point(flows, way)
        queue = {way: p.mean("bottleneck", "backlog") for way, p in found.items()}
        row.append(size(queue["droptail"]))
        lines["droptail"].append((flows, queue["droptail"]))
        lines["accumulations of 3 KB"].append((flows, 3000 * flows))
        if len(found) > 1:
            edge = found["site"].measured("queue at the edge")
            drops = found["site"].measured("drops at the edge")
            arrived = 4 * found["site"].mean("f", "throughput") / 8000
            row += [size(queue["droptail-bdp"]), lost(found["droptail-bdp"]), size(queue["avd"]), size(queue["rem"])]
            row += [size(queue["site"]), size(edge), percent(drops / (drops + arrived), 1)]
            for name, value in zip(list(lines)[2:], (queue["avd"], queue["rem"], queue["site"], edge)):
                lines[name].append((flows, max(value, 100)))
        rows.append(row + ["–"] * (10 - len(row)))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)
    if plot:
        styles = ("--", "o-", "s-", "^-", "v-", "D:")
        named = [(name, points, style) for (name, points), style in zip(lines.items(), styles)]
        drawn(plot, "flows", "mean queue, bytes", named, log="xy", marks=((PIPE, "a packet per round trip"),))


def by_law():
    """A tenth of the link, so a run can last 30 s: AVD takes about 7 s to adapt its capacity."""
    rows = [("flows", "fair share, packets per round trip", "queue, `xia05`", "per flow", "data, of the link", "queue, `accord`", "per flow", "data, of the link")]
    for flows in (10, 30, 60, 100, 200, 400):
        row = [flows, digits(0.98 * PIPE / 10 / flows)]
        for law in ("xia05", "accord"):
            sets = ['duration="30 s"', 'steady=["15 s", "30 s"]', 'topology.dumbbell.rate="100 Mbps"', f"{QUEUE}.discipline=avd"]
            sets += [f"flow.f.count={flows}", f"flow.f.controller.law={law}", "flow.f.controller.initial_window=1"]
            (found,) = run("buffers.toml", sets=sets)
            queue = found.mean("bottleneck", "backlog")
            row += [size(queue), size(queue / flows), percent(found.mean("f", "throughput") / 1e8, 1)]
        rows.append(row)
        print(*row, file=sys.stderr, flush=True)
    table(*rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["flows", "avd"])
    parser.add_argument("--plot")
    asked = parser.parse_args()
    by_flows(asked.plot) if asked.what == "flows" else by_law()


main()
