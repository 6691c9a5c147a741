"""How the batches of a sweep are carried out: sent, taken back, and sent again if they are lost."""

from __future__ import annotations

import itertools
import queue
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from ._crew import Crew
from ._work import Batch, Done, Job

PATIENCE = 10.0
"""A task is begun on another worker, too, after this many seconds at least."""

LOSSES = 20
"""How many times a batch may be lost before it is taken for the reason."""


@dataclass(eq=False)
class Task:
    """A batch under way, with the futures of all that work on it."""

    batch: Batch
    losses: int = 0
    futures: list[Any] = field(default_factory=list)
    begun: float = 0.0


class Carrier:
    """A sweep under way. Only the batches that were sent are in memory."""

    def __init__(
        self,
        crew: Crew,
        jobs: Iterator[Job],
        count: int,
        batch_of: Callable[[tuple[Job, ...]], Batch],
        task_seconds: float,
    ) -> None:
        """Take the jobs, and how many there are."""
        self._crew, self._jobs, self._batch_of = crew, jobs, batch_of
        self._task_seconds = task_seconds
        self._count = self._left = count
        self._made, self._spent, self._longest = 0, 0.0, 0.0
        self._arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: dict[Any, Task] = {}
        self._lost: list[Task] = []
        self._told = False

    def carry_out(self, done: Callable[[Done], None]) -> None:
        """Carry out all jobs, and call `done` with each result."""
        finished = False
        try:
            while True:
                self._crew.look(f"{self._made} of {self._count} runs are done")
                self._fill()
                if not self._waiting:
                    finished = True
                    return
                try:
                    # With a timeout, so that an interrupt that another thread caught is seen.
                    future = self._arrived.get(timeout=0.1)
                except queue.Empty:
                    self._relieve()
                    continue
                result = self._taken(future)
                if result is not None:
                    done(result)
        finally:
            self._crew.close(list(self._waiting), finished)

    def _fill(self) -> None:
        """Send batches, as many as may be under way."""
        ahead = self._crew.ahead()
        while len(self._waiting) < ahead and (self._lost or self._left > 0):
            self._send(self._lost.pop() if self._lost else Task(self._next(ahead)))

    def _next(self, ahead: int) -> Batch:
        size = 1
        if self._crew.batches and self._made > 0:
            # So much work, and at the end no more than a part of what is left.
            size = int(self._task_seconds / max(self._spent / self._made, 1e-6)) + 1
            size = max(1, min(size, self._left // ahead))
        chosen = tuple(itertools.islice(self._jobs, size))
        self._left -= len(chosen)
        return self._batch_of(chosen)

    def _send(self, task: Task) -> None:
        task.begun = time.monotonic()
        self._expect(task, self._crew.submit(task.batch))

    def _expect(self, task: Task, future: Any) -> None:
        task.futures.append(future)
        self._waiting[future] = task
        future.add_done_callback(self._arrived.put)

    def _taken(self, future: Any) -> Done | None:
        """Return the result of a task, if it is the first of its batch and is one."""
        task = self._waiting.pop(future, None)
        if task is None:
            # Another worker was faster.
            return None
        task.futures.remove(future)
        try:
            result = self._crew.result(future)
        except (CancelledError, Exception) as e:
            if not self._crew.lost(future) or task.losses >= LOSSES:
                raise
            # The cluster forgot the task: a scheduler that restarts does. It begins again.
            task.losses += 1
            if not self._told:
                self._told = True
                text = f"the cluster lost tasks, which begin again: {e}"
                warnings.warn(text, RuntimeWarning, stacklevel=4)
            if not task.futures:
                self._lost.append(task)
            return None
        if result.refused is not None:
            self._crew.refuse(*result.refused)
            if not task.futures:
                self._lost.append(task)
            return None
        for other in task.futures:
            del self._waiting[other]
        self._crew.cancel(task.futures)
        self._longest = max(self._longest, result.seconds)
        self._spent += result.seconds
        self._made += len(result.results)
        return result

    def _relieve(self) -> None:
        """Begin on other workers, too, what takes much longer than all else did."""
        if not self._crew.remote:
            return
        now = time.monotonic()
        patience = max(PATIENCE, 5 * self._longest)
        for task in dict.fromkeys(self._waiting.values()):
            if now - task.begun > patience * len(task.futures):
                task.begun = now
                again = self._crew.again(task.batch, task.futures)
                if again is not None:
                    self._expect(task, again)
