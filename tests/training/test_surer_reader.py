"""A sentence is read as the surer of two readers does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.training.surer_reader import SurerReader


@dataclass
class Sure:
    """Finds one meaning, and is as sure of it as it is said for each sentence."""

    meaning: str
    confidences: dict[str, float]

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        return [Clause(self.meaning, None, each, self.confidences[each]) for each in sentences]


@pytest.mark.parametrize("sentences", [["a", "b", "c"], ["c", "b", "a"], []])
def test_each_sentence_is_taken_from_the_surer_reader(sentences: list[str]) -> None:
    first = Sure("winner_told/no", {"a": 0.9, "b": 0.5, "c": 0.7})
    second = Sure("winner_told/yes", {"a": 0.8, "b": 0.6, "c": 0.7})
    expected = {
        "a": Clause("winner_told/no", None, "a", 0.9),
        "b": Clause("winner_told/yes", None, "b", 0.6),
        "c": Clause("winner_told/no", None, "c", 0.7),
    }
    assert SurerReader(first, second).clauses(sentences) == [expected[each] for each in sentences]
