"""Rules that are good somewhere: best responses to populations sampled from a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from rich.console import Console
from rich.progress import track

from daedalus.designers.planner import EvolutionSettings
from daedalus.designers.random import random_mechanisms
from daedalus.designers.search import best_for_all, sweep
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import score_mechanisms
from daedalus.evaluation.evolution import evolve
from daedalus.market.composition import sampled_populations
from daedalus.market.interface import types_of_bidders
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator, market_seeds

_POOL = 256
_SWEEPS = 2


def sampled_envs(env: DesignEnv, count: int, seed: int, purpose: str) -> list[DesignEnv]:
    """Return environments whose populations are drawn from that of ``env``, one each."""
    seeds = market_seeds(seed, purpose, count)
    populations = sampled_populations(types_of_bidders(env.market), seeds)
    return [DesignEnv.of(env.settings, each) for each in populations]


def best_responses(
    envs: Sequence[DesignEnv], starts: Sequence[Mechanism], episodes: int, seed: int, purpose: str
) -> list[Mechanism]:
    """Return the best mechanism of each environment: of ``starts`` and random ones, then swept.

    Args:
        envs: Where they are played; what they held before is lost.
        starts: Mechanisms known to be good somewhere.
        episodes: Episodes behind each comparison of a sweep.
        seed: Seed of the run.
        purpose: What keys random mechanisms and markets.
    """
    drawn = random_mechanisms(_POOL, generator(seed, purpose))
    pool = Mechanisms.stack([*starts, *(drawn[row] for row in range(len(drawn)))])
    found = []
    console = Console(stderr=True)
    for each in track(envs, "best responses", console=console, transient=True):
        score = partial(score_mechanisms, each, seed=seed, purpose=f"{purpose}/choice")
        best = pool[int(np.argmax(score(pool, 16)))]
        found.append(sweep(best, score, _SWEEPS, episodes))
    return found


def portfolio(env: DesignEnv, count: int, episodes: int, seed: int) -> Mechanisms:
    """Return best responses to ``count`` sampled populations and, last, the best for all of them.

    They are rounded as people write them, and none comes twice. The last is searched on the
    mixture itself, from the responses and from what evolution finds, which combines fields that
    sweeps try one by one.
    """
    envs = sampled_envs(env, count, seed, "portfolio")
    responses = best_responses(envs, [], episodes, seed, "portfolio")
    evolved = evolve(env, EvolutionSettings(episodes=max(1, episodes // 2)), seed)
    overall = partial(score_mechanisms, env, seed=seed, purpose="portfolio/choice")
    best = best_for_all([*responses, evolved], overall, _SWEEPS, 8 * episodes)
    return Mechanisms.distinct([*responses, best])
