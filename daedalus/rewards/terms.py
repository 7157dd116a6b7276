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


def _mean(name: str) -> MarketTerm:
    """Return the term that is a column's mean over rounds."""
    return lambda outcome: _over_rounds(outcome.field(name))


composite = _mean("composite")
"""Mean R = W F P S; the classic market lowers it where collusion is likely."""


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
    "welfare": _mean("welfare"),
    "fairness": _mean("fairness"),
    "participation": _mean("participation"),
    "stability": _mean("stability"),
    "composite": composite,
    "competition": competition,
}

TEXT_TERMS: dict[str, TextTerm] = {"format": well_formed, "schema": schema}
