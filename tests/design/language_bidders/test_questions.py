"""Questions hold what a bidder may know, as it was when the step began."""

from __future__ import annotations

import pytest

from daedalus.design.language_bidders.questions import Questions, values
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import EFFECTS, Mechanism
from daedalus.market.views import BidSummary
from tests.design.language_bidders.scripted import past, view

SIX = MarketSettings(rounds_per_step=6, warmup_rounds=3)


def text(questions: Questions, **changes: object) -> str:
    return questions.chat(view(**changes))[1]["content"]


def asked(rules: Mechanism, **changes: object) -> str:
    return text(Questions.of(SIX, 5, ""), rules=rules.to_dict(), **changes)


def test_a_question_is_the_same_in_all_rounds_of_its_step() -> None:
    questions = Questions.of(SIX, 15, "")
    rounds = [past(value=each / 100) for each in range(40)]
    seen = [rounds[max(each - 20, 0) : each] for each in range(28)]
    texts = [text(questions, round=each, past=tuple(seen[each])) for each in range(28)]
    starts = [0, 3, 9, 15, 21, 27]
    for start, end in zip(starts, [*starts[1:], 28], strict=True):
        assert len(set(texts[start:end])) == 1
    assert len(set(texts)) == len(starts)
    assert "value 26" in texts[27] and "value 27" not in texts[27] and "value 11" not in texts[27]
    assert "next 3 rounds" in texts[0] and "next 6 rounds" in texts[3]


def test_a_memory_that_the_last_round_of_a_step_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"memory: 16; .* give at most 15, or take shorter steps"):
        Questions.of(SIX, 16, "")
    assert Questions.of(MarketSettings(rounds_per_step=50), 0, "").memory == 0


def test_money_is_that_of_the_beginning_of_the_step() -> None:
    questions = Questions.of(SIX, 5, "")
    spent = past(paid=0.25), past(paid=0.1)
    before = text(questions, round=9, money=1.0, past=(past(),) * 9)
    after = text(questions, round=11, money=0.65, past=(past(),) * 9 + spent)
    assert before == after and "You can still pay 100 in all." in before
    long = Questions.of(MarketSettings(rounds_per_step=50, warmup_rounds=0), 0, "")
    with pytest.raises(ValueError, match="budget need 21 or fewer"):
        text(long, round=30, money=1.0, past=(past(),) * 20)


def test_secrets_stay_secret() -> None:
    reserve = Mechanism(reserve_price=0.37, reveal_reserve=True)
    assert "Bids below 37 do not win" in asked(reserve)
    hidden = Mechanism().to_dict() | {"reserve_price": None}  # as a market shows it
    assert "secret reserve" in text(Questions.of(SIX, 5, ""), rules=hidden)
    assert "reserve" not in asked(Mechanism(reserve_price=0.0, reveal_reserve=True))


def test_formats_have_their_own_words() -> None:
    rules = [Mechanism(kind) for kind in ("first_price", "second_price", "vcg")]  # type: ignore[arg-type]
    assert len({asked(each) for each in rules}) == 3
    added = text(Questions.of(SIX, 5, ""), rules=Mechanism().to_dict() | {"auction_type": "raffle"})
    assert f"The format is raffle: {EFFECTS['auction_type']}." in added


def test_the_past_is_told_as_far_as_it_was_disclosed() -> None:
    told = past(winners=(0, 2), other_bids=(0.45, 0.1), summary=BidSummary(3, 0.25, 0.15), paid=0.3)
    full = asked(Mechanism(), round=3, past=(told,))
    assert "value 40, you bid 20 and won 1 and paid 30; price 30; winners: you, bidder 3" in full
    assert "other bids: 45, 10; 3 bids, mean 25, deviation 15" in full
    bare = asked(Mechanism(), round=3, past=(past(price=None),))
    assert "value 40, you bid 20 and won nothing\n" in bare


def test_facts_are_told() -> None:
    assert "You are timid." in text(Questions.of(SIX, 5, "You are timid."))


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((0.0, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0)), ((0.6, 0.8), (0.6, 0.65, 0.7, 0.75, 0.8))],
)
def test_values_span_the_range(ends: tuple[float, float], expected: tuple[float, ...]) -> None:
    assert values(view(value_range=ends)) == pytest.approx(expected)
