"""A batch on several threads is played once, whole, and as on one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from daedalus.market.threads import on_threads


@pytest.fixture
def two_threads() -> Iterator[None]:
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread here")
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 1_000, 4_001])
def test_every_row_is_played_once(count: int, two_threads: None) -> None:
    rows, grid = np.zeros(count, np.int64), np.zeros((count, 3))

    def play(step: int, some: NDArray[np.int64], more: NDArray[np.float64]) -> None:
        some += step
        more += some[:, None]

    on_threads(play, (2,), (rows, grid))
    assert (rows == 2).all() and (grid == 2.0).all()


def test_large_batches_have_two_threads_and_small_ones_none(two_threads: None) -> None:
    met = threading.Barrier(2, timeout=60)
    users = set()

    def play(rows: NDArray[np.int64]) -> None:
        if len(rows):
            users.add(threading.get_ident())
            met.wait()  # for the other thread

    on_threads(play, (), (np.zeros(10_000),))
    assert len(users) == 2 and threading.get_ident() not in users
    users.clear()
    on_threads(lambda rows: users.add(threading.get_ident()), (), (np.zeros(100),))
    assert users == {threading.get_ident()}


def test_an_error_reaches_the_caller(two_threads: None) -> None:
    def play(rows: NDArray[np.int64]) -> None:
        if len(rows) and rows[0] == 0:
            raise ValueError("the first part")

    with pytest.raises(ValueError, match="the first part"):
        on_threads(play, (), (np.arange(10_000),))
