"""Only what follows the reasoning of an answer counts."""

from __future__ import annotations

import time

import pytest

from daedalus.design.language.reasoning import after_reasoning, answered_mechanism
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism

GOOD = format_mechanism(Mechanism())
DRAFT = format_mechanism(Mechanism(reserve_price=0.8))
ANSWERS = {
    "no reasoning": f"I choose {GOOD}",
    "reasoning": f"<think>\nThe price is low.\n</think>\n\n{GOOD}",
    "a draft in reasoning": f"<think>Perhaps {DRAFT}? No.</think>```json\n{GOOD}\n```",
    "reasoning without its beginning": f"Perhaps {DRAFT}? No.\n</think>\n{GOOD}",
    "another tag": f"<Reasoning>{DRAFT}</Reasoning> {GOOD}",
    "long reasoning": "<think>" + "so {x} and [y]. " * 10_000 + f"</think>{GOOD}",
}


@pytest.mark.parametrize("text", ANSWERS.values(), ids=list(ANSWERS))
def test_the_mechanism_after_the_reasoning_counts(text: str) -> None:
    assert answered_mechanism(text).mechanism == Mechanism()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"<think>{GOOD}</think>  ", "empty: the answer has no text"),
        (f"<think>Perhaps {GOOD}", "cut off: <think> does not end; allow more tokens"),
        (f"<think>so</think> <thought>{GOOD}", "cut off: <thought> does not end"),
    ],
)
def test_an_answer_that_ends_in_its_reasoning_is_refused(text: str, reason: str) -> None:
    assert answered_mechanism(text).reason.startswith(reason)


@pytest.mark.parametrize("unit", ["<think>", "</think>", "<thin"])
def test_the_time_is_linear_in_the_length_of_the_text(unit: str) -> None:
    began = time.process_time()
    after_reasoning(unit * (1_000_000 // len(unit)) + "</think>")
    assert time.process_time() - began < 2.0


def test_a_strict_reader_takes_the_object_alone() -> None:
    assert answered_mechanism(GOOD, strict=True).mechanism == Mechanism()
    assert answered_mechanism(f"<think>hm</think>{GOOD}", strict=True).mechanism is None
