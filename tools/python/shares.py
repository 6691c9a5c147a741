"""Compares accord.shares with the program, in time and CPU time.

python tools/python/shares.py [flows] [links]
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.sparse

import accord

LONGEST = 8
"""The number of links of the longest path."""


def network(flows: int, links: int) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Return routes over random links, and capacities."""
    random = np.random.default_rng(1)
    lengths = random.integers(1, LONGEST + 1, flows)
    rows = np.repeat(np.arange(flows), lengths)
    routes = scipy.sparse.coo_array(
        (np.ones(len(rows)), (rows, random.integers(0, links, len(rows)))), shape=(flows, links)
    ).tocsr()
    # A link that is drawn twice for a flow counts once.
    routes.data.fill(1.0)
    return routes, random.uniform(1e8, 1e10, links)


def write(directory: Path, routes: scipy.sparse.csr_array, capacities: np.ndarray) -> None:
    """Write the network as the program reads it."""
    names = np.array([f"l{i}" for i in range(len(capacities))])
    rows = zip(routes.indptr, routes.indptr[1:], strict=False)
    paths = [" ".join(names[routes.indices[low:high]]) for low, high in rows]
    table = {"link": names.tolist(), "capacity_bps": capacities}
    pyarrow.parquet.write_table(pyarrow.table(table), directory / "links.parquet")
    table = {"flow": [f"f{i}" for i in range(len(paths))], "path": paths}
    pyarrow.parquet.write_table(pyarrow.table(table), directory / "flows.parquet")


def main() -> None:
    """Print the figures."""
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    links = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    routes, capacities = network(flows, links)
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), routes, capacities)
        program = Path(sys.executable).parent / "accord"
        begin = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [program, "solve", place, "--top", "1", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"the program, with its files: {time.monotonic() - begin:.2f} s, {cpu:.2f} s of CPU")
        print("\n".join(f"  {line}" for line in done.stdout.splitlines()[:3]))
    begin, used = time.monotonic(), time.process_time()
    answer = accord.shares(routes, capacities)
    seconds, cpu = time.monotonic() - begin, time.process_time() - used
    print(f"accord.shares: {seconds:.2f} s, {cpu:.2f} s of CPU, {answer.iterations} iterations")
    assert answer


if __name__ == "__main__":
    main()
