"""One market as a Gymnasium environment."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from daedalus.design.briefs.clauses import Understanding
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.search.space import LEVELS, Places
from daedalus.doors import public
from daedalus.doors.gym.spaces import (
    Actions,
    Numbers,
    action_space,
    mechanisms_of,
    numbers_of,
    observation_space,
    require_options,
)
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import EPISODE_SEEDS, episode_seed, episode_seeds


class MarketEnv(gymnasium.Env[Numbers, Actions]):
    """One market. An action sets the mechanism of one step, see ``daedalus.doors.gym.decode``.

    An observation has the numbers of ``FEATURES``. One of them is the share of the episode that
    has been played, so the last step terminates the episode, and nothing truncates it.

    Where ``env.allowed`` restricts the mechanism, the action space stays as it is: a level that may
    not be set counts as the nearest that may, and of words and flags as the first that may.

    ``reset(seed=s)`` begins the episode of this seed, as ``daedalus.make`` and the service do.
    A reset without a seed draws the seed of the next episode; ``info["seed"]`` names it.

    A brief of one's own is the same in all episodes, so its words are no part of an observation.

    Args:
        env: The market, the shape of its episodes, and the reward.
        understood: What was understood of the brief that it was made with; None without a brief.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]  # none changes it

    def __init__(self, env: DesignEnv, understood: Understanding | None = None) -> None:
        self.env = env
        self.understood = understood
        self.observation_space = observation_space()
        self.action_space = action_space()
        self._levels = Places(LEVELS)
        self._episode: Episodes | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin an episode; return the observation, and the episode's seed in ``info``.

        Args:
            seed: 0 to 2**53 - 1; None draws one.
            options: None, or empty: there are none.

        Raises:
            ValueError: The seed is no such integer, or there is an option.
        """
        require_options(options)
        named = None if seed is None else episode_seed(seed)
        super().reset(seed=named)
        chosen = drawn_seed(self.np_random) if named is None else named
        self._episode = self.env.reset(episode_seeds([chosen]))
        return numbers_of(self._episode)[0], {"seed": chosen}

    def step(self, action: ArrayLike) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Play one step; ``info`` has R as ``composite``, whatever the reward is.

        Raises:
            RuntimeError: No episode has begun, or it has ended.
            ValueError: The action is not in the space.
        """
        if self._episode is None:
            raise RuntimeError("there is no episode yet; call reset first")
        if self._episode.done[0]:
            raise RuntimeError("the episode has ended; call reset")
        result = self._episode.step(self.env.goal.nearest(mechanisms_of(self._levels, action)))
        told = {"composite": float(result.composite[0])}
        over = bool(self._episode.done[0])
        return numbers_of(self._episode)[0], float(result.reward[0]), over, False, told


def drawn_seed(rng: np.random.Generator) -> int:
    """Return the seed of an episode that is not named."""
    return int(rng.integers(EPISODE_SEEDS))


def make_single(
    population: str | Population | SeatPlan = "stage3",
    overrides: tuple[str, ...] = (),
    render_mode: None = None,
    **chosen: Any,
) -> MarketEnv:
    """Return the environment for ``gymnasium.make``; ``chosen`` is for ``daedalus.make``."""
    made = public.make(population, *overrides, **chosen)
    return MarketEnv(made.env, made.understood)
