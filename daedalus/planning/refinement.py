"""Rules fitted to the states in which a designer sets them, rather than to a population each."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from daedalus.designers.planner import DistilledSettings
from daedalus.designers.search import sweep
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.planning.distilled import Distilled
from daedalus.planning.lookahead import compare_candidates
from daedalus.planning.states import Explorer, mid_episode_states

_FEWEST = 64  # states that a rule is fitted to
_SWEEPS = 2
_FUTURES = 2


def refined_rules(
    env: DesignEnv,
    learnt: Distilled,
    settings: DistilledSettings,
    seed: int,
    purpose: str,
) -> Mechanisms:
    """Return the rules that a designer chooses, each swept in the states in which it does.

    The best response to one population is too special for a state that several may have led to;
    what is best on average over such states is what can be chosen there (a step of policy
    improvement within the regions of a policy: Howard 1960).

    Args:
        env: Where the states come from.
        learnt: The designer, who leads to them.
        settings: How many states, with how much exploration, and the horizon of comparisons.
        seed: What everything depends on.
        purpose: What it is for; another purpose, other states.

    Returns:
        The refined rules and, last, the last of the designer's candidates as it was. Rules that
        are hardly ever chosen are left out.
    """
    rules = learnt.candidates
    player = Explorer(learnt, rules, settings.exploration)
    states = mid_episode_states(env, settings.states, seed, purpose, settings.horizon, player)
    chosen = learnt.choose(states.observe())
    refined = []
    for number in range(len(rules)):
        rows = np.flatnonzero(chosen == number)
        if len(rows) >= _FEWEST:
            score = partial(_mean_rewards, states.fork(rows), settings.horizon, seed, purpose)
            refined.append(sweep(rules[number], score, _SWEEPS, _FUTURES))
    return Mechanisms.distinct([*refined, rules[len(rules) - 1]])


def _mean_rewards(
    states: DesignEnv, horizon: int, seed: int, purpose: str, candidates: Mechanisms, futures: int
) -> NDArray[np.float64]:
    rewards = compare_candidates(states, candidates, futures, horizon, seed, purpose)
    return np.asarray(rewards.mean(axis=0))
