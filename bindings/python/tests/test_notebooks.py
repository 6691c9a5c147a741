"""The notebooks run, their sliders are quick, their exercises grade, and the book has them."""

import json
import os
import re
from pathlib import Path

import nbclient
import nbformat
import pytest

import accord

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
LAST = """
import accord._notebook
print(accord._notebook.seconds)
"""


def test_there_are_ten():
    assert len(NOTEBOOKS) == 10


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file):
    notebook = nbformat.read(file, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(LAST))
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
    seconds = json.loads(notebook.cells[-1].outputs[0].text)
    assert seconds, "there is no slider"
    # The CPU time of the first response, including its drawing.
    assert max(seconds) < 1
    grades = [
        output["data"]["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "accord.expect" in cell.source and "text/plain" in output.get("data", {})
    ]
    assert len(grades) >= 2 and all("not answered yet" in grade for grade in grades)
    pictures = sum(
        "image/png" in output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    assert pictures >= 1


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_git_has_notebooks_without_outputs_and_the_book_has_their_pages(file):
    notebook = json.loads(file.read_text())
    page = (ROOT / "docs/src/notebooks" / f"{file.stem}.md").read_text()
    first = "".join(notebook["cells"][0]["source"])
    assert "**Question.**" in first
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
        # The page belongs to this notebook, not to an earlier version: tools/notebooks/render.py.
        source = "".join(cell["source"])
        assert all(part in page for part in source.split("\n", 1)), source
    pictures = re.findall(r"\]\((.*?\.svg)\)", page)
    assert pictures
    for picture in pictures:
        assert (ROOT / "docs/src/notebooks" / picture).stat().st_size < 100_000
    assert f"notebooks/{file.stem}.md" in (ROOT / "docs/src/SUMMARY.md").read_text()


def test_answers_are_graded():
    assert accord.expect("x", 10.2, 10.0) and not accord.expect("x", 11, 10.0)
    assert accord.expect("x", " Near", "near") and not accord.expect("x", 3, "near")
    assert not accord.expect("x", None, 10.0) and accord.expect("x", None, 10.0).right is None
    assert "A number" in repr(accord.expect("x", "ten", 10.0))
    assert accord.expect("zero", 0, lambda: 0.0)
    with pytest.raises(ValueError, match="the right value is nan"):
        accord.expect("x", 1.0, float("nan"))
