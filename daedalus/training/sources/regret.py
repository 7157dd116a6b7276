"""A designer's regret: training goes to states in which a better mechanism than its is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from daedalus.env import Designer, Episodes
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator
from daedalus.training.sources.reward import MarketReward

_FIRST, _SECOND = 1 << 41, (1 << 41) + 1  # steps that training does not reach
_AT_ONCE = 512  # states whose choices are played side by side


def regrets(
    reward: MarketReward, answers: Mechanisms, candidates: Mechanisms
) -> NDArray[np.float64]:
    """Return what the best known candidate earns more than the answer in each state, shape (B,).

    The best candidate of half of the futures is judged by the other half, and the other way round.
    So the estimate has no bias from choosing the luckiest; it is negative where the answer is best.

    Args:
        reward: Plays mechanisms in futures of the B states.
        answers: The model's mechanism in each state. A malformed one earns 0.
        candidates: M mechanisms that are known.
    """
    known = [candidates[row] for row in range(len(candidates))]
    own = [None if answers.malformed[row] else answers[row] for row in range(len(answers))]
    choices = [[each, *known] for each in own]
    worth = [_worth(reward, choices, step) for step in (_FIRST, _SECOND)]
    rows = np.arange(len(answers))
    gains = [
        judge[rows, chooser[:, 1:].argmax(axis=1) + 1] - judge[:, 0]
        for chooser, judge in (worth, worth[::-1])
    ]
    return np.asarray(np.mean(gains, axis=0))


def _worth(
    reward: MarketReward, choices: Sequence[Sequence[Mechanism | None]], step: int
) -> NDArray[np.float64]:
    """Return what the choices of each state earn, shape (B, choices)."""
    parts = [
        range(len(choices))[start : start + _AT_ONCE] for start in range(0, len(choices), _AT_ONCE)
    ]
    earned = [reward.compare([choices[row] for row in part], part, step) for part in parts]
    return np.stack([each for part in earned for each in part])


def states_of_regret(
    pool: Episodes,
    reward: MarketReward,
    designer: Designer,
    candidates: Mechanisms,
    count: int,
    seed: int,
) -> Episodes:
    """Return ``count`` states of a pool: half have the most regret, and half are any others.

    Levels with much regret teach most (prioritised level replay: Jiang, Grefenstette & Rocktäschel
    2021). The other half keeps what the model does well.

    Args:
        pool: At least ``count`` paused episodes.
        reward: Plays mechanisms in futures of these states.
        designer: Answers in each state.
        candidates: Mechanisms that are known.
        count: Number of states to take.
        seed: Seed of the answers and of the states that are taken at random.
    """
    rng = generator(seed, "regret")
    answers = designer.propose(pool.observe(), rng)
    order = np.argsort(-regrets(reward, answers, candidates), kind="stable")
    most, others = order[: count // 2], order[count // 2 :]
    taken = rng.choice(others, size=count - len(most), replace=False)
    return pool.fork(rng.permutation(np.concatenate([most, taken])))
