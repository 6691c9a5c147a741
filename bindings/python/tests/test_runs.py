"""Scenarios and runs: the same as the program's, and errors that say where."""

import json
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from networks import plain

import accord


@pytest.fixture(scope="module")
def small():
    return plain(flows=2, rate="8 Mbps", duration="10 s")


def test_a_run_is_that_of_the_program(tmp_path, small):
    file = tmp_path / "small.toml"
    file.write_text(small.toml())
    program = Path(sys.executable).parent / "accord"
    command = [program, "run", str(file), "-e", "packet", "--json", "-o", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    run = accord.load(file).run("packet")
    assert record["points"][0]["runs"][0]["digest"] == run.manifest["digest"]
    assert record["points"][0]["means"] == run.summary["points"][0]["means"]

    (kept,) = accord.read(tmp_path / "run")
    assert kept.manifest["digest"] == run.manifest["digest"]
    stored = pyarrow.parquet.read_table(tmp_path / "run" / "series.parquet")
    ours = pyarrow.table(run.series)
    assert stored["value"].to_pylist() == ours["value"].to_pylist()
    assert stored["entity"].to_pylist() == ours["entity"].to_pylist()
    assert pyarrow.table(kept.series).equals(ours)


def test_a_run_skips_what_is_steady():
    long = plain(flows=2, rate="8 Mbps", controller="monaco", duration="1000 s")
    whole, short = long.run(), long.run(skip="steady")
    assert whole.skipped == []
    assert sum(end - start for start, end in short.skipped) > 500
    for metric, of in (("throughput", "all"), ("backlog", "bottleneck")):
        assert short.mean(metric, of) == pytest.approx(whole.mean(metric, of), rel=0.011)
    assert short.manifest["digest"] != whole.manifest["digest"]
    with pytest.raises(ValueError, match='expected "steady" or None'):
        long.run(skip="all")
    with pytest.raises(ValueError, match="a live run cannot skip time"):
        long.run("live", skip="steady")


def test_a_mean_is_there_whatever_it_is(small):
    run = small.with_({"flow.all.controller": "vegas"}).run()
    # Zero losses, marks and retransmissions are figures, too.
    for metric, of in (("retransmissions", "all"), ("losses", "all"), ("loss_ratio", "bottleneck")):
        assert run.mean(metric, of) == 0.0
    assert run.mean("marking_probability", "bottleneck") == 0.0
    delay = run.mean("queuing_delay", "bottleneck")
    assert delay > 0
    assert delay == pytest.approx(run.mean("price", "bottleneck"))
    flows = [run.mean("throughput", f"all.{i}") for i in (1, 2)]
    assert run.mean("throughput", "all") == pytest.approx(sum(flows) / 2)
    spread = abs(flows[0] - flows[1]) / sum(flows)
    assert run.mean("throughput_spread", "all") == pytest.approx(spread)
    rows = {(row["metric"], row["entity"]) for row in accord.Comparison([run]).means}
    assert ("retransmissions", "all") in rows


def test_a_plot_has_the_engines_that_have_the_metric(small):
    pytest.importorskip("matplotlib")
    axes = small.compare(["theory", "packet"]).plot("drops")
    labels = [line.get_label() for line in axes.get_lines()]
    # The reverse is not shown, as in tables.
    assert labels == ["packet"]
    with pytest.raises(ValueError, match="no drops of the requested subjects"):
        small.compare("theory").plot("drops")


def test_a_flow_of_a_stack_is_as_any(tmp_path):
    """A build without the feature quic says that it has no quinn."""
    file = tmp_path / "quinn.toml"
    file.write_text("""
        duration = "4 s"
        topology.dumbbell = { rate = "5 Mbps", delay = "10 ms" }
        [flow.mine]
        from = "left"
        to = "right"
        packet = "1500 B"
        quic = "quinn"
        controller = "quinn-cubic"
    """)
    try:
        scenario = accord.load(file)
    except accord.ScenarioError as error:
        assert "quinn-cubic" in str(error)
        pytest.skip("built without the feature quic")
    runs = [scenario.run("packet") for _ in range(2)]
    assert runs[0].mean("throughput", "mine") > 4.5e6
    assert runs[0].manifest["digest"] == runs[1].manifest["digest"]


def test_settings_make_another_scenario(small):
    faster = small.with_({"topology.dumbbell.rate": "16 Mbps", "flow.all.count": 4})
    assert faster.run("theory").mean("throughput", "all") == pytest.approx(4e6)
    assert small.run("theory").mean("throughput", "all") == pytest.approx(4e6)
    assert small != faster
    swept = small.with_({"sweep.n": {"set": ["flow.all.count"], "values": [1, 2]}})
    assert swept.points == [{"n": "1"}, {"n": "2"}]
    assert swept.run("theory", point=1).mean("throughput", "all") == pytest.approx(8e6)
    with pytest.raises(IndexError, match="points 1 to 2"):
        swept.run("theory", point=3)


def test_a_scenario_pickles(small):
    again = pickle.loads(pickle.dumps(small))
    assert again == small and hash(again) == hash(small)
    assert again.run("packet").manifest == small.run("packet").manifest


def test_runs_and_comparisons_pickle(small):
    comparison = small.compare(["theory", "packet"])
    again = pickle.loads(pickle.dumps(comparison))
    assert str(again) == str(comparison) and again.summary == comparison.summary
    for ours, theirs in zip(comparison.runs, again.runs, strict=True):
        assert theirs.manifest == ours.manifest and theirs.steady == ours.steady
        assert pyarrow.table(theirs.series).equals(pyarrow.table(ours.series))


def test_a_comparison_is_saved_as_the_program_does(tmp_path, small):
    small.compare(["theory", "packet"]).save(tmp_path / "run")
    program = Path(sys.executable).parent / "accord"
    shown = subprocess.run(
        [program, "compare", str(tmp_path / "run")], capture_output=True, text=True, check=True
    )
    assert "throughput" in shown.stdout and (tmp_path / "run" / "page.html").exists()
    (tmp_path / "mine").write_text("not a run")
    with pytest.raises(accord.AccordError, match="mine"):
        small.compare(["theory"]).save(tmp_path / "mine")


def test_stability_is_that_of_the_program(tmp_path):
    scenario = plain(controller="monaco", duration="10 s")
    file = tmp_path / "s.toml"
    file.write_text(scenario.toml())
    program = Path(sys.executable).parent / "accord"
    shown = subprocess.run(
        [program, "stability", str(file), "--json"], capture_output=True, text=True, check=True
    )
    (theirs,) = json.loads(shown.stdout)["points"][0]["phases"]
    (ours,) = scenario.stability()
    assert ours and ours.gain_margin == theirs["gain_margin"]
    assert ours.roots[0].real == theirs["roots_per_s"][0][0] < 0
    assert ours.flows[0]["rate"] == pytest.approx(5e6, rel=0.01)
    (none,) = plain(controller="bbr3").stability()
    assert not none and none.error and np.isnan(none.gain_margin)


def test_an_experiment_is_judged_as_by_the_program(tmp_path):
    program = Path(sys.executable).parent / "accord"
    command = [program, "reproduce", "xia05-fig6", "--json", "-o", str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True)
    (theirs,) = json.loads(shown.stdout)["experiments"]
    ours = accord.reproduce("xia05-fig6")
    assert ours.verdict == theirs["class"] and bool(ours) == (shown.returncode == 0)
    digests = [run["digest"] for point in theirs["points"] for run in point["runs"]]
    assert [r.manifest["digest"] for c in ours.comparisons for r in c.runs] == digests
    assert [c["pass"] for c in ours.checks] == [c["pass"] for c in theirs["checks"]]
    with pytest.raises(accord.AccordError, match='did you mean "xia05-fig'):
        accord.reproduce("xia05-fgi6")
    theory = accord.reproduce("xia05-fig6", engines="theory").comparisons
    assert [run.engine for comparison in theory for run in comparison.runs] == ["theory"] * 2


def test_live_runs_where_the_machine_lets_it():
    scenario = plain(rate="2 Mbps", duration="2 s")
    try:
        run = scenario.run("live")
    except accord.AccordError as e:
        pytest.skip(f"this machine cannot: {e}")
    # The rate depends on the load of the machine.
    assert run.engine == "live" and run.mean("throughput", "all") > 0


def test_series_have_units_and_nulls(small):
    run = small.with_({"flow.all.start": "5 s"}).run("packet")
    table = pyarrow.table(run.series)
    assert len(table) == len(run.series)
    assert table.schema.metadata[b"unit.throughput"] == b"bit/s"
    assert b"seconds" in table.schema.field("time_s").metadata[b"doc"]
    assert table["value"].null_count > 0
    rtt = run.values("rtt", "flow")["all.1"]
    assert np.isnan(rtt[0]) and rtt[-1] > 0.04
    assert len(run.time) == len(rtt)


def test_a_comparison_has_means_and_verdicts():
    busy = {"name": "busy", "metric": "utilisation", "of": "bottleneck", "at_least": "95 %"}
    scenario = plain(rate="8 Mbps", duration="20 s").with_({"expect": [busy]})
    comparison = scenario.compare(["theory", "packet"])
    assert comparison.passed and comparison.checks[0]["name"] == "busy"
    row = next(r for r in comparison.means if r["metric"] == "throughput")
    assert row["theory"] == pytest.approx(4e6)
    assert row["packet"] == pytest.approx(4e6, rel=0.05)
    assert "busy" in str(comparison) and "<pre>" in comparison._repr_html_()
    with pytest.raises(ValueError, match="different scenarios"):
        accord.Comparison([comparison.runs[0], accord.load("xia05-fig6").run("theory", point=1)])


def test_only_runs_of_one_network_are_compared(small):
    fast = plain(rate="20 Mbps", duration="5 s").run("theory")
    with pytest.raises(ValueError, match="different scenarios"):
        accord.Comparison([small.run("theory"), fast])
    pair = [small.run("theory"), plain(rate="20 Mbps", duration="5 s").run("packet", seed=5)]
    with pytest.raises(ValueError, match="different scenarios"):
        accord.Comparison(pair)
    with pytest.raises(ValueError, match="different scenarios"):
        accord.Comparison([small.run("theory"), plain(flows=3, duration="5 s").run("packet")])
    # Repetitions differ in drawn values: here the starts and the disciplines.
    text = """
        duration = "2 s"
        [topology.parking_lot]
        bottlenecks = 3
        rate = "4 Mbps"
        delay = "4 ms"
        queue = { random = [{ discipline = "droptail" }, { discipline = "red" }] }
        [flow.long]
        from = "r0"
        to = "r3"
        controller = "newreno"
        start = { uniform = ["0 s", "1 s"] }
    """
    drawn = accord.parse(text)
    runs = [drawn.run("packet", seed=seed) for seed in range(3, 7)]
    assert len({drawn.toml(seed=seed).count('"red"') for seed in range(3, 7)}) > 1
    assert len(accord.Comparison(runs).runs) == 4
    assert accord.Comparison([runs[0], pickle.loads(pickle.dumps(runs[1]))])


def test_runs_are_equal_and_scenarios_are_saved(tmp_path, small):
    run = small.run("packet")
    assert run == small.run("packet") != small.run("theory")
    assert small.compare("theory") == small.compare("theory")
    assert len({run, small.run("packet")}) == 1
    drawn = accord.dumbbell(duration="5 s")
    drawn.save(tmp_path / "dumbbell.toml", seed=7)
    assert accord.load(tmp_path / "dumbbell.toml").run() == drawn.run(seed=7)
    # Without a seed the text is kept, so another seed draws other start times.
    for name in ("dumbbell.toml", "other.toml"):
        drawn.save(tmp_path / name)
        saved = accord.load(tmp_path / name)
        assert saved.run(seed=7) == drawn.run(seed=7) != drawn.run()
    assert accord.load(tmp_path / "dumbbell.toml").text == drawn.text
    swept = accord.load("xia05-fig6")
    swept.save(tmp_path / "swept.toml")
    assert accord.load(tmp_path / "swept.toml").points == swept.points
    # A changed scenario has the values of its seed.
    changed = drawn.with_({"duration": "4 s"})
    changed.save(tmp_path / "changed.toml")
    assert accord.load(tmp_path / "changed.toml").text == changed.toml()
    assert "throughput" in repr(run.series) and len(run.series[3:5]) == 2
    assert run.series["value"].to_pylist() == pyarrow.table(run.series)["value"].to_pylist()


def test_a_dumbbell_is_the_template_of_the_program(tmp_path):
    program = Path(sys.executable).parent / "accord"

    def made(*options):
        command = [program, "new", "dumbbell", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert accord.dumbbell().text.strip() == made().strip()
    given = {"rate": "20 Mbps", "delay": "5 ms", "controller": "vegas", "duration": "9 s"}
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    ours = accord.dumbbell(flows=3, discipline="codel", seed=7, **given)
    assert (
        ours.text.strip()
        == made(*options, "--flows", "3", "--queue", "codel", "--seed", "7").strip()
    )


def test_a_comparison_passes_where_the_program_does(small):
    wrong = {"name": "alone", "metric": "throughput", "of": "all", "at_least": "8 Mbps"}
    unknown = small.with_({"expect": [wrong]}).compare("packet")
    assert not unknown.passed and unknown.verdict == "FAILED"
    measured = f"{unknown.checks[0]['measured'] / 1e6:.6f} Mbps"
    known = {"why": "paper", "because": "the link is shared", "measured": measured}
    finding = small.with_({"expect": [wrong | {"fails": known}]}).compare("packet")
    assert finding.passed and finding.verdict == "finding" and not finding.checks[0]["pass"]


def test_expectations_of_engines_that_did_not_run_are_left_out(small, tmp_path):
    wrong = {"name": "alone", "metric": "throughput", "of": "all", "at_least": "8 Mbps"}
    file = tmp_path / "s.toml"
    expect = "".join(f"{key} = {json.dumps(value)}\n" for key, value in wrong.items())
    file.write_text(f"{small.text}\n[[expect]]\n{expect}")
    program = Path(sys.executable).parent / "accord"
    for engines, passed in ((["theory"], True), (["theory", "packet"], False)):
        command = [program, "run", file, "-e", ",".join(engines), "-o", tmp_path / engines[-1]]
        done = subprocess.run(command, capture_output=True, text=True)
        comparison = accord.load(file).compare(engines)
        assert (done.returncode == 0) == comparison.passed == passed
        assert ("No expectations to check" in done.stdout) == passed
        assert ("No expectations to check" in str(comparison)) == passed
        assert [c["name"] for c in comparison.checks] == ([] if passed else ["alone"])
        assert comparison.runs[0].summary["pass"] is True
    assert comparison.runs[1].summary["pass"] is False
    assert accord.load(file).compare("theory").verdict == "met"


def test_numbers_of_numpy_are_values(small):
    values = {"flow.all.count": np.int64(3), "flow.all.controller.alpha": "2 pkt"}
    assert small.with_(values).run("theory").mean("throughput", "all") == pytest.approx(8e6 / 3)
    monaco = accord.dumbbell(controller="monaco")
    gains = {"flow.all.controller.gain": np.float64(0.5)}
    assert monaco.with_(gains).toml() == monaco.with_({"flow.all.controller.gain": 0.5}).toml()


def test_a_missing_package_is_named_with_the_command_that_installs_it(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"progress=True needs tqdm: pip install tqdm"):
        small.run("theory", progress=True)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"series needs pandas: pip install pandas"):
        small.run("theory").series.to_pandas()
    with pytest.raises(ImportError, match=r"a plot needs matplotlib: pip install matplotlib"):
        small.run("theory").plot()


def test_errors_say_where_and_how():
    with pytest.raises(accord.ScenarioError) as caught:
        accord.parse("[flow.a]\ncontroler = 'vegas'\n", name="mine.toml")
    problem = next(p for p in caught.value.problems if "controler" in p.message)
    assert (problem.file, problem.line) == ("mine.toml", 2)
    assert "controller" in (problem.hint or "")
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems
    with pytest.raises(accord.ScenarioError, match=r'did you mean "dumbbell"'):
        accord.dumbbell().with_({"topology.dumbell.rate": "1 Mbps"})
    # Of a setting, the place is its path.
    with pytest.raises(accord.ScenarioError, match=r"^topology\.dumbbell\.rate: ") as caught:
        accord.dumbbell().with_({"topology.dumbbell.rate": "10 parsecs"})
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column) == ("topology.dumbbell.rate", None, None)
    assert pickle.loads(pickle.dumps(caught.value)).problems == [problem]
    with pytest.raises(accord.AccordError, match="xia05-fig6"):
        accord.load("xia05-fig66")
    with pytest.raises(ValueError, match="did you mean"):
        accord.dumbbell().run("theory").values("troughput")
    with pytest.raises(ValueError, match="ns2"):
        accord.dumbbell().run("ns2")
    with pytest.raises(accord.AccordError):
        accord.read("/nowhere")


