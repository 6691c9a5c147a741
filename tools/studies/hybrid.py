"""Compares packets over a fluid with packets alone, in errors and cost.

    python3 tools/studies/hybrid.py errors
    python3 tools/studies/hybrid.py errors cubic codel      only rows with one of these
    python3 tools/studies/hybrid.py errors thousand         a thousand flows
    python3 tools/studies/hybrid.py small
    python3 tools/studies/hybrid.py deep
    python3 tools/studies/hybrid.py deep "three links"
    python3 tools/studies/hybrid.py vegas                   shares of Vegas over time
    python3 tools/studies/hybrid.py speed                   CPU times: on a quiet machine
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import resource
import statistics
import sys
import tempfile

from study import called, digits, kb, percent, run, table

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
LARGE = [(law, queue) for law in ("newreno", "cubic") for queue in ("droptail", "red", "codel")]
LARGE += [("vegas", "droptail"), ("monaco", "droptail")]
SEEDS = (1, 2, 3, 4, 5, 6)
FEWER = SEEDS[:3]
# Student's t at 95 % for the difference of two means.
STUDENT = {3: 2.78, 6: 2.23}


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


def one(network, *case, **settings):
    """A run of one seed."""
    link = "bottleneck" if network == "one link" else "hop1"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.toml"
        path.write_text(text(network, *case, **settings))
        point, = run(str(path))
    own, crowd = (point.mean(group, "throughput") for group in ("own", "crowd"))
    alike = case[2] if network == "one link" else case[2] // 2
    return {
        "rate": own,
        # Of all flows of their kind, which is of packets alone the better known rate of the ten.
        "all": (10 * own + alike * crowd) / (10 + alike),
        "queue": point.mean(link, "backlog"),
        "time": point.measured("completion"),
        "loss": point.measured("loss"),
    }


def both(*case, seeds=SEEDS, **settings):
    """What is measured over a fluid and among packets: means over the seeds, and errors with their chance."""
    forms = [(form, seed) for form in (True, False) for seed in seeds]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda way: one(*case, *way, **settings), forms))
    fluid, packets = runs[: len(seeds)], runs[len(seeds) :]
    means = [{name: statistics.mean(r[name] for r in form) for name in form[0]} for form in (fluid, packets)]
    errors = {}
    for name, beside in (("rate", "rate"), ("all", "rate"), ("time", "time")):
        # The rate of the packet flows is compared with that of all of their kind in "all".
        columns = [[r[beside] for r in fluid], [r[name] for r in packets]]
        variance = sum(statistics.variance(c) / len(c) / statistics.mean(c) ** 2 for c in columns)
        error = statistics.mean(columns[0]) / statistics.mean(columns[1]) - 1
        errors[name] = f"{percent(error, 1, sign=True)} ± {percent(STUDENT[len(seeds)] * variance**0.5, 1)}"
    return *means, errors


def errors(*words):
    """What packet flows get over a fluid, less what they get among packets."""
    rows = [("network", "flows", "law", "queue", "rate", "of all alike", "completion", "queue length", "lost")]
    cases = [(n, 100, law, queue) for n in NETWORKS for law in LAWS for queue in QUEUES]
    if "thousand" in words:
        cases = [("one link", 1000, law, queue) for law, queue in LARGE]
    for network, crowd, law, queue in cases:
        if words and not {network, law, queue, "thousand"} & set(words):
            continue
        seeds = SEEDS if crowd == 100 else FEWER
        fluid, packets, error = both(network, law, queue, crowd, seeds=seeds)
        length = " for ".join(kb(x["queue"]) for x in (fluid, packets))
        lost = " for ".join(percent(x["loss"], 2) for x in (fluid, packets))
        rows.append((network, crowd, f"`{law}`", f"`{queue}`", error["rate"], error["all"], error["time"], length, lost))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)


def small():
    """NewReno with windows of some eight packets."""
    rows = [("rate of a flow", "queue", "rate of the packet flows", "of all alike")]
    for mbps, queue in itertools.product((4, 2, 1), ("droptail", "red")):
        _, _, error = both("one link", "newreno", queue, 100, mbps=mbps)
        rows.append((f"{mbps} Mbps", f"`{queue}`", error["rate"], error["all"]))
    table(*rows)


def deep(*networks):
    """Flows that go by losses, with buffers of twice what their path holds, for five times as long."""
    rows = [("network", "law", "rate", "of all alike", "completion", "lost")]
    for network, law in itertools.product(networks or ["one link"], ("newreno", "cubic")):
        fluid, packets, error = both(network, law, "avd", 100, seeds=FEWER, times=5)
        lost = " for ".join(percent(x["loss"], 2) for x in (fluid, packets))
        rows.append((network, f"`{law}`", error["rate"], error["all"], error["time"], lost))
    table(*rows)


def vegas():
    """The rates of Vegas on three links as time goes on: how they start, and whether they move once they rest."""
    rows = [("time", "long flows", "flows of a link", "queue length")]
    for span in ((3, 5), (20, 40), (60, 80), (80, 100)):
        means = {}
        for fluid, seed in itertools.product((True, False), FEWER):
            found = text("three links", "vegas", "droptail", 100, fluid, seed)
            found = found.replace('duration = "40 s"', 'duration = "100 s"')
            found = found.replace('steady = ["15 s", "40 s"]', f'steady = ["{span[0]} s", "{span[1]} s"]')
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "case.toml"
                path.write_text(found)
                point, = run(str(path))
            values = [point.mean(group, "throughput") for group in ("crowd", "cross")] + [point.mean("hop1", "backlog")]
            means.setdefault(fluid, []).append(values)
        fluid, packets = ([statistics.mean(column) for column in zip(*means[form])] for form in (True, False))
        shown = [" for ".join(f"{digits(x / 1e6)}" for x in pair) + " Mbps" for pair in zip(fluid[:2], packets[:2])]
        rows.append((f"{span[0]} to {span[1]} s", *shown, " for ".join(kb(x) for x in (fluid[2], packets[2]))))
    table(*rows)


# Delays of hosts, by how many differ.
DELAYS = {
    "one": "",
    "each its own": 'access = { rate = "10 Gbps", delay = { spread = ["1 ms", "20 ms"] } }\n',
}
SPEED = """
title = "Speed"
duration = "10 s"
[topology.dumbbell]
rate = "{rate} Mbps"
delay = "20 ms"
queue = {{ discipline = "droptail", limit = "{limit} KB" }}
[flow.crowd]
count = {crowd}
record = "group"
from = "left"
to = "right"
controller = "monaco"
start = {{ uniform = ["0 s", "2 s"] }}
{access}{form}[flow.own]
count = 10
from = "left"
to = "right"
controller = "monaco"
start = {{ uniform = ["0 s", "2 s"] }}
"""


def taken(crowd, delays, form):
    """The CPU time of a run in seconds, its packet-hops, its classes and steps."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.toml"
        path.write_text(SPEED.format(rate=4 * crowd, limit=5 * crowd, crowd=crowd, access=DELAYS[delays], form=form))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        called("run", str(path), "-e", "packet", "--json", "-q", "-o", f"{folder}/out")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        made = json.loads((pathlib.Path(folder) / "out" / "manifest.json").read_text())["runs"][0]
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    notes = " ".join(made.get("notes", []))
    found = re.search(r"in (\d+) classes, in steps of (\S+) s", notes)
    classes, step = (int(found[1]), float(found[2])) if found else (0, 1.0)
    return cpu, made["packet_hops"], classes, round(10 / step)


