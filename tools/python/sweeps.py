"""Measures sweeps on Dask, and prints the figures of docs/src/python.md.

python tools/python/sweeps.py
"""

import json
import os
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path

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


def alone(scenario: accord.Scenario, runs: int) -> float:
    """Return the CPU time of a run with its table, in seconds."""
    before = time.process_time()
    for seed in range(runs):
        accord.Comparison([scenario.run("packet", seed=seed)])
    return (time.process_time() - before) / runs


def beside(processes: int) -> tuple[float, float]:
    """Return the seconds and the CPU time per run of simultaneous plain processes, without Dask.

    If two of them take longer per run than one, the machine is the cause: other programs, shared caches.
    """
    code = "import sys; sys.path.insert(0, sys.argv[1]); import sweeps; sweeps.child()"
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(RUNS // processes)]
    begun = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    figures = [json.loads(process.communicate()[0]) for process in begun]
    return max(wall for wall, _ in figures), sum(cpu for _, cpu in figures) / processes


def child() -> None:
    """Make runs as a plain process, and print seconds and the CPU time per run."""
    scenario = workload()
    scenario.run("packet")
    begin = time.monotonic()
    cpu = alone(scenario, int(sys.argv[2]))
    print(json.dumps([time.monotonic() - begin, cpu]))


def workload() -> accord.Scenario:
    """Return the scenario of the sweep."""
    return accord.parse(
        """
        duration = "20 s"
        topology.dumbbell = { rate = "200 Mbps", delay = "20 ms", queue = "droptail" }
        flow.all = { from = "left", to = "right", count = 10, controller = "vegas" }
        """
    )


def spent(
    scenario: accord.Scenario, client: distributed.Client
) -> tuple[float, list[float], float]:
    """Return the seconds of a sweep, and the CPU time of each worker and of this process."""
    before, used = client.run(time.process_time), time.process_time()
    begin = time.monotonic()
    accord.sweep(scenario, {"seed": range(RUNS)}, executor=client)
    seconds, here = time.monotonic() - begin, time.process_time() - used
    after = client.run(time.process_time)
    return seconds, [after[worker] - before[worker] for worker in after], here


def main() -> None:
    """Print the figures."""
    print(f"load of the machine before: {os.getloadavg()[0]:.2f}")
    scenario = workload()
    scenario.run("packet")
    print(f"a run: {alone(scenario, 20) * 1e3:.1f} ms of CPU")
    plain = {processes: beside(processes) for processes in (1, 2)}
    for processes, (wall, cpu) in plain.items():
        print(f"plain processes, {processes}: {wall:.2f} s, {cpu * 1e3:.1f} ms of CPU per run")
    print(f"speed-up of two plain processes: {plain[1][0] / plain[2][0]:.2f}")
    times = {}
    for workers in (1, 2):
        with cluster(workers) as local, distributed.Client(local) as client:
            client.wait_for_workers(workers)
            accord.sweep(scenario, {"seed": range(2 * workers)}, executor=client)
            wall, cpus, here = min((spent(scenario, client) for _ in range(2)), key=itemgetter(0))
            times[workers] = wall, max(cpus)
            idle = 1 - sum(cpus) / wall / workers
            print(
                f"{RUNS} runs on {workers}: {wall:.2f} s; workers {sum(cpus) / RUNS * 1e3:.1f} ms "
                f"of CPU per run, the busiest {max(cpus):.2f} s, without the CPU {idle:.1%} of the "
                f"time; client and scheduler {here / RUNS * 1e3:.2f} ms per run"
            )
            if workers == 2:
                count = 5000
                begin, used = time.monotonic(), time.process_time()
                client.gather(client.map(nothing, range(count), pure=False))
                each = (time.monotonic() - begin) / count
                task = (time.process_time() - used) / count
    print(f"speed-up: {times[1][0] / times[2][0]:.2f} in time")
    print(f"speed-up: {times[1][1] / times[2][1]:.2f} in CPU time of the busiest worker")
    print(f"of what two plain processes gain: {speedup(times) / speedup(plain):.1%}")
    print(f"a task that does nothing: {each * 1e3:.2f} ms")
    print(f"of it client and scheduler: {task * 1e3:.2f} ms of CPU")


def speedup(times: dict[int, tuple[float, float]]) -> float:
    """Return the speed-up of the second one."""
    return times[1][0] / times[2][0]


if __name__ == "__main__":
    main()
