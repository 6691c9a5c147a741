"""Runs the notebooks of docs/notebooks, and renders them in the book with their pictures.

    python tools/notebooks/render.py [NAME...]

Needs the Python package with its extra `notebook`, and nbclient.
"""

import re
import sys
from pathlib import Path

import nbclient
import nbformat

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "docs/notebooks"
PAGES = ROOT / "docs/src/notebooks"

# Pictures are SVG with text as text, and reproducible.
SETUP = """
%config InlineBackend.figure_formats = ["svg"]
%config InlineBackend.print_figure_kwargs = {"metadata": {"Date": None}}
import matplotlib
matplotlib.rcParams.update({"svg.hashsalt": "accord", "svg.fonttype": "none"})
matplotlib.rcParams.update({"path.simplify_threshold": 0.5, "font.size": 9})
"""


def executed(file: Path) -> nbformat.NotebookNode:
    """Return a notebook with its outputs."""
    notebook = nbformat.read(file, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    del notebook.cells[0]
    return notebook


def drawn(notebook: nbformat.NotebookNode) -> list[list[dict]]:
    """Return the picture of each slider, in the order of the notebook."""
    widgets = notebook.metadata.get("widgets", {})
    state = widgets.get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    models = (model["state"] for model in state.values() if model["model_name"] == "OutputModel")
    return [model["outputs"] for model in models if model["outputs"]]


def page(file: Path) -> None:
    """Write the page of a notebook, and its pictures."""
    notebook = executed(file)
    sliders = drawn(notebook)
    parts = []
    pictures = 0

    def show(output: dict) -> None:
        nonlocal pictures
        data = output.get("data", {})
        if "image/svg+xml" in data:
            pictures += 1
            name = f"{file.stem}-{pictures}.svg"
            svg = re.sub(r"<!--.*?-->\n?", "", data["image/svg+xml"], flags=re.DOTALL)
            # A tenth of a point is enough.
            svg = re.sub(r"(\d\.\d)\d+", r"\1", svg)
            (PAGES / name).write_text(svg.rstrip() + "\n")
            parts.append(f"![Plot {pictures} of this notebook]({name})")
        else:
            text = output.get("text") or data.get("text/plain", "")
            if text.strip():
                parts.append(f"```text\n{text.strip()}\n```")

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```py\n{cell.source}\n```")
        for output in cell.outputs:
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                for inner in sliders.pop(0):
                    show(inner)
            else:
                show(output)
    title, rest = parts[0].split("\n", 1)
    source = f"Run it: [{file.name}](../../notebooks/{file.name}), with the package's extra `notebook`."
    text = "\n\n".join([title, source, rest.strip(), *parts[1:]])
    (PAGES / f"{file.stem}.md").write_text(text + "\n")


def main() -> None:
    """Render the named notebooks, or all."""
    PAGES.mkdir(exist_ok=True)
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not sys.argv[1:] or file.stem in sys.argv[1:]:
            page(file)
            print(file.stem)


if __name__ == "__main__":
    main()
