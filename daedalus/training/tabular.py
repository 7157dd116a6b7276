"""GRPO on one page: group-relative policy optimisation (Shao et al. 2024, arXiv 2402.03300).

The policy is a table of probabilities instead of a language model, so plain GRPO stands here as
a whole. Read from top to bottom. One step does this:

1. Sample: in each of a few market states, draw a group of mechanisms from the policy.
2. Reward: play each mechanism in copies of its state. All of a group face the same futures.
3. Advantage: subtract the mean of its group from each reward, and divide by the deviation of all
   (``loss_type=grpo``; the other losses take the advantages of ``algorithms/grpo/advantages.py``).
4. Loss: weigh the log-probability of each mechanism by its advantage.
5. Update: Adam follows the gradient. What earned more than its group becomes likelier.

The mean of a group takes the place of the value network that PPO trains. Each batch is used once,
so importance ratios are 1 and there is nothing to clip. The policy starts from equal probabilities,
so there is no reference that a KL penalty could hold it to. Two options are off: an entropy bonus,
and neighbours, which are answers of the group with one field changed.

The policy reads no observation: it looks for one mechanism for all states. ``algorithms/grpo``
takes the same steps with a language model, through TRL, with states and rewards of the same kind.
What a language model reaches below this policy is lost by the language model.

``python run.py +experiment=grpo_numbers numbers.loss_type=grpo`` trains so, in 1.5 minutes. Without
the last word it takes other advantages in step 3. ``+experiment=grpo_updates`` compares both, and
``tabular_settings.py`` explains all settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.design.env import DesignEnv
from daedalus.design.search.space import GRID, FieldValues, mechanisms_at, neighbours_at
from daedalus.design.search.states import mid_episode_states
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.seeds import generator
from daedalus.runs.phases import GRPO, phase
from daedalus.training.algorithms.grpo.advantages import (
    boltzmann_advantages,
    sharpness_at,
    target_advantages,
)
from daedalus.training.algorithms.grpo.settings import BOLTZMANN, TARGET
from daedalus.training.sources.market_reward import MarketReward
from daedalus.training.tabular_settings import TabularSettings

_TINY = 1e-4  # as in TRL

Log = Callable[[int, Mapping[str, float]], None]


class TabularPolicy(torch.nn.Module):
    """One categorical distribution for each field of a mechanism, uniform at first.

    An action is a mechanism as integers: for each field, the place of its value in the grid. The
    policy can play as a designer, too.

    Args:
        grid: Values of each field, from which the policy chooses.
    """

    def __init__(self, grid: FieldValues = GRID) -> None:
        super().__init__()
        self.grid = grid
        self.logits = torch.nn.ParameterDict(  # in pairs: it would sort a mapping
            [(name, torch.zeros(len(values))) for name, values in grid.items()]
        )

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw actions, shape (count, fields), by looking up uniform numbers."""
        columns = []
        for logits in self.logits.values():
            bounds = logits.detach().double().softmax(dim=0).numpy().cumsum()
            columns.append(np.searchsorted(bounds[:-1], rng.random(count), side="right"))
        return np.stack(columns, axis=1)

    def log_probabilities(self, actions: NDArray[np.int64]) -> torch.Tensor:
        """Return the log-probability of each action, shape (count,): the sum over its fields."""
        chosen = torch.from_numpy(actions)
        parts = [
            logits.log_softmax(dim=0)[chosen[:, column]]
            for column, logits in enumerate(self.logits.values())
        ]
        return torch.stack(parts).sum(dim=0)

    def entropy(self) -> torch.Tensor:
        """Return the entropy of an action, in nats: the sum over its fields."""
        logs = [logits.log_softmax(dim=0) for logits in self.logits.values()]
        return -torch.stack([(each.exp() * each).sum() for each in logs]).sum()

    def mode(self) -> Mechanism:
        """Return the likeliest mechanism."""
        action = [int(logits.argmax()) for logits in self.logits.values()]
        return self.mechanisms(np.array([action]))[0]

    def mechanisms(self, actions: NDArray[np.int64]) -> Mechanisms:
        """Return the mechanisms of actions, shape (count, fields)."""
        return mechanisms_at(actions, self.grid)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Draw a mechanism for each market."""
        return self.mechanisms(self.sample(len(observations), rng))


def sample_groups(
    policy: TabularPolicy, settings: TabularSettings, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the actions of a step, groups side by side, shape (B, fields).

    B is ``prompts_per_step`` times ``group_size``. If there are neighbours, each group begins with
    them.
    """
    sampled_of_group = settings.group_size - settings.neighbours
    sampled = policy.sample(settings.prompts_per_step * sampled_of_group, rng)
    return _with_neighbours(sampled, settings, rng, policy.grid) if settings.neighbours else sampled


def _with_neighbours(
    sampled: NDArray[np.int64],
    settings: TabularSettings,
    rng: np.random.Generator,
    grid: FieldValues,
) -> NDArray[np.int64]:
    """Put before each group's sampled actions some of them with one field at another value."""
    groups, count = settings.prompts_per_step, settings.group_size - settings.neighbours
    parents = rng.integers(count, size=(groups, settings.neighbours))
    parents += count * np.arange(groups)[:, None]
    near = neighbours_at(sampled[parents.ravel()], rng, grid)
    parts = [each.reshape(groups, -1, len(FIELDS)) for each in (near, sampled)]
    return np.concatenate(parts, axis=1).reshape(-1, len(FIELDS))


