"""The reward stack: a weighted sum of named reward terms.

The answers of a language model reach it through daedalus/training/sources/market_reward.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import naming
from daedalus.design.rewards.terms import MARKET_TERMS, TEXT_TERMS, mean_over_rounds, own_term
from daedalus.market.mechanism import Mechanism
from daedalus.market.outcome import Outcome
from daedalus.market.parsing import ParsedMechanism

VALID = ParsedMechanism(Mechanism(), {}, 1.0)
"""What text terms see of a mechanism that did not come from a text."""


@dataclass
class RewardStack:
    """A weighted sum of named terms.

    Attributes:
        weights: Weight of each term, by its name. Each term is in [0, 1], but revenue may exceed 1
            (``terms.py`` says where).
        own_terms: Terms of the user, which this package has not: ``MODULE.FUNCTION`` by name. Such
            a function is a ``MarketTerm``.

    Raises:
        ValueError: A term is unknown, a weight is not finite, or a term of the user is not there,
            has no weight or has the name of another one.
    """

    weights: dict[str, float] = field(default_factory=lambda: {"composite": 1.0})
    own_terms: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = [*TEXT_TERMS, *MARKET_TERMS, *self.own_terms]
        self._check_own_terms()
        for name, weight in self.weights.items():
            if name not in known:
                raise ValueError(f"weights.{name}: no such term; choose from {', '.join(known)}")
            if not math.isfinite(weight):
                raise ValueError(f"weights.{name}: {weight}; give a finite number")
        if not any(self.weights.values()):
            raise ValueError("weights: all are zero; give at least one term a weight")

    def _check_own_terms(self) -> None:
        for name, place in self.own_terms.items():
            if name in TEXT_TERMS or name in MARKET_TERMS:
                raise ValueError(f"own_terms.{name}: a term has this name; choose another one")
            if name not in self.weights:
                raise ValueError(f"own_terms.{name}: no weight; give it one by weights.{name}")
            with naming(f"own_terms.{name}"):
                own_term(place)

    def _mean(self, name: str, outcome: Outcome) -> NDArray[np.float64]:
        """Return a market term's mean over rounds, shape (B,)."""
        return mean_over_rounds(name, outcome, self.own_terms.get(name, ""))

    @property
    def active(self) -> dict[str, float]:
        """Return the weights that are not 0."""
        return {name: weight for name, weight in self.weights.items() if weight}

    @property
    def is_composite(self) -> bool:
        """Return whether the stack is the composite reward R alone."""
        return self.active == {"composite": 1.0}

    @property
    def name(self) -> str:
        """Return what tables call the reward: R, or the sum with its weights."""
        if self.is_composite:
            return "R"
        return " + ".join(
            name if weight == 1.0 else f"{weight:g} {name}" for name, weight in self.active.items()
        )

    def terms(
        self, parsed: Sequence[ParsedMechanism], outcome: Outcome
    ) -> dict[str, NDArray[np.float64]]:
        """Score B completions.

        Args:
            parsed: The completions, parsed.
            outcome: Outcome of the mechanisms of the *valid* completions, in order. Each has one
                row, or a block of rows (its futures); all blocks have the same size.

        Returns:
            Unweighted terms by name, each of shape (B,). The market terms of an invalid completion
            are 0, since it was never played.
        """
        valid = np.array([each.valid for each in parsed], np.bool_)
        scores = {}
        for name in self.weights:
            if name in TEXT_TERMS:
                scores[name] = np.array([TEXT_TERMS[name](each) for each in parsed])
            else:
                scores[name] = np.zeros(len(parsed))
                if valid.any():
                    rewards = self._mean(name, outcome).reshape(int(valid.sum()), -1)
                    scores[name][valid] = rewards.mean(axis=1)
        return scores

    def of_mechanisms(self, outcome: Outcome) -> NDArray[np.float64]:
        """Return the weighted sum for B mechanisms that did not come from a text, shape (B,).

        Such mechanisms are valid, so text terms take the value of a valid text. A mechanism under
        which no round was played earns 0.
        """
        rows = len(outcome.records)
        total = self.total(
            {
                name: np.full(rows, TEXT_TERMS[name](VALID))
                if name in TEXT_TERMS
                else self._mean(name, outcome)
                for name in self.weights
            }
        )
        return np.where(outcome.played.any(axis=1), total, 0.0)

    def total(self, terms: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the weighted sum of ``terms``, shape (B,)."""
        weighted = [weight * terms[name] for name, weight in self.weights.items()]
        return np.asarray(np.sum(weighted, axis=0), dtype=np.float64)
