"""Work that processes share. Results are the same to the last bit, for any number of workers."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from daedalus.runs.phases import Spent, add_processor_time, measured

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
        workers: How many, at most one for each core; None is one for each core that this process
            has to itself, which is a part of them beside other jobs of a sweep.
    """
    token = _workers.set(min(workers or threads(), cores()))
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
    from joblib.externals.loky import get_reusable_executor

    own = max(1, cores() // workers)
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=own):
        side_by_side = Parallel(return_as="generator", mmap_mode="c")  # kernels write to arrays
    try:
        for result, spent in side_by_side(delayed(_measured)(function, item) for item in items):
            add_processor_time(spent)
            yield result
    except (KeyboardInterrupt, GeneratorExit):
        get_reusable_executor().shutdown(kill_workers=True)
        raise


def _measured(function: Callable[[Item], Result], item: Item) -> tuple[Result, list[Spent]]:
    """Do the work of a worker. Its failure travels as text if it cannot travel as it is."""
    try:
        return measured(function, item)
    except Exception as error:
        if _is_portable(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from None


def _is_portable(error: Exception) -> bool:
    """Return whether another process can have an exception. It raises what it likes when not."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True
