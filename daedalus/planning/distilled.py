"""A small regressor that learns from looking ahead what to choose, and sees only observations."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor

from daedalus.market.mechanism import CHOICES, FIELDS, Mechanisms
from daedalus.market.outcome import Observation

_TREES = 100
_LEAF = 5
_AT_ONCE = 4096  # markets that one thread predicts


class Distilled:
    """Proposes the candidate that it predicts to earn most.

    Args:
        model: Features of ``features`` to each candidate's reward, less the mean over candidates.
        candidates: M mechanisms.
    """

    def __init__(self, model: ExtraTreesRegressor, candidates: Mechanisms) -> None:
        self._model = model
        self.candidates = candidates

    @classmethod
    def fit(
        cls, seen: NDArray[np.float64], rewards: NDArray[np.float64], rules: Mechanisms, seed: int
    ) -> Self:
        """Fit extremely randomised trees (Geurts, Ernst & Wehenkel 2006).

        Args:
            seen: ``features`` of B markets, shape (B, F).
            rewards: What M candidates would earn in each, shape (B, M).
            rules: The candidates.
            seed: What the trees depend on.
        """
        advantages = rewards - rewards.mean(axis=1, keepdims=True)
        trees = ExtraTreesRegressor(
            _TREES, min_samples_leaf=_LEAF, max_features=0.5, n_jobs=-1, random_state=seed
        )
        trees.fit(seen, advantages).n_jobs = 1  # more would add up trees in whatever order
        return cls(trees, rules)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the candidate with the highest prediction for each market."""
        return self.candidates.take(self.choose(observations))

    def choose(self, observations: Observation) -> NDArray[np.intp]:
        """Return which candidate has the highest prediction for each market, shape (B,)."""
        return np.asarray(self.expected(features(observations)).argmax(axis=1))

    def expected(self, seen: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its predictions where it sees ``features``: rewards less their mean, (B, M).

        Looking ahead in a single state is hindsight, since it knows who is there; this knows what
        is observed alone.

        Raises:
            ValueError: The lessons were gathered by a version that observed other features.
        """
        if seen.shape[1] != self._model.n_features_in_:
            taught = self._model.n_features_in_
            raise ValueError(
                f"lessons: of {taught} features, where {seen.shape[1]} are observed now; "
                "remove lessons.npz to have them gathered again"
            )
        parts = [seen[start : start + _AT_ONCE] for start in range(0, len(seen), _AT_ONCE)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = [part.ravel() for part in pool.map(self._model.predict, parts)]
        flat: NDArray[np.float64] = np.concatenate([np.empty(0), *rows])
        return flat.reshape(len(seen), len(self.candidates))


def features(observation: Observation) -> NDArray[np.float64]:
    """Return what is observed as numbers, shape (B, F).

    Population statistics, means of rounds, the rules in force, and how far the episode has come.
    """
    recent = np.nan_to_num(observation.recent)
    known = np.maximum(np.isfinite(observation.recent[:, :, :1]).sum(axis=1), 1)
    rules = observation.mechanisms
    columns = [np.asarray(getattr(rules, name), np.float64) for name in FIELDS]
    for name, words in CHOICES.items():
        columns += [(getattr(rules, name) == code) * 1.0 for code in range(len(words))]
    columns.append(observation.round_number / observation.episode_length)
    means = [recent.sum(axis=1) / known, recent[:, -5:].mean(axis=1)]
    return np.concatenate([observation.proxies, *means, np.stack(columns, axis=1)], axis=1)
