"""Draws: which counters they hash, that no two share one, and that they look uniform."""

from __future__ import annotations

import pytest

from daedalus.market import draws
from daedalus.market.draws import BANKS


@pytest.mark.parametrize("rounds", BANKS)
def test_no_two_draws_share_a_counter(rounds: str) -> None:
    counters = [
        8 * owner + purpose
        for bank in BANKS[rounds]
        for purpose in bank.purposes
        for owner in range(bank.owners)
    ]
    assert len(counters) == len(set(counters))


def test_every_purpose_is_in_a_bank() -> None:
    registered = [
        purpose for banks in BANKS.values() for bank in banks for purpose in bank.purposes
    ]
    numbers = {"COMPOSITION_ROUND", "TRAITS_ROUND", "GAMMA_TRIES", "MAX_BIDDERS"}
    names = {name for name in vars(draws) if name.isupper() and not name.startswith("_")}
    assert sorted(registered) == sorted(
        getattr(draws, name) for name in names - numbers - {"BANKS"}
    )
