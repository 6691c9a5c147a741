"""Errors."""

from __future__ import annotations

from dataclasses import dataclass


class AccordError(Exception):
    """An operation that failed.

    Attributes:
        message: The problem.
        hint: A remedy, if one is known.

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
    """An error in a scenario.

    Attributes:
        message: The problem, and the expectation.
        hint: A remedy, if one is known.
        file: The name of the file, or ``--set`` for a setting.
        line: The line, from 1.
        column: The character in that line, from 1.

    """

    message: str
    hint: str | None
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return the place, the message and the hint."""
        text = f"{self.file}:{self.line}:{self.column}: {self.message}"
        return text if self.hint is None else f"{text}\n  hint: {self.hint}"


class ScenarioError(AccordError):
    """An invalid scenario.

    Attributes:
        problems: All errors, in the order of the file.

    Example:
        >>> import accord
        >>> accord.parse("duration = '10 parsecs'")
        Traceback (most recent call last):
        ...
        accord._errors.ScenarioError: scenario.toml:1:12: ...

    """

    def __init__(self, problems: list[tuple[str, str | None, tuple[str, int, int]]]) -> None:
        """Take problems as returned by the engines: message, hint, place."""
        self.problems = [Problem(message, hint, *place) for message, hint, place in problems]
        super().__init__("\n".join(map(str, self.problems)))
        # As for any exception, a pickle keeps the constructor's arguments.
        self.args = (problems,)
