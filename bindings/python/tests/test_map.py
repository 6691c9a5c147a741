"""Maps of stability, and what notebooks and terminals show."""

import csv
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from networks import plain

import accord
from accord._threads import on_all_cores

PROGRAM = Path(sys.executable).parent / "accord"
GAIN, DELAY = "flow.all.controller.gain", "topology.dumbbell.delay"


def test_a_map_is_that_of_the_program(tmp_path):
    scenario = accord.dumbbell(controller="monaco", duration="5 s")
    file = tmp_path / "dumbbell.toml"
    file.write_text(scenario.text)
    axes = ["--x", f"{GAIN}=0.5..4.5", "--y", f"{DELAY}=5 ms..45 ms"]
    command = [PROGRAM, "stability", file, *axes, "--points", "5", "--packets", "2"]
    subprocess.run([*command, "-o", tmp_path / "theirs"], check=True, capture_output=True)
    over = {GAIN: accord.linspace(0.5, 4.5, 5), DELAY: accord.linspace("5 ms", "45 ms", 5)}
    found = scenario.stability_map(over, packets=2)
    assert found.growth.shape == (5, 5) and found.stable.any() and not found.stable.all()
    assert (~np.isnan(found.queue_variation)).sum() == 4
    found.save(tmp_path / "ours")
    ours = (tmp_path / "ours" / "map.csv").read_text()
    assert ours == (tmp_path / "theirs" / "map.csv").read_text()
    assert (tmp_path / "ours" / "map.html").exists()
    # The first parameter varies within a row.
    rows = list(csv.reader(ours.splitlines()))[1:]
    assert float(rows[1][2]) == pytest.approx(found.gain_margin[0, 1], rel=1e-5)
    assert found.rows[1][GAIN] == 1.5 and found.rows[1][DELAY] == 5
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("mine")
    with pytest.raises(accord.AccordError, match="mine"):
        found.save(tmp_path / "mine")


def test_a_map_of_one_parameter_and_where_there_is_none():
    scenario = plain(controller="monaco")
    over = {GAIN: accord.logspace(0.1, 10, 5)}
    found = scenario.stability_map(over)
    assert found.growth.shape == (5,) and found.stable.tolist() == sorted(found.stable)[::-1]
    (alone,) = scenario.with_({GAIN: over[GAIN][1]}).stability()
    assert found.gain_margin[1] == alone.gain_margin
    vegas = accord.dumbbell(controller="vegas").stability_map({DELAY: ["5 ms", "9 ms"]})
    assert np.isnan(vegas.growth).all() and not vegas.stable.any()
    assert all("slope" in error or "vegas" in error for error in vegas.errors)


def test_a_map_draws():
    import matplotlib

    matplotlib.use("agg")
    scenario = accord.dumbbell(controller="monaco", duration="5 s")
    one = scenario.stability_map({GAIN: [0.1, 0.5, 3.0]}, packets=3)
    assert one.plot().get_ylabel() == "gain margin (dB)"
    # The limit of z² - z + κ = 0 is 1, whatever the delay.
    two = scenario.stability_map({GAIN: [0.1, 3.0], DELAY: ["5 ms", "9 ms"]})
    axes = one.plot()
    assert two.plot(ax=axes) is axes and axes.get_ylabel() == f"{DELAY} (ms)"
    assert "data:image/png" in two._repr_html_() and "2 of 4 stable" in two._repr_html_()


@pytest.mark.parametrize(
    ("over", "options", "words"),
    [
        ({}, {}, "one parameter or two"),
        ({"a": [1], "b": [1], "c": [1]}, {}, "got 3"),
        ({GAIN: []}, {}, "no values"),
        ({GAIN: [2, 1]}, {}, "rise"),
        ({GAIN: [1, float("nan")]}, {}, "rise"),
        ({DELAY: ["1 ms", "2 s"]}, {}, "one unit"),
        ({DELAY: ["short", "long"]}, {}, "number with a unit"),
        ({GAIN: [1, 2]}, {"packets": -1}, "got -1"),
    ],
)
def test_wrong_maps_are_reported(over, options, words):
    with pytest.raises(ValueError, match=words):
        accord.dumbbell(controller="monaco").stability_map(over, **options)


