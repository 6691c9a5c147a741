"""Sweeps: the same table whoever makes the runs, and no result lost with a worker."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

import accord

OVER = {"topology.dumbbell.rate": ["2 Mbps", "4 Mbps"], "flow.all.count": [1, 2]}


@pytest.fixture(scope="module")
def small():
    # Start times are drawn, so that seeds differ.
    start = {"flow.all.start": {"uniform": ["0 s", "1 s"]}}
    return accord.dumbbell(duration="5 s").with_(start)


def test_threads_and_processes_agree(small):
    threads = accord.sweep(small, OVER, reps=2, engines=["theory", "packet"])
    with ProcessPoolExecutor(2) as processes:
        others = accord.sweep(small, OVER, reps=2, engines=["theory", "packet"], executor=processes)
    assert threads.rows == others.rows
    assert {row["seed"] for row in threads.rows} == {1, 2}


def test_means_have_intervals(small):
    swept = accord.sweep(small, OVER, reps=3)
    rows = [r for r in swept.means() if r["metric"] == "throughput"]
    assert len(rows) == 4
    for row in rows:
        # Flows share what there is.
        total = {"2 Mbps": 2e6, "4 Mbps": 4e6}[row["topology.dumbbell.rate"]]
        assert row["mean"] == pytest.approx(total / row["flow.all.count"], rel=0.02)
        assert row["runs"] == 3 and row["half_width"] is not None
    single = accord.sweep(small, OVER).means()
    assert all(row["half_width"] is None for row in single)


def test_points_one_by_one_and_their_checks(small):
    busy = {"name": "busy", "metric": "utilisation", "of": "bottleneck", "at_least": "80 %"}
    points = [{"flow.all.count": 1}, {"duration": "6 s"}]
    swept = accord.sweep(small.with_({"expect": [busy]}), points)
    assert [c["duration"] for c in swept.checks] == [None, "6 s"]
    assert all(c["pass"] for c in swept.checks)


def test_wrong_input_is_told_before_the_first_run(small):
    with pytest.raises(accord.ScenarioError, match="parsecs"):
        accord.sweep(small, {"duration": ["1000 s", "9 parsecs"]})
    with pytest.raises(ValueError, match="nothing to run"):
        accord.sweep(small, {"duration": []})
    with pytest.raises(ValueError, match="sweep of its own"):
        accord.sweep(accord.load("xia05-fig6"), OVER)
    with pytest.raises(ValueError, match="reps"):
        accord.sweep(small, OVER, reps=0)


def test_an_interrupt_ends_all_runs(interrupts):
    long = accord.dumbbell(flows=20, rate="1 Gbps")
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        accord.sweep(long, {"duration": ["1000 s", "1001 s", "1002 s"]})
    assert time.monotonic() - before < 10
    assert threading.active_count() < 4


def test_progress_counts_runs(small):
    class Bar:
        done = 0

        def update(self, n):
            self.done += n

    bar = Bar()
    accord.sweep(small, OVER, reps=2, progress=bar)
    assert bar.done == 8


def test_a_cluster_survives_the_loss_of_a_worker(small):
    distributed = pytest.importorskip("distributed")
    alone = accord.sweep(small, OVER, reps=10)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        worker = next(iter(cluster.workers.values())).pid

        class Killer:
            def update(self, n):
                nonlocal worker
                if worker is not None:
                    os.kill(worker, signal.SIGKILL)
                    worker = None

        swept = accord.sweep(
            small, OVER, reps=10, executor=client.get_executor(), progress=Killer()
        )
    assert worker is None
    assert swept.rows == alone.rows
