"""Training of the policy of plain numbers: what an update is worth without a language model.

The policy reads no observation. Its states, rewards and budget are those of GRPO. So what a
language model reaches below it is lost by the language model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.env import DesignEnv
from daedalus.market.mechanism import FIELDS
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator
from daedalus.runs.phases import GRPO, phase
from daedalus.search.space import mechanisms_at
from daedalus.search.states import mid_episode_states
from daedalus.training.algorithms.grpo.settings import TARGET
from daedalus.training.numbers.policy import NumbersPolicy
from daedalus.training.numbers.settings import NumbersSettings
from daedalus.training.sources.reward import MarketReward
from daedalus.training.target import target_advantages

PHASE = "numbers"
"""Name under which the steps are logged."""
_TINY = 1e-4  # as in TRL

Log = Callable[[str, int, Mapping[str, float]], None]


@phase(GRPO)
def train_numbers(env: DesignEnv, settings: NumbersSettings, seed: int, log: Log) -> NumbersPolicy:
    """Return the policy after its training.

    Args:
        env: The market, and the reward.
        settings: Steps, groups and update.
        seed: Seed of all draws.
        log: Takes the name of the phase, the step and its metrics.
    """
    policy, rng = NumbersPolicy(), generator(seed, "numbers")
    optimiser = torch.optim.Adam(policy.parameters(), settings.learning_rate)
    reward = _rewards(env, settings, seed, 0, None)
    for step in tqdm(range(settings.steps), "steps", leave=False, disable=None):
        if step and settings.renew_every and step % settings.renew_every == 0:
            reward = _rewards(env, settings, seed, step, policy)
        rows = rng.choice(len(reward), settings.prompts_per_step, replace=False)
        places = policy.draw(settings.prompts_per_step * settings.group_size, rng)
        earned = _earned(reward, places, np.repeat(rows, settings.group_size), step)
        logps, entropy = policy.logps(places), policy.entropy()
        weights = advantages_of(earned, logps.detach(), settings)
        bonus = settings.entropy_bonus * (1 - step / settings.steps)
        optimiser.zero_grad()
        (-(weights * logps).mean() - bonus * entropy).backward()
        optimiser.step()
        metrics = {"reward": earned.mean(), "entropy": entropy.item() / len(FIELDS)}
        log(PHASE, step + 1, metrics)
    return policy


def _earned(
    reward: MarketReward, places: NDArray[np.int64], rows: NDArray[np.int64], step: int
) -> NDArray[np.float64]:
    """Return the rewards of mechanisms in the states with these numbers."""
    mechanisms = mechanisms_at(places)
    texts = [format_mechanism(mechanisms[row]) for row in range(len(mechanisms))]
    return reward.score(texts, rows.tolist(), step)[0]


def advantages_of(
    earned: NDArray[np.float64], logps: torch.Tensor, settings: NumbersSettings
) -> torch.Tensor:
    """Return the weights of B log-probabilities in the gradient, shape (B,).

    Rewards are compared within their group, and divided by the deviation of the batch.
    """
    groups = torch.from_numpy(earned).float().reshape(-1, settings.group_size)
    advantages = groups - groups.mean(dim=1, keepdim=True)
    advantages = (advantages / (groups.std() + _TINY)).flatten()
    if settings.loss_type == TARGET:
        return target_advantages(logps, advantages, settings.group_size)
    return advantages


def _rewards(
    env: DesignEnv, settings: NumbersSettings, seed: int, step: int, policy: NumbersPolicy | None
) -> MarketReward:
    """Return states up to which the policy plays, or at first a random walk, and their rewards."""
    states = mid_episode_states(
        env, settings.states, seed, f"numbers/{step}", settings.horizon, policy
    )
    return MarketReward(states, settings.futures, settings.horizon, seed)
