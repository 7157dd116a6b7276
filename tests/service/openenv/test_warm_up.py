"""Warming up: every market on offer is compiled, and the service plays on one thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba

from daedalus.design.env import Episodes, StepResult
from daedalus.market.interface import MARKETS
from daedalus.market.mechanism import Mechanisms
from daedalus.service.openenv.warm_up import warm_up


def test_the_serving_thread_plays_alone(catalogue) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(warm_up, catalogue).result()
        assert thread.submit(numba.get_num_threads).result() == 1
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS  # others play as before


def test_every_market_is_compiled_before_the_first_visitor(catalogue, monkeypatch) -> None:
    played = []
    step = Episodes.step

    def noted(episodes: Episodes, mechanisms: Mechanisms) -> StepResult:
        played.append(episodes.env.settings.name)
        return step(episodes, mechanisms)

    monkeypatch.setattr(Episodes, "step", noted)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(warm_up, catalogue).result()
    assert set(played) == set(MARKETS)
