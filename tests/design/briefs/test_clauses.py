"""Clauses come together: rules narrow each other, and contradictions are named."""

from __future__ import annotations

from dataclasses import replace
from runpy import run_path

import pytest

from daedalus.design.briefs import meanings
from daedalus.design.briefs.clauses import Clause, Understanding, rules_of, says, understand
from daedalus.design.briefs.meanings import MEANINGS, NOTHING, OTHER
from daedalus.market import mechanism
from daedalus.market.allowed import Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import AUCTION_TYPES


def of(*clauses: str) -> list[Clause]:
    """Return clauses written as in files: the meaning, and an amount if there is one."""
    parts = [each.split() for each in clauses]
    return [Clause(name, float(rest[0]) if rest else None, name) for name, *rest in parts]


def test_bounds_narrow_each_other() -> None:
    understood = understand(of("reserve_least/x 0.2", "reserve_most/x 0.3"))
    assert understood.allowed == {"reserve_price": Between(0.2, 0.3)}
    assert not understood.contradictions


def test_a_duty_and_a_ban_that_agree_are_one_rule() -> None:
    understood = understand(of("ban/first_price", "payment/vcg"))
    assert understood.allowed == {"auction_type": ("vcg",)}


@pytest.mark.parametrize(
    ("first", "second", "about"),
    [
        ("reserve_least/x 0.5", "reserve_exact/x 0.3", "reserve_price"),
        ("payment/first_price", "payment/second_price", "auction_type"),
        ("reserve_told/yes", "reserve_told/no", "reveal_reserve"),
        ("nothing_told/all", "winner_told/yes", "reveal_winner_identity"),
        ("no_fines/all", "shill_fine/least 1", "shill_penalty"),
        ("no_fines/all", "ring_policy/proof", "collusion_penalty"),
        ("aim/revenue", "aim/welfare", "the aim"),
        ("fact/ring", "fact/honest", "the bidders"),
    ],
)
def test_a_contradiction_is_named_and_the_second_left_out(
    first: str, second: str, about: str
) -> None:
    understood = understand(of(first, second))
    (named,) = understood.contradictions
    assert named.about == about
    assert [named.first.sentence, named.second.sentence] == [first.split()[0], second.split()[0]]
    assert understood.same_as(understand(of(first)))
    assert first.split()[0] in str(named)


def test_the_sentence_that_excludes_is_named_among_several() -> None:
    three = understand(of("reserve_least/x 0.2", "reserve_most/x 0.6", "reserve_exact/x 0.1"))
    (named,) = three.contradictions
    assert named.first.meaning == "reserve_least/x" and named.second.amount == 0.1


def test_the_same_wishes_are_the_same_however_they_are_written() -> None:
    one = Understanding({"revenue": 1}, {"coalition_policy": ("allow", "restrict")})
    other = Understanding(
        {"revenue": 2.0, "welfare": 0}, {"coalition_policy": ("restrict", "allow")}
    )
    assert one.same_as(other)
    assert not one.same_as(replace(one, floors={"fairness": 0.5}))


def test_aims_share_the_weight() -> None:
    assert understand([]).reward == {"composite": 1.0}
    assert understand(of("aim/revenue")).reward == {"revenue": 1.0}
    assert understand(of("also/fairness", "aim/revenue")).reward == {
        "revenue": 0.7,
        "fairness": 0.3,
    }
    both = understand(of("also/fairness", "also/competition")).reward
    assert both == {"composite": 0.7, "competition": 0.15, "fairness": 0.15}


@pytest.mark.parametrize("order", [("fact/ring", "conditional/ring 2"), ("conditional/ring 2",)])
def test_a_condition_looks_at_the_facts_wherever_they_stand(order: tuple[str, ...]) -> None:
    expected = Between(2.0, 3.0) if len(order) > 1 else (0.0,)
    for clauses in (order, order[::-1]):
        assert understand(of(*clauses)).allowed["collusion_penalty"] == expected


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        (Clause("shill_fine/least", 2.0), True),
        (Clause("withdrawal_fine/most", 0.5), True),
        (Clause("shill_fine/none"), False),
        (Clause("reserve_least/x", 0.2), False),
        (Clause("shill_fine/least", 9.0), False),
    ],
)
def test_what_a_point_of_a_fine_is_worth_is_told_where_one_is_used(
    clause: Clause, told: bool
) -> None:
    notes = understand([clause, Clause("aim/revenue")]).notes
    assert any("a quarter of the top value" in each for each in notes) == told


def test_what_cannot_be_used_is_named() -> None:
    clauses = [*of("reserve_least/x 3", NOTHING), Clause("reserve_most/x", None, "m")]
    understood = understand([*clauses, Clause(OTHER, None, "o")])
    reasons = [reason for _, reason in understood.unread]
    assert reasons == [
        "it names 3; reserve_price is from 0 to 0.9",
        "it names no amount",
        "it was taken for a wish that no setting expresses; else word it otherwise",
    ]
    assert understood.allowed == {} and len(understood.idle) == 1


def test_a_format_without_sentences_has_no_meaning_and_passes_every_ban(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = tuple(each for each in AUCTION_TYPES if each != "vcg")
    monkeypatch.setattr(mechanism, "AUCTION_TYPES", (*AUCTION_TYPES, "all_pay"))
    found = run_path(meanings.__file__)["MEANINGS"]
    assert list(found) == list(MEANINGS)
    assert found["payment/vcg"].allowed == {"auction_type": ("vcg",)}
    assert found["ban/vcg"].allowed == {"auction_type": (*others, "all_pay")}
    assert MEANINGS["ban/vcg"].allowed == {"auction_type": others}


@pytest.mark.parametrize("name", [name for name, each in MEANINGS.items() if each.settable])
def test_every_meaning_is_a_goal_that_some_mechanism_meets(name: str) -> None:
    meaning = MEANINGS[name]
    for amount in meaning.amounts or (None,):
        clause = Clause(name, amount)
        assert not clause.fault
        goal = Goal({}, rules_of(clause, meaning.population))  # refuses what is no restriction
        assert goal.allowed == dict(rules_of(clause, meaning.population))
        assert says(clause, "")
