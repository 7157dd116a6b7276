"""Measure the simulator: rounds a second by threads, episodes and rounds, and the reward's cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from daedalus.config import Config
from daedalus.designers.random import random_mechanisms
from daedalus.market.interface import Market, make_market
from daedalus.market.seeds import generator, market_seeds
from experiments.build import tracked

REPEATS = 15
CASES = [(5_000, 50, 1), (10_000, 50, 1), (20_000, 50, 1), (20_000, 25, 1), (20_000, 50, 2)]
"""Episodes, rounds and threads."""


def main(config: Config, out: Path) -> None:
    """Time every case side by side, print medians and write them to summary.csv."""
    market = make_market(config.market, config.population)
    began = time.perf_counter()
    _timed_play(market, 2, 1, 1, config.seed)()
    first = time.perf_counter() - began
    cases = [case for case in CASES if case[2] <= numba.config.NUMBA_NUM_THREADS]
    plays = [_timed_play(market, *case, config.seed) for case in cases]
    seconds = np.array([[play() for play in plays] for _ in range(REPEATS)])
    table = pd.DataFrame(cases, columns=["episodes", "rounds", "threads"])
    table["median_ms"] = 1000 * np.median(seconds, axis=0)
    table["million_rounds_per_second"] = table.eval("episodes * rounds / median_ms / 1000")
    rates = table["million_rounds_per_second"]
    table["relative_to_third_row"] = rates / rates.iloc[2]
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        report.say(f"first call {first:.2f} s: compiling, or loading what was compiled before")
        name = f"{config.market.rules} market, stage {config.population.stage}"
        report.show(table, f"{name}, {config.population.bidders} bidders, {REPEATS} repeats")


def _timed_play(
    market: Market, episodes: int, rounds: int, threads: int, seed: int
) -> Callable[[], float]:
    """Return a function that plays on and gives the seconds that it took."""
    state = market.reset(market_seeds(seed, "bench", episodes))
    rules = random_mechanisms(episodes, generator(seed, "bench"))
    play = partial(market.play, state, rules, rounds)

    def timed() -> float:
        numba.set_num_threads(threads)
        began = time.perf_counter()
        play()
        return time.perf_counter() - began

    return timed
