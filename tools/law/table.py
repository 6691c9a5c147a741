#!/usr/bin/env python3
"""One Markdown table of all figures that run Monaco: checks of packets that fail, under both laws.

    tools/law/table.py [--with 'clocking = "egress"'] [--accord PROGRAM] [--seed N] [--failures] [--json FILE] [FIGURE ...]

Every figure is run by `accord reproduce FIGURE -e theory,packet`. `--failures` lists what fails under our
law, and what fails under it and not under the printed one. `--json` keeps what was measured.
"""

import argparse
import json
import subprocess
import tempfile

FIGURES = """xia05-fig2 xia05-fig4 xia05-fig5 xia05-fig6 xia05-fig7 xia05-fig8 xia05-fig9 xia05-fig9-100ms
xia05-fig10 xia03-fig4 xia03-fig4-100ms har02-fig4 har02-fig4-avd har02-fig5 har02-fig6 har02-fig6-gain
har02-fig7 monaco-clocking monaco-one-fifo""".split()


def checks(program, figure, seed, ours):
    """The packet checks of a figure."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "reproduce", figure, "-e", "theory,packet", "--json", "-q", "-o", out]
        if seed:
            command += ["--seed", seed]
        if ours:
            value = f'{{ name = "monaco", {ours} }}'
            command += ["--set", f"sweep.law.values.accord={value}"]
        done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{figure}: {done.stderr}")
    found = json.loads(done.stdout)["experiments"][0]["checks"]
    return [c for c in found if c["engine"] == "packet" and c["measured"] is not None]


def law(check):
    """Which law a check is of; None where the figure has both in one run."""
    for word in ("printed", "accord"):
        if f"law = {word}" in check["name"]:
            return word
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*")
    parser.add_argument("--accord", default="target/release/accord")
    parser.add_argument("--seed")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--with", dest="ours", help="other parameters of our law", default="")
    options = parser.parse_args()
    kept = {}
    totals = {"printed": [0, 0], "accord": [0, 0]}
    print("| figure | printed | ours |\n|---|---|---|")
    for figure in options.figures or FIGURES:
        kept[figure] = found = checks(options.accord, figure, options.seed, options.ours)
        row = []
        for word in ("printed", "accord"):
            of = [c for c in found if law(c) == word]
            bad = sum(not c["pass"] for c in of)
            totals[word][0] += bad
            totals[word][1] += len(of)
            row.append(f"{bad} of {len(of)}" if of else "–")
        print(f"| {figure} | {row[0]} | {row[1]} |", flush=True)
        if options.failures:
            bad = {w: {c["name"].replace(f"law = {w}", ""): c for c in found if law(c) == w and not c["pass"]} for w in totals}
            for name, c in bad["accord"].items():
                mark = " " if name in bad["printed"] else "-"
                print(f"   {mark} {name}, {c['of']}: {c['reason']}")
    print("| all | " + " | ".join(f"{bad} of {of}" for bad, of in totals.values()) + " |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(kept, file)


if __name__ == "__main__":
    main()
