"""Sweeps: the same table whoever makes the runs, and no result lost with a worker."""

import csv
import os
import pickle
import signal
import subprocess
import sys
import threading
import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet
import pytest
from networks import plain

import accord

OVER = {"topology.dumbbell.rate": ["2 Mbps", "4 Mbps"], "flow.all.count": [1, 2]}


@pytest.fixture(scope="module")
def small():
    # Start times are drawn, so seeds differ.
    start = {"flow.all.start": {"uniform": ["0 s", "1 s"]}}
    return plain(duration="5 s").with_(start)


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
        # Flows share the capacity.
        total = {"2 Mbps": 2e6, "4 Mbps": 4e6}[row["topology.dumbbell.rate"]]
        assert row["mean"] == pytest.approx(total / row["flow.all.count"], rel=0.02)
    delays = [r for r in swept.means() if r["metric"] == "queuing_delay"]
    assert len(delays) == 4
    widths = [row["half_width"] for row in delays]
    # A single flow ends with the same queue whenever it starts.
    assert any(widths) and all(width is None or width > 0 for width in widths)
    single = accord.sweep(small, OVER).means()
    assert all(row["half_width"] is None for row in single)


def test_equal_seeds_have_no_interval_and_a_warning(small):
    swept = accord.sweep(plain(duration="5 s"), OVER, reps=3)
    with pytest.warns(UserWarning, match="equal packet runs at 4 of 4 points: the scenario draws"):
        means = swept.means()
    assert means and all(row["half_width"] is None and row["runs"] == 3 for row in means)
    # One equal value of many, at a full link, is no reason for a warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accord.sweep(small, OVER, reps=3).means()
        accord.sweep(small, OVER, reps=3, engines=["theory"]).means()


def test_a_point_that_is_named_twice_is_run_once(small):
    one = [{"flow.all.count": 2}]
    with pytest.warns(
        UserWarning, match=r"over: 2 of 4 points equal earlier ones and are left out"
    ):
        swept = accord.sweep(
            small, [*one, {"flow.all.count": 1}, *one, {"flow.all.count": "2"}], reps=3
        )
    assert len(swept) == 6 and swept.made == 6
    assert all(row["runs"] == 3 for row in swept.means())
    assert [row for row in swept.means() if row["flow.all.count"] == 2] == accord.sweep(
        small, one, reps=3
    ).means()
    with pytest.warns(UserWarning, match="1 of 2 points"):
        assert len(accord.sweep(small, {"flow.all.count": [1, 1]}, engines="theory")) == 1


def holder(packets):
    class Holder(accord.Controller):
        version = "1"

        def __init__(self, packet):
            super().__init__(packet)
            self.window = packets * packet

        def on_ack(self, ack, path, now):
            pass

        def on_congestion(self, how, path, now):
            pass

    return Holder


def test_two_classes_with_one_name_are_two_points(small, tmp_path):
    classes = [holder(2), holder(20)]
    assert repr(classes[0]) == repr(classes[1])
    over = {"flow.all.controller": classes}
    swept = accord.sweep(small.with_({"flow.all.count": 1}), over, reps=2)
    rows = [row for row in swept.means() if row["metric"] == "throughput"]
    assert [row["flow.all.controller"] for row in rows] == classes
    assert [row["runs"] for row in rows] == [2, 2] and rows[1]["mean"] > 4 * rows[0]["mean"]
    assert swept._repr_html_().count("<tr>") == 1 + 2
    with pytest.raises(ValueError, match=r"two classes are called 'holder' and have .* '1'"):
        accord.sweep(small, over, store=tmp_path)
    pytest.importorskip("matplotlib")
    axes = swept.plot("throughput")
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == [f"{classes[0]} (1)", f"{classes[1]} (2)"]
    assert len(axes.lines[0].get_xdata()) == 2
    lines = accord.sweep(small, over | {"flow.all.count": [1, 2]}).plot(x="flow.all.count")
    assert len(lines.get_legend_handles_labels()[1]) == 2


