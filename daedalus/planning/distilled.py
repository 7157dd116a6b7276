"""A small regressor that learns from looking ahead what to choose, and sees only observations."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import cross_val_predict

from daedalus.market.mechanism import CHOICES, FIELDS, Mechanisms
from daedalus.market.outcome import Observation

_TREES = 100
_LEAF = 5
_FOLDS = 4


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
        return cls(_trees(seed).fit(seen, _advantages(rewards)), rules)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the candidate with the highest prediction for each market."""
        return self.candidates.take(self.choose(observations))

    def choose(self, observations: Observation) -> NDArray[np.intp]:
        """Return which candidate has the highest prediction for each market, shape (B,)."""
        predicted = self._model.predict(features(observations))
        rewards = predicted.reshape(len(observations), len(self.candidates))
        return np.asarray(rewards.argmax(axis=1))


def expected_advantages(
    seen: NDArray[np.float64], rewards: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Return what each candidate is expected to earn given what is observed, shape (B, M).

    A single state's rewards are hindsight: they know who is there. These are predicted for each
    state by trees that were fitted to other states.

    Args:
        seen: ``features`` of B markets, shape (B, F).
        rewards: Look-ahead rewards of M candidates in each, shape (B, M).
        seed: What the trees depend on.

    Returns:
        Predictions of the rewards less their mean over candidates.
    """
    predicted = cross_val_predict(_trees(seed), seen, _advantages(rewards), cv=_FOLDS)
    return np.asarray(predicted, np.float64).reshape(rewards.shape)


def _advantages(rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    advantages: NDArray[np.float64] = rewards - rewards.mean(axis=1, keepdims=True)
    return advantages


def _trees(seed: int) -> ExtraTreesRegressor:
    return ExtraTreesRegressor(
        _TREES, min_samples_leaf=_LEAF, max_features=0.5, n_jobs=-1, random_state=seed
    )


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
