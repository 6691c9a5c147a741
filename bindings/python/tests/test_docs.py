"""The examples of the book and the README run."""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.image
import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/src/python.md", "bindings/python/README.md"])
def test_examples_run(page, tmp_path, monkeypatch):
    matplotlib.use("agg")
    # They save figures.
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_picture_of_the_readme_is_the_figure(tmp_path, monkeypatch):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    axes = names["axes"]
    # Three sets and two engines over 50 s, as on the page: packets as steady as theory.
    assert axes.get_xlim()[0] <= 0 and axes.get_xlim()[1] >= 49
    top = axes.get_ylim()[1]
    assert 6 < top < 8, "in Mbps, without peaks of single packets"
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(texts) <= 6 and sum("set" in text for text in texts) >= 3, texts
    # The file has the picture: lines of several colours, on most of its width and height.
    (file,) = tmp_path.iterdir()
    pixels = matplotlib.image.imread(file)[..., :3]
    coloured = pixels.max(axis=2) - pixels.min(axis=2) > 0.3
    assert coloured.mean() > 0.003
    assert coloured.any(axis=0).mean() > 0.6 and coloured.any(axis=1).mean() > 0.5


def test_types_accept_the_page_and_refuse_slips(tmp_path):
    pytest.importorskip("mypy")
    page = (ROOT / "docs/src/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(blocks))
    slips = {
        'accord.dumbbell().run("packets")': "Literal",
        'accord.dumbbell().compare(["theory", "packets"])': "Literal",
        'accord.sweep(accord.dumbbell(), [{}], engines="packets")': "Literal",
        'accord.dumbbell().run(skip="all")': "Literal",
        "accord.dumbbell(limitt=1)": "limitt",
    }
    (tmp_path / "slips.py").write_text("import accord\n\n" + "\n".join(slips) + "\n")
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports"]

    def errors(file):
        done = subprocess.run([*command, file], cwd=tmp_path, capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if ": error: " in line]

    assert errors("page.py") == []
    found = errors("slips.py")
    for number, (slip, word) in enumerate(slips.items(), 3):
        its = [line for line in found if line.startswith(f"slips.py:{number}:")]
        assert its and word in its[0], slip
