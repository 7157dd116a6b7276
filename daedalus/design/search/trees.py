"""Trees that are fitted to look-ahead and choose a mechanism by the observation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.design.search.features import observed_features
from daedalus.market.goal import nearest_allowed
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.runs.workers import threads

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesRegressor

_TREES = 100
_LEAF = 5
_AT_ONCE = 4096  # markets that one thread predicts


class TreeDesigner:
    """Proposes the candidate with the highest predicted reward.

    The model maps features to each candidate's reward minus the mean over candidates.
    """

    def __init__(self, model: ExtraTreesRegressor, candidates: Mechanisms) -> None:
        self._model = model
        self.candidates = candidates

    @classmethod
    def fit(
        cls,
        features: NDArray[np.float64],
        rewards: NDArray[np.float64],
        candidates: Mechanisms,
        seed: int,
    ) -> Self:
        """Fit extremely randomised trees (Geurts, Ernst & Wehenkel 2006).

        ``features`` are the ``observed_features`` of B markets, shape (B, F), and ``rewards`` those
        of M candidates in each market, shape (B, M).
        """
        from sklearn.ensemble import ExtraTreesRegressor  # slow to import

        advantages = rewards - rewards.mean(axis=1, keepdims=True)
        trees = ExtraTreesRegressor(
            _TREES, min_samples_leaf=_LEAF, max_features=0.5, n_jobs=-1, random_state=seed
        )
        # More than one job would add up the trees' predictions in any order.
        trees.fit(features, advantages).n_jobs = 1
        return cls(trees, candidates)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the candidate with the highest prediction for each market."""
        return nearest_allowed(self.candidates.take(self.choose(observations)), observations.goals)

    def choose(self, observations: Observation) -> NDArray[np.intp]:
        """Return the number of the candidate with the highest prediction, shape (B,)."""
        return np.asarray(self.advantages(observed_features(observations)).argmax(axis=1))

    def advantages(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return predicted rewards minus their mean over candidates, shape (B, M).

        Look-ahead in one state uses the true state. The prediction uses the observation alone.

        Raises:
            ValueError: The trees were fitted to other features.
        """
        if features.shape[1] != self._model.n_features_in_:
            fitted = self._model.n_features_in_
            raise ValueError(
                f"distillation data: {fitted} features, but an observation has "
                f"{features.shape[1]} now; remove distillation_data.npz to gather it again"
            )
        parts = [features[start : start + _AT_ONCE] for start in range(0, len(features), _AT_ONCE)]
        with ThreadPoolExecutor(threads()) as pool:
            rows = [part.ravel() for part in pool.map(self._model.predict, parts)]
        flat: NDArray[np.float64] = np.concatenate([np.empty(0), *rows])
        return flat.reshape(len(features), len(self.candidates))
