"""A format that theory knows has one payment; another is refused."""

from __future__ import annotations

import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.theory.formats import (
    FORMATS_WITH_THEORY,
    pays_one_price,
    pays_own_bid,
    pays_personal_price,
)
from daedalus.market.mechanism import AUCTION_TYPES

PREDICATES = (pays_own_bid, pays_one_price, pays_personal_price)


def test_every_format_that_theory_knows_has_one_payment() -> None:
    assert set(FORMATS_WITH_THEORY) <= set(AUCTION_TYPES)
    for name in FORMATS_WITH_THEORY:
        assert sum(each(name) for each in PREDICATES) == 1


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("name", ["third_price", "all_pay", "", "FIRST_PRICE", "second_price "])
def test_predicates_refuse_a_format_that_they_do_not_know(predicate: object, name: str) -> None:
    assert callable(predicate)
    with pytest.raises(CannotRunError, match=r"auction_type: .* has no certificate, because .*"):
        predicate(name)
