"""Reward terms, each in [0, 1], computed from a round that was played or from a text.

Revenue alone may exceed 1: where players written in Python pay more than 1 for a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import CannotRunError, imported
from daedalus.market.outcome import Outcome
from daedalus.market.parsing import ParsedMechanism

MarketTerm = Callable[[Outcome], NDArray[np.float64]]
"""Takes B x R rounds that were all played; returns the reward of each round, shape (B, R)."""

TextTerm = Callable[[ParsedMechanism], float]
"""Takes a parsed completion; returns its reward."""


def competition(outcome: Outcome) -> NDArray[np.float64]:
    """Return 1 - collusion signal."""
    return 1.0 - outcome.field("collusion_signal")


def revenue(outcome: Outcome) -> NDArray[np.float64]:
    """Return what the winners pay, without fines, for each unit for sale, in units of value.

    A share of the round's highest value would not do: its best reserve is not Myerson's (1981).
    """
    return outcome.field("revenue") / outcome.units[:, None]


def consumer_surplus(outcome: Outcome) -> NDArray[np.float64]:
    """Return the value delivered less revenue, as a share of the highest feasible value.

    That is the sum of the K highest values of the round, where K units are for sale. It is 0 if the
    winners paid more than their units are worth.
    """
    return outcome.field("welfare") * (1.0 - outcome.field("revenue_share"))


def well_formed(parsed: ParsedMechanism) -> float:
    """Return 1 if the text is one complete valid mechanism and nothing else, otherwise 0."""
    return float(parsed.valid)


def schema(parsed: ParsedMechanism) -> float:
    """Return the share of the eleven fields that are present and valid."""
    return parsed.fields_valid


MARKET_TERMS: dict[str, MarketTerm] = {
    "welfare": methodcaller("field", "welfare"),
    "fairness": methodcaller("field", "fairness"),
    "participation": methodcaller("field", "participation"),
    "stability": methodcaller("field", "stability"),
    # R = W F P S: ``_measure`` of market/kernels/accounts.py multiplies it, round by round. The
    # classic market's R is less where collusion shows: ``_record`` of market/kernels/classic.py.
    "composite": methodcaller("field", "composite"),
    "competition": competition,
    "revenue": revenue,
    "consumer_surplus": consumer_surplus,
}

TEXT_TERMS: dict[str, TextTerm] = {"format": well_formed, "schema": schema}


@cache
def own_term(place: str) -> MarketTerm:
    """Return the market term at ``MODULE.FUNCTION``, which checks what the user's function returns.

    Raises:
        ValueError: There is no such function.
    """
    function = imported(place)
    if not callable(function):
        raise ValueError(f"{place!r}; this is {type(function).__name__}; name a function")

    def term(outcome: Outcome) -> NDArray[np.float64]:
        found, shape = np.asarray(function(outcome)), outcome.played.shape
        if found.shape != shape or found.dtype.kind not in "biuf":
            raise CannotRunError(
                f"{place} returned {found.dtype.name} of shape {found.shape}; return a number from "
                f"0 to 1 for each round, here of shape {shape}"
            )
        if not ((found >= 0.0) & (found <= 1.0)).all():  # NaN neither
            wrong = found[~((found >= 0.0) & (found <= 1.0))][0]
            raise CannotRunError(f"{place} returned {wrong}; return numbers from 0 to 1")
        return found.astype(np.float64)

    return term


def mean_over_rounds(name: str, outcome: Outcome, own: str = "") -> NDArray[np.float64]:
    """Return a market term's mean over rounds, shape (B,).

    A round that was not played earns 0 under every term, and no term sees it. The term is one of
    ``MARKET_TERMS``, or one of the user: then ``own`` is its place, see ``own_term``.
    """
    term, played = own_term(own) if own else MARKET_TERMS[name], outcome.played
    if played.all():
        rewards = term(outcome)
    else:
        rewards = np.zeros(played.shape)
        rewards[played] = term(outcome.rounds_apart())[:, 0]
    return np.asarray(rewards.sum(axis=1) / rewards.shape[1])
