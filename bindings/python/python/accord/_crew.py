"""The workers of a sweep: threads, an executor, or a Dask cluster."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, cast

from ._errors import AccordError, needed
from ._store import identity
from ._work import Batch, Done, received, work

LOOK = 5.0
"""The polling interval of the cluster, in seconds."""

LONELY = 30.0
"""The time without a worker until a warning, in seconds."""


FETCH = 10.0
"""The longest time for the transfer of a result, in seconds."""

AVOID = 60.0
"""The time without new tasks for a slow worker, in seconds."""


class Crew:
    """The workers of a sweep: the threads of this process, an executor, or a Dask client."""

    def __init__(self, executor: Any) -> None:
        """Take an executor, a ``distributed.Client``, or None for threads."""
        self._stop = threading.Event()
        self._client = _client(executor)
        self._refused: set[str] = set()
        self._threads = None
        if executor is None:
            self._threads = ThreadPoolExecutor(os.cpu_count())
        elif self._client is None and not isinstance(executor, Executor):
            raise TypeError(
                "executor: expected one of concurrent.futures or a distributed.Client, "
                f"got {type(executor).__name__}"
            )
        self._executor = executor
        # The names of Dask's workers with their threads, as of the last look.
        self._workers: dict[str, int] = {}
        self._looked = self._served = time.monotonic()
        self._warned: set[str] = set()
        # Slow workers, with the time until which they get no tasks.
        self._slow: dict[str, float] = {}
        if self._client is not None:
            self._workers = dict(self._client.nthreads())

    @property
    def batches(self) -> bool:
        """True if a task itself has a cost, so batches are long."""
        return self._threads is None

    @property
    def remote(self) -> bool:
        """True if a worker may be slow or lost while others are not."""
        return self._client is not None

    def ahead(self) -> int:
        """Return the number of tasks that may be under way."""
        if self._client is not None:
            return 2 * max(sum(self._workers.values()), 2)
        workers = getattr(self._threads or self._executor, "_max_workers", 0)
        return 2 * max(int(workers), 2)

    def look(self, state: str) -> None:
        """Update the workers of the cluster from time to time, and warn if there are none.

        Args:
            state: The progress of the sweep, for the error.

        Raises:
            AccordError: Dask has given up on the scheduler.

        """
        client = self._client
        if client is None:
            return
        address = client.scheduler.address if client.scheduler is not None else "its address"
        if client.status in ("closing", "closed"):
            raise AccordError(
                f"the Dask scheduler at {address} is gone; {state}",
                "with a `store` the same call continues; Client(..., timeout=) is the time that "
                "Dask waits for a scheduler that restarts",
            )
        now = time.monotonic()
        if client.status != "running":
            self._warn(f"the Dask scheduler at {address} is gone; the sweep waits for it")
            self._looked = now - LOOK
        elif now - self._looked >= LOOK:
            self._looked = now
            try:
                self._workers = dict(client.nthreads())
            except Exception:
                # The connection broke. The next look sees its new state.
                return
            if self._workers:
                self._served = now
            elif now - self._served >= LONELY:
                self._warn(f"the Dask scheduler at {address} has no worker; the sweep waits")

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, RuntimeWarning, stacklevel=5)

    def submit(self, batch: Batch) -> Any:
        """Start a batch, and return its future."""
        if self._threads is not None:
            return self._threads.submit(work, batch, self._stop)
        if self._client is None:
            return self._executor.submit(work, batch)
        now = time.monotonic()
        self._slow = {worker: until for worker, until in self._slow.items() if until > now}
        workers = None
        if self._refused or self._slow:
            fit = [w for w in self._client.nthreads() if w not in self._refused]
            if not fit:
                raise AccordError(
                    "no worker has this build of Accord", "install one wheel everywhere"
                )
            workers = [w for w in fit if w not in self._slow] or fit
        # Dask includes it. Unlike pickle it accepts classes of a notebook.
        content = needed("cloudpickle", "a cluster").dumps(batch)
        return self._client.submit(received, content, workers=workers, pure=False)

    def again(self, batch: Batch, slow: Iterable[Any]) -> Any | None:
        """Start a batch on another worker than those that have it, if there is one."""
        slow_keys = {future.key for future in slow}
        try:
            processing = self._client.processing()
            holders = [w for w, keys in processing.items() if slow_keys.intersection(keys)]
            self._avoid(holders)
            others = set(processing).difference(self._slow, self._refused)
            return self.submit(batch) if others else None
        except OSError:
            # The scheduler cannot be reached now.
            return None

    def _avoid(self, workers: Iterable[str]) -> None:
        """Give workers no tasks for some time."""
        self._slow |= dict.fromkeys(workers, time.monotonic() + AVOID)

    def refuse(self, worker: str, build: str) -> None:
        """Exclude a worker with another build, with a warning."""
        if worker not in self._refused:
            text = f"{worker} has Accord {build} and is not used: this is {identity()}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        self._refused.add(worker)
        if self._client is None:
            raise AccordError(f"{worker} has Accord {build}, and this is {identity()}")

    def result(self, future: Any) -> Done:
        """Return the result of a task that has ended."""
        if self._client is None:
            return cast(Done, future.result())
        # The result is on the worker that made it, which may hang.
        try:
            if self._slow and set(self._workers) - set(self._slow):
                (holders,) = self._client.who_has([future]).values()
                if holders and set(holders) <= set(self._slow):
                    raise TimeoutError(f"{holders[0]} hangs")
            return cast(Done, future.result(timeout=FETCH))
        except Exception:
            if future.status == "finished" and self._client.status == "running":
                (holders,) = self._client.who_has([future]).values()
                self._avoid(holders)
            raise

    def lost(self, future: Any) -> bool:
        """Return whether a task or its result was lost without a failure, and must be repeated."""
        lost = ("cancelled", "lost", "finished")
        return self._client is not None and future.status in lost

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel tasks whose results are not needed."""
        if self._client is not None and self._client.status != "running":
            # There is no scheduler to notify.
            return
        for future in futures:
            future.cancel()

    def close(self, waiting: Iterable[Any], finished: bool) -> None:
        """End the tasks under way."""
        if not finished:
            # Ctrl-C reaches the main thread. The others end at their next poll.
            self._stop.set()
        self.cancel(waiting)
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)


def _client(executor: Any) -> Any:
    """Return the Dask client, if the executor is one or belongs to one."""
    client = getattr(executor, "_client", executor)
    return client if hasattr(client, "scheduler_info") else None
