"""The program ``accord-sweep``: `sweep` from the terminal."""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import sys
import warnings
from contextlib import ExitStack
from typing import Any, cast

from . import _accord
from ._designs import between, latin_hypercube, linspace, logspace, sobol
from ._errors import AccordError, needed
from ._scenario import Engine, Value, load
from ._store import identity
from ._sweep import sweep

HELP = """
values of --over PATH=VALUES:
  4 Mbps, 8 Mbps         two values
  lin(1 Mbps, 9 Mbps, 5) five values in equal steps
  log(1 Mbps, 9 Mbps, 5) five values in equal ratios
  1 Mbps .. 9 Mbps       a range, for --design
  1 .. 9 whole           a range of whole numbers; "log" at the end spreads by logarithms

examples:
  accord-sweep mine.toml --over "link.bottleneck.rate=4 Mbps, 8 Mbps" --reps 10 -o means.csv
  accord-sweep mine.toml --over "flow.a.count=1 .. 64 whole" --design sobol --points 64 --local 4
  accord-sweep mine.toml --over ... --scheduler tcp://head:8786 --store s3://bucket/study
"""


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        "accord-sweep",
        description="Runs a scenario at many points, here or on a Dask cluster.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scenario", help="a file, or the id of a scenario that comes with Accord")
    parser.add_argument(
        "--over",
        action="append",
        metavar="PATH=VALUES",
        default=[],
        help="varies a value; can be given several times",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="PATH=VALUE",
        default=[],
        help="sets a value at all points",
    )
    parser.add_argument("--engine", default="packet", help="engines, by commas; packet by default")
    parser.add_argument("--skip", choices=["steady"], help="skips the steady time of packet runs")
    parser.add_argument("--reps", type=int, default=1, help="seeds per point")
    parser.add_argument("--design", choices=["grid", "latin", "sobol"], default="grid")
    parser.add_argument("--points", type=int, help="number of points of a latin or sobol design")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:8786")
    where.add_argument("--local", type=int, metavar="N", help="N processes of this machine")
    parser.add_argument(
        "--store", metavar="PLACE", help="store of results: a directory or s3://..."
    )
    parser.add_argument(
        "--rows", action="store_true", help="a row per run instead of means over seeds"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=".csv or .parquet; CSV to stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.add_argument("--version", action="version", version=f"accord-sweep {identity()}")
    return parser


def values(text: str) -> list[Value] | Any:
    """Return the values of an option: a list, or a range."""
    text = text.strip()
    called = re.fullmatch(r"(lin|log)\(([^,]+),([^,]+),\s*(\d+)\s*\)", text)
    if called is not None:
        spaced = linspace if called[1] == "lin" else logspace
        return spaced(_plain(called[2]), _plain(called[3]), int(called[4]))
    if ".." in text:
        words = text.split()
        how = [words.pop() for _ in range(2) if words[-1] in ("log", "whole")]
        low, high = " ".join(words).split("..", 1)
        return between(_plain(low), _plain(high), log="log" in how, whole="whole" in how)
    return [part.strip() for part in text.split(",")]


def _plain(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def design(args: argparse.Namespace) -> Any:
    """Return the points of a sweep."""
    over: dict[str, Any] = {}
    for option in args.over:
        path, equals, text = option.partition("=")
        if not equals:
            raise ValueError(f"--over {option}: expected PATH=VALUES")
        over[path.strip()] = values(text)
    if args.design == "grid":
        ranges = [path for path, of in over.items() if not isinstance(of, list)]
        if ranges:
            raise ValueError(f"{ranges[0]}: a range needs --design latin or sobol, and --points")
        return over
    if args.points is None:
        raise ValueError(f"--design {args.design} needs --points")
    return (latin_hypercube if args.design == "latin" else sobol)(over, args.points)


def write(rows: list[dict[str, Any]], output: str | None) -> None:
    """Write a table."""
    if output is not None and output.endswith(".parquet"):
        parquet = needed("pyarrow.parquet", "a table as Parquet")
        content = io.BytesIO()
        table = needed("pyarrow", "a table as Parquet").Table.from_pylist(rows)
        parquet.write_table(table, content)
        _accord.write_file(output, content.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]) if rows else [])
    writer.writeheader()
    for row in rows:
        cells = row.items()
        safe = {k: _accord.csv_text(v) if isinstance(v, str) else v for k, v in cells}
        writer.writerow(safe)
    if output is None:
        sys.stdout.write(text.getvalue())
    else:
        _accord.write_file(output, text.getvalue().encode())


def check_output(name: str) -> None:
    """Reject a table that cannot be written, before the runs."""
    if not name.endswith((".csv", ".parquet")):
        raise ValueError(f"--output {name}: expected a name that ends in .csv or .parquet")
    folder = os.path.dirname(name) or "."
    if not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise ValueError(f"--output {name}: {folder} is no directory that can be written")


def run(args: argparse.Namespace) -> None:
    """Execute the command line."""
    settings: dict[str, Value] = {}
    for option in args.set:
        path, equals, value = option.partition("=")
        if not equals:
            raise ValueError(f"--set {option}: expected PATH=VALUE")
        settings[path.strip()] = value.strip()
    scenario = load(args.scenario).with_(settings)
    if args.output is not None:
        check_output(args.output)
    over = design(args)
    with ExitStack() as stack:
        executor: Any = None
        if args.scheduler is not None or args.local is not None:
            make = needed("distributed", "a cluster")
            if args.scheduler is not None:
                executor = stack.enter_context(make.Client(args.scheduler, timeout="20 s"))
            else:
                if args.local < 1:
                    raise ValueError(f"--local {args.local}: expected at least 1")
                cluster = make.LocalCluster(
                    n_workers=args.local, threads_per_worker=1, dashboard_address=":0"
                )
                executor = stack.enter_context(make.Client(stack.enter_context(cluster)))
        swept = sweep(
            scenario,
            over or [{}],
            reps=args.reps,
            engines=cast("list[Engine]", args.engine.split(",")),
            skip=args.skip,
            executor=executor,
            store=args.store,
            progress=not args.quiet and sys.stderr.isatty(),
        )
        write(swept.rows if args.rows else swept.means(), args.output)
    if not args.quiet:
        print(f"{swept.made} runs made, {swept.found} found in the store", file=sys.stderr)


def main() -> int:
    """Run the program, and return its exit code."""
    args = arguments().parse_args()
    warnings.showwarning = lambda text, *_: print(f"warning: {text}", file=sys.stderr)
    try:
        run(args)
    except (AccordError, ValueError, IndexError) as e:
        # A note names the point of a run that failed.
        print("\n".join([f"error: {e}", *getattr(e, "__notes__", [])]), file=sys.stderr)
        return 2
    except (OSError, ImportError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("interrupted; with --store the same command continues", file=sys.stderr)
        return 130
    return 0
