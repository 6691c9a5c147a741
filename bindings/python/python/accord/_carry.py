"""The dispatch of the batches of a sweep, with repetition of lost ones."""

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
"""The least time before a task is started on a second worker, in seconds."""

LOSSES = 20
"""The number of times that a batch may be lost before the sweep fails."""

THREAD_SECONDS = 0.1
"""The work of a batch of a thread, in seconds: little, so all threads end together."""


@dataclass(eq=False)
class Task:
    """A batch under way, with a future per worker that has it."""

    batch: Batch
    losses: int = 0
    futures: list[Any] = field(default_factory=list)
    begun: float = 0.0


class Carrier:
    """A sweep in progress. Only the batches that were sent are in memory."""

    def __init__(
        self,
        crew: Crew,
        jobs: Iterator[Job],
        count: int,
        batch_of: Callable[[tuple[Job, ...]], Batch],
        task_seconds: float,
    ) -> None:
        """Take the jobs and their number."""
        self._crew, self._jobs, self._batch_of = crew, jobs, batch_of
        self._task_seconds = task_seconds
        self._count = self._left = count
        self._made, self._spent, self._longest = 0, 0.0, 0.0
        self._arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: dict[Any, Task] = {}
        self._lost: list[Task] = []
        self._warned = False

    def carry_out(self, done: Callable[[Done], None]) -> None:
        """Run all jobs, and call `done` with each result."""
        finished = False
        try:
            while True:
                self._crew.look(f"{self._made} of {self._count} runs are done")
                self._fill()
                if not self._waiting:
                    finished = True
                    return
                try:
                    # With a timeout, so an interrupt caught by another thread is noticed.
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
        """Send batches until the maximum number is under way."""
        ahead = self._crew.ahead()
        while len(self._waiting) < ahead and (self._lost or self._left > 0):
            self._send(self._lost.pop() if self._lost else Task(self._next(ahead)))

    def _next(self, ahead: int) -> Batch:
        size = 1
        if self._made > 0:
            # Batches become smaller at the end, so all workers end together.
            seconds = self._task_seconds if self._crew.batches else THREAD_SECONDS
            size = int(seconds / max(self._spent / self._made, 1e-6)) + 1
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
        """Return the result of a task if it has one and is the first of its batch to end."""
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
            # The cluster lost the task, for example by a restart of the scheduler. It is repeated.
            task.losses += 1
            if not self._warned:
                self._warned = True
                text = f"the cluster lost tasks, which are repeated: {e}"
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
        """Start tasks that take much longer than all others on a second worker."""
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
