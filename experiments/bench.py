"""Measure the speed of both markets, by bidders, episodes, rounds and threads."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from daedalus.config import Config
from daedalus.market.interface import Market
from daedalus.market.making import make_market
from daedalus.market.seeds import generator, market_seeds
from daedalus.search.space import random_mechanisms
from experiments.build import tracked

REPEATS = 11
SIZES = [(2_000, 50, 1), (4_000, 50, 1), (8_000, 50, 1), (8_000, 25, 1), (8_000, 50, 2)]
CASES = [(market, 8, *size) for market in ("strategic", "classic") for size in SIZES]
CASES += [("strategic", bidders, 2_000, 50, 1) for bidders in (16, 32, 64)]
"""Market, bidders, episodes, rounds and threads."""
LARGE_BATCH = 100_000


def main(config: Config, out: Path) -> None:
    """Time all cases in turn, print medians and write them to summary.csv."""
    cases = [case for case in CASES if case[-1] <= numba.get_num_threads()]
    plays = [_timed_play(_market(config, *case[:2]), *case[2:], config.seed) for case in cases]
    began = time.perf_counter()
    for play in plays:
        play()
    first = time.perf_counter() - began
    seconds = np.array([[play() for play in plays] for _ in range(REPEATS)])
    table = pd.DataFrame(cases, columns=["market", "bidders", "episodes", "rounds", "threads"])
    table["median_ms"] = 1000 * np.median(seconds, axis=0)
    table["million_rounds_per_second"] = table.eval("episodes * rounds / median_ms / 1000")
    largest = table[
        (table["episodes"] == 8_000) & (table["rounds"] == 50) & (table["threads"] == 1)
    ]
    base = largest.set_index("market")["million_rounds_per_second"]
    table["relative"] = table["million_rounds_per_second"] / table["market"].map(base)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        report.say(
            f"first calls: {first:.1f} s, to compile the market or to load it from the cache"
        )
        report.show(table, f"population {config.population.name}, medians of {REPEATS} repeats")
        report.say(_memory(config))


def _market(config: Config, name: str, bidders: int) -> Market:
    settings = replace(config.market, name=name)
    return make_market(settings, replace(config.population.in_market(name), bidders=bidders))


def _timed_play(
    market: Market, episodes: int, rounds: int, threads: int, seed: int
) -> Callable[[], float]:
    """Return a function that plays more rounds and returns the seconds that this took."""
    state = market.reset(market_seeds(seed, "bench", episodes))
    mechanisms = random_mechanisms(episodes, generator(seed, "bench"))
    play = partial(market.play, state, mechanisms, rounds)

    def timed() -> float:
        numba.set_num_threads(threads)
        began = time.perf_counter()
        play()
        return time.perf_counter() - began

    return timed


def _memory(config: Config) -> str:
    """Return the peak memory of the process, after a large batch of strategic markets."""
    play = _timed_play(_market(config, "strategic", 8), LARGE_BATCH, 50, 1, config.seed)
    play()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"{LARGE_BATCH:,} episodes of 50 rounds at once: {peak:.2f} GiB at most, with libraries"
