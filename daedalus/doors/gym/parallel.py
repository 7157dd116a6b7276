"""Designer against adversary: one market for two learners, in PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete, Space
from gymnasium.utils.seeding import np_random
from numpy.typing import ArrayLike, NDArray
from pettingzoo import ParallelEnv

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.features import FEATURES
from daedalus.doors import public
from daedalus.doors.adversary import Moves
from daedalus.doors.gym.single import MarketEnv
from daedalus.doors.gym.spaces import integers
from daedalus.evaluation.settings import TRAITS, AdversarySettings
from daedalus.market.interface import MarketSettings, types_of_bidders
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import episode_seed, episode_seeds

DESIGNER, ADVERSARY = "designer", "adversary"
TRAIT_LEVELS = 5
"""Levels of each trait, evenly spaced from its least to its greatest."""

Seen = dict[str, Any]
Told = dict[str, dict[str, Any]]


class AdversaryEnv(ParallelEnv[str, Any, NDArray[np.int64]]):
    """A zero-sum game: the adversary chooses the bidders, and then the designer sets mechanisms.

    Nobody has seen anything when the adversary moves, in the first step, and the designer never
    sees the move: it must read who came from the records. So the first step plays no round and pays
    nothing, and the designer's action in it has no effect. Then come the steps of ``MarketEnv``, in
    which the adversary's actions have none. Both agents live to the end, because PettingZoo pays
    nothing to an agent that has ended, and the adversary earns in each of these steps.

    The designer has the observations, actions and rewards of ``MarketEnv``; before the first step
    it sees zeros. The adversary sees 0 before its move and 1 after it. Its action has the type of
    each bidder, by number, and a level of each of ``TRAITS``, shape (n + 4,). It earns the
    designer's reward with the opposite sign (the attack ``reward`` of ``exploitability``). With a
    portfolio it earns, instead, regret: what the best of these mechanisms earns a step in this
    very episode, less the designer's reward. Then the sum is not zero.

    ``reset(seed=s)`` and the same actions give the episode that ``daedalus.make`` plays in
    ``composition``. Options of a reset are ignored, as PettingZoo's own test asks.

    Args:
        env: The market, the shape of its episodes, and the reward.
        space: Bounds of the traits.
        portfolio: Mechanisms for regret; empty for the reward's opposite.

    Attributes:
        composition: The bidders of the episode; None before the first step.

    Raises:
        ValueError: The market is the classic one, which has no types of bidders, or ``env`` does
            not allow a mechanism of the portfolio.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # none changes it
        "name": "daedalus_adversary_v0",
        "render_modes": [],
        "is_parallelizable": True,
    }
    render_mode = None

    def __init__(
        self,
        env: DesignEnv,
        space: AdversarySettings | None = None,
        portfolio: Sequence[Mechanism] = (),
    ) -> None:
        self.moves = Moves(types_of_bidders(env.market), space or AdversarySettings())
        for each in portfolio:
            env.goal.require(each)
        self.portfolio = Mechanisms.stack(list(portfolio)) if portfolio else None
        self.composition: Population | None = None
        self.possible_agents = [DESIGNER, ADVERSARY]
        self.agents: list[str] = []
        self.env, self._market = env, MarketEnv(env)
        population = self.moves.population
        choices = [len(population.types)] * population.bidders + [TRAIT_LEVELS] * len(TRAITS)
        self.observation_spaces = {DESIGNER: self._market.observation_space, ADVERSARY: Discrete(2)}
        self.action_spaces = {
            DESIGNER: self._market.action_space,
            ADVERSARY: MultiDiscrete(choices),
        }
        self._seed: int | None = None
        self._attainable = 0.0

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[NDArray[np.int64]]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, Told]:
        """Begin an episode, in which the adversary is to move.

        Args:
            seed: 0 to 2**53 - 1; None draws one in the first step, whose ``info`` tells it, by the
                last seed that was given.
            options: Ignored.

        Raises:
            ValueError: The seed is no such integer.
        """
        self._seed = None if seed is None else episode_seed(seed)
        if self._seed is not None:
            self._market.np_random, _ = np_random(self._seed)
        self.agents, self.composition = [*self.possible_agents], None
        return self._both(np.zeros(len(FEATURES), np.float32), 0), self._both({}, {})

    def step(
        self, actions: Mapping[str, ArrayLike]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], Told]:
        """Take the adversary's move in the first step, and the designer's mechanism later.

        Returns:
            Observations, rewards, terminations, truncations, and ``info``: the designer's is that
            of ``MarketEnv``.

        Raises:
            RuntimeError: No episode has begun, or it has ended.
            ValueError: The action that counts is missing, or not in its space.
        """
        if not self.agents:
            raise RuntimeError("there is no episode; call reset")
        mover = ADVERSARY if self.composition is None else DESIGNER
        if mover not in actions:
            raise ValueError(f"actions: {[*actions]}; give that of the {mover}, whose move it is")
        if self.composition is None:
            seen, told = self._begin(actions[ADVERSARY])
            rewards, over = (0.0, 0.0), False
        else:
            seen, reward, over, _, told = self._market.step(actions[DESIGNER])
            rewards = reward, self._attainable - reward
        self.agents = [] if over else self.agents
        ended, cut = self._both(over, over), self._both(False, False)
        return self._both(seen, 1), self._both(*rewards), ended, cut, self._both(told, {})

    def _begin(self, action: ArrayLike) -> tuple[NDArray[np.float32], dict[str, Any]]:
        self.composition = self.composed(action)
        self._market.env = self.env.with_population(self.composition)
        seen, told = self._market.reset(seed=self._seed)
        if self.portfolio is not None:
            same = episode_seeds([told["seed"]] * len(self.portfolio))
            earned = self._market.env.reset(same).mean_rewards(self.portfolio)
            self._attainable = float(earned.max())
        return seen, told

    def composed(self, action: ArrayLike) -> Population:
        """Return the bidders of an action of the adversary.

        Raises:
            ValueError: The action is not in the space.
        """
        space = self.action_spaces[ADVERSARY]
        chosen = integers(action, (self.moves.population.bidders + len(TRAITS),))
        if not space.contains(chosen.astype(np.int64)):
            raise ValueError(f"action: {chosen.tolist()} is not in {space}")
        population, bounds = self.moves.population, self.moves.space
        counts = np.bincount(chosen[: population.bidders], minlength=len(population.types))
        traits = {}
        for name, level in zip(TRAITS, chosen[population.bidders :], strict=True):
            low, high = getattr(bounds, name)
            traits[name] = float(np.linspace(low, high, TRAIT_LEVELS)[level])
        bidders = dict(zip(population.types, counts.tolist(), strict=True))
        return self.moves.composition(bidders, traits)

    @staticmethod
    def _both(designer: Any, adversary: Any) -> dict[str, Any]:
        return {DESIGNER: designer, ADVERSARY: adversary}


def parallel_env(
    population: str | Population = "mixture",
    market: str | MarketSettings = "strategic",
    reward: str | RewardStack = "composite",
    overrides: tuple[str, ...] = (),
    allowed: Mapping[str, object] | None = None,
    space: AdversarySettings | None = None,
    portfolio: Sequence[Mechanism] = (),
) -> AdversaryEnv:
    """Return the game; see ``daedalus.make`` and ``AdversaryEnv``."""
    made = public.make(population, *overrides, market=market, reward=reward, allowed=allowed)
    return AdversaryEnv(made.env, space, portfolio)
