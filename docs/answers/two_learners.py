"""Designer against adversary: two learners with rewards of their own, in PettingZoo.

Each learner is a table of probabilities, one row for each part of its action. Policy gradient
trains it (REINFORCE, less the mean of a batch). An episode has one decision of the designer.
"""

from __future__ import annotations

import copy

import numpy as np
from gymnasium.spaces import MultiDiscrete, Space
from numpy.typing import NDArray

from daedalus.doors.gym.parallel import ADVERSARY, DESIGNER, AdversaryEnv, parallel_env
from daedalus.evaluation.statistics import t_interval

RATE, BATCH, UPDATES, GAMES, SEEDS = 4.0, 40, 25, 150, range(5)


class Learner:
    """Probabilities of each choice, for each part of an action; at first all are equal."""

    def __init__(self, space: Space[NDArray[np.int64]]) -> None:
        assert isinstance(space, MultiDiscrete)
        counts = space.nvec[:, None]
        self.logits = np.where(np.arange(counts.max()) < counts, 0.0, -np.inf)

    def act(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw an action (by the Gumbel trick)."""
        drawn: NDArray[np.int64] = (self.logits + rng.gumbel(size=self.logits.shape)).argmax(axis=1)
        return drawn

    def learn(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Raise the probabilities of actions that earned more than the mean."""
        probabilities = np.exp(self.logits) / np.exp(self.logits).sum(axis=1, keepdims=True)
        taken = actions[:, :, None] == np.arange(self.logits.shape[1])
        gains = (rewards - rewards.mean()) / (rewards.std() + 1e-8)
        self.logits += RATE * np.einsum("b,bfc->fc", gains, taken - probabilities) / len(gains)


Players = dict[str, Learner]


def play(
    env: AdversaryEnv, players: Players, games: int, rng: np.random.Generator
) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Play games; return of each player its actions and what they earned."""
    actions: dict[str, list[NDArray[np.int64]]] = {name: [] for name in players}
    earned: dict[str, list[float]] = {name: [] for name in players}
    for _ in range(games):
        env.reset(seed=int(rng.integers(2**53)))
        chosen = {name: player.act(rng) for name, player in players.items()}
        env.step(chosen)  # the adversary's move
        _, rewards, *_ = env.step(chosen)  # the designer's
        for name in players:
            actions[name].append(chosen[name])
            earned[name].append(rewards[name])
    return {name: (np.array(actions[name]), np.array(earned[name])) for name in players}


def train(
    env: AdversaryEnv, players: Players, learning: list[str], rng: np.random.Generator
) -> Players:
    """Return players of whom some have learnt, at once; those that were given stay."""
    players = copy.deepcopy(players)
    for _ in range(UPDATES):
        played = play(env, players, BATCH, rng)
        for name in learning:
            players[name].learn(*played[name])
    return players


def rewards_of(seed: int) -> dict[str, float]:
    """Train all players with a seed; return the designer's mean reward in each pairing."""
    env, rng = parallel_env(overrides=("market.episode_length=1",)), np.random.default_rng(seed)
    new = {name: Learner(env.action_space(name)) for name in env.possible_agents}
    anyone = {ADVERSARY: new[ADVERSARY]}
    first = train(env, new, [DESIGNER], rng)
    attacked = train(env, first, [ADVERSARY], rng)
    answered = train(env, attacked, [DESIGNER], rng)
    rows = {
        "neither": new,
        "the designer, with random bidders": first,
        "then the adversary against it": attacked,
        "then the designer against that": answered,
        "then a new adversary against it": train(env, answered | anyone, [ADVERSARY], rng),
        "both at once": train(env, new, [DESIGNER, ADVERSARY], rng),
    }
    markets = [np.random.default_rng([seed, 1]) for _ in rows]  # the same for all rows
    return {
        name: float(play(env, players, GAMES, rng)[DESIGNER][1].mean())
        for (name, players), rng in zip(rows.items(), markets, strict=True)
    }


def main() -> None:
    """Print the designer's mean reward over seeds, with 95 % intervals."""
    found = [rewards_of(seed) for seed in SEEDS]
    print(f"{'who has learnt':36}the designer's reward")
    for name in found[0]:
        values = np.array([each[name] for each in found])
        print(f"{name:36}{shown(values)}")
    answer = [each["then the designer against that"] for each in found]
    attack = [each["then the adversary against it"] for each in found]
    print(f"{'won back':36}{shown(np.subtract(answer, attack))}")


def shown(values: NDArray[np.float64]) -> str:
    """Return a mean over seeds and its interval as text."""
    low, high = t_interval(values, 0.95)
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
