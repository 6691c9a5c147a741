"""Packets over a fluid beside packets alone: the same scenarios in both forms, and what it takes.

    python3 tools/studies/hybrid.py errors
    python3 tools/studies/hybrid.py errors cubic codel      only rows with one of these
    python3 tools/studies/hybrid.py small
    python3 tools/studies/hybrid.py deep
"""

import pathlib
import resource
import sys
import tempfile

from study import digits, kb, percent, run, table

# Limits are in packets that a flow has on a wire of 60 ms.
NETWORKS = {
    "one link": """
[topology.dumbbell]
rate = "{rate} Mbps"
delay = "20 ms"
queue = {queue}
[flow.crowd]
count = {crowd}
from = "left"
to = "right"
{flow}
[flow.own]
count = 10
from = "left"
to = "right"
{flow}
{transfers}
""",
    "three links": """
[topology.parking_lot]
bottlenecks = 3
rate = "{rate} Mbps"
delay = "10 ms"
queue = {queue}
[flow.crowd]
count = {half}
from = "r0"
to = "r3"
{flow}
[flow.cross]
count = {half}
each_hop = true
{flow}
[flow.own]
count = 10
from = "r0"
to = "r3"
{flow}
{transfers}
""",
}
FLOW = """controller = {law}
access = {{ rate = "1 Gbps", delay = {{ spread = ["1 ms", "20 ms"] }} }}
start = {{ uniform = ["0 s", "2 s"] }}
"""
TRANSFERS = """[flow.short]
count = 50
record = "group"
from = "{ends[0]}"
to = "{ends[1]}"
controller = "newreno"
demand = {{ size = "100 KB" }}
start = {{ uniform = ["{first} s", "{last} s"] }}
[[expect]]
name = "completion"
metric = "completion_time"
of = "short"
at_least = "0 s"
[[expect]]
name = "loss"
metric = "loss_ratio"
of = "{link}"
at_least = 0
"""
QUEUES = {
    "droptail": '{{ discipline = "droptail", limit = "{full} pkt" }}',
    "red": '{{ discipline = "red", min_threshold = "{low} pkt", max_threshold = "{half} pkt", limit = "{double} pkt" }}',
    "avd": '{{ discipline = "avd", limit = "{double} pkt" }}',
    "codel": '{{ discipline = "codel", limit = "{double} pkt" }}',
}
LAWS = {
    "newreno": '"newreno"',
    "cubic": '"cubic"',
    "vegas": '{ name = "vegas", base_rtt = "known" }',
    "monaco": '"monaco"',
}


# Rows with a thousand flows.
LARGE = [("newreno", "red"), ("monaco", "droptail")]
SEEDS = (1, 2, 3)


def text(network, law, queue, crowd, fluid, seed, mbps=4, times=1):
    flows = crowd + 10
    full = int(7.5 * mbps * flows)
    sizes = {"full": full, "low": full // 10, "half": full // 2, "double": 2 * full}
    one = network == "one link"
    ends, link = (("left", "right"), "bottleneck") if one else (("r0", "r3"), "hop1")
    found = NETWORKS[network].format(
        rate=mbps * flows, queue=QUEUES[queue].format(**sizes), crowd=crowd, half=crowd // 2,
        flow=FLOW.format(law=LAWS[law]), transfers=TRANSFERS.format(ends=ends, link=link, first=15 * times, last=35 * times))
    if fluid:
        for group in ("crowd", "cross"):
            found = found.replace(f"[flow.{group}]", f'[flow.{group}]\nas = "fluid"')
    head = f'title = "Hybrid"\nduration = "{40 * times} s"\nsteady = ["{15 * times} s", "{40 * times} s"]\nseed = {seed}\n'
    return head + found


def measured(network, *case, **settings):
    """Means over the seeds."""
    link = "bottleneck" if network == "one link" else "hop1"
    sums = dict.fromkeys(["rate", "queue", "time", "loss", "cpu"], 0.0)
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "case.toml"
            path.write_text(text(network, *case, seed, **settings))
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            point, = run(str(path))
            sums["cpu"] += resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            sums["rate"] += point.mean("own", "throughput")
            sums["queue"] += point.mean(link, "backlog")
            sums["time"] += point.measured("completion")
            sums["loss"] += point.measured("loss")
    return {name: value / len(SEEDS) for name, value in sums.items()}


def errors(*words):
    """What packet flows get over a fluid, less what they get among packets."""
    rows = [("network", "flows", "law", "queue", "rate", "completion", "queue length", "lost")]
    cases = [(n, 100, law, queue) for n in NETWORKS for law in LAWS for queue in QUEUES]
    cases += [("one link", 1000, law, queue) for law, queue in LARGE]
    for network, crowd, law, queue in cases:
        if words and not {network, law, queue} & set(words):
            continue
        fluid, packets = (measured(network, law, queue, crowd, form) for form in (True, False))
        error = [percent(fluid[name] / packets[name] - 1, 1, sign=True) for name in ("rate", "time")]
        length = " for ".join(kb(x["queue"]) for x in (fluid, packets))
        lost = " for ".join(percent(x["loss"], 2) for x in (fluid, packets))
        rows.append((network, crowd, f"`{law}`", f"`{queue}`", *error, length, lost))
        print(*rows[-1], digits(packets["cpu"] / fluid["cpu"], 2), file=sys.stderr, flush=True)
    table(*rows)


def small():
    """NewReno with windows of some eight packets."""
    rows = [("rate of a flow", "queue", "rate of the packet flows")]
    for mbps in (4, 2, 1):
        for queue in ("droptail", "red"):
            fluid, packets = (measured("one link", "newreno", queue, 100, form, mbps=mbps) for form in (True, False))
            rows.append((f"{mbps} Mbps", f"`{queue}`", percent(fluid["rate"] / packets["rate"] - 1, 1, sign=True)))
    table(*rows)


def deep():
    """Flows that go by losses, with buffers of twice what their path holds, for five times as long."""
    rows = [("law", "rate", "completion", "lost")]
    for law in ("newreno", "cubic"):
        fluid, packets = (measured("one link", law, "avd", 100, form, times=5) for form in (True, False))
        error = [percent(fluid[name] / packets[name] - 1, 1, sign=True) for name in ("rate", "time")]
        lost = " for ".join(percent(x["loss"], 2) for x in (fluid, packets))
        rows.append((f"`{law}`", *error, lost))
    table(*rows)


if __name__ == "__main__":
    {"errors": errors, "small": small, "deep": deep}[sys.argv[1]](*sys.argv[2:])