def prepare_market(
    env: DesignEnv, settings: TabularSettings, seed: int, step: int, policy: TabularPolicy | None
) -> MarketReward:
    """Play episodes up to the states of the next steps; return what gives rewards in them.

    Args:
        env: The market, and the reward.
        settings: How many states, and how their futures are played.
        seed: Seed of the run.
        step: Step from which on the states are used.
        policy: It plays; None is a random walk.
    """
    purpose = f"numbers/{step}"
    states = mid_episode_states(env, settings.states, seed, purpose, settings.horizon, policy)
    return MarketReward(states, settings.futures, settings.horizon, seed)


def rewards_of(
    mechanisms: Mechanisms, states: NDArray[np.int64], market: MarketReward, step: int
) -> NDArray[np.float64]:
    """Return the mean reward of each mechanism over its futures, shape (B,).

    Args:
        mechanisms: Groups side by side, B in all.
        states: Number of the state of each group, shape (groups,).
        market: Plays the mechanisms in their states.
        step: Selects the futures. All mechanisms of a group face the same, so their rewards differ
            by the mechanisms alone.
    """
    group_size = len(mechanisms) // len(states)
    played = np.repeat(states, group_size).tolist()
    return market.score_mechanisms(mechanisms, played, step)


def advantages_of(
    rewards: NDArray[np.float64], logps: torch.Tensor, settings: TabularSettings, progress: float
) -> torch.Tensor:
    """Return how much better each action was than its group, shape (B,).

    What a whole group shares, such as a good state, falls out with the mean of the group. GRPO then
    divides by the standard deviation of the batch (the paper: of the group), so the unit of the
    reward does not matter.

    Two other losses turn advantages into a difference of probabilities: those that the actions of a
    group should have, less those that they have. ``target`` takes GRPO's advantages for it,
    ``boltzmann`` undivided ones.

    Args:
        rewards: Rewards of B actions, groups side by side; shape (B,).
        logps: Their log-probabilities, shape (B,), for the two other losses.
        settings: The group size and the loss.
        progress: Share of the training before this step, for ``boltzmann``.
    """
    groups = torch.from_numpy(rewards).float().reshape(-1, settings.group_size)
    advantages = groups - groups.mean(dim=1, keepdim=True)
    if settings.loss_type == BOLTZMANN:
        sharpness = sharpness_at(progress, settings.sharpness, settings.last_sharpness)
        return boltzmann_advantages(logps, sharpness * advantages.flatten(), settings.group_size)
    advantages = (advantages / (groups.std() + _TINY)).flatten()
    if settings.loss_type == TARGET:
        return target_advantages(logps, advantages, settings.group_size)
    return advantages


def loss_of(logps: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Return minus the mean of log-probabilities that are weighted by their advantages.

    Advantages are constants. So the gradient is the policy gradient (Williams 1992): the mean of
    advantage times gradient of the log-probability, downhill.

    Args:
        logps: Log-probabilities of B actions, shape (B,).
        advantages: Their advantages, shape (B,).
    """
    return -(advantages * logps).mean()


def take_step(
    policy: TabularPolicy,
    optimiser: torch.optim.Optimizer,
    market: MarketReward,
    settings: TabularSettings,
    rng: np.random.Generator,
    step: int,
) -> dict[str, float]:
    """Sample, reward, compare and update once; return the metrics of the step.

    They are the mean reward of the actions, and the policy's entropy before the update, in nats a
    field. If groups have neighbours, the mean rewards of both kinds of actions stand beside them.
    """
    progress = step / settings.steps
    states = rng.choice(len(market), settings.prompts_per_step, replace=False)
    actions = sample_groups(policy, settings, rng)
    rewards = rewards_of(policy.mechanisms(actions), states, market, step)
    logps, entropy = policy.log_probabilities(actions), policy.entropy()
    advantages = advantages_of(rewards, logps.detach(), settings, progress)
    bonus = settings.entropy_bonus * (1 - progress)
    loss = loss_of(logps, advantages) - bonus * entropy
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    metrics = {"reward": float(rewards.mean()), "entropy": entropy.item() / len(FIELDS)}
    return metrics | _rewards_by_origin(rewards, settings)


def _rewards_by_origin(rewards: NDArray[np.float64], settings: TabularSettings) -> dict[str, float]:
    """Return the mean reward of sampled actions and of neighbours, if there are any of these."""
    if not settings.neighbours:
        return {}
    groups = rewards.reshape(-1, settings.group_size)
    near, sampled = np.split(groups, [settings.neighbours], axis=1)
    return {"reward_sampled": float(sampled.mean()), "reward_neighbours": float(near.mean())}


@phase(GRPO)
def train_tabular(env: DesignEnv, settings: TabularSettings, seed: int, log: Log) -> TabularPolicy:
    """Return the policy after its training.

    Args:
        env: The market, the reward, and what the policy may set.
        settings: Steps, groups and update.
        seed: Seed of all draws.
        log: Takes the number of each step, from 1, and its metrics.
    """
    policy, rng = TabularPolicy(env.goal.settings(GRID)), generator(seed, "numbers")
    optimiser = torch.optim.Adam(policy.parameters(), settings.learning_rate)
    market = prepare_market(env, settings, seed, 0, None)
    for step in tqdm(range(settings.steps), "steps", leave=False, disable=None):
        if step and settings.renew_every and step % settings.renew_every == 0:
            market = prepare_market(env, settings, seed, step, policy)
        log(step + 1, take_step(policy, optimiser, market, settings, rng, step))
    return policy
