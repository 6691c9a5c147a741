"""Gains at which flows of eq. 2 of Xia05 begin to cycle, around loop.toml of the page.

    python3 tools/studies/onset.py map                 by round trip, number of flows and target, of policy p
    python3 tools/studies/onset.py policies            the swing of the queue by gain, by policy and reading
    python3 tools/studies/onset.py starts              rest or cycle, by the window at the start
    python3 tools/studies/onset.py no-delay            eq. 2 as printed: no delay between window and accumulation
    python3 tools/studies/onset.py slope               a law f that is flat at its root, a round trip late
    python3 tools/studies/onset.py policies --plot FILE
"""

import argparse
import json
import math
import random

from study import called, digits, drawn, percent, run, table

RATE = 5e6  # of a flow, in bit/s
CYCLES = 0.3  # the standard deviation of the queue over its mean, above which it cycles
AT = "flow.f.controller."


def network(flows=4, trip=40, target=30):
    """The settings of a number of flows, a round trip in ms and a target in KB. The path begins a quarter shorter."""
    before = 0.75 * trip
    half = 12 if trip <= 40 else 36  # seconds, some hundreds of round trips
    window = max(1, round(RATE * before / 8e6 + target))
    return [
        f'topology.dumbbell.rate="{flows * RATE:.0f} bps"', f"flow.f.count={flows}", f'{AT}target="{target} KB"',
        f'topology.dumbbell.delay="{before / 2 - 1} ms"', f'event.1.delay="{trip / 2 - 1} ms"',
        f"{AT}initial_window={min(window, 1000)}", f'duration="{2 * half} s"', f'steady=["{2 * half - 4} s", "{2 * half} s"]',
        f'event.1.at="{half} s"',
    ]


def gain(policy, kappa, trip=40, target=30):
    """The settings of a policy whose window closes the part kappa of a small error per round trip."""
    if policy == "mw":
        window = RATE * trip / 1e3 + 8e3 * target
        return [f"{AT}policy=mw", f'{AT}mw_gain="{kappa * window / (trip / 1e3):.0f} bps"']
    if policy == "aiad":  # kappa of the target, in packets
        return [f"{AT}policy=aiad", f"{AT}gain={kappa * target:.6g}"]
    return [f"{AT}gain={kappa:.6g}"] + ([f"{AT}increase=packet"] if policy == "bounded" else [])


def point(*sets, engine="packet"):
    (found,) = run("loop.toml", sets=sets, engine=engine)
    return found


def swing(*sets, engine="packet"):
    return point(*sets, engine=engine).measured("swing", engine)


def onset(sets, of=lambda kappa: gain("p", kappa), low=0.3, high=1.3, engine="packet"):
    """The gain at which the queue begins to cycle, to 0.03."""
    if swing(*sets, *of(high), engine=engine) < CYCLES:
        return f"> {digits(high, 2)}"
    while high - low > 0.07:
        middle = (low + high) / 2
        low, high = (low, middle) if swing(*sets, *of(middle), engine=engine) > CYCLES else (middle, high)
    return f"{(low + high) / 2:.2f}"


def limit(sets):
    """The limit of the gain by `accord stability` in the last phase, and the gain up to which it guarantees rest."""
    words = ["stability", "loop.toml", "--json", "-q"]
    found = json.loads(called(*words, *[w for s in sets for w in ("--set", s)]))["points"][0]["phases"][-1]
    if found["error"]:
        return "no margin"
    if found["gain_margin"] is None:
        return "any gain"
    at = 0.4
    stable, guaranteed = at * found["gain_margin"], at * (found["guaranteed_gain"] or found["gain_margin"])
    return f"{stable:.3f}" + (f", guaranteed to {guaranteed:.3f}" if guaranteed < 0.99 * stable else "")


def by_place():
    trips = (10, 40, 160)
    rows = [("target", "flows", *(f"{trip} ms" for trip in trips))]
    for target, counts in ((3, (1, 4, 32)), (30, (1, 4, 32)), (90, (1,))):
        for flows in counts:
            rows.append((f"{target} packets", flows, *(onset(network(flows, trip, target)) for trip in trips)))
    table(*rows)


GAINS = (0.1, 0.3, 0.5, 0.57, 0.65, 0.75, 0.95, 1.1, 1.3)
LINES = {
    "p": ("p", ()),
    "p, least rtt, pairs at once": ("p", (f"{AT}rtt=least", f"{AT}place=at-once")),
    "p, a window per period": ("p", (f"{AT}window=period",)),
    "p, rate alone": ("p", (f"{AT}window=open",)),
    "p, at most a packet more": ("bounded", ()),
    "mw": ("mw", ()),
    "aiad": ("aiad", ()),
}


