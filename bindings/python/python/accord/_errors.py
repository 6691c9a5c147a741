"""Errors."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from operator import index
from typing import Any


def needed(module: str, what: str) -> Any:
    """Return a module of an optional dependency.

    Raises:
        ImportError: The package is not installed. The message has the command that installs it.

    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        package = module.partition(".")[0]
        if e.name is None or e.name.partition(".")[0] != package:
            raise
        raise ImportError(f"{what} needs {package}: pip install {package}", name=package) from e


def whole(name: str, value: Any) -> int:
    """Return a whole number, which may be from NumPy, or a float such as pandas has.

    Raises:
        TypeError: The value is not a whole number.

    """
    try:
        return index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        got = f"{value!r} ({type(value).__name__})"
        raise TypeError(f"{name}: expected a whole number, got {got}") from None


def noted(e: BaseException, note: str) -> None:
    """Add a note to an exception, which its traceback shows. Python 3.10 has no notes."""
    if hasattr(e, "add_note"):
        e.add_note(note)


class AccordError(Exception):
    """An operation that failed.

    Attributes:
        message: The reason.
        hint: A way to correct it, or None.

    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        """Take a message and a hint."""
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message and the hint."""
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


@dataclass(frozen=True)
class Problem:
    """A mistake in a scenario.

    Attributes:
        message: The mistake, and what was expected.
        hint: A way to correct it, or None.
        file: The name of the file, or the path of a setting.
        line: The line, from 1; None for a setting.
        column: The character in that line, from 1; None for a setting.

    """

    message: str
    hint: str | None
    file: str
    line: int | None
    column: int | None

    def __str__(self) -> str:
        """Return the place, the message and the hint."""
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"
        text = f"{place}: {self.message}"
        return text if self.hint is None else f"{text}\n  hint: {self.hint}"


class ScenarioError(AccordError):
    """A scenario with mistakes.

    Attributes:
        problems: The mistakes, in the order of the file.

    Example:
        >>> import accord
        >>> accord.parse("duration = '10 parsecs'")
        Traceback (most recent call last):
        ...
        accord._errors.ScenarioError: scenario.toml:1:12: ...

    """

    def __init__(
        self, problems: list[tuple[str, str | None, tuple[str, int | None, int | None]]]
    ) -> None:
        """Take message, hint and place of each problem."""
        self.problems = [Problem(message, hint, *place) for message, hint, place in problems]
        super().__init__("\n".join(map(str, self.problems)))
        # A pickle keeps the arguments of the constructor.
        self.args = (problems,)
