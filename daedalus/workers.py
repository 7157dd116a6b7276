"""Work that processes share. Results are the same to the last bit, for any number of workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from daedalus.phases import add_processor_time, measured

Item = TypeVar("Item")
Result = TypeVar("Result")

_workers: ContextVar[int] = ContextVar("workers", default=1)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads that this process may start, which is its share of the cores."""
    return int(os.environ.get("NUMBA_NUM_THREADS") or cores())


@contextmanager
def sharing(workers: int | None) -> Iterator[None]:
    """Let ``share_out`` use several workers in the block. Each is a process.

    Args:
        workers: How many, at most one for each core; None is one for each core.
    """
    token = _workers.set(min(workers or cores(), cores()))
    try:
        yield
    finally:
        _workers.reset(token)


def share_out(
    function: Callable[[Item], Result], items: Iterable[Item], count: int
) -> Iterator[Result]:
    """Yield a function's results for items, in order.

    Workers have equal parts of the cores for their threads. Work inside of shared work is not
    shared again.

    Args:
        function: Its result depends on its item alone. It can be pickled, and so can items.
        items: They are made as they are needed. Large arrays are shared through files.
        count: Number of items.
    """
    workers = min(_workers.get(), count)
    if workers < 2:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed, parallel_config  # slow to import

    own = max(1, cores() // workers)
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=own):
        side_by_side = Parallel(return_as="generator", mmap_mode="c")  # kernels write to arrays
    for result, spent in side_by_side(delayed(measured)(function, item) for item in items):
        add_processor_time(spent)
        yield result
