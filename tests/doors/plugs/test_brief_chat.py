"""A brief that a chat answers: it reads words and not rules, and a bad answer scores 0."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.doors.briefs import benchmark
from daedalus.doors.plugs.brief_chat import judged, opening
from daedalus.market.parsing import format_mechanism
from tests.doors.plugs.own_briefs import OTHER, OWN, write


@pytest.fixture
def asked(tmp_path: Path) -> Benchmark:
    return benchmark(write(tmp_path))


def test_the_chat_has_the_words_and_what_may_be_set(asked: Benchmark) -> None:
    system, user = opening(asked, asked.briefs[0], 3)
    assert system["content"].endswith("Every winner pays its own bid.")
    assert '"first_price" or "second_price" or "vcg"' in system["content"]  # not the true rule
    assert "You are scored by what the seller asks for" in system["content"]
    assert user["content"].startswith("round_number: 0 / 10")


def test_an_answer_is_judged(asked: Benchmark) -> None:
    kept = judged(asked, asked.briefs[0], f"<think>hm</think>{format_mechanism(OWN)}")
    assert kept.values == {"score": kept.verdict.objective, "rules_kept": 1.0, "valid": 1.0}
    assert kept.broken == ""
    other = judged(asked, asked.briefs[0], format_mechanism(OTHER))
    assert other.values == {"score": 0.0, "rules_kept": 0.0, "valid": 1.0}
    assert other.broken == "auction_type: vcg"


def test_an_answer_without_a_mechanism_scores_nothing_and_says_why(asked: Benchmark) -> None:
    answer = judged(asked, asked.briefs[1], "a fine market")
    assert answer.values == dict.fromkeys(("score", "rules_kept", "valid"), 0.0)
    assert answer.broken.startswith("no valid mechanism; no object: the answer has no JSON object")
    assert math.isnan(answer.verdict.objective)
