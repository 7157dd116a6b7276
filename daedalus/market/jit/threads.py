"""A batch of episodes on several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
from numpy.typing import NDArray

_SMALLEST_PART = 64  # episodes; a thread takes as long to start as a few of them take to play


def on_threads(
    kernel: Callable[..., Any], shared: Sequence[object], batch: Sequence[NDArray[Any]]
) -> None:
    """Call a kernel on parts of a batch, on as many threads as ``numba.set_num_threads`` allows.

    We use threads of Python, because the kernel so compiles in three quarters of the time that
    numba's own take.

    Args:
        kernel: A ``threaded_kernel`` that changes rows of the batch in place.
        shared: Its first arguments, which all threads read.
        batch: Its other arguments: arrays with a row for each episode.
    """
    count = len(batch[0])
    parts = count // _SMALLEST_PART
    if parts < 2 or (parts := min(parts, numba.get_num_threads())) < 2:
        kernel(*shared, *batch)
        return
    kernel(*shared, *(rows[:0] for rows in batch))  # compiles it, once
    edges = [count * part // parts for part in range(parts + 1)]

    def play(first: int, last: int) -> None:
        kernel(*shared, *(rows[first:last] for rows in batch))

    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(play, edges[:-1], edges[1:]))
