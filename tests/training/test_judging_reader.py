"""What the reader finds is judged by what witnesses make of its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import OTHER
from daedalus.training.judging_reader import JUDGE, Judge, JudgingReader

WON = "winner_told/no"
LONG = "one two three four five six seven eight"
EVEN = Judge((0.0, 1.0), 0.0)
"""It takes the word of the witness."""


@dataclass
class Fixed:
    """Reads every sentence as one clause, and keeps what it was asked."""

    found: Clause
    asked: list[str] = field(default_factory=list)

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        self.asked += sentences
        return [self.found] * len(sentences)


@dataclass
class Says:
    """Gives meanings the same odds whatever the sentence, but for some sentences."""

    named: dict[str, float]
    otherwise: dict[str, dict[str, float]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def meanings(self) -> tuple[str, ...]:
        return tuple(self.named)

    def odds(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        self.asked += sentences
        rows = [list(self.otherwise.get(each, self.named).values()) for each in sentences]
        return np.array(rows, np.float32)


def judged(clause: Clause, *witnesses: Says, judge: Judge = EVEN) -> float:
    (found,) = JudgingReader(Fixed(clause), witnesses, judge).clauses(["A sentence."])
    assert (found.meaning, found.amount, found.doubt) == (clause.meaning, clause.amount, "")
    return found.confidence


def log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def test_the_judge_weighs_the_log_odds_of_all() -> None:
    """Of weights 0.5, 1 and 2 and a bias of -0.25 by hand."""
    clause = Clause(WON, None, LONG, 0.8)
    first, second = Says({WON: 0.6, OTHER: 0.4}), Says({WON: 0.3, OTHER: 0.7})
    total = 0.5 * log_odds(0.8) + 1.0 * log_odds(0.6) + 2.0 * log_odds(0.3) - 0.25
    found = judged(clause, first, second, judge=Judge((0.5, 1.0, 2.0), -0.25))
    assert found == pytest.approx(1.0 / (1.0 + math.exp(-total)), abs=3e-3)
    assert first.asked == second.asked == [LONG]  # the words of the clause, not the sentence


def test_no_witness_alone_is_beyond_all_doubt() -> None:
    assert 0.998 < judged(Clause(WON, None, LONG, 0.5), Says({WON: 1.0, OTHER: 0.0})) < 0.9995


@pytest.mark.parametrize(
    ("sentence", "other"),
    [("Ban false names.", "Ban false names"), ("Ban false names", "Ban false names.")],
)
def test_a_short_clause_is_judged_with_and_without_its_period(sentence: str, other: str) -> None:
    witness = Says({WON: 0.9, OTHER: 0.1}, {other: {WON: 0.1, OTHER: 0.9}})
    assert judged(Clause(WON, None, sentence, 0.5), witness) == pytest.approx(0.5)
    assert witness.asked == [sentence, other]


def test_another_bound_of_the_same_field_is_the_same_demand() -> None:
    clause = Clause("reserve_exact/x", 0.3, LONG, 0.9)
    same, fine = (Says({name: 0.9, OTHER: 0.1}) for name in ("reserve_least/x", "shill_fine/least"))
    assert judged(clause, same) == pytest.approx(0.9, abs=1e-3)
    assert judged(clause, fine) < 0.01


def test_vickrey_is_the_same_to_all() -> None:
    sentence = "We would not use a Vickrey auction here, thank you."
    refused = Clause("ban/second_price", None, sentence, 0.9)
    assert judged(refused, Says({"ban/vcg": 0.9, OTHER: 0.1})) == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize(
    "clause",
    [Clause(OTHER, None, "x", 0.9), Clause(WON, None, "x", 0.9, "two amounts")],
    ids=["no demand", "in doubt"],
)
def test_what_is_not_used_stays_as_it_is(clause: Clause) -> None:
    witness = Says({WON: 0.1, OTHER: 0.9})
    assert JudgingReader(Fixed(clause), (witness,), EVEN).clauses(["x"]) == [clause]
    assert not witness.asked


def test_a_term_of_the_trade_needs_no_reader_and_is_not_judged() -> None:
    reader, witness = Fixed(Clause("reserve_told/no", None, LONG, 0.9)), Says({OTHER: 1.0})
    found = JudgingReader(reader, (witness,), EVEN).clauses(["x", "No reserve.", "VCG"])
    assert [each.meaning for each in found] == ["reserve_told/no", "reserve_exact/x", "payment/vcg"]
    assert found[0].confidence < 0.01 and [each.confidence for each in found[1:]] == [1.0, 1.0]
    assert reader.asked == ["x"] and witness.asked == [LONG]


def test_each_clause_of_several_is_judged_by_its_own_words() -> None:
    class Two:
        def clauses(self, sentences: Sequence[str]) -> list[Clause]:
            return [Clause(WON, None, f"{each} {LONG}", 0.9) for each in sentences]

    witness = Says({WON: 0.9, OTHER: 0.1}, {f"b {LONG}": {WON: 0.2, OTHER: 0.8}})
    found = JudgingReader(Two(), (witness,), EVEN).clauses(["a", "b", "c"])
    assert [round(each.confidence, 1) for each in found] == [0.9, 0.2, 0.9]


def test_nothing_to_read_is_nothing_to_judge() -> None:
    assert JudgingReader(Fixed(Clause(WON)), (Says({WON: 1.0}),), EVEN).clauses([]) == []


def test_a_judge_learns_whom_to_believe() -> None:
    """The second column alone tells what is right."""
    rng = np.random.default_rng(0)
    evidence = rng.normal(size=(400, 2))
    right = evidence[:, 1] + 0.3 * rng.normal(size=400) > 0.5
    judge = Judge.fit(evidence, right)
    assert judge.weights[1] > 5 * abs(judge.weights[0]) and judge.bias < 0
    sure = judge.odds(evidence)
    assert ((sure > 0.5) == right).mean() > 0.9
    assert sure.mean() == pytest.approx(right.mean(), abs=0.01)


def test_the_judge_of_the_package_believes_all_three() -> None:
    judge = Judge.load(JUDGE)
    assert len(judge.weights) == 3 and min(judge.weights) > 0
