"""Run the cells of a notebook in this process, and print their results as JSON.

    python run_cells.py FILE

There is no kernel, and so no messages that can be lost: ``IPython`` itself runs the cells.
"""

import json
import sys

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Shell(InteractiveShell):
    """A shell whose plots are displayed in the notebook."""

    def enable_gui(self, gui=None):
        """Do without an event loop."""


def main(file):
    shell = Shell.instance()
    shell.enable_matplotlib("inline")
    cells = []
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        with capture_output() as said:
            ran = shell.run_cell(cell.source)
        ran.raise_error()
        kinds = [kind for output in said.outputs for kind in output.data]
        cells.append({"source": cell.source, "result": repr(ran.result), "kinds": kinds})

    import accord._notebook

    json.dump({"cells": cells, "seconds": accord._notebook.seconds}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
