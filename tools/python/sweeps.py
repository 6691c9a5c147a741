"""Measures sweeps on Dask: prints the figures of docs/src/python.md.

python tools/python/sweeps.py
"""

import os
import time

import distributed

import accord

RUNS = 120


def nothing(number: int) -> int:
    """Do nothing."""
    return number


def cluster(workers: int) -> distributed.LocalCluster:
    """Return a cluster of processes of one thread."""
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )


def wall(scenario: accord.Scenario, client: distributed.Client) -> float:
    """Return the seconds of a sweep."""
    before = time.monotonic()
    accord.sweep(scenario, {"seed": range(RUNS)}, executor=client)
    return time.monotonic() - before


def main() -> None:
    """Print the figures."""
    print(f"load of the machine before: {os.getloadavg()[0]:.2f}")
    scenario = accord.dumbbell(flows=10, rate="200 Mbps", duration="20 s")
    scenario.run("packet")
    before = time.process_time()
    for seed in range(10):
        accord.Comparison([scenario.run("packet", seed=seed)])
    alone = (time.process_time() - before) / 10
    print(f"a run: {alone * 1e3:.0f} ms of CPU")
    times = {}
    for workers in (1, 2):
        with cluster(workers) as local, distributed.Client(local) as client:
            client.wait_for_workers(workers)
            accord.sweep(scenario, {"seed": range(2 * workers)}, executor=client)
            times[workers] = min(wall(scenario, client) for _ in range(3))
            print(f"{RUNS} runs on {workers}: {times[workers]:.2f} s")
            if workers == 2:
                count = 5000
                begin = time.monotonic()
                client.gather(client.map(nothing, range(count), pure=False))
                each = (time.monotonic() - begin) / count
    print(f"speed-up: {times[1] / times[2]:.2f}")
    print(f"of one worker's time, runs themselves: {RUNS * alone / times[1]:.1%}")
    print(f"a task that does nothing: {each * 1e3:.2f} ms, {1 / each:.0f} per second")


if __name__ == "__main__":
    main()
