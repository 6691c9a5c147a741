"""The program ``accord``, as the package installs it."""

from __future__ import annotations

import sys

from . import _accord


def main() -> int:
    """Run the program with the arguments of this process, and return its exit code."""
    return _accord.program(["accord", *sys.argv[1:]])
