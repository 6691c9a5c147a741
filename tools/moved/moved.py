"""Figures of packets that moved between two versions of Accord, as a Markdown table.

    accord-old reproduce --all -e theory,packet --json --quiet > old.json
    accord     reproduce --all --json --quiet > new.json
    python3 tools/moved/moved.py old.json new.json [LEAST]

Expectations are matched by experiment, name and point; of points that differ in the law only,
`accord` is compared. LEAST is the relative move from which a figure counts (0.05).
"""

import json
import re
import sys


def figures(path):
    found = {}
    for experiment in json.load(open(path)):
        for check in experiment["checks"]:
            if check["engine"] != "packet":
                continue
            name, point = re.match(r"(.*?)(?: \[(.*)\])?$", check["name"]).groups()
            parts = [p for p in (point or "").split(", ") if p]
            law = next((p[6:] for p in parts if p.startswith("law = ")), "accord")
            rest = frozenset(p for p in parts if not p.startswith("law = "))
            if law == "accord":
                found[experiment["id"], name, rest] = check
    return found


def main():
    old, new = figures(sys.argv[1]), figures(sys.argv[2])
    least = float(sys.argv[3]) if len(sys.argv) > 3 else 0.05
    ids = dict.fromkeys(key[0] for key in old)
    print("| experiment | compared | moved | verdicts that changed | largest move: old, new |")
    print("|---|---|---|---|---|")
    for experiment in ids:
        both = [k for k in old if k[0] == experiment and k in new]
        both = [k for k in both if None not in (old[k]["measured"], new[k]["measured"])]
        if not both:
            continue

        def move(key):
            a, b = old[key]["measured"], new[key]["measured"]
            return abs(b - a) / max(abs(a), abs(b)) if a != b else 0.0

        moved = [k for k in both if move(k) > least]
        changed = sum(old[k]["pass"] != new[k]["pass"] for k in both)
        largest = ""
        if moved:
            key = max(moved, key=move)
            point = ", ".join(sorted(key[2]))
            a, b = (v[key]["reason"].split(" against ")[0].split(" is ")[0] for v in (old, new))
            largest = f"{key[1]}{f' ({point})' if point else ''}: {a}, {b}"
        print(f"| {experiment} | {len(both)} | {len(moved)} | {changed} | {largest} |")


main()
