"""A batch on several threads is played once, whole, and as on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from daedalus.market.jit.threads import on_threads
from daedalus.market.population import Population
from tests.market.states import assert_same_state, played_classic
from tests.market.strategic_markets import each_population, played


@pytest.fixture
def two_threads() -> Iterator[None]:
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread here; pytest -n 0 gives it all cores")
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


def on_one_and_two(play: Callable[[], tuple[Any, ...]]) -> None:
    """Check that a market is played to the same state and records on one thread and on two."""
    results = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        results.append(play())
    (_, one_state, _, one_records), (_, two_state, _, two_records) = results
    assert one_records.tobytes() == two_records.tobytes()
    assert_same_state(one_state, two_state)


def test_the_classic_market_is_the_same_on_one_thread_and_on_two(two_threads: None) -> None:
    on_one_and_two(partial(played_classic, batch=501))


@each_population
def test_the_strategic_market_is_the_same_on_one_thread_and_on_two(
    who: Population, two_threads: None
) -> None:
    on_one_and_two(partial(played, who, batch=501))
