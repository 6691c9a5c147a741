"""The set around which Vegas circulates, around circle.toml of the page.

    python3 tools/studies/vegas-set.py set       the swing of the queue by target and number of flows
    python3 tools/studies/vegas-set.py cases     by delay, spread of delays, engine and distance of the thresholds
    python3 tools/studies/vegas-set.py step      Low02 §2.5: targets of α/γ
    python3 tools/studies/vegas-set.py set --plot FILE
"""

import argparse
import statistics

from study import digits, drawn, percent, run, table

AT = "flow.f.controller."


def point(flows=4, alpha=4, beta=None, trip=40, engine="packet", more=()):
    sets = [
        f"flow.f.count={flows}", f'topology.dumbbell.rate="{5 * flows} Mbps"', f'topology.dumbbell.delay="{trip / 2 - 1} ms"',
        f'{AT}alpha="{alpha} pkt"', f'{AT}beta="{beta or alpha} pkt"', *more,
    ]
    return run("circle.toml", engine=engine, sets=sets)[0]


def per_flow(found, flows, engine="packet"):
    """The mean of the queue and its standard deviation, in packets per flow."""
    queue = found.mean("bottleneck", "backlog", engine) / 1000 / flows
    return queue, queue * found.measured("swing of the queue", engine)


def model(alpha, trips=(20, 40, 80, 160), rate=2.5):
    """The same of Low02's eqs. 16 to 19, with a flow per base round-trip time, in steps of 1 ms; packets and ms."""
    price, windows, seen = 0.0, [5.0, 10.0, 20.0, 40.0], []
    for step in range(40_000):
        rates = [w / (d + price) for w, d in zip(windows, trips)]
        signs = [(alpha > x * price) - (alpha < x * price) for x in rates]
        windows = [w + sign / (d + price) for w, sign, d in zip(windows, signs, trips)]
        price = max(price + (sum(rates) - rate) / rate, 0)
        if step >= 20_000:
            seen.append(price * rate / len(trips))
    return statistics.mean(seen), statistics.pstdev(seen)


def by_target(plot):
    counts, lines = (1, 4, 16, 64), {}
    rows = [("target", *(f"{n} flow{'s' if n > 1 else ''}" for n in counts), "used, 4 flows", "the fluid", "eqs. 16 to 19")]
    for alpha in (1, 2, 4, 8, 16):
        found = {n: point(n, alpha) for n in counts}
        swings = [per_flow(p, n)[1] for n, p in found.items()]
        fluid = per_flow(point(alpha=alpha, engine="fluid"), 4, "fluid")[1]
        cells = [f"{swing:.2f}" for swing in swings]
        used = percent(found[4].mean("bottleneck", "utilisation"), 1)
        rows.append((f"{alpha} packets", *cells, used, f"{fluid:.2f}", f"{model(alpha)[1]:.2f}"))
        for name, swing in zip([f"packets, {n} flows" for n in counts] + ["fluid", "eqs. 16 to 19"], [*swings, fluid, model(alpha)[1]]):
            lines.setdefault(name, []).append((alpha, swing))
    table(*rows)
    if plot:
        named = [(name, points, style) for (name, points), style in zip(lines.items(), ("o-", "s-", "^-", "v-", "--", ":"))]
        drawn(plot, "target α, packets", "standard deviation of the queue,\npackets per flow", named, log="x", ends={"ylim": (0, 2)})


def by_case():
    spread = 'flow.f.access.delay={{ spread = ["1 ms", "{} ms"] }}'
    cases = [
        ("round trip of 10 ms", 4, {"trip": 10}),
        ("40 ms", 4, {}),
        ("80 ms", 4, {"trip": 80}),
        ("160 ms", 4, {"trip": 160}),
        ("16 flows, 40 to 60 ms", 16, {"more": [spread.format(11)]}),
        ("16 flows, 40 to 160 ms", 16, {"more": [spread.format(61)]}),
        ("α = 3, β = 4", 4, {"alpha": 3, "beta": 4}),
        ("α = 3, β = 5", 4, {"alpha": 3, "beta": 5}),
        ("α = 2, β = 4", 4, {"alpha": 2, "beta": 4}),
        ("α = 1, β = 3, the defaults", 4, {"alpha": 1, "beta": 3}),
        ("16 flows, α = 1, β = 3", 16, {"alpha": 1, "beta": 3}),
    ]
    rows = [("case", "queue, packets per flow", "its standard deviation", "that of a window, packets")]
    for name, flows, more in cases:
        found = point(flows, **more)
        queue, swing = per_flow(found, flows)
        window = found.mean("f", "cwnd") / 1000 * found.measured("swing of a window")
        rows.append((name, f"{queue:.2f}", f"{swing:.2f}", f"{window:.2f}"))
    table(*rows)


def by_step():
    rows = [("γ", "target α/γ", "queue, packets per flow", "its standard deviation", "over the mean", "the late flow's rate over its share after 2 s", "5 s", "10 s", "20 s")]
    for gamma in (1, 2, 4, 8, 16):
        found = run("late.toml", sets=[f'flow.{g}.controller.{k}="{2 * gamma} pkt"' for g in ("f", "late") for k in ("alpha", "beta")])[0]
        queue = found.mean("bottleneck", "backlog") / 1000 / 5
        swing = found.measured("swing of the queue")
        after = [found.measured(f"late after {s} s") / 5e6 for s in (2, 5, 10, 20)]
        rows.append((f"1/{gamma}" if gamma > 1 else "1", f"{2 * gamma} packets", f"{queue:.2f}", f"{queue * swing:.2f}", percent(swing), *map(digits, after)))
    table(*rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["set", "cases", "step"])
    parser.add_argument("--plot")
    asked = parser.parse_args()
    if asked.what == "set":
        by_target(asked.plot)
    else:
        {"cases": by_case, "step": by_step}[asked.what]()


main()
