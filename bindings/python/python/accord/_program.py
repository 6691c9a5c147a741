"""The program ``accord``, as the package installs it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from . import _accord
from ._own import Controller


def main() -> int:
    """Run the program with the arguments of this process, and return its exit code."""
    return _accord.program(["accord", *sys.argv[1:]])


def kernel(*arguments: str, own: Iterable[type[Controller]] = ()) -> int:
    """Run ``accord kernel`` with these arguments and user-defined controllers.

    It needs Linux, root, and a package built with the feature ``kernel``. A class that raises is
    not called again: its connection continues as Reno.

    Args:
        arguments: The arguments of the command, such as ``"attach", "--controller", "keeper"``.
        own: Classes that may be named there.

    Returns:
        The exit code.

    """
    return _accord.kernel(list(arguments), list(own))
