"""A policy that PPO trained: a small network from the numbers of an observation to levels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import bounded
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.purpose import Purpose, read_purpose
from daedalus.design.search.features import FEATURES, observed_features
from daedalus.design.search.space import LEVELS, mechanisms_at
from daedalus.market.goal import nearest_allowed
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.observation import Observation
from daedalus.runs.files import written_whole
from daedalus.runs.folder import POLICY

_FARTHEST = 10.0  # standard deviations, as in training

Weights = NDArray[np.float32]


@dataclass
class PpoSettings(DesignerSettings):
    """A policy of ``+experiment=ppo``, which always plays its likeliest mechanism.

    Attributes:
        checkpoint: The file ``policy.npz`` of a run, or the run's folder.
    """

    checkpoint: str = bounded(
        "",
        lambda value: policy_file(value).is_file(),
        f"give a run of +experiment=ppo, or its {POLICY}",
    )

    @property
    def purpose(self) -> Purpose | None:
        """Return what the policy was trained for; None if its run is not here."""
        return read_purpose(policy_file(self.checkpoint))

    def build(self, context: DesignerContext) -> PpoDesigner:
        """Read the policy.

        Raises:
            ValueError: It was trained with other numbers or levels.
        """
        return PpoDesigner.read(policy_file(self.checkpoint))


def policy_file(checkpoint: str) -> Path:
    """Return the file of a policy: the given one, or the one in the given folder."""
    path = Path(checkpoint)
    return path / POLICY if path.is_dir() else path


@dataclass(frozen=True)
class PpoDesigner:
    """A network of two hidden layers with tanh, and the levels of each field at its end.

    Attributes:
        mean: Mean of each number in training, shape (F,).
        variance: Its variance, shape (F,).
        layers: Weights, shape (outputs, inputs), and biases, shape (outputs,), of three layers in
            order. The outputs of the last are the scores of all levels, one field after the other.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    layers: tuple[tuple[Weights, Weights], ...]

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the likeliest mechanism for each market, or the nearest that is allowed."""
        scores = self.scores(observed_features(observations).astype(np.float32))
        ends = np.cumsum([len(LEVELS[name]) for name in FIELDS])
        parts = np.split(scores, ends[:-1], axis=1)
        places = np.stack([part.argmax(axis=1) for part in parts], axis=1)
        return nearest_allowed(mechanisms_at(places, LEVELS), observations.goals)

    def scores(self, numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the score of each level, shape (B, levels)."""
        centred = (numbers - self.mean) / np.sqrt(self.variance + 1e-8)
        hidden = np.clip(centred, -_FARTHEST, _FARTHEST).astype(np.float32)
        *inner, (weights, bias) = self.layers
        for inner_weights, inner_bias in inner:
            hidden = np.tanh(hidden @ inner_weights.T + inner_bias)
        return np.asarray(hidden @ weights.T + bias)

    def write(self, path: Path) -> None:
        """Write the policy to an .npz file."""
        arrays: dict[str, Any] = {"mean": self.mean, "variance": self.variance}
        for number, (weights, bias) in enumerate(self.layers):
            arrays |= {f"weights_{number}": weights, f"bias_{number}": bias}
        with written_whole(path) as aside:
            np.savez(aside, features=np.array(FEATURES), **arrays)

    @classmethod
    def read(cls, path: Path) -> PpoDesigner:
        """Read the file that ``write`` wrote.

        Raises:
            ValueError: It was trained with other numbers or levels.
        """
        with np.load(path, allow_pickle=False) as file:
            layers = tuple((file[f"weights_{each}"], file[f"bias_{each}"]) for each in range(3))
            known = tuple(file["features"])
            made = cls(file["mean"], file["variance"], layers)
        levels = sum(len(LEVELS[name]) for name in FIELDS)
        if known != FEATURES or len(layers[-1][1]) != levels:
            raise ValueError(
                f"{path}: trained with {len(known)} numbers and {len(layers[-1][1])} levels, but "
                f"there are {len(FEATURES)} and {levels} now, or others; train it again"
            )
        return made
