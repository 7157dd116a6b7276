"""Processes share work: the same results, each in its place, with a part of the cores for each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.design.designers.random import RandomDesigner
from daedalus.design.search import lookahead
from daedalus.design.search.budgets import DistillationBudget, PlannerBudget
from daedalus.design.search.distillation import gather_distillation_data
from daedalus.design.search.lookahead import ContinuationPolicy, LookAhead
from daedalus.design.search.planner import plan
from daedalus.design.search.portfolio import best_responses, sampled_envs
from daedalus.design.search.space import random_mechanisms
from daedalus.design.search.states import mid_episode_states
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.seeds import generator
from daedalus.runs import workers
from daedalus.runs.phases import OTHER, SEARCH, clock_run, phase, spent
from daedalus.runs.workers import cores, share_out, sharing, threads
from tests.design.search.markets import mixed_env


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cores", lambda: 4)


def where(number: int) -> tuple[int, int, int, int, list[int]]:
    """Say in which process an item is, what threads it has, and where its own items are."""
    time.sleep(0.2)
    inside = list(share_out(_process, range(2), 2))
    return number, os.getpid(), threads(), numba.get_num_threads(), inside


def _process(_: int) -> int:
    return os.getpid()


def busy(seconds: float) -> float:
    with phase(SEARCH):
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass
    return seconds


@pytest.mark.slow
def test_results_come_in_order_from_processes_with_equal_parts_of_the_cores() -> None:
    with sharing(2):
        found = list(share_out(where, range(6), 6))
    assert [number for number, *_ in found] == list(range(6))
    places = {place for _, place, *_ in found}
    assert len(places) == 2 and os.getpid() not in places
    for _, place, allowed, kernel, inside in found:
        assert (allowed, kernel, inside) == (2, 2, [place, place])


@pytest.mark.parametrize(
    ("asked", "share", "used"),
    [(1, "", 1), (2, "", 2), (9, "", 4), (None, "", 4), (None, "2", 2), (3, "2", 3)],
)
def test_there_are_as_many_processes_as_asked_for_but_no_more_than_cores(
    asked: int | None, share: str, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", share)  # of a job beside others
    with sharing(asked):
        assert workers._workers.get() == used
    assert workers._workers.get() == 1
    assert list(share_out(_process, range(2), 2)) == [os.getpid()] * 2


def test_one_item_needs_no_other_process() -> None:
    with sharing(2):
        assert list(share_out(_process, [0], 1)) == [os.getpid()]


def test_the_cores_are_those_that_the_job_was_given() -> None:
    assert cores() == len(os.sched_getaffinity(0))


def test_a_failure_is_the_callers() -> None:
    with sharing(2), pytest.raises(ZeroDivisionError):
        list(share_out((1).__floordiv__, [1, 0, 1], 3))


class UnportableError(Exception):
    """Cannot be made again from its message, as pickle does."""

    def __init__(self, bidders: int, units: int) -> None:
        super().__init__(f"{bidders} bidders for {units} units")


def refuse(_: int) -> None:
    raise UnportableError(3, 2)


@pytest.mark.slow
def test_a_failure_that_cannot_travel_arrives_as_text() -> None:
    with sharing(2), pytest.raises(RuntimeError, match="UnportableError: 3 bidders for 2 units"):
        list(share_out(refuse, [1, 0, 1], 3))


@pytest.mark.slow
def test_processor_time_of_other_processes_counts_in_its_phase(tmp_path: Path) -> None:
    with clock_run(tmp_path / "phases.csv"), sharing(2):
        assert list(share_out(busy, [0.3, 0.3], 2)) == [0.3, 0.3]
        seconds = {each.phase: each for each in spent()}
    assert seconds[SEARCH].cpu_seconds >= 0.6
    assert seconds[SEARCH].wall_seconds == 0.0 < seconds[OTHER].wall_seconds


def look_ahead() -> Iterator[np.ndarray]:
    """Yield what candidates earn in short futures, and with a designer that draws after them."""
    states = mid_episode_states(mixed_env(), 12, 0, "x")
    candidates = random_mechanisms(5, generator(0, "candidates"))
    yield LookAhead(3, 0).compare(states, candidates, 1, "x")
    continuation = ContinuationPolicy(RandomDesigner(), 1)
    yield LookAhead(3, 0).compare_continued(states, candidates, continuation, "x")


def planner() -> Iterator[np.ndarray]:
    states = mid_episode_states(mixed_env(), 12, 0, "x")
    candidates = random_mechanisms(5, generator(0, "candidates"))
    budget = PlannerBudget(futures=2, horizon=2, variations=3)
    yield from _columns(plan(states, candidates, budget, 0, "x"))


def portfolio() -> Iterator[np.ndarray]:
    envs = sampled_envs(mixed_env(concentration=1.0), 3, 0, "p")
    yield from _columns(Mechanisms.stack(best_responses(envs, [], 4, 0, "p")))


def lessons() -> Iterator[np.ndarray]:
    budget = DistillationBudget(refinements=1, rounds=2, improvements=1, states=96, futures=2)
    candidates = random_mechanisms(4, generator(0, "candidates"))
    data = gather_distillation_data(mixed_env(), candidates, budget, 0)
    yield from (data.features, data.rewards)


def _columns(mechanisms: Mechanisms) -> Iterator[np.ndarray]:
    yield from (getattr(mechanisms, name) for name in FIELDS)


@pytest.mark.slow
@pytest.mark.parametrize("search", [look_ahead, planner, portfolio, lessons])
def test_searches_find_the_same_to_the_last_bit(
    search: Callable[[], Iterator[np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookahead, "_CHUNK", 64)  # many pieces
    pieces: list[int] = []
    shared = share_out

    def counted(function: object, items: object, count: int) -> object:
        pieces.append(count)
        return shared(function, items, count)  # type: ignore[arg-type]

    monkeypatch.setattr(lookahead, "share_out", counted)
    alone = list(search())
    with sharing(2):
        together = list(search())
    assert max(pieces, default=2) > 1
    for one, other in zip(alone, together, strict=True):
        assert_array_equal(one, other)
