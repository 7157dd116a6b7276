"""Checkpoints of PPO, from which a training goes on with the numbers of one that never stopped."""

from __future__ import annotations

import io
import pickle
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from daedalus.checks import CannotRunError
from daedalus.runs.files import written_whole

_UNREADABLE = "this is no checkpoint of these versions; delete it, or start without resume=true"


@dataclass(frozen=True)
class Checkpoint:
    """What a training knows between two rollouts.

    Attributes:
        rollouts: Number of rollouts before it.
        model: Stable-Baselines3's own file: policy, optimiser and counters.
        scaled: Means and variances of the observations, without the markets.
        markets: The markets, in the middle of their episodes.
        draws: States of the global generators of Python, numpy and torch.
    """

    rollouts: int
    model: bytes
    scaled: VecNormalize
    markets: VecEnv
    draws: tuple[Any, Any, torch.Tensor]

    @classmethod
    def of(cls, model: PPO, rollouts: int) -> Self:
        """Return the checkpoint of a training that stands between two rollouts."""
        scaled, file = model.get_vec_normalize_env(), io.BytesIO()
        assert scaled is not None
        model.save(file)
        draws = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
        return cls(rollouts, file.getvalue(), scaled, scaled.venv, draws)

    def write(self, path: Path) -> None:
        """Write the checkpoint, completely or not at all."""
        with written_whole(path) as aside:
            aside.write_bytes(pickle.dumps(self))

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Return what ``write`` wrote, or None if there is no file.

        Raises:
            CannotRunError: The file holds something else, or other versions wrote it.
        """
        if not path.exists():
            return None
        try:
            checkpoint = pickle.loads(path.read_bytes())
        except Exception as error:  # unpickling raises whatever it meets
            raise CannotRunError(f"{path}: {_UNREADABLE}") from error
        if not isinstance(checkpoint, cls):
            raise CannotRunError(f"{path}: {_UNREADABLE}")
        return checkpoint

    def restored(self) -> PPO:
        """Return the model with its markets, and set the global generators."""
        self.scaled.set_venv(self.markets)
        file = io.BytesIO(self.model)
        model = PPO.load(file, env=self.scaled, device="cpu", force_reset=False)
        python, numpy, torchs = self.draws
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(torchs)
        return model