def test_an_empty_map_is_reported():
    with pytest.raises(accord.ScenarioError, match="gian"):
        accord.dumbbell(controller="monaco").stability_map({"flow.all.controller.gian": [1]})
    with pytest.raises(ValueError, match="a single point"):
        accord.load("xia05-fig6").stability_map({"duration": ["1 s"]})


def test_an_interrupt_ends_a_map(interrupts):
    long = accord.dumbbell(flows=20, rate="1 Gbps", duration="1000 s", controller="monaco")
    timer, done = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]), []
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        long.stability_map({GAIN: accord.linspace(0.1, 1, 8)}, packets=8, progress=done.append)
    # No place came to its end.
    assert not done


def test_an_interrupt_ends_work_that_is_still_handed_over():
    begun, ended = threading.Event(), []

    def work(_, go_on):
        begun.set()
        # Work that an interrupt does not end is over after a second.
        for _ in range(100):
            time.sleep(0.01)
            go_on(0.0)
        ended.append(True)

    class Many(list):
        """More places than are handed over when the user interrupts."""

        def __iter__(self):
            yield 0
            begun.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_all_cores(work, Many())
    assert not ended


def test_notebooks_show_tables_and_plots():
    scenario = accord.dumbbell(duration="5 s")
    shown = scenario._repr_html_()
    assert "<td>bottleneck</td><td>100 Mbps</td>" in shown and "monaco" in shown
    for html in (shown, scenario.run("packet")._repr_html_(), scenario.compare()._repr_html_()):
        assert html.count("data:image/png;base64,") == 1
    # Forty flows in three groups.
    many = accord.load("xia05-fig6")
    assert "data:image/png" in many._repr_html_()
    # Theory has no results for these. The table is there nevertheless.
    none = accord.dumbbell(controller="bbr3")._repr_html_()
    assert "bbr3" in none
    # Names are text.
    assert "<script>" not in scenario.with_({"title": "<script>"})._repr_html_()


def test_progress_is_shown(capsys):
    scenario = accord.dumbbell(duration="5 s")
    scenario.run("packet", progress=True)
    assert "dumbbell, packet: 100%" in capsys.readouterr().err
    scenario.compare(["theory", "packet"], progress=True)
    shown = capsys.readouterr().err
    assert "dumbbell, theory: 100%" in shown and "dumbbell, packet: 100%" in shown
    accord.reproduce("xia05-fig6", engines=["theory"], progress=True)
    assert "2/2" in capsys.readouterr().err
    accord.dumbbell(controller="monaco").stability_map({GAIN: [0.1, 1]}, progress=True)
    assert "2/2" in capsys.readouterr().err


def test_series_share_the_memory_of_the_run():
    run = accord.dumbbell(flows=4, duration="20 s").run("packet")
    one, two = pyarrow.table(run.series), pyarrow.table(run.series)

    def places(table, column):
        return [chunk.buffers()[1].address for chunk in table[column].chunks]

    # Two tables of one run, and all series of its times, are in one place each.
    assert places(one, "value") == places(two, "value")
    assert len(set(places(one, "time_s"))) == 1
    whole = one["value"].to_pylist()
    del run, two
    assert one["value"].to_pylist() == whole
    assert one.schema.field("time_s").metadata[b"unit"] == b"s"


def test_the_unit_of_a_metric_is_that_of_its_field():
    run = accord.dumbbell().run("theory")
    field = pyarrow.table(run._inner.series("rtt", "flow")).schema.field("value")
    assert field.metadata[b"unit"] == b"s"
    assert json.loads(json.dumps(run.manifest))["engine"] == "theory"
