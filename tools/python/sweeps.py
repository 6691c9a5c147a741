"""Measures sweeps on Dask: prints the figures of docs/src/python.md.

python tools/python/sweeps.py
"""

import os
import time

import distributed

import accord

RUNS = 400


def nothing(number: int) -> int:
    """Do nothing."""
    return number


def cluster(workers: int) -> distributed.LocalCluster:
    """Return a cluster of processes of one thread."""
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )


def spent(scenario: accord.Scenario, client: distributed.Client) -> tuple[float, float]:
    """Return the seconds of a sweep, and the CPU time of the worker that worked most."""
    begin, before = time.monotonic(), client.run(time.process_time)
    accord.sweep(scenario, {"seed": range(RUNS)}, executor=client)
    seconds, after = time.monotonic() - begin, client.run(time.process_time)
    return seconds, max(after[worker] - before[worker] for worker in after)


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
            times[workers] = min((spent(scenario, client) for _ in range(2)), key=lambda s: s[1])
            wall, cpu = times[workers]
            print(f"{RUNS} runs on {workers}: {wall:.2f} s, CPU of the busiest worker {cpu:.2f} s")
            if workers == 2:
                count = 5000
                begin, used = time.monotonic(), time.process_time()
                client.gather(client.map(nothing, range(count), pure=False))
                each = (time.monotonic() - begin) / count
                cpu = (time.process_time() - used) / count
    print(f"speed-up: {times[1][0] / times[2][0]:.2f} in time")
    print(f"speed-up: {times[1][1] / times[2][1]:.2f} in CPU time of the busiest worker")
    print(f"of one worker's CPU time, runs themselves: {RUNS * alone / times[1][1]:.1%}")
    print(f"a task that does nothing: {each * 1e3:.2f} ms")
    print(f"of it client and scheduler: {cpu * 1e3:.2f} ms of CPU")


if __name__ == "__main__":
    main()
