"""Amounts in sentences come back as they were written, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.briefs.amounts import LARGEST, amounts_in, masked, written


@pytest.mark.parametrize("hundredths", range(5, 301, 5))
def test_every_way_of_writing_an_amount_is_read(hundredths: int) -> None:
    rng = np.random.default_rng(hundredths)
    for _ in range(30):
        text = f"It must be {written(hundredths / 100, rng)} of the top value."
        assert amounts_in(text) == [hundredths / 100], text
        assert masked(text) == "It must be some of the top value."


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("no lower than .3", [0.3]),
        ("0,4 of the top value", [0.4]),
        ("3/10 of it", [0.3]),
        ("two in five buyers", [0.4]),
        ("seven out of every ten", [0.7]),
        ("nought point two", [0.2]),
        ("zero point two five", [0.25]),
        ("one and a quarter times its value", [1.25]),
        ("a point and a half at the very least", [1.5]),
        ("two points and a half", [2.5]),
        ("a point and half or more", [1.5]),
        ("take one and half points", [1.5]),
        ("a reserve of 0.3, and half of the buyers", [0.3, 0.5]),
        ("fine them 2 points and half of the rest", [0.5]),
        ("it costs a full point or more", [1.0]),
        ("a full point and an eighth", [1.125]),
        ("a fine of 1 1/2 points", [1.5]),
        ("12 1/2 percent", [0.125]),
        ("at some point and half an hour later", [0.5]),
        ("a hundred and ten percent", [1.1]),
        ("bids ≥ 20% of top value", [0.2]),
        ("thirty-five per cent", [0.35]),
        ("20 to 30pct", [0.2, 0.3]),
        ("reserve point two five, or point four", [0.25, 0.4]),
        ("at this point three buyers may bid", [3.0]),
        ("The point one makes, and a point two of us made", [1.0, 2.0]),
        ("Point five: false names are fined.", [5.0]),  # no fine can be so high, so it is not used
        ("On point three we agree.", [3.0]),
        ("at least two", [2.0]),
        ("one of the buyers gets half", [0.5]),  # half is sure, so one is no amount
        ("A buyer and another one", [1.0]),  # nothing better is at hand
        ("a buyer and a seller", []),
        ("nobody may learn who won", []),
        ("3/0 is nothing", []),
        ("On 1/2/2025 we ask for 30 percent", [0.3]),
        ("2 in 2025", []),
        ("EUR 0.30 a kilo, or $0.50", []),
        ("Sell nothing below 0.35 dollars, or 40 €", []),
        ("thirty-five euros, thirty five cents and 3 USD", []),
        ("at least 0.2, and 40 dollars for the fee", [0.2]),
        ("a fine of 2,500 or 1,000,000, never 1,250", []),
        ("0,250 of it, or 2,50", [0.25, 2.5]),
        ("-0.2", []),
        ("hundred hundred hundred hundred hundred, or 0.2 of it", [0.2]),  # none is so large
        ("between 0.2 and 0.4", [0.2, 0.4]),
        ("Charge them twice the top value.", [2.0]),
        ("double top value for false names", [2.0]),
        ("no less than the full top value", [1.0]),
        ("twice the full value", [2.0]),
        ("the full value for withdrawing, twice the top value for false names", [1.0, 2.0]),
        ("triple the full value, or part of the whole value", []),
        ("half a pct", []),
        ("at least the whole value of 0.3", [0.3]),
        ("double the fine, but at most 1.5", [1.5]),
        ("Whoever bids twice under a false name pays a fine.", []),
        ("Anyone with a double identity is fined.", []),
        ("between 20 and 40 percent", [0.2, 0.4]),
        ("20 or 30 percent", [0.2, 0.3]),
        ("0.2-0.4", [0.2, 0.4]),
        ("from 20-40% of it", [0.2, 0.4]),
        ("one or two fifths", [0.2, 0.4]),
        ("20 percent or 30", [0.2, 0.3]),
        ("a fine between 0.5 and 1", [0.5, 1.0]),
        ("from 0.2 to one, or twenty to forty percent", [0.2, 1.0, 0.2, 0.4]),
        ("between twenty and forty percent", [0.2, 0.4]),
        ("one hundred and twenty percent", [1.2]),
        ("Give at most 30 percent to one buyer", [0.3]),
        ("Nobody gives half to one bidder.", [0.5]),
        ("A fine of 1.5 to one who lies", [1.5]),
        ("Sell to no one \u2014 20 percent is the least", [0.2]),
        ("at least 0.4 - two winners", [0.4]),
        ("On 2025-01-02 we ask 0.3", [0.3]),
        ("between 2 and 3 dollars, or $2-3", []),
        ("€ 0,35 a kilo, $ 0.35 or € 2", []),
        ("two thousand euros, 2 million or a fine of 1k", []),
        ("1 000 euros, € 1 000 or two thousand and two", []),
        ("CHF 1 and 0.35 Swiss francs", []),
        ("half a percent, a quarter of a percent or half a million", []),
        ("no reserve above 1 000", [1000.0]),
    ],
)
def test_amounts_as_people_write_them(text: str, amounts: list[float]) -> None:
    assert amounts_in(text) == amounts


@pytest.mark.parametrize("text", ["9" * 5000 + "/1", "9" * 5000, "hundred " * 300, "1/" * 99, "½"])
def test_odd_numbers_do_no_harm(text: str) -> None:
    assert all(each <= LARGEST for each in amounts_in(text))
    assert isinstance(masked(text), str)
