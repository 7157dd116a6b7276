"""Reward terms, each in [0, 1], computed from an outcome or from the text of an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from daedalus.market.outcome import Outcome
from daedalus.market.parsing import ParsedMechanism

MarketTerm = Callable[[Outcome], NDArray[np.float64]]
"""Takes the outcome of B markets over R rounds; returns B rewards."""

TextTerm = Callable[[ParsedMechanism], float]
"""Takes a parsed completion; returns its reward."""


def _over_rounds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values.mean(axis=1), dtype=np.float64)


def welfare(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean W, the value delivered over the highest possible."""
    return _over_rounds(outcome.welfare)


def fairness(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean F = 1 - Gini of surplus."""
    return _over_rounds(outcome.fairness)


def participation(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean P, the share of bidders who compete."""
    return _over_rounds(outcome.participation)


def stability(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean S, steadiness of welfare."""
    return _over_rounds(outcome.stability)


def composite(outcome: Outcome) -> NDArray[np.float64]:
    """Return mean R = W F P S; the classic market lowers it where collusion is likely."""
    return _over_rounds(outcome.composite)


def competition(outcome: Outcome) -> NDArray[np.float64]:
    """Return 1 - mean collusion signal."""
    return 1.0 - _over_rounds(outcome.field("collusion_signal"))


def well_formed(parsed: ParsedMechanism) -> float:
    """Return 1 if the text is one complete valid mechanism and nothing else, otherwise 0."""
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
