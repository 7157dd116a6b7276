"""Sweeps, on scores whose best mechanism is known."""

from __future__ import annotations

import numpy as np

from daedalus.design.search.sweep import sweep, sweep_each_type
from daedalus.market.mechanism import AUCTION_TYPES, FIELDS, Mechanism, Mechanisms

VCG, FIRST_PRICE = AUCTION_TYPES.index("vcg"), AUCTION_TYPES.index("first_price")


def test_a_sweep_finds_the_best_level_of_every_field_and_stops() -> None:
    calls = []

    def score(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
        calls.append(episodes)
        return -np.abs(mechanisms.reserve_price - 0.3) - 1.0 * mechanisms.reveal_reserve

    start = Mechanism(reserve_price=0.77, reveal_reserve=True, shill_penalty=1.234)
    best = sweep(start, score, sweeps=5, episodes=7)
    assert (best.reserve_price, best.reveal_reserve) == (0.3, False)
    assert best.shill_penalty == 1.234  # no level is better than its first value
    assert len(calls) == 2 * len(FIELDS) and set(calls) == {7}
    assert sweep(start, score, sweeps=0, episodes=7) == start


def only_together(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
    """Score VCG highest, but only with the greatest fine; a change of one field never pays."""
    vcg, fined = mechanisms.auction_type == VCG, mechanisms.shill_penalty == 3.0
    first = mechanisms.auction_type == FIRST_PRICE
    return np.select([vcg & fined, (first | vcg) & ~fined], [2.0, 1.0], default=0.0)


def test_one_sweep_starts_from_each_auction_type() -> None:
    first, vcg = Mechanism("first_price", shill_penalty=0.0), Mechanism("vcg", shill_penalty=0.0)
    assert sweep(first, only_together, 3, 1) == first
    found = sweep_each_type([Mechanisms.stack([first, vcg])], only_together, 3, 1)
    assert [each.auction_type for each in found] == ["first_price", "vcg"]
    assert found[1].shill_penalty == 3.0


def test_the_first_pool_that_has_a_type_supplies_its_start() -> None:
    better, good, bad = (Mechanism("vcg", reserve) for reserve in (0.25, 0.15, 0.35))
    pools = [[Mechanism("first_price")], [better, good], [bad]]
    stacked = [Mechanisms.stack(each) for each in pools]
    found = sweep_each_type(stacked, lambda each, _: np.zeros(len(each)), 1, 1)
    assert found == [Mechanism("first_price"), better]
