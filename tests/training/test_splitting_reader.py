"""A sentence is taken as a whole or in parts, by which of two readers is surer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.training.splitting_reader import SplittingReader

TEXT = "We need money, and winners pay what they offered."
MONEY, OWN_BID, WON = "aim/revenue", "payment/first_price", "winner_told/no"


@dataclass
class Fixed:
    """Reads every sentence alike."""

    found: list[Clause]

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        return self.found * len(sentences)


def part(meaning: str, sure: float, doubt: str = "") -> Clause:
    return Clause(meaning, None, TEXT, sure, doubt)


@pytest.mark.parametrize(
    ("whole", "parts", "taken"),
    [
        (part(OWN_BID, 0.77), [part(MONEY, 0.9), part(OWN_BID, 0.95)], "parts"),
        (part(OWN_BID, 0.8), [part(MONEY, 0.7), part(OWN_BID, 0.95)], "parts"),
        (part(OWN_BID, 0.9), [part(MONEY, 0.3), part(OWN_BID, 0.95)], "whole"),
        (
            part(OWN_BID, 0.9, "it names several amounts"),
            [part(MONEY, 0.3), part(WON, 0.9)],
            "parts",
        ),
        (part(OWN_BID, 0.9), [part("nothing/all", 0.99), part(OWN_BID, 0.8)], "whole"),
        (part(OWN_BID, 0.5), [part("nothing/all", 0.4), part(OWN_BID, 0.8)], "parts"),
        (
            part(OWN_BID, 0.9, "two amounts"),
            [part("nothing/all", 0.9), part(OWN_BID, 0.8)],
            "parts",
        ),
        (part("nothing/all", 0.9), [part("nothing/all", 0.8)], "whole"),
        (part(WON, 0.2), [part("nothing/all", 0.8)], "parts"),
    ],
)
def test_the_surer_reading_is_taken(whole: Clause, parts: list[Clause], taken: str) -> None:
    found = SplittingReader(Fixed([whole]), Fixed(parts)).clauses([TEXT, TEXT])
    assert found == 2 * (parts if taken == "parts" else [whole])


def test_what_both_readers_miss_is_named() -> None:
    sentence = "Second price, and winners pay their own bid."
    whole = Clause(OWN_BID, None, sentence, 0.9)
    found = SplittingReader(Fixed([whole]), Fixed([whole])).clauses([sentence])
    assert found[0] == whole and [each.sentence for each in found[1:]] == ["Second price"]
    assert found[1].doubt
