"""The examples of the book and the README run."""

import re
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/src/python.md", "bindings/python/README.md"])
def test_examples_run(page):
    matplotlib.use("agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
