"""Experiments of the papers in four engines, under our law. Needs root, and as many minutes as the runs have."""

import sys

from study import digits, run, table

ENGINES = ("theory", "fluid", "packet", "live")
# The scenario, the settings of its points, and the checks shown.
SHOWN = {
    "xia05-fig11": (["law = accord"], ["long flow 1 alone", "two long flows", "short flows beside two long flows"]),
    "har02-fig7": ([f"law = accord, packet = {p}" for p in ("1000 B", "250 B")], ["flow 2 again, on: five shares", "flow 2 again, on: short flows"]),
    "xia05-fig5": ([f"law = {law}, grows = forward" for law in ("accord", "vegas", "vegas-k")],
                   ["Monaco: utilisation from 3 s", "Vegas: utilisation", "Vegas-k: packets dropped"]),
    "xia05-fig4-live": ([f"scheme = {s}, reverse = {r}" for s in ("vegas", "monaco") for r in ("2 Mbps", "10 Mbps", "20 Mbps")],
                        ["Vegas: forward utilisation", "Monaco: forward utilisation"]),
    "ple03-fig8-live": ([f"scheme = {s}, tcp = {t}" for s in ("bat", "bat-clcc") for t in ("newreno", "cubic")],
                        ["UDP/TCP ratio", "fairness index"]),
}


def shown(check):
    value = check["measured"]
    if value is None:
        return "–"
    if check["unit"] == "bit/s":
        return f"{digits(value / 1e3)} Kbps"
    return f"{100 * value:.1f} %" if check["metric"] == "utilisation" else digits(value)


def main():
    rows = [("experiment", "point", "quantity", *ENGINES)]
    for name in sys.argv[1:] or SHOWN:
        labels, names = SHOWN[name]
        engines = ("packet", "live") if name.startswith("ple03") else ENGINES
        points = run(name, *[w for label in labels for w in ("--point", label)], engine=",".join(engines))
        for point in points:
            for check in names:
                found = {e: c for (e, n), c in point.checks.items() if n.startswith(check)}
                cells = [shown(found[e]) if e in found else "–" for e in ENGINES]
                if found:
                    rows.append((name, ", ".join(point.settings.values()), check, *cells))
    table(*rows)


main()
