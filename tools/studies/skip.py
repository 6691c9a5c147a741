"""Compares runs that skip steady states with whole ones: errors on each experiment, and savings on long
scenarios (factor).

    python3 tools/studies/skip.py errors
    python3 tools/studies/skip.py beyond [ID...]      the figures outside of the interval of seeds
    python3 tools/studies/skip.py factor
    python3 tools/studies/skip.py cycles              differences of means over a window within one whole run
"""

import csv
import json
import math
import pathlib
import re
import resource
import sys
import tempfile

from study import called, digits, percent, run, table

SEEDS = 5
# Student's t for SEEDS - 1 degrees of freedom, 99 % between both ends.
STUDENT = 4.604
# The error of a mean that the test of rest allows.
ERROR = 0.011


def checks(experiment, *options):
    """The figures of packets in an experiment, by point and name, and which part of each point was skipped."""
    with tempfile.TemporaryDirectory() as out:
        words = ["reproduce", experiment, "-e", "packet", "--json", "-q", "-o", out, *options]
        found, = json.loads(called(*words))["experiments"]
        lasts = {p["point"]: duration(pathlib.Path(p["directory"])) for p in found["points"]}
    figures = {(c["point"], c["name"]): c["measured"] for c in found["checks"] if c["engine"] == "packet"}
    skipped = {p["point"]: max(r["skipped_s"] for r in p["runs"]) / lasts[p["point"]] for p in found["points"]}
    return {key: value for key, value in figures.items() if value is not None}, skipped


def duration(directory):
    """The seconds that the run in a directory lasts."""
    text = (directory / "scenario.toml").read_text()
    return float(re.search(r'^duration = "([\d.]+) s"', text, re.M)[1])


def errors(*names):
    """The figures of each experiment in which anything was skipped. Returns those that are further off than seeds
    are apart."""
    rows = [("experiment", "points", "skipped", "figures", "off by, median", "most", "seeds, median", "beyond seeds")]
    far = [("experiment", "figure", "whole", "skipped", "off by")]
    none = []
    for experiment in names or sorted(path.stem for path in pathlib.Path("scenarios").glob("*.toml")):
        short, skipped = checks(experiment, "--skip", "steady")
        points = {point for point, part in skipped.items() if part > 0}
        if not points:
            none.append(experiment)
            continue
        # Seed 1 is that of the experiments.
        whole, *others = [checks(experiment, "--seed", str(seed))[0] for seed in range(1, SEEDS + 1)]
        off, spread, beyond = [], [], 0
        for key, value in short.items():
            if key[0] not in points or any(key not in r for r in (whole, *others)):
                continue
            size = abs(whole[key]) or max(abs(value), 1e-300)
            values = [r[key] for r in (whole, *others)]
            mean = sum(values) / SEEDS
            deviation = math.sqrt(sum((x - mean) ** 2 for x in values) / (SEEDS - 1))
            off.append(abs(value - whole[key]) / size)
            spread.append(deviation / size)
            if abs(value - mean) > STUDENT * deviation * math.sqrt(1 + 1 / SEEDS) + ERROR * abs(mean):
                beyond += 1
                error = percent(value / whole[key] - 1, 1, sign=True)
                far.append((experiment, key[1], digits(whole[key], 4), digits(value, 4), error))
        if not off:
            continue
        middle = len(off) // 2
        part = sum(skipped.values()) / len(skipped)
        rows.append((experiment, f"{len(points)} of {len(skipped)}", percent(part), len(off),
                     percent(sorted(off)[middle], 2), percent(max(off), 1), percent(sorted(spread)[middle], 2), beyond))
        print(*rows[-1], file=sys.stderr, flush=True)
    print(f"Nothing was skipped in {len(none)} others: {', '.join(none)}.", file=sys.stderr)
    return rows, far


def long(controller, queue, recorded, count=10, seconds=3600):
    return f"""title = "A long run"
duration = "{seconds} s"
steady = ["{seconds // 2} s", "{seconds} s"]
[topology.dumbbell]
rate = "20 Mbps"
delay = "10 ms"
queue = {queue}
[flow.f]
count = {count}
from = "left"
to = "right"
controller = "{controller}"
record = "{recorded}"
access = {{ rate = "1 Gbps", delay = {{ spread = ["1 ms", "5 ms"] }} }}
start = {{ uniform = ["0 s", "1 s"] }}
"""