def by_policy(plot):
    """The swing by gain. For aiad the gain is the step over the target, at most 10 packets of 30."""
    rows, lines = [("law", "limit by theory", *GAINS)], []
    for name, (policy, more) in LINES.items():
        gains = [g for g in GAINS if policy != "aiad" or g * 30 <= 10]
        swings = [swing(*network(), *gain(policy, g), *more) for g in gains]
        cells = [percent(s) for s in swings] + ["–"] * (len(GAINS) - len(gains))
        rows.append((name, limit([*network(), *gain(policy, 0.4 if policy != "aiad" else 0.1), *more]), *cells))
        lines.append((name, list(zip(gains, (100 * s for s in swings))), "o-"))
    table(*rows)
    if plot:
        marks = ((0.578, "limit, paced"), (1, "limit, not paced"))
        drawn(plot, "part of a small error that is closed per round trip", "swing of the queue, %", lines, marks=marks)


def by_start():
    """Rest or cycle by the window at the start."""
    windows = (1, 50, 300, 1000)
    rows = [("gain", *(f"{w} packets" for w in windows))]
    for kappa in (0.3, 0.5, 0.57, 0.65, 0.8):
        rows.append((kappa, *(percent(swing(*network(), *gain("p", kappa), f"{AT}initial_window={w}")) for w in windows)))
    table(*rows)


def slope():
    """The map e(n+1) = e(n) − f(e(n−1)), queues no less than empty: its largest |e| after 2000 round trips."""
    laws = {"0.5·y": lambda y: 0.5 * y, "y³": lambda y: y**3}
    starts = (0.2, 0.5, 0.9, 1.1, 1.5, 3)
    rows = [("f", *(f"start at {s}" for s in starts))]
    for name, law in laws.items():
        cells = []
        for first in starts:
            old = new = first
            seen = []
            for _ in range(4000):
                old, new = new, max(new - law(old), -1)
                seen.append(abs(new))
            cells.append(digits(max(seen[2000:]), 2) if max(seen[2000:]) > 1e-6 else "0")
        rows.append((name, *cells))
    table(*rows)


def no_delay():
    """Networks of one link: the largest error of an accumulation at the end, by f."""
    laws = {
        "y": lambda y: y,
        "y³": lambda y: y**3,
        "cube root of y": lambda y: math.copysign(abs(y) ** (1 / 3), y),
        "tanh 5y": lambda y: math.tanh(5 * y),
        "5y above 0, y below, at least -0.1": lambda y: 5 * y if y > 0 else max(y, -0.1),
    }
    rows = [("f", "networks", "largest error at the start", "at the end")]
    for name, law in laws.items():
        draw, first, last = random.Random(1), 0, 0
        for _ in range(10):
            flows = [(draw.uniform(0.01, 0.3), draw.uniform(1, 10), draw.uniform(0.1, 3)) for _ in range(draw.randint(2, 8))]
            windows = [draw.uniform(0.1, 50) for _ in flows]
            speed = [draw.uniform(0.2, 2) for _ in flows]
            queue = 1.0
            for step in range(4001):
                # The queue at which the rates fill a link of rate 100, by Newton's method.
                for _ in range(2):
                    sum_ = sum(w / (d + queue) for w, (d, _, _) in zip(windows, flows))
                    slope = sum(w / (d + queue) ** 2 for w, (d, _, _) in zip(windows, flows))
                    queue = max(queue + (sum_ - 100) / slope, 0.0)
                kept = [w * queue / (d + queue) for w, (d, _, _) in zip(windows, flows)]
                errors = [a / target - 1 for a, (_, target, _) in zip(kept, flows)]
                if step % 4000 == 0:
                    worst = max(map(abs, errors))
                    first, last = (max(first, worst), last) if step == 0 else (first, max(last, worst))
                windows = [
                    max(w - 0.04 * s * target * law(e), 1e-9)
                    for w, s, e, (_, target, _) in zip(windows, speed, errors, flows)
                ]
        rows.append((name, 10, percent(first), percent(last, 1)))
    table(*rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what")
    parser.add_argument("--plot")
    asked = parser.parse_args()
    if asked.what == "policies":
        by_policy(asked.plot)
    else:
        {"map": by_place, "starts": by_start, "slope": slope, "no-delay": no_delay}[asked.what]()


main()