def test_a_sweep_over_seeds_has_no_repetitions(small):
    assert len(accord.sweep(small, {"seed": [1, 2]}, engines="theory")) == 2
    with pytest.raises(ValueError, match="seed: expected reps=1"):
        accord.sweep(small, {"seed": [1, 2]}, reps=2)


def test_a_sweep_draws_shows_and_pickles(small):
    pytest.importorskip("matplotlib")
    swept = accord.sweep(small, OVER, reps=2, engines=["theory", "packet"])
    axes = swept.plot("queuing_delay")
    assert axes.get_xlabel() == "topology.dumbbell.rate (Mbps)"
    assert axes.get_ylabel() == "queuing delay (ms)"
    labels = axes.get_legend_handles_labels()[1]
    assert labels == [f"flow.all.count = {n}, {e}" for n in (1, 2) for e in ("theory", "packet")]
    assert swept.plot(x="flow.all.count", ax=axes) is axes
    with pytest.raises(ValueError, match=r"no means of quequing; expected one of .*rtt of all"):
        swept.plot("quequing")
    with pytest.raises(ValueError, match=r"x 'rate': expected one of topology.dumbbell.rate"):
        swept.plot(x="rate")
    shown = swept._repr_html_()
    assert shown.count("<tr>") == 1 + 4 * 2 and "queuing delay of bottleneck" in shown
    again = pickle.loads(pickle.dumps(swept))
    assert again.rows == swept.rows and (again.made, again.found) == (8, 0)


