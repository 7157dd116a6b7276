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
from daedalus.market.seeds import generator
from daedalus.runs.phases import GRPO, phase
from daedalus.search.space import mechanisms_at, neighbours_at
from daedalus.search.states import mid_episode_states
from daedalus.training.algorithms.grpo.settings import BOLTZMANN, TARGET
from daedalus.training.sources.reward import MarketReward
from daedalus.training.tabular_policy import TabularPolicy
from daedalus.training.tabular_settings import TabularSettings
from daedalus.training.target import boltzmann_advantages, sharpness_at, target_advantages

_TINY = 1e-4  # as in TRL

Log = Callable[[int, Mapping[str, float]], None]


@phase(GRPO)
def train_tabular(env: DesignEnv, settings: TabularSettings, seed: int, log: Log) -> TabularPolicy:
    """Return the policy after its training.

    Args:
        env: The market, and the reward.
        settings: Steps, groups and update.
        seed: Seed of all draws.
        log: Takes the step and its metrics.
    """
    policy, rng = TabularPolicy(), generator(seed, "numbers")
    optimiser = torch.optim.Adam(policy.parameters(), settings.learning_rate)
    reward = _rewards(env, settings, seed, 0, None)
    for step in tqdm(range(settings.steps), "steps", leave=False, disable=None):
        if step and settings.renew_every and step % settings.renew_every == 0:
            reward = _rewards(env, settings, seed, step, policy)
        rows = rng.choice(len(reward), settings.prompts_per_step, replace=False)
        places = groups_of(policy, settings, rng)
        played = np.repeat(rows, settings.group_size).tolist()
        earned = reward.score_mechanisms(mechanisms_at(places), played, step)
        logps, entropy = policy.logps(places), policy.entropy()
        done = step / settings.steps
        weights = advantages_of(earned, logps.detach(), settings, done)
        bonus = settings.entropy_bonus * (1 - done)
        optimiser.zero_grad()
        (-(weights * logps).mean() - bonus * entropy).backward()
        optimiser.step()
        metrics = {"reward": earned.mean(), "entropy": entropy.item() / len(FIELDS)}
        log(step + 1, metrics | _by_origin(earned, settings))
    return policy


def groups_of(
    policy: TabularPolicy, settings: TabularSettings, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the places of a step's mechanisms, groups side by side, neighbours first."""
    prompts, count = settings.prompts_per_step, settings.group_size - settings.neighbours
    drawn = policy.draw(prompts * count, rng)
    if not settings.neighbours:
        return drawn
    parents = rng.integers(count, size=(prompts, settings.neighbours))
    parents += count * np.arange(prompts)[:, None]
    near = neighbours_at(drawn[parents.ravel()], rng)
    parts = [each.reshape(prompts, -1, len(FIELDS)) for each in (near, drawn)]
    return np.concatenate(parts, axis=1).reshape(-1, len(FIELDS))


def _by_origin(earned: NDArray[np.float64], settings: TabularSettings) -> dict[str, float]:
    """Return the mean reward of drawn mechanisms and of neighbours, if there are any of these."""
    if not settings.neighbours:
        return {}
    near, drawn = np.split(earned.reshape(-1, settings.group_size), [settings.neighbours], axis=1)
    return {"reward_sampled": float(drawn.mean()), "reward_neighbours": float(near.mean())}


def advantages_of(
    earned: NDArray[np.float64], logps: torch.Tensor, settings: TabularSettings, done: float
) -> torch.Tensor:
    """Return the weights of B log-probabilities in the gradient, shape (B,).

    Rewards are compared within their group. ``boltzmann`` multiplies them by the sharpness of the
    step; the other losses divide them by the deviation of the batch.

    Args:
        earned: Rewards of B mechanisms, groups side by side; shape (B,).
        logps: Their log-probabilities, shape (B,).
        settings: The update.
        done: Share of the training before this step.
    """
    groups = torch.from_numpy(earned).float().reshape(-1, settings.group_size)
    advantages = groups - groups.mean(dim=1, keepdim=True)
    if settings.loss_type == BOLTZMANN:
        sharpness = sharpness_at(done, settings.sharpness, settings.last_sharpness)
        return boltzmann_advantages(logps, sharpness * advantages.flatten(), settings.group_size)
    advantages = (advantages / (groups.std() + _TINY)).flatten()
    if settings.loss_type == TARGET:
        return target_advantages(logps, advantages, settings.group_size)
    return advantages


def _rewards(
    env: DesignEnv, settings: TabularSettings, seed: int, step: int, policy: TabularPolicy | None
) -> MarketReward:
    """Return states up to which the policy plays, or at first a random walk, and their rewards."""
    states = mid_episode_states(
        env, settings.states, seed, f"numbers/{step}", settings.horizon, policy
    )
    return MarketReward(states, settings.futures, settings.horizon, seed)
