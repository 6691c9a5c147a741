"""Checks of packets that each reading of the papers meets, as one grid.

A paper leaves steps of its scheme open. A reading is a list of switches of `monaco` (docs/src/models/monaco.md) on
top of a paper's law. The grid has each switch by itself on top of `xia05` (ONE), and the named combinations (NAMED).

The rule: the text decides. A switch that the text fixes stays as the text has it, whatever its row says. A switch
that the text leaves open (OPEN) is chosen on one half of the figures and confirmed on the other half (`--halves`). The
halves are fixed by name alone: the figures in alphabetical order, taken alternately. The choice is the value that meets
most checks on the first half, and the value of the law if another meets as many. It is confirmed if it meets more
checks than the value of the law on the second half, too.

    python3 tools/studies/readings.py                              the seven figures, seed 1
    python3 tools/studies/readings.py --seeds 1 2 3 xia05-fig6     given figures, over three seeds
    python3 tools/studies/readings.py --only rtt                   the rows whose names begin so
    python3 tools/studies/readings.py --halves                     choices on one half, confirmed on the other

Figures are those whose expectations hold for all laws alike, which those of Har02 figure 5 do not.
"""

import argparse
import pathlib
import re
import sys
import tempfile

from study import run, table

FIGURES = "xia05-fig2 xia05-fig6 xia05-fig7 xia05-fig8 xia05-fig9 xia05-fig11 xia03-fig4".split()
ONE = (
    'window = "period"', 'window = "open"', 'rtt = "smoothed"', 'rtt = "least"', "counts = 16", "counts = 8", "counts = 4",
    'slow_start = "doubles"', 'slow_start = "lands"', 'increase = "packet"', 'estimator = "counted"',
    "egress_weight = 0.125", "egress_weight = 0.5", "egress_weight = 1", "initial_window = 3", "initial_window = 10",
    'place = "at-once"', 'meter = "shifted"', 'virtual = "inside"', 'steps = "longer"',
)
# The switches that the text leaves open: the value of `xia05`, and the others that were tried.
OPEN = {
    "counts": ("one per packet", ("counts = 16", "counts = 8", "counts = 4")),
    "egress_weight": ("0.25", ("egress_weight = 0.125", "egress_weight = 0.5", "egress_weight = 1")),
    "initial_window": ("1", ("initial_window = 3", "initial_window = 10")),
    "place": ('"turns"', ('place = "at-once"',)),
}
NAMED = {
    "law xia05": 'law = "xia05"',
    "law har02": 'law = "har02"',
    "law accord": 'law = "accord"',
    "law har02, window per pair": 'law = "har02", window = "period"',
}


def scenario(figure, reading):
    """The text of a figure's scenario with the reading in place of its sweep over laws."""
    text = pathlib.Path(f"scenarios/{figure}.toml").read_text()
    law = f'values = {{ reading = {{ name = "monaco", {reading} }} }}'
    changed, count = re.subn(r"(?m)(^\[sweep\.law\]\n(?:.+\n)*?)values = .*$", lambda m: m[1] + law, text)
    if count != 1:
        raise SystemExit(f"scenarios/{figure}.toml has {count} sweeps over laws")
    # Checks of the recorded laws are asked of the reading. Known failures are those of the recorded laws.
    changed = re.sub(r'when = \{ law = "\w+" \}, ', "", changed)
    changed = re.sub(r'when = \{ law = "\w+", ', "when = { ", changed)
    return re.sub(r",? ?fails = \[\n(?: *\{ why = .*\n)+ *\]", "", changed)


def met(figure, reading, seed):
    """How many checks of packets are met, and how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{figure}.toml"
        path.write_text(scenario(figure, reading))
        points = run(str(path), "--seed", str(seed), engine="theory,packet")
    checks = [c for p in points for (engine, _), c in p.checks.items() if engine == "packet"]
    return sum(c["pass"] for c in checks), len(checks)


def halves(figures, seeds):
    """Prints the choice of each open switch on the first half, and whether the second half confirms it."""
    ordered = sorted(figures)
    first, second = ordered[::2], ordered[1::2]

    def count(reading, half):
        found = [met(figure, reading, seed)[0] for figure in half for seed in seeds]
        print(reading, *found, file=sys.stderr, flush=True)
        return sum(found)

    own = [count('law = "xia05"', half) for half in (first, second)]
    rows = [("open switch", "value", ", ".join(first), ", ".join(second), "")]
    for switch, (value, others) in OPEN.items():
        met_by = {other: [count(f'law = "xia05", {other}', half) for half in (first, second)] for other in others}
        best = max(met_by, key=lambda other: met_by[other][0])
        rows.append((f"`{switch}`", f"{value} (shipped)", *own, ""))
        for other, found in met_by.items():
            verdict = ""
            if other == best and found[0] > own[0]:
                verdict = "chosen, confirmed" if found[1] > own[1] else "chosen, not confirmed"
            rows.append(("", f"`{other}`", *found, verdict))
    table(*rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("figures", nargs="*", default=FIGURES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--only", default="")
    parser.add_argument("--halves", action="store_true")
    options = parser.parse_args()
    if options.halves:
        halves(options.figures, options.seeds)
        return
    readings = NAMED | {switch: f'law = "xia05", {switch}' for switch in ONE}
    rows = [("reading", *options.figures, "all")]
    for name, reading in readings.items():
        if not name.startswith(options.only):
            continue
        cells = [[met(figure, reading, seed) for seed in options.seeds] for figure in options.figures]
        sums = [tuple(map(sum, zip(*cell))) for cell in cells]
        total = tuple(map(sum, zip(*sums)))
        rows.append((f"`{name}`" if "=" in name else name, *(f"{met} of {of}" for met, of in (*sums, total))))
        print(*rows[-1], file=sys.stderr, flush=True)
    table(*rows)


main()