def test_a_file_travels_with_its_scenario(tmp_path, monkeypatch):
    (tmp_path / "steps.txt").write_text("0, 4 Mbps\n1, 2 Mbps\n")
    text = plain(duration="3 s").text.replace('rate = "10 Mbps"', 'rate = { steps = "steps.txt" }')
    (tmp_path / "mine.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    scenario = accord.load("mine.toml")
    before = scenario.run("packet")
    monkeypatch.chdir("/")
    # The scenario keeps the contents that were read with it.
    (tmp_path / "steps.txt").write_text("0, 9 Mbps\n")
    other = accord.load(tmp_path / "mine.toml")
    same = pickle.loads(pickle.dumps(other))
    assert other == same and hash(other) == hash(same) and other.run("packet") != before
    (tmp_path / "steps.txt").write_text("0, 8 Mbps\n")
    changed = accord.load(tmp_path / "mine.toml")
    assert changed != other and len({changed, other, same}) == 2
    # A file of a scenario that was made from it is not its own.
    (tmp_path / "other.txt").write_text("0, 7 Mbps\n")
    other.with_({"topology.dumbbell.rate": {"steps": "other.txt"}})
    assert other == same
    assert scenario.run("packet") == before
    (tmp_path / "steps.txt").unlink()
    over = {"flow.all.count": [1, 2]}
    with ProcessPoolExecutor(1) as process:
        swept = accord.sweep(scenario, over, executor=process)
    assert swept.rows == accord.sweep(scenario, over).rows
    with pytest.raises(accord.ScenarioError, match=r"steps\.txt"):
        accord.load(tmp_path / "mine.toml")


def test_points_one_by_one_and_their_checks(small):
    busy = {"name": "busy", "metric": "utilisation", "of": "bottleneck", "at_least": "80 %"}
    points = [{"flow.all.count": 1}, {"duration": "6 s"}]
    swept = accord.sweep(small.with_({"expect": [busy]}), points)
    assert [c["duration"] for c in swept.checks] == [None, "6 s"]
    assert all(c["pass"] for c in swept.checks)
    # The expectation is one of packets.
    assert accord.sweep(small.with_({"expect": [busy]}), points, engines="theory").checks == []


def test_wrong_input_is_reported_before_the_first_run(small):
    with pytest.raises(accord.ScenarioError, match="parsecs"):
        accord.sweep(small, {"duration": ["1000 s", "9 parsecs"]})
    with pytest.raises(ValueError, match="nothing to run"):
        accord.sweep(small, {"duration": []})
    with pytest.raises(ValueError, match="has a sweep"):
        accord.sweep(accord.load("xia05-fig6"), OVER)
    with pytest.raises(ValueError, match="reps"):
        accord.sweep(small, OVER, reps=0)


def test_an_interrupt_ends_all_runs(interrupts):
    long = accord.dumbbell(flows=20, rate="1 Gbps")
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    before, done = set(threading.enumerate()), []

    def durations():
        # The sweep has begun.
        timer.start()
        yield from ("1000 s", "1001 s", "1002 s")

    with pytest.raises(KeyboardInterrupt):
        accord.sweep(long, {"duration": durations()}, progress=done.append)
    timer.join()
    # No run came to its end, and none goes on.
    assert not done and set(threading.enumerate()) <= before


def test_progress_counts_runs(small):
    done = []
    accord.sweep(small, OVER, reps=2, progress=done.append)
    assert done == sorted(done) and done[-1] == 1
    with pytest.raises(TypeError, match="expected a function of the fraction done"):
        accord.sweep(small, OVER, progress=3)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    import distributed

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def files(store):
    """The files of a store with their contents.

    Without the file in progress that a killed writer leaves, whose name ends in "partial".
    """
    return {str(f.relative_to(store)): f.read_bytes() for f in store.rglob("*.parquet")}


def test_a_cluster_survives_the_loss_of_a_worker(small, client, tmp_path):
    alone = accord.sweep(small, OVER, reps=10, store=tmp_path / "alone")
    worker = client.run(os.getpid).popitem()[1]

    def kill(fraction):
        nonlocal worker
        if worker is not None:
            os.kill(worker, signal.SIGKILL)
            worker = None

    swept = accord.sweep(
        small, OVER, reps=10, executor=client, store=tmp_path / "cluster", progress=kill
    )
    assert worker is None
    assert swept.rows == alone.rows and len(swept) == 40
    # Identical to the byte: the results of one core and of the rest of a cluster.
    assert files(tmp_path / "cluster") == files(tmp_path / "alone")


def test_a_client_and_its_executor_agree(small, client):
    threads = accord.sweep(small, OVER)
    assert accord.sweep(small, OVER, executor=client).rows == threads.rows
    assert accord.sweep(small, OVER, executor=client.get_executor()).rows == threads.rows


def test_a_sweep_goes_on_where_it_was_and_shares_runs(small, tmp_path):
    class Enough(Exception):
        pass

    def stop(fraction):
        if fraction >= 0.25:
            raise Enough

    with pytest.raises(Enough):
        accord.sweep(small, OVER, reps=5, store=tmp_path, progress=stop)
    before = len(files(tmp_path))
    assert 5 <= before < 20
    whole = accord.sweep(small, OVER, reps=5, store=tmp_path)
    assert whole.found == before and whole.made == 20 - before
    assert whole.rows == accord.sweep(small, OVER, reps=5).rows
    # Another study of some of the same points, with different settings.
    other = small.with_({"topology.dumbbell.rate": "4 Mbps"})
    shared = accord.sweep(other, {"flow.all.count": [2, 3]}, reps=2, store=tmp_path)
    assert (shared.found, shared.made) == (2, 2)
    assert [r["value"] for r in shared if r["flow.all.count"] == 2] == [
        r["value"]
        for r in whole
        if (r["topology.dumbbell.rate"], r["flow.all.count"]) == ("4 Mbps", 2) and r["seed"] < 3
    ]


def test_a_store_is_any_place_of_fsspec(small):
    swept = accord.sweep(small, OVER, store="memory://study")
    assert swept.made == 4 and accord.sweep(small, OVER, store="memory://study").found == 4
    assert swept.rows == accord.sweep(small, OVER).rows


def test_a_store_tells_runs_that_skip_from_whole_ones(tmp_path):
    long = plain(controller="monaco", duration="1000 s")
    over = {"topology.dumbbell.rate": ["2 Mbps"]}
    assert accord.sweep(long, over, store=tmp_path).made == 1
    assert accord.sweep(long, over, skip="steady", store=tmp_path).made == 1
    assert accord.sweep(long, over, skip="steady", store=tmp_path).found == 1


def test_a_run_that_was_cut_short_in_the_store_is_made_again(small, tmp_path):
    swept = accord.sweep(small, OVER, store=tmp_path)
    file = next(tmp_path.rglob("*.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    again = accord.sweep(small, OVER, store=tmp_path)
    assert (again.made, again.found) == (1, 3)
    assert file.read_bytes() == whole and again.rows == swept.rows


def test_a_run_with_a_wrong_bit_in_the_store_is_made_again(small, tmp_path):
    over = {"flow.all.count": [1]}
    rows = accord.sweep(small, over, store=tmp_path).rows
    (file,) = tmp_path.rglob("*.parquet")
    whole = file.read_bytes()
    # All places of a file, with another bit at each.
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        again = accord.sweep(small, over, store=tmp_path)
        assert (again.made, again.found) == (1, 0) and again.rows == rows, place
        assert file.read_bytes() == whole


def test_the_file_of_another_run_is_not_used(small, tmp_path):
    rows = accord.sweep(small, OVER, store=tmp_path).rows
    first, second, *_ = sorted(tmp_path.rglob("*.parquet"))
    assert first.read_bytes() != second.read_bytes()
    first.write_bytes(second.read_bytes())
    again = accord.sweep(small, OVER, store=tmp_path)
    assert (again.made, again.found) == (1, 3) and again.rows == rows
    first.write_bytes(second.read_bytes())
    with pytest.raises(accord.AccordError, match=f"{first.name} is damaged or of another run"):
        again.means()


class Boom(accord.Controller):
    version = "1"

    def on_ack(self, ack, path, now):
        raise RuntimeError(f"boom at {now:.3f}")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes since Python 3.11")
@pytest.mark.parametrize("where", ["threads", "processes", "cluster"])
def test_an_exception_of_a_class_names_its_point(small, where, request):
    failing = small.with_({"flow.all.controller": Boom})
    executor = request.getfixturevalue("client") if where == "cluster" else None
    with ExitStack() as stack:
        if where == "processes":
            executor = stack.enter_context(ProcessPoolExecutor(1))
        caught = stack.enter_context(pytest.raises(RuntimeError, match=r"boom at \d"))
        points = [{"flow.all.count": 2, "topology.dumbbell.rate": "4 Mbps"}]
        accord.sweep(failing, points, executor=executor)
    note = "at flow.all.count = 2, topology.dumbbell.rate = '4 Mbps'; seed 1, engines packet"
    assert caught.value.__notes__ == [note]


def test_a_damaged_or_impossible_store_is_reported(small, tmp_path):
    swept = accord.sweep(small, {"flow.all.count": [1]}, store=tmp_path)
    (file,) = tmp_path.rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(accord.AccordError, match="damaged"):
        swept.means()
    with pytest.raises(accord.AccordError, match="gopher"):
        accord.sweep(small, OVER, store="gopher://somewhere")
    with pytest.raises(OSError):
        accord.sweep(small, OVER, store=file / "below")


class Versioned(accord.Controller):
    version = "1"

    def on_ack(self, ack, path, now):
        self.window = 30000


class Versionless(Versioned):
    version = None


def test_classes_of_python_need_a_version_in_a_store(small, tmp_path):
    with pytest.raises(ValueError, match="Versionless has no `version`"):
        accord.sweep(small.with_({"flow.all.controller": Versionless}), OVER, store=tmp_path)
    mine = small.with_({"flow.all.controller": Versioned})
    assert accord.sweep(mine, OVER, store=tmp_path).made == 4
    assert accord.sweep(mine, OVER, store=tmp_path).found == 4
    try:
        Versioned.version = "2"
        assert accord.sweep(mine, OVER, store=tmp_path).made == 4
    finally:
        Versioned.version = "1"


def _another_build():
    import accord._work

    accord._work.identity = lambda: "0.0.1+other"


def _own_build():
    import accord._store
    import accord._work

    accord._work.identity = accord._store.identity


def test_a_worker_with_another_build_is_named_and_not_used(small, client):
    workers = list(client.nthreads())
    client.run(_another_build, workers=workers[:1])
    with pytest.warns(RuntimeWarning, match=rf"{workers[0]} has Accord 0\.0\.1\+other"):
        swept = accord.sweep(small, OVER, reps=3, executor=client)
    assert swept.rows == accord.sweep(small, OVER, reps=3).rows
    client.run(_another_build)
    with (
        pytest.warns(RuntimeWarning, match="is not used"),
        pytest.raises(accord.AccordError, match="no worker has this build"),
    ):
        accord.sweep(small, OVER, executor=client)
    client.run(_own_build)


def _absent():
    raise ModuleNotFoundError("No module named 'mine'")


class Absent:
    """An object that a worker cannot read."""

    def __reduce__(self):
        return (_absent, ())


def test_a_batch_that_a_worker_cannot_read_ends_the_sweep(small, client):
    options = {"x": Absent()}
    with pytest.raises(accord.AccordError, match=r"cannot read a batch: .*No module named 'mine'"):
        accord.sweep(small, [{}], executor=client, store="memory://x", store_options=options)


def test_ten_thousand_runs_and_a_small_client(client, tmp_path):
    tiny = plain(duration="1 s", rate="1 Mbps")

    def peak(seeds, store):
        tracemalloc.start()
        swept = accord.sweep(
            tiny, {"seed": range(seeds)}, engines=["theory"], executor=client, store=store
        )
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(swept) == seeds
        return most

    peak(10, tmp_path)
    few, many = peak(1000, tmp_path), peak(10_000, tmp_path)
    assert len(files(tmp_path)) == 10_000
    # The points themselves are some 300 bytes each. A result is fifty times that.
    assert many - few < 9000 * 1500


def test_a_scheduler_that_dies_costs_no_finished_run(small, tmp_path):
    distributed = pytest.importorskip("distributed")
    alone = accord.sweep(small, OVER, reps=20)

    def cluster():
        return distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )

    with cluster() as first, distributed.Client(first) as client:
        with pytest.raises(Exception):  # noqa: B017 - of Dask's network, of several types
            accord.sweep(
                small,
                OVER,
                reps=20,
                executor=client,
                store=tmp_path,
                progress=lambda fraction: first.close(),
            )
    assert files(tmp_path)
    with cluster() as second, distributed.Client(second) as client:
        swept = accord.sweep(small, OVER, reps=20, executor=client, store=tmp_path)
    assert swept.found > 0 and swept.rows == alone.rows


def test_designs_fill_their_ranges():
    over = {
        "topology.dumbbell.rate": accord.between("1 Mbps", "100 Mbps", log=True),
        "flow.all.count": accord.between(1, 8, whole=True),
    }
    for design in (accord.latin_hypercube, accord.sobol):
        points = design(over, 16)
        assert points == design(over, 16) != design(over, 16, seed=2)
        assert {p["flow.all.count"] for p in points} == set(range(1, 9))
        rates = [float(p["topology.dumbbell.rate"].removesuffix(" Mbps")) for p in points]
        assert 7 <= sum(rate < 10 for rate in rates) <= 9
        accord.dumbbell().with_(points[0])
    rows = accord.sweep(
        accord.dumbbell(duration="2 s"), accord.sobol(over, 4), engines=["theory"]
    ).rows
    assert len({row["topology.dumbbell.rate"] for row in rows}) == 4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: accord.between("1 Mbps", "9 kbps"), "one unit"),
        (lambda: accord.between(3, 1), "lower and a higher"),
        (lambda: accord.between(float("nan"), 1), "lower and a higher"),
        (lambda: accord.between("fast", "slow"), "number with a unit"),
        (lambda: accord.between(0, 1, log=True), "above zero"),
        (lambda: accord.logspace(1, 2, 1), "at least 2"),
        (lambda: accord.sobol({"seed": [1, 2]}, 4), "accord.between"),
        (lambda: accord.latin_hypercube({"seed": accord.between(0, 1)}, 0), "at least 1"),
        (lambda: accord.border(accord.dumbbell(), {}, bool), "at least one range"),
    ],
)
def test_wrong_designs_are_reported(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_border_is_found_with_few_runs():
    # In theory each of two flows gets half of the rate: the border of 5.1 Mbps is at 10.2 Mbps.
    over = {"topology.dumbbell.rate": accord.between("1 Mbps", "33 Mbps")}
    found = accord.border(
        accord.dumbbell(flows=2, duration="2 s"),
        over,
        lambda mean: mean["throughput", "all"] >= 5.1e6,
        engines="theory",
        start=2,
        rounds=5,
    )
    ((low, high),) = found.cells
    ends = [float(p["topology.dumbbell.rate"].split()[0]) for p in (low, high)]
    assert ends[0] < 10.2 <= ends[1] and ends[1] - ends[0] == pytest.approx(0.5)
    assert len(found.points) == 3 + 5
    both = over | {"topology.dumbbell.delay": accord.between("1 ms", "17 ms")}
    found = accord.border(
        plain(flows=2, duration="2 s"),
        both,
        lambda mean: mean["rtt", "all"] >= 30e-3,
        engines=["theory"],
        start=1,
        rounds=3,
    )
    assert found.cells and len(found.points) < 9 * 9
    assert any(found.holds) and not all(found.holds)


@pytest.mark.parametrize(("least", "words"), [(0, "all 3 points"), (1e9, "none of 3 points")])
def test_a_border_that_is_nowhere_is_a_warning(least, words):
    over = {"topology.dumbbell.rate": accord.between("1 Mbps", "3 Mbps")}
    with pytest.warns(UserWarning, match=words):
        found = accord.border(
            accord.dumbbell(flows=2, duration="2 s"),
            over,
            lambda mean: mean["throughput", "all"] >= least,
            engines=["theory"],
            start=2,
        )
    assert found.cells == [] and len(found.points) == 3


def test_the_program_sweeps(tmp_path):
    program = Path(sys.executable).parent / "accord-sweep"
    base = plain(duration="2 s")
    file = tmp_path / "small.toml"
    file.write_text(base.text)

    def call(*arguments):
        command = [program, str(file), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True)

    over = "topology.dumbbell.rate=4 Mbps, 8 Mbps"
    done = call("--over", over, "--engine", "theory", "--reps", 2)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    expected = accord.sweep(
        base, {"topology.dumbbell.rate": ["4 Mbps", "8 Mbps"]}, reps=2, engines=["theory"]
    ).means()
    assert [float(r["mean"]) for r in rows] == [r["mean"] for r in expected]
    store, table = tmp_path / "store", tmp_path / "t.parquet"
    options = ("--over", "flow.all.count=1 .. 8 whole", "--design", "sobol", "--points", 4)
    done = call(*options, "--local", 1, "--store", store, "-o", table, "--rows")
    assert done.returncode == 0 and "4 runs made, 0 found" in done.stderr
    assert len(set(pyarrow.parquet.read_table(table)["flow.all.count"].to_pylist())) == 4
    assert "0 runs made, 4 found" in call(*options, "--store", store, "-o", table).stderr
    for wrong, words in [
        (("--over", "rate"), "expected PATH=VALUES"),
        (("--over", "topology.dumbell.rate=1 Mbps"), "did you mean"),
        (("--over", "flow.all.count=1 .. 8"), "needs --design"),
        (("--over", over, "-o", "table.xlsx"), ".parquet"),
        (
            ("--over", over, "-o", tmp_path / "none" / "t.csv"),
            "no directory that can be written",
        ),
        (("--local", 0), "at least 1"),
    ]:
        done = call(*wrong)
        assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on the size of files is Linux's")
def test_a_file_that_cannot_be_written_is_left_as_it_was(small, tmp_path):
    import resource

    mine = tmp_path / "mine.toml"
    mine.write_text("# mine")
    store = tmp_path / "store"
    accord.sweep(small, {"flow.all.count": [1]}, store=store)
    before = files(store)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            small.save(mine)
        with pytest.raises(OSError, match="File too large"):
            accord.sweep(small, {"flow.all.count": [2]}, store=store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert mine.read_text() == "# mine"
    assert files(store) == before
    assert sorted(f.name for f in tmp_path.iterdir()) == ["mine.toml", "store"]


def test_a_table_has_no_formulas(tmp_path):
    from accord._sweep_program import write

    write([{"label": "=1+1", "mean": -1.5}], str(tmp_path / "t.csv"))
    assert (tmp_path / "t.csv").read_text().splitlines() == ["label,mean", "'=1+1,-1.5"]
