"""Draws: which counters they hash, that no two share one, and that they look uniform."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from daedalus.market import draws
from daedalus.market.classic import ClassicMarket
from daedalus.market.draws import round_key, uniform
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.ranges import SIZES, TRAITS
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import market_seeds
from tests.market.reference_classic import draw

_PURPOSES: dict[str, dict[int, tuple[int, ...]]] = {
    "strategic rounds": {
        MAX_BIDDERS: (
            draws.VALUE_ONE, draws.VALUE_TWO, draws.ENTRY, draws.DEMAND_REDUCTION, draws.SHOCK,
            draws.LEADER_LOT, draws.COVER_BID, draws.SHILL, draws.SHILL_BID,
            draws.COLLUSION_SCREEN, draws.SHILL_SCREEN, draws.READING_ERROR, draws.COLLUSION,
            draws.BREAKDOWN, draws.LEARNED_CHOICE, draws.EXPLORATION,
        ),
        2 * MAX_BIDDERS: (draws.TIE,),
    },
    "classic rounds": {
        MAX_BIDDERS: (
            draws.CLASSIC_VALUE, draws.CLASSIC_POLICY, draws.CLASSIC_RISK, draws.CLASSIC_BID,
        ),
    },
    "composition": {
        draws.GAMMA_TRIES * MAX_BIDDERS: (
            draws.GAMMA_RADIUS, draws.GAMMA_ANGLE, draws.GAMMA_ACCEPTANCE, draws.GAMMA_BOOST,
        ),
        1: (draws.SOLE_TYPE,),
    },
    "traits": {MAX_BIDDERS: (draws.LEARNING_RATE_TRAIT, draws.RIVALS_TRAIT)},
    "variation": {
        MAX_BIDDERS: tuple(range(len(TRAITS))),
        1: (*(draws.FIRST_SIZE + size for size in range(len(SIZES))), draws.INCUMBENT),
    },
}  # fmt: skip
"""Purposes of draws, by the rounds and by the largest number of owners. Bidders, their false names,
rings and, for the composition, the tries for each type are owners."""


@pytest.mark.parametrize("rounds", _PURPOSES)
def test_no_two_draws_share_a_counter(rounds: str) -> None:
    counters = [
        8 * owner + purpose
        for owners, purposes in _PURPOSES[rounds].items()
        for purpose in purposes
        for owner in range(owners)
    ]
    assert len(counters) == len(set(counters))


def test_every_purpose_is_in_a_bank() -> None:
    registered = [
        purpose
        for rounds, banks in _PURPOSES.items()
        if rounds != "variation"  # its purposes are numbered by the names of traits and sizes
        for purposes in banks.values()
        for purpose in purposes
    ]
    numbers = {"COMPOSITION_ROUND", "TRAITS_ROUND", "VARIATION_ROUND", "GAMMA_TRIES"}
    numbers |= {"MAX_BIDDERS", "FIRST_SIZE", "INCUMBENT", "SIZES"}
    names = {name for name in vars(draws) if name.isupper() and not name.startswith("_")}
    assert sorted(registered) == sorted(getattr(draws, name) for name in names - numbers)


def test_draws_are_those_of_plain_integers():
    rng = np.random.default_rng(0)
    seeds = [0, 1, 2**63, 2**64 - 1, *map(int, rng.integers(2**64, size=20, dtype=np.uint64))]
    for seed in seeds:
        round_number, seat, purpose = (int(rng.integers(high)) for high in (10**6, 64, 8))
        with np.errstate(over="ignore"):
            ours = uniform_of(np.uint64(seed), round_number, seat, purpose)
        assert ours == draw(seed, round_number, seat, purpose)


@numba.njit
def uniform_of(seed, round_number, seat, purpose):
    return uniform(round_key(seed, round_number), seat, purpose)


def test_draws_are_uniform_and_uncorrelated_across_bidders_and_rounds():
    market = ClassicMarket(SeatPlan(bidders=12))
    state = market.reset(market_seeds(5, "draws", 20_000))
    mechanisms = Mechanisms.repeat(Mechanism(), len(state))
    columns = []
    for _ in range(3):
        market.play(state, mechanisms, 1)
        columns.append((state.bidders["value"] - 0.3) / 0.6)
    draws = np.concatenate(columns, axis=1)
    assert draws.min() >= 0 and draws.max() < 1
    assert_allclose(draws.mean(axis=0), 0.5, atol=4.5 * 0.2887 / 20_000**0.5)
    assert_allclose(draws.var(axis=0), 1 / 12, atol=4.5 * 0.0745 / 20_000**0.5)
    correlations = np.corrcoef(draws.T) - np.eye(36)
    assert np.abs(correlations).max() < 4.5 / 20_000**0.5
