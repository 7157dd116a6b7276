"""A portfolio of good mechanisms: best responses to populations sampled from one population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from tqdm import tqdm

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_of_candidates, sweep
from daedalus.design.search.budgets import EvolutionBudget
from daedalus.design.search.evolution import evolve
from daedalus.design.search.objective import EpisodeObjective
from daedalus.design.search.space import LEVELS, random_mechanisms
from daedalus.market.interface import types_of_bidders
from daedalus.market.lineup import sampled_populations
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.phases import SEARCH, phase
from daedalus.runs.workers import share_out

_POOL = 256
_POOL_EPISODES = 16
_SWEEPS = 2


def sampled_envs(env: DesignEnv, count: int, seed: int, purpose: str) -> list[DesignEnv]:
    """Return ``count`` environments, each with a population sampled from that of ``env``."""
    seeds = market_seeds(seed, purpose, count)
    populations = sampled_populations(types_of_bidders(env.market), seeds)
    return [env.with_population(each) for each in populations]


def best_responses(
    envs: Sequence[DesignEnv],
    starts: Sequence[Mechanism],
    episodes: int,
    seed: int,
    purpose: str,
) -> list[Mechanism]:
    """Return the best mechanism of each environment.

    The best of ``starts`` and of random mechanisms is swept.

    Args:
        envs: Where mechanisms are played, at least one. Their goals allow the same.
        starts: Mechanisms to begin from.
        episodes: Episodes behind each score of a sweep.
        seed: Seed of the run.
        purpose: Keys the random mechanisms and the markets.
    """
    drawn = random_mechanisms(_POOL, generator(seed, purpose), goal=envs[0].goal)
    pool = Mechanisms.stack([*starts, *(drawn[row] for row in range(len(drawn)))])
    scores = (EpisodeObjective([env], seed, f"{purpose}/choice") for env in envs)
    found = share_out(partial(_swept, pool, episodes), scores, len(envs))
    return list(tqdm(found, "best responses", len(envs), leave=False, disable=None))


def _swept(pool: Mechanisms, episodes: int, score: EpisodeObjective) -> Mechanism:
    """Return what a sweep makes of the pool's best mechanism."""
    best = pool[int(np.argmax(score(pool, _POOL_EPISODES)))]
    return sweep(best, score, _SWEEPS, episodes, score.envs[0].goal.settings(LEVELS))


@phase(SEARCH)
def make_portfolio(
    env: DesignEnv,
    count: int,
    episodes: int,
    seed: int,
    rewards: Sequence[RewardStack] | None = None,
) -> Mechanisms:
    """Return best responses to ``count`` sampled populations and, last, one mechanism for all.

    Mechanisms are rounded and distinct. The last one is searched on the whole
    population. That search starts from the responses and from a mechanism of evolution, because
    evolution changes several fields at once and a sweep changes one. Each response maximises its
    own reward of ``rewards``, or that of ``env``.
    """
    envs = sampled_envs(env, count, seed, "portfolio")
    if rewards is not None:
        envs = [replace(each, reward=own) for each, own in zip(envs, rewards, strict=True)]
    responses = best_responses(envs, [], episodes, seed, "portfolio")
    evolved = evolve(env, EvolutionBudget(episodes=max(1, episodes // 2)), seed)
    everywhere = EpisodeObjective([env], seed, "portfolio/choice")
    found = [*responses, evolved]
    best = best_of_candidates(found, everywhere, _SWEEPS, 8 * episodes, env.goal)
    return env.goal.nearest(Mechanisms.distinct([*responses, best]))
