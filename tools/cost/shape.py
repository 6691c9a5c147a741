"""Measures the cost of a packet-hop by the number of flows, the length of paths and the load.

    cargo build --release
    python3 tools/cost/shape.py target/release/accord [--plot docs/src/images/cost.svg]
    python3 tools/cost/shape.py target/release/accord --only flows --pairs 1
    python3 tools/cost/shape.py target/release/accord --only monaco codel fq-codel

Prints the Markdown table of docs/src/performance.md. CPU time and packet-hops of each network are the
differences of two runs of the packet engine, the second of which lasts longer, so reading the scenario,
building the network and the page do not count. The median of --pairs pairs. --plot needs matplotlib. All
of it takes some ten minutes and 2 GB.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

FLOWS = [10, 100, 1000, 10_000, 100_000]
FEWER_FLOWS = [100, 1000, 10_000]
HOPS = [1, 10, 100]
LOADS = [1, 10, 50, 90, 100]


def many(flows, discipline="droptail", limit=20, controller="newreno"):
    """Flows of 4 Mbps on average over one bottleneck, each with its own access links."""
    return f"""
        [topology.dumbbell]
        rate = "{4 * flows} Mbps"
        delay = "18 ms"
        queue = {{ discipline = "{discipline}", limit = "{limit * flows} pkt" }}
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        controller = "{controller}"
        start = {{ uniform = ["0 s", "100 ms"] }}
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        egress = {{ rate = "100 Mbps", delay = "1 ms" }}
        """


def far(hops):
    """Ten flows over this number of consecutive links, 36 ms there and back."""
    links = "".join(
        f"""
        [link.l{k}]
        from = "n{k}"
        to = "n{k + 1}"
        rate = "100 Mbps"
        delay = "{18 / hops} ms"
        queue = {{ discipline = "droptail", limit = "500 pkt" }}
        """
        for k in range(hops)
    )
    nodes = ", ".join(f'"n{k}"' for k in range(hops + 1))
    return f"""
        nodes = [{nodes}]
        {links}
        [flow.a]
        count = 10
        from = "n0"
        to = "n{hops}"
        controller = "newreno"
        start = {{ uniform = ["0 s", "100 ms"] }}
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        egress = {{ rate = "100 Mbps", delay = "1 ms" }}
        """


def loaded(percent):
    """A hundred senders with individual rates, which together give this load of the bottleneck."""
    return f"""
        [topology.dumbbell]
        rate = "400 Mbps"
        delay = "18 ms"
        queue = {{ discipline = "droptail", limit = "2000 pkt" }}
        [flow.a]
        count = 100
        from = "left"
        to = "right"
        controller = "none"
        demand = {{ constant = "{4e6 * percent / 100:.0f} bps" }}
        start = {{ uniform = ["0 s", "100 ms"] }}
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        egress = {{ rate = "100 Mbps", delay = "1 ms" }}
        """


def run(program, place, text, seconds):
    """The CPU time and the packet-hops of a run."""
    file, out = os.path.join(place, "shape.toml"), os.path.join(place, "out")
    head = f'title = "Shape of the cost"\nduration = "{seconds} s"\nsample = "{seconds / 10} s"\n'
    pathlib.Path(file).write_text(head + text)
    command = [program, "run", file, "--engine", "packet", "--quiet", "--fresh", "-o", out]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(child.stderr.read().decode())
    manifest = json.loads(pathlib.Path(out, "manifest.json").read_text())
    return used.ru_utime + used.ru_stime, manifest["runs"][0]["packet_hops"]


def cost(program, pairs, text, first, last):
    """Nanoseconds of CPU per packet-hop, the median over this number of pairs of runs."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        for _ in range(pairs):
            (before, few), (after, more) = (run(program, place, text, s) for s in (first, last))
            found.append(1e9 * (after - before) / (more - few))
    return statistics.median(found)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--plot", metavar="FILE")
    arguments.add_argument("--only", nargs="+", choices=["flows", "links", "load", "monaco", "codel", "fq-codel"])
    arguments.add_argument("--pairs", type=int, default=3)
    asked = arguments.parse_args()
    kinds = [
        # A flow has about 2000 packet-hops per second.
        ("flows", "flows", FLOWS, many, lambda n: max(0.4, 10_000 / n)),
        ("links of a path", "links", HOPS, far, lambda k: max(10, 200 // k)),
        ("load, %", "load [%]", LOADS, loaded, lambda p: 2000 // p),
    ]
    plotted = len(kinds)
    others = [
        ("monaco, flows", lambda n: many(n, limit=60, controller="monaco")),
        ("codel, flows", lambda n: many(n, "codel", 40)),
        ("fq-codel, flows", lambda n: many(n, "fq-codel", 40)),
    ]
    kinds += [(name, "", FEWER_FLOWS, text, lambda n: max(1, 4000 / n)) for name, text in others]
    if asked.only:
        kinds = [kind for kind in kinds if kind[0].startswith(tuple(asked.only))]
    figures = []
    for name, _, values, text, seconds in kinds:
        costs = [cost(asked.program, asked.pairs, text(v), seconds(v), 2 * seconds(v)) for v in values]
        figures.append(costs)
        print(f"| {name} | " + " | ".join(f"{v:,}".replace(",", " ") for v in values) + " |")
        print("|---" * (len(values) + 1) + "|")
        print("| ns per packet-hop | " + " | ".join(f"{c:.1f}" for c in costs) + " |")
        print("| million per CPU-second | " + " | ".join(f"{1e3 / c:.0f}" for c in costs) + " |\n", flush=True)
    if asked.plot:
        plot(asked.plot, kinds[:plotted], figures)


def plot(file, kinds, figures):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "accord", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, len(kinds), figsize=(8, 2.6), sharey=True, squeeze=False, layout="constrained")
    axes = axes[0]
    for axis, (_, label, values, _, _), costs in zip(axes, kinds, figures):
        axis.plot(values, costs, marker="o")
        axis.set_xscale("log")
        axis.set_xlabel(label)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("ns of CPU per packet-hop")
    plt.savefig(file, metadata={"Date": None})


main()