def an_hour_of(experiment, factor):
    """The scenario with all times in seconds so many times as long."""
    text = (pathlib.Path("scenarios") / f"{experiment}.toml").read_text()
    return re.sub(r'"(\d+) s"', lambda m: f'"{int(m[1]) * factor} s"', text)


DROPTAIL = '{ discipline = "droptail", limit = "100 pkt" }'
RED = '{ discipline = "red", limit = "200 pkt" }'


def factor():
    cases = {"xia05-fig6": (an_hour_of("xia05-fig6", 72), "law=accord", "set1")}
    for controller, queue, name, recorded in (
        ("monaco", DROPTAIL, "droptail", "flows"), ("vegas", DROPTAIL, "droptail", "flows"),
        ("newreno", DROPTAIL, "droptail", "flows"), ("newreno", DROPTAIL, "droptail", "group"),
        ("newreno", RED, "RED", "group"), ("cubic", DROPTAIL, "droptail", "group"),
        ("bbr3", DROPTAIL, "droptail", "group"),
    ):
        cases[f"ten `{controller}`, {name}, recorded as {recorded}"] = (long(controller, queue, recorded), None, "f")
    rows = [("scenario", "skipped", "processor time", "factor", "throughput", "backlog")]
    for name, (text, point, group) in cases.items():
        figures = []
        for options in ((), ("--skip", "steady")):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "long.toml"
                path.write_text(text)
                more = ("--point", point) if point else ()
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                found, = run(str(path), *options, *more)
                cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            means = found.mean(group, "throughput"), found.mean("bottleneck", "backlog")
            figures.append((cpu, *means, found.skipped))
        (whole, *a, _), (short, *b, skipped) = figures
        off = [percent(y / x - 1, 1, sign=True) for x, y in zip(a, b)]
        rows.append((name, percent(skipped / 3600), f"{digits(short, 2)} for {digits(whole, 2)} s",
                     digits(whole / short, 2), *off))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)


def cycles():
    """Three figures of xia05 over all windows of their length, in a whole run whose phase lasts ten times as long."""
    last, alone = ("stop = \"60 s\"", "stop = \"390 s\""), ("start = \"40 s\"", "start = \"395 s\"")
    cases = (
        ("xia05-fig11", "long flow 1 alone", "law=xia05", "long.1", 10, (last, alone)),
        ("xia05-fig11", "short flows beside two long flows", "law=accord", "short.1", 10, (last,)),
        ("xia05-fig2", "long flow", "law=accord,policy=mw,estimator=ideal", "long", 30, ()),
    )
    rows = [("experiment", "figure", "windows", "mean", "least", "most", "most / least")]
    for experiment, figure, point, flow, window, changes in cases:
        text = (pathlib.Path("scenarios") / f"{experiment}.toml").read_text()
        for old, new in (*changes, (re.search('^duration = .*', text, re.M)[0], 'duration = "400 s"')):
            assert old in text
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "long.toml"
            path.write_text(text)
            called("run", str(path), "-e", "packet", "-q", "--csv", "--json", "--point", point, "-o", f"{folder}/out")
            found, = pathlib.Path(folder).glob("out/**/series.csv")
            with found.open() as file:
                series = [(float(row["time_s"]), float(row["value"])) for row in csv.DictReader(file)
                          if (row["metric"], row["entity"]) == ("throughput", flow) and row["value"]]
        means = []
        for start in range(60, 390 - window + 1, window):
            values = [value for time, value in series if start < time <= start + window]
            means.append(sum(values) / len(values))
        mean = sum(means) / len(means)
        rows.append((experiment, f"{figure} [{point}]", f"{len(means)} of {window} s", digits(mean, 4),
                     digits(min(means), 4), digits(max(means), 4), percent(max(means) / min(means) - 1, 1, sign=True)))
    table(*rows)


if __name__ == "__main__":
    kind, *names = sys.argv[1:]
    if kind == "factor":
        factor()
    elif kind == "cycles":
        cycles()
    else:
        table(*errors(*names)[kind == "beyond"])
