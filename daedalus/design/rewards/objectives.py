"""Objectives: goals of many prompts, as weights of reward terms that sum to 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.rewards.terms import MARKET_TERMS, TEXT_TERMS
from daedalus.market.goal import Goal

ObjectiveSetting = Mapping[str, Any]
"""One objective, as weights by term; or a symmetric Dirichlet: ``terms`` and ``concentration``."""

_TERMS, _CONCENTRATION = "terms", "concentration"
_PARTS = 100  # weights are told in hundredths


@dataclass(frozen=True)
class Objectives:
    """The goals of B prompts, as a table of weights.

    Attributes:
        terms: T names of reward terms.
        weights: From 0 to 1 in hundredths, of sum 1 for each prompt; shape (B, T).
    """

    terms: tuple[str, ...]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, goals: NDArray[np.object_]) -> Self:
        """Return the table of B goals, which name the same terms in the same order."""
        weights = np.array([[*each.weights.values()] for each in goals])
        return cls(tuple(goals[0].weights), weights)

    @property
    def goals(self) -> NDArray[np.object_]:
        """Return the goal of each prompt, shape (B,)."""
        found = np.empty(len(self.weights), object)
        for row, weights in enumerate(self.weights.tolist()):
            found[row] = Goal(dict(zip(self.terms, weights, strict=True)))
        return found

    @property
    def stack(self) -> RewardStack:
        """Return a stack that computes all terms."""
        return RewardStack(dict.fromkeys(self.terms, 1.0))

    def total(
        self, terms: Mapping[str, NDArray[np.float64]], rows: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return what C completions earn by the objectives of their prompts, shape (C,).

        Each of ``terms`` has the shape (C,). ``rows`` has the number of each completion's prompt.
        """
        scores = np.stack([terms[name] for name in self.terms], axis=1)
        return np.asarray((self.weights[np.asarray(rows, np.int64)] * scores).sum(axis=1))


def terms_of(settings: Sequence[ObjectiveSetting]) -> list[str]:
    """Return the terms of all objectives, each once, in order."""
    names = (name for each in settings for name in (each.get(_TERMS) or each))
    return list(dict.fromkeys(names))


def draw_objectives(
    settings: Sequence[ObjectiveSetting], count: int, rng: np.random.Generator
) -> Objectives:
    """Draw the objectives of prompts. Each is, or is drawn from, one of ``settings``.

    Args:
        settings: Objectives that ``check_objectives`` allows, at least one.
        count: Number of prompts.
        rng: Random numbers.
    """
    names = terms_of(settings)
    pools = np.stack([_weights(each, names, count, rng) for each in settings])
    drawn = pools[rng.integers(len(settings), size=count), np.arange(count)]
    return Objectives(tuple(names), _in_hundredths(drawn))


def _weights(
    setting: ObjectiveSetting, names: Sequence[str], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return ``count`` draws of one entry, shape (count, names)."""
    weights = np.zeros((count, len(names)))
    if _TERMS in setting:
        chosen = [names.index(name) for name in setting[_TERMS]]
        weights[:, chosen] = rng.dirichlet([float(setting[_CONCENTRATION])] * len(chosen), count)
    else:
        weights[:] = [setting.get(name, 0.0) for name in names]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _in_hundredths(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round so that each row still has the sum 1: the largest remainders are rounded up."""
    parts = _PARTS * weights
    whole = np.floor(parts)
    rank = np.argsort(np.argsort(whole - parts, axis=1, kind="stable"), axis=1)
    return np.asarray((whole + (rank < _PARTS - whole.sum(axis=1, keepdims=True))) / _PARTS)


def check_objectives(settings: Sequence[ObjectiveSetting]) -> None:
    """Check objectives as a configuration gives them.

    Raises:
        ValueError: A term is unknown, a weight is negative or not finite, all are 0, or a Dirichlet
            is not complete.
    """
    for number, each in enumerate(settings):
        name = f"objectives.{number}"
        if {_TERMS, _CONCENTRATION} & set(each):
            _check_dirichlet(each, name)
        else:
            _check_weights(each, name)


def _check_dirichlet(setting: ObjectiveSetting, name: str) -> None:
    if set(setting) != {_TERMS, _CONCENTRATION}:
        raise ValueError(
            f"{name}: {', '.join(setting)}; give terms and concentration, or weights by term"
        )
    terms, concentration = setting[_TERMS], setting[_CONCENTRATION]
    if not isinstance(terms, list) or len(set(terms)) != len(terms) or len(terms) < 2:
        raise ValueError(f"{name}.terms: {terms}; give a list of two or more different terms")
    for term in terms:
        _check_term(term, f"{name}.terms")
    if not _is_number(concentration) or not concentration > 0:
        raise ValueError(
            f"{name}.concentration: {concentration}; give a finite number above 0, such as 1"
        )


def _check_weights(setting: ObjectiveSetting, name: str) -> None:
    for term, weight in setting.items():
        _check_term(term, name)
        if not _is_number(weight) or weight < 0:
            raise ValueError(f"{name}.{term}: {weight}; give a finite number from 0 up")
    if not any(setting.values()):
        raise ValueError(f"{name}: all weights are zero; give at least one term a weight")


def _check_term(term: str, name: str) -> None:
    known = [*TEXT_TERMS, *MARKET_TERMS]
    if term not in known:
        raise ValueError(f"{name}: no term {term}; choose from {', '.join(known)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
