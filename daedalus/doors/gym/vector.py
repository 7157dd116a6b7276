"""Many markets side by side as a Gymnasium vector environment: one call plays them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from daedalus.design.briefs.clauses import Understanding
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.search.space import LEVELS, Places
from daedalus.doors import public
from daedalus.doors.gym.single import drawn_seed
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
from daedalus.market.seeds import episode_seed, episode_seeds

Flags = NDArray[np.bool_]
Rewards = NDArray[np.float64]


class MarketVectorEnv(VectorEnv[Numbers, Actions, NDArray[Any]]):
    """N markets side by side; market i does what a ``MarketEnv`` with its seeds does.

    Args:
        env: The market, the shape of its episodes, and the reward.
        num_envs: Number of markets N.
        autoreset_mode: What a step does with an episode that has ended, see Gymnasium's
            ``AutoresetMode``. Next step: it ignores the action, begins an episode and earns 0.
            Same step: an episode begins at once, and ``final_obs`` and ``final_info`` tell how
            the last one ended. Disabled: whoever steps resets by ``options["reset_mask"]``.
        understood: See ``MarketEnv``.

    Raises:
        ValueError: ``num_envs`` is no integer from 1 up, or there is no such mode.
    """

    def __init__(
        self,
        env: DesignEnv,
        num_envs: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        understood: Understanding | None = None,
    ) -> None:
        if not isinstance(num_envs, int | np.integer) or isinstance(num_envs, bool) or num_envs < 1:
            raise ValueError(f"num_envs: {num_envs!r}; give an integer from 1 up")
        self.env = env
        self.understood = understood
        self.num_envs = int(num_envs)
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space()
        self.single_action_space = action_space()
        self._levels = Places(LEVELS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._rngs = [np_random()[0] for _ in range(num_envs)]
        self._episodes: Episodes | None = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin episodes, of all markets or of those in ``options["reset_mask"]``.

        Args:
            seed: Seed of the first market, and each next market has the next integer; or one for
                each market. None draws seeds, as ``MarketEnv`` does.
            options: ``reset_mask`` has a flag for each market, shape (N,).

        Returns:
            Observations, and the seeds of the episodes that began.

        Raises:
            RuntimeError: Some markets are to be reset before all have begun.
            ValueError: There is not one seed, or not one flag, for each market, a seed is no
                integer from 0 to 2**53 - 1, or there is another option.
        """
        seeds = self._each(seed)
        asked = require_options(options, ["reset_mask"])
        mask = np.asarray(asked.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask: {mask.dtype} of shape {mask.shape}; give booleans of shape "
                f"({self.num_envs},), at least one of them true"
            )
        for row in np.flatnonzero(mask):
            if (named := seeds[row]) is not None:
                self._rngs[row] = np_random(named)[0]
        told = self._begin(mask, seeds)
        return numbers_of(self._running()), told

    def step(self, actions: ArrayLike) -> tuple[Numbers, Rewards, Flags, Flags, dict[str, Any]]:
        """Play one step of every market.

        Raises:
            RuntimeError: No episode has begun, or with autoreset disabled one has ended.
            ValueError: The actions are not in the space.
        """
        episodes = self._running()
        ended = episodes.done
        if self.autoreset_mode == AutoresetMode.DISABLED and ended.any():
            raise RuntimeError("an episode has ended; reset it by options['reset_mask']")
        mechanisms = self.env.goal.nearest(mechanisms_of(self._levels, actions, self.num_envs))
        result = episodes.step(mechanisms)
        reward, over = result.reward, episodes.done & ~ended
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        infos = _told("composite", result.composite, ~(over if same_step else ended))
        if same_step and over.any():
            infos |= _final(numbers_of(episodes), result.composite, over) | self._begin(over)
        elif self.autoreset_mode == AutoresetMode.NEXT_STEP and ended.any():
            infos |= self._begin(ended)
        return numbers_of(self._running()), reward, over, np.zeros_like(over), infos

    def _begin(self, mask: Flags, seeds: Sequence[int | None] = ()) -> dict[str, Any]:
        """Begin episodes of some markets; return their seeds."""
        rows = np.flatnonzero(mask)
        named = {row: seed for row, seed in enumerate(seeds) if seed is not None}
        chosen = [named[row] if row in named else drawn_seed(self._rngs[row]) for row in rows]
        fresh = self.env.reset(episode_seeds(chosen))
        if len(rows) == self.num_envs:
            self._episodes = fresh
        else:
            self._running().put(rows, fresh)
        told = np.zeros(self.num_envs, np.int64)
        told[rows] = chosen
        return {"seed": told, "_seed": mask.copy()}

    def _each(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return a seed, or None, for each market."""
        if seed is None:
            return [None] * self.num_envs
        several = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes)
        if not several or (isinstance(seed, np.ndarray) and seed.ndim == 0):
            first = episode_seed(seed)
            return [first + number for number in range(self.num_envs)]
        assert not isinstance(seed, int)
        if len(seed) != self.num_envs:
            raise ValueError(f"seed: {len(seed)} seeds; give one for each of {self.num_envs}")
        return [None if each is None else episode_seed(each) for each in seed]

    def _running(self) -> Episodes:
        if self._episodes is None:
            raise RuntimeError("there is no episode yet; call reset first")
        return self._episodes


def _mode(named: str | AutoresetMode) -> AutoresetMode:
    modes = {each.value: each for each in AutoresetMode}
    if isinstance(named, AutoresetMode):
        return named
    if named not in modes:
        raise ValueError(f"autoreset_mode: {named!r}; choose one of {', '.join(modes)}")
    return modes[named]


def _told(name: str, values: Rewards, mask: Flags) -> dict[str, Any]:
    """Return numbers of some markets as Gymnasium's ``infos`` hold them: 0 for the others."""
    if not mask.any():
        return {}
    return {name: np.where(mask, values, 0.0), f"_{name}": mask.copy()}


def _final(observed: Numbers, composite: Rewards, over: Flags) -> dict[str, Any]:
    """Return how some episodes ended, as Gymnasium's ``infos`` hold it."""
    last = np.full(len(over), None, object)
    for row in np.flatnonzero(over):
        last[row] = observed[row]
    ended = {"final_obs": last, "final_info": _told("composite", composite, over)}
    return ended | {"_final_obs": over.copy(), "_final_info": over.copy()}


def make_vector(
    num_envs: int = 1,
    population: str | Population | SeatPlan = "stage3",
    overrides: tuple[str, ...] = (),
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    render_mode: None = None,
    **chosen: Any,
) -> MarketVectorEnv:
    """Return the environment for ``gymnasium.make_vec``; ``chosen`` is for ``daedalus.make``."""
    made = public.make(population, *overrides, **chosen)
    return MarketVectorEnv(made.env, num_envs, autoreset_mode, made.understood)
