"""Checks of packets that each reading of the papers meets, as one grid.

A paper leaves steps of its scheme open. A reading is a list of switches of `monaco` (docs/src/models/monaco.md) on
top of a paper's law. The grid has each switch by itself on top of `xia05` (ONE), and the named combinations (NAMED).

The rule: the text decides. A switch that the text fixes stays as the text has it, whatever its row says. Where the
text leaves a choice, all figures have one reading together, and none is chosen figure by figure. The grid shows how
much a choice matters; a reading that is chosen by what it meets would be a fit.

    python3 tools/studies/readings.py                              the seven figures, seed 1
    python3 tools/studies/readings.py --seeds 1 2 3 xia05-fig6     given figures, over three seeds
    python3 tools/studies/readings.py --only rtt                   the rows whose names begin so

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
    # Known failures are those of the recorded laws.
    return re.sub(r",? ?fails = \[\n(?: *\{ why = .*\n)+ *\]", "", changed)


def met(figure, reading, seed):
    """How many checks of packets are met, and how many there are."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{figure}.toml"
        path.write_text(scenario(figure, reading))
        points = run(str(path), "--seed", str(seed), engine="theory,packet")
    checks = [c for p in points for (engine, _), c in p.checks.items() if engine == "packet"]
    return sum(c["pass"] for c in checks), len(checks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("figures", nargs="*", default=FIGURES)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
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
