"""A Gymnasium vector environment as Stable-Baselines3 takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv


class SideBySide(VecEnv):
    """Markets side by side, whose episodes begin anew in the step that ends them.

    Args:
        vector: The markets, with autoreset in the same step.
        seed: Seed of the first market; each next market has the next integer.

    Raises:
        ValueError: The markets reset in another way.
    """

    def __init__(self, vector: VectorEnv[Any, Any, Any], seed: int) -> None:
        mode = vector.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode: {mode}; give {AutoresetMode.SAME_STEP}")
        self._vector = vector
        self._actions: NDArray[np.int64] | None = None
        space, actions = vector.single_observation_space, vector.single_action_space
        super().__init__(vector.num_envs, space, actions)
        self.seed(seed)

    def reset(self) -> Any:
        """Begin an episode in each market; a seed holds for the first reset after it."""
        seeds: Any = list(self._seeds)  # Gymnasium's type of a seed leaves out that of a list
        observed, _ = self._vector.reset(seed=seeds)
        self._reset_seeds()
        return observed

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of a step."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Play the step; return observations, rewards, ends, and what belongs to each market."""
        observed, rewards, ended, _, infos = self._vector.step(self._actions)
        market_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(ended):
            market_infos[row] = {"terminal_observation": infos["final_obs"][row]}
        return observed, rewards.astype(np.float32), ended, market_infos

    def close(self) -> None:
        """Close the markets."""
        self._vector.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute, the same for each market."""
        return [getattr(self._vector, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: markets never change.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{attr_name}: markets that are side by side never change")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Refuse: there is no environment for each market.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{method_name}: markets that are side by side are one")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each market: none is wrapped."""
        return [False] * len(self._rows(indices))

    def _rows(self, indices: Any) -> Sequence[int]:
        return list(self._get_indices(indices))
