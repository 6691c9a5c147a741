"""Work on all cores of this machine, interruptible by Ctrl-C."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def on_all_cores(
    work: Callable[[Item, Callable[[float], None]], Result], items: Sequence[Item]
) -> list[Result]:
    """Return the results of `work` for the items.

    Its second argument raises once the user, or an error, ends the work. Runs call it as
    `progress`.
    """
    stop = threading.Event()

    def go_on(_: float) -> None:
        if stop.is_set():
            raise InterruptedError

    def one(item: Item) -> Result:
        go_on(0.0)
        return work(item, go_on)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            # Within the block: the first items run before all are submitted.
            futures = [threads.submit(one, item) for item in items]
            # With a timeout, so an interrupt caught by another thread is noticed.
            while wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                for future in futures:
                    if future.done():
                        future.result()
            return [future.result() for future in futures]
        except BaseException:
            # Ctrl-C reaches this thread. The others end when they next poll `stop`.
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
