#!/usr/bin/env python3
"""Laws of Monaco on networks that nobody chose: dumbbells and parking lots drawn at random.

    tools/law/drawn.py [--laws printed,accord] [--accord PROGRAM] [--seed N] [--count N] [--json FILE] [--each]

A network has 10 to 1000 Mbps, round trips of 2 to 200 ms (both even in the logarithm), 1 to 30 flows in
up to three groups, and in two cases of three a constant sender with up to 95 % of the first link. The
seed of the draw is fixed; it has nothing to do with the seed of the runs. A buffer holds 100 packets and
half as much again as the flows' targets fill. Flows start within 3 s. A run has 60 s.

- variation: standard deviation over mean of the queue of a bottleneck in samples of 50 ms, 40 to 60 s
- error: the sum over flows of |rate - theory| over the sum of theory, 40 to 60 s
- settled: the time after which that sum stays below 15 % in every second
- lost: packets dropped

It prints a Markdown table.
"""

import argparse
import csv
import json
import random
import subprocess
import tempfile

DURATION, STEADY, SAMPLE = 60, 40, 0.05
RESTS, CLOSE, SETTLED, SOON = 0.1, 0.05, 0.15, 10


def draw(rng):
    """A network: what the scenario is made of."""
    hops = rng.choice([1, 1, 2, 3])
    rate = 10 ** rng.uniform(1, 3)
    groups = rng.randint(1, 3)
    rtts = [2 * 100 ** rng.random() for _ in range(groups)]
    counts = [1] * groups
    for _ in range(rng.randint(1, 30) - groups):
        counts[rng.randrange(groups)] += 1
    routes = [(0, hops)] + [(h, h + 1) for h in (rng.randrange(hops) for _ in range(groups - 1))]
    constant = rng.choice([0, 1, 1]) * rng.uniform(0, 0.95)
    return dict(hops=hops, rate=rate, rtts=rtts, counts=counts, routes=routes, constant=constant)


def scenario(net, law):
    buffer = 100 + 4.5 * sum(net["counts"]) / (1 - net["constant"])
    text = f"""duration = "{DURATION} s"
sample = "{SAMPLE} s"
steady = ["{STEADY} s", "{DURATION} s"]
[topology.parking_lot]
bottlenecks = {net["hops"]}
rate = "{net["rate"]:.3f} Mbps"
delay = "0.1 ms"
queue = {{ discipline = "droptail", limit = "{buffer:.0f} pkt" }}
"""
    for i, (rtt, count, (first, last)) in enumerate(zip(net["rtts"], net["counts"], net["routes"])):
        text += f"""[flow.f{i}]
from = "r{first}"
to = "r{last}"
count = {count}
start = {{ uniform = ["0 s", "3 s"] }}
access = {{ rate = "10 Gbps", delay = "{rtt / 2 - 0.1 * (last - first):.4f} ms" }}
controller = {{ name = "monaco", {law} }}
"""
    if net["constant"] > 0:
        text += f"""[flow.constant]
from = "r0"
to = "r1"
controller = "none"
demand = {{ constant = "{net["constant"] * net["rate"]:.4f} Mbps" }}
"""
    return text


def run(program, net, law):
    """What came out: the series by engine, metric and entity."""
    with tempfile.TemporaryDirectory() as out:
        path = f"{out}/drawn.toml"
        with open(path, "w") as file:
            file.write(scenario(net, law))
        done = subprocess.run([program, "run", path, "-e", "theory,packet", "-q", "--csv", "-o", f"{out}/run"], capture_output=True, text=True)
        series = {}
        try:
            with open(f"{out}/run/series.csv") as file:
                for row in csv.reader(file):
                    if row[4] in ("throughput", "backlog", "drops"):
                        series.setdefault((row[1], row[4], row[3]), []).append(float(row[7] or 0))
        except FileNotFoundError:
            raise SystemExit(done.stderr + scenario(net, law))
    return series


def judge(series):
    """Variation, error, settling time and losses of a run."""
    first = int(STEADY / SAMPLE)
    flows = [e for s, m, e in series if s == "packet" and m == "throughput" and e.startswith("f") and "." in e]
    flows = flows or [e for s, m, e in series if s == "packet" and m == "throughput" and e.startswith("f")]
    theory = {f: series["theory", "throughput", f][-1] for f in flows}
    total = sum(theory.values())

    def off(a, b):
        return sum(abs(sum(series["packet", "throughput", f][a:b]) / (b - a) - theory[f]) for f in flows) / total

    variation = 0
    for (engine, metric, link), backlog in series.items():
        bottleneck = engine == "packet" and metric == "backlog" and series["theory", "backlog", link][-1] > 0
        if bottleneck:
            last = backlog[first:]
            mean = sum(last) / len(last)
            variation = max(variation, (sum((b - mean) ** 2 for b in last) / len(last)) ** 0.5 / mean if mean else 9.0)
    second = int(1 / SAMPLE)
    bad = [t for t in range(DURATION) if off(t * second, (t + 1) * second) > SETTLED]
    lost = sum(sum(v) for (engine, metric, _), v in series.items() if engine == "packet" and metric == "drops")
    return dict(variation=variation, error=off(first, int(DURATION / SAMPLE)), settled=bad[-1] + 1 if bad else 0, lost=lost)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laws", default="printed,accord")
    parser.add_argument("--accord", default="target/release/accord")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--json")
    parser.add_argument("--each", action="store_true", help="print every network")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    nets = [draw(rng) for _ in range(options.count)]
    kept = {}
    for law in options.laws.split(","):
        words = law if "=" in law else f'law = "{law}"'
        kept[law] = found = []
        for i, net in enumerate(nets):
            found.append(judge(run(options.accord, net, words)))
            if options.each:
                f = found[-1]
                shape = f"{net['hops']} hops {net['rate']:5.0f} Mbps {'/'.join(f'{c}x{r:.0f}' for c, r in zip(net['counts'], net['rtts']))} ms, {net['constant']:.0%} constant"
                print(f"{law} {i:2} {f['variation']:6.2f} {f['error']:7.1%} {f['settled']:3} s {f['lost']:6.0f}  {shape}", flush=True)
    def row(name, value):
        print(f"| {name} | " + " | ".join(str(value(found)) for found in kept.values()) + " |")

    def quantiles(key, form):
        """The median and nine of ten."""

        def value(found):
            ordered = sorted(f[key] for f in found)
            return " and ".join(form.format(ordered[int(part * (len(ordered) - 1))]) for part in (0.5, 0.9))

        return value

    print(f"| of {options.count} networks | " + " | ".join(f"`{law}`" if "=" in law else law for law in kept) + " |")
    print("|---" * (1 + len(kept)) + "|")
    row(f"queue varies by less than {RESTS}", lambda found: sum(f["variation"] < RESTS for f in found))
    row("rates within 5 % of theory in the mean", lambda found: sum(f["error"] < CLOSE for f in found))
    row(f"settled in {SOON} s", lambda found: sum(f["settled"] <= SOON for f in found))
    row("nothing lost", lambda found: sum(f["lost"] == 0 for f in found))
    row("packets lost", lambda found: f"{sum(f['lost'] for f in found):.0f}")
    row("variation of the queue, median and nine of ten", quantiles("variation", "{:.3f}"))
    row("settling time, median and nine of ten", quantiles("settled", "{} s"))
    row("error, median and nine of ten", lambda found: quantiles("error", "{:.1%}")(found).replace("%", " %"))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(dict(nets=nets, laws=kept), file)


if __name__ == "__main__":
    main()