def speed():
    """What ten seconds of a crowd take as packets and as a fluid."""
    rows = [("flows", "delays", "packet-hops", "CPU", "classes × steps", "packet-hops left", "CPU", "times faster")]
    cases = [(crowd, "one") for crowd in (100, 1000, 10_000, 100_000)]
    cases += [(crowd, "each its own") for crowd in (100, 1000)]
    for crowd, delays in cases:
        fluid = taken(crowd, delays, 'as = "fluid"\n')
        # A hundred thousand flows as packets take ten times what ten thousand do, and much of the memory.
        packets = taken(min(crowd, 10_000), delays, "")
        scale = crowd / min(crowd, 10_000)
        about = "about " if scale > 1 else ""
        cpu, hops = scale * packets[0], scale * packets[1]
        work = f"{fluid[2]} × {fluid[3]}"
        rows.append((
            crowd, delays, f"{about}{digits(hops / 1e6, 2)} million", f"{about}{digits(cpu, 2)} s", work,
            f"{digits(fluid[1] / 1e6, 2)} million", f"{digits(fluid[0], 2)} s", about + digits(cpu / fluid[0], 2),
        ))
    table(*rows)


if __name__ == "__main__":
    {"errors": errors, "small": small, "deep": deep, "vegas": vegas, "speed": speed}[sys.argv[1]](*sys.argv[2:])
