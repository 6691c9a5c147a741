"""The common parts of the studies' scripts: recorded figures, runs, and Markdown tables.

Each script prints a table of a page in docs/src/studies. The program is `accord` of the
PATH, the directory one in which `scenarios` and `docs` are, such as the repository's own. The book's test
calls them so: UPDATE_DOCS=1 BOOK=whole BOOK_PAGE=studies/contracts cargo test --release -p accord-cli --test all book
"""

import json
import re
import subprocess
import sys
import tempfile


def settings(label):
    """The settings of a point by its label; values may have commas."""
    return dict(re.findall(r"([\w.]+) = (.*?)(?=, [\w.]+ = |$)", label))


def fits(have, wanted):
    return all(have.get(key) == str(value) for key, value in wanted.items())


class Recorded:
    """The entry of an experiment in scenarios/results.txt, which `./test` compares with runs."""

    def __init__(self, experiment):
        self.found = []
        with open("scenarios/results.txt") as file:
            for line in file:
                if line.startswith("#"):
                    continue
                if not line.startswith(" "):
                    name, _, label = line.rstrip("\n").partition(" |")
                    here, point = name == experiment, settings(label.strip())
                elif here and not line.startswith("  digest"):
                    verdict, engine, value, name = line.strip().split(" | ", 3)
                    self.found.append((point, engine, name, verdict, value))
        if not self.found:
            raise SystemExit(f"scenarios/results.txt has no {experiment}")

    def __call__(self, name, engine="packet", **at):
        """The value of the only check whose name begins in this way."""
        found = [float(v) for p, e, n, _, v in self.found if e == engine and n.startswith(name) and fits(p, at)]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} records of {name}, {engine}, {at}")
        return found[0]

    def met(self, engine="packet", **at):
        """The number of checks that are met, and their total."""
        found = [verdict for p, e, _, verdict, _ in self.found if e == engine and fits(p, at)]
        return found.count("met"), len(found)


class Point:
    """A point of a run."""

    def __init__(self, point, checks):
        self.settings, self.rows, self.directory = point["settings"], point["means"], point["directory"]
        self.checks = {(c["engine"], c["name"]): c for c in checks if c["point"] == point["point"]}
        self.skipped = max(r["skipped_s"] for r in point["runs"])

    def row(self, of, quantity, engine="packet"):
        entity = ("group", "link", "aggregate")
        rows = [r for r in self.rows if r["quantity"] == quantity and of in [r.get(e) for e in entity]]
        values = [v for r in rows for v in r["values"] if v["column"] == engine]
        if len(values) != 1:
            raise SystemExit(f"{len(values)} means of {quantity}, {of}, {engine}")
        return values[0]

    def ran(self, engine):
        """True if an engine has values. A live run that was late has none."""
        return any(v["column"] == engine for r in self.rows for v in r["values"])

    def mean(self, of, quantity, engine="packet"):
        return self.row(of, quantity, engine)["mean"]

    def has(self, name, engine="packet"):
        return any(e == engine and n.startswith(name) for e, n in self.checks)

    def measured(self, name, engine="packet"):
        """The value of the only check whose name begins in this way."""
        found = [c["measured"] for (e, n), c in self.checks.items() if e == engine and n.startswith(name)]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} checks of {name}, {engine}: {list(self.checks)}")
        return found[0]


def called(*words):
    """The program's output. Its exit code depends on verdicts, which the pages do not state."""
    done = subprocess.run(["accord", *words], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"accord {' '.join(words)}\n{done.stderr}")
    if done.returncode == 3:
        # A live run without a verdict, whose values do not belong on a page.
        print(done.stderr.strip(), file=sys.stderr)
    return done.stdout


def run(scenario, *options, engine="packet", sets=()):
    """The points of a run."""
    with tempfile.TemporaryDirectory() as out:
        words = ["run", scenario, "-e", engine, "--json", "-q", "-o", out, *options]
        found = json.loads(called(*words, *[w for s in sets for w in ("--set", s)]))
    return [Point(p, found["checks"]) for p in found["points"]]


def digits(value, count=3):
    """A number with at least this number of digits, and all of those before the point."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{count - 1}e}".split("e")[1])
    return f"{value:.{max(0, count - 1 - exponent)}f}"


def percent(part, places=0, sign=False):
    """A part in percent; with a sign if it is a deviation."""
    rounded = round(100 * part, places) or 0.0
    return f"{rounded:{'+' if sign and rounded else ''}.{places}f} %"


def mbps(rate, count=3):
    return f"{digits(rate / 1e6, count)} Mbps"


def kbps(rate, count=3):
    return f"{digits(rate / 1e3, count)} Kbps"


def kb(size, count=3):
    return f"{digits(size / 1e3, count)} KB"


def table(*rows):
    """Prints rows as a Markdown table, the first as its head."""
    for i, row in enumerate(rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |")
        if i == 0:
            print("|" + "---|" * len(row))


def drawn(file, across, up, lines, log="", marks=(), ends=None):
    """Draws lines as SVG: (name, points, matplotlib's style) each, and vertical marks with a text. Needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "accord", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    for name, points, style in lines:
        axis.plot(*zip(*points), style, label=name, markersize=3.5, linewidth=1.2)
    for scale in log:
        getattr(axis, f"set_{scale}scale")("log")
    axis.set(xlabel=across, ylabel=up, **(ends or {}))
    for at, text in marks:
        axis.axvline(at, color="0.5", linewidth=0.8, linestyle=":")
        axis.annotate(text, (at, 1), (3, -9), xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=8)
    axis.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(file, metadata={"Date": None})
