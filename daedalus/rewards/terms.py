"""Pure reward terms, each in [0, 1]: of what a market did, and of what a text said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from daedalus.market.outcome import Outcome
from daedalus.market.parsing import ParsedMechanism

MarketTerm = Callable[[Outcome], NDArray[np.float64]]
"""Outcome of B markets over R rounds to B rewards."""

TextTerm = Callable[[ParsedMechanism], float]
"""Parsed completion to its reward."""


def _over_rounds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values.mean(axis=1), dtype=np.float64)


def welfare(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean W, realised over best possible value."""
    return _over_rounds(outcome.welfare)


def fairness(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean F = 1 - Gini of surplus."""
    return _over_rounds(outcome.fairness)


def participation(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean P, share of bidders present."""
    return _over_rounds(outcome.participation)


def stability(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean S, steadiness of welfare."""
    return _over_rounds(outcome.stability)


def composite(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean R, the score that evaluation uses: W F P S, discounted in the classic market."""
    return _over_rounds(outcome.composite)


def competition(outcome: Outcome) -> NDArray[np.float64]:
    """Return 1 - mean collusion signal."""
    return 1.0 - _over_rounds(outcome.field("collusion_signal"))


def well_formed(parsed: ParsedMechanism) -> float:
    """Return 1 for one complete mechanism in range and nothing else, else 0."""
    return float(parsed.valid)


def schema(parsed: ParsedMechanism) -> float:
    """Return the share of the eleven fields that are present and valid."""
    return parsed.fields_valid


MARKET_TERMS: dict[str, MarketTerm] = {
    "welfare": welfare,
    "fairness": fairness,
    "participation": participation,
    "stability": stability,
    "composite": composite,
    "competition": competition,
}

TEXT_TERMS: dict[str, TextTerm] = {"format": well_formed, "schema": schema}