def test_an_interrupt_ends_a_run_at_once(interrupts):
    long = accord.dumbbell(flows=20, rate="1 Gbps", duration="1000 s")
    parts, begun = [], threading.Event()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    def progress(part):
        parts.append(part)
        begun.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        long.run("packet", progress=progress)
    thread.join()
    # The run was far from its end.
    assert parts[-1] < 0.5


def test_progress_is_reported_and_may_stop_the_run():
    parts = []

    def progress(part):
        parts.append(part)
        if len(parts) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        accord.dumbbell(flows=20, rate="1 Gbps", duration="1000 s").run(progress=progress)
    assert parts == sorted(parts) and 0 < parts[-1] < 1


def test_other_threads_go_on(small):
    # One object in several threads concurrently, and readers of its results.
    drawn = small.with_({"flow.all.start": {"uniform": ["0 s", "1 s"]}})
    alone = {seed: drawn.run("packet", seed=seed) for seed in range(2)}
    wrong = []

    def work(seed):
        for _ in range(3):
            run = drawn.run("packet", seed=seed)
            same = run.manifest == alone[seed].manifest and run.summary == alone[seed].summary
            if not (same and pyarrow.table(alone[seed].series).num_rows == len(run.series)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=[seed % 2]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert alone[0].manifest["digest"] != alone[1].manifest["digest"]


def test_a_run_does_not_hold_the_interpreter(small):
    steps = 0
    # A run that holds it leaves hardly a step, however long it takes. A fast machine needs a longer
    # one.
    for seconds in (2_000, 20_000, 200_000):
        long = small.with_({"duration": f"{seconds} s"})
        runner = threading.Thread(target=long.run, args=["packet"])
        runner.start()
        steps = 0
        while runner.is_alive():
            time.sleep(0.005)
            steps += 1
        if steps > 10:
            return
    pytest.fail(f"{steps} steps")


def test_plots_have_labels(small):
    import matplotlib

    matplotlib.use("agg")
    axes = small.compare(["theory", "packet"]).plot("throughput")
    assert axes.get_ylabel() == "Throughput of a flow (Mbps)"
    # A line per group and engine, and the span of the group's flows in packets.
    styles = [line.get_linestyle() for line in axes.get_lines()]
    assert styles == ["-", "--"] and len(axes.collections) == 1
    flows = small.run("packet").plot("throughput", by="flow")
    assert [line.get_label() for line in flows.get_lines()] == ["all.1, packet", "all.2, packet"]
    # Another run in the same axes has another colour.
    assert small.run("packet").plot("backlog", ax=flows) is flows
    assert len({line.get_color() for line in flows.get_lines()}) == 3
