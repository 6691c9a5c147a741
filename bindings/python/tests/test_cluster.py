"""Sweeps on a cluster of real processes that are killed and stopped."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from networks import plain

import accord
import accord._carry
import accord._crew

distributed = pytest.importorskip("distributed")

OVER = {"topology.dumbbell.rate": ["2 Mbps", "4 Mbps"], "flow.all.count": [1, 2]}
REPS = 25
DASK = Path(sys.executable).parent / "dask"


class Cluster:
    """A scheduler and workers, each a process, at an address that stays."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers = []
        self.start()

    def start(self):
        options = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        self.scheduler = self._process("scheduler", *options)
        self.workers += [
            self._process("worker", self.address, "--nthreads", "1", "--no-dashboard")
            for _ in range(2)
        ]

    def _process(self, *arguments):
        # A nanny and its worker are one group.
        return subprocess.Popen(
            [DASK, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill_scheduler(self):
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def stop_a_worker(self):
        os.killpg(self.workers[0].pid, signal.SIGSTOP)

    def close(self):
        for process in [self.scheduler, *self.workers]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def cluster():
    cluster = Cluster()
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def small():
    start = {"flow.all.start": {"uniform": ["0 s", "1 s"]}}
    return plain(duration="5 s").with_(start)


@pytest.fixture(scope="module")
def alone(small):
    return accord.sweep(small, OVER, reps=REPS).rows


class After:
    """Does something once when some runs are done."""

    def __init__(self, runs, action):
        self.runs, self.action, self.done = runs, action, 0

    def __call__(self, fraction):
        self.done = round(fraction * 4 * REPS)
        if self.done >= self.runs and self.action is not None:
            action, self.action = self.action, None
            action()


def test_a_scheduler_that_restarts_costs_what_was_under_way(small, alone, cluster):
    def restart():
        cluster.kill_scheduler()
        timer.start()

    timer = threading.Timer(2, cluster.start)
    after = After(20, restart)
    with distributed.Client(cluster.address, timeout="60 s") as client:
        client.wait_for_workers(2)
        with pytest.warns(RuntimeWarning, match="is gone; the sweep waits|lost tasks"):
            swept = accord.sweep(
                small, OVER, reps=REPS, executor=client, progress=after, task_seconds=0.02
            )
    timer.join()
    assert swept.rows == alone and after.done == len(swept) == 4 * REPS


def test_a_scheduler_that_stays_away_ends_the_sweep_with_its_state(small, alone, cluster, tmp_path):
    def kill():
        # The time for which Dask's client waits for a scheduler. It was more for all before, which
        # takes long on a busy machine.
        client._timeout = 3
        cluster.kill_scheduler()

    after = After(20, kill)
    options = {"reps": REPS, "store": tmp_path, "task_seconds": 0.02}
    with distributed.Client(cluster.address, timeout="60 s") as client:
        client.wait_for_workers(2)
        with (
            pytest.warns(RuntimeWarning),
            pytest.raises(accord.AccordError, match=r"is gone; \d+ of 100 runs are done") as caught,
        ):
            accord.sweep(small, OVER, executor=client, progress=after, **options)
        assert "the same call continues" in str(caught.value)
    cluster.start()
    with distributed.Client(cluster.address, timeout="60 s") as client:
        client.wait_for_workers(2)
        swept = accord.sweep(small, OVER, executor=client, **options)
    assert swept.found >= 20 and swept.made < 4 * REPS and swept.rows == alone


def test_a_worker_that_hangs_holds_nothing(small, alone, cluster, monkeypatch):
    monkeypatch.setattr(accord._carry, "PATIENCE", 2.0)
    monkeypatch.setattr(accord._crew, "FETCH", 2.0)
    after = After(20, cluster.stop_a_worker)
    with distributed.Client(cluster.address, timeout="60 s") as client, ExitStack() as stack:
        client.wait_for_workers(2)
        # Dask itself gives a worker up after five minutes. Before the client ends, it is killed.
        stack.callback(cluster.close)
        swept = accord.sweep(
            small, OVER, reps=REPS, executor=client, progress=after, task_seconds=0.02
        )
        # Dask has not given the worker up.
        assert len(client.scheduler_info()["workers"]) == 2
    assert swept.rows == alone and after.done == 4 * REPS
