"""Briefs are drawn as the splits say, always the same, and the frozen ones are those drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice

import pytest

from daedalus.design.briefs import frozen
from daedalus.design.briefs.brief import Brief, BriefError
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.generator import (
    NEW_KINDS,
    TEST_SPLITS,
    TRAINING,
    draw_pairs,
    draw_split,
    unseen_pairs,
)
from daedalus.design.briefs.meanings import MEANINGS, OTHER, USUAL, kind
from daedalus.design.briefs.splits import PAIRS, SPLITS
from daedalus.design.briefs.wordings import wordings
from tests.design.briefs.conftest import as_frozen

SIZES = dict.fromkeys(SPLITS, 300) | {"training": 5000}


def kinds_of(brief: Brief) -> list[str]:
    """Return the types of a brief's clauses, but those that ask for nothing."""
    return [kind(each.split()[0]) for each in brief.clauses if not each.startswith("nothing/")]


def has_unseen_pair(brief: Brief) -> bool:
    return any(frozenset(pair) in unseen_pairs() for pair in combinations(kinds_of(brief), 2))


def without_scale(brief: Brief) -> Brief:
    return replace(brief, scale=None)


@pytest.mark.parametrize("name", SIZES)
def test_frozen_briefs_are_whole_and_unchanged(name: str) -> None:
    briefs = frozen_briefs(name)  # checks the hash
    assert len(briefs) == SIZES[name] == len({each.id for each in briefs})
    if name != TRAINING.name:
        assert all(each.scale and each.scale.ceiling - each.scale.floor > 0.02 for each in briefs)


@pytest.mark.parametrize("split", [TRAINING, *TEST_SPLITS], ids=lambda each: each.name)
def test_the_generator_draws_the_frozen_briefs_again(split: object) -> None:
    assert isinstance(split, type(TRAINING))
    stored = {each.text: without_scale(each) for each in frozen_briefs(split.name)}
    drawn = draw_split(replace(split, size=40), lambda each: each)
    same = [each for each in drawn if each.text in stored]
    assert len(same) > 25  # the others had no ends, and their numbers went to those after them
    for each in same:
        drawn_then = replace(each, id="any", allowed=as_frozen(each.allowed))
        assert drawn_then == replace(stored[each.text], id="any")


@pytest.mark.slow
def test_training_briefs_have_no_type_and_no_pair_of_the_tests() -> None:
    for each in frozen_briefs(TRAINING.name):
        assert not set(kinds_of(each)) & set(NEW_KINDS) and not has_unseen_pair(each)
        assert each.told_population == USUAL and 1 <= len(kinds_of(each)) <= 5


def test_splits_have_what_their_names_say() -> None:
    assert all(has_unseen_pair(each) for each in frozen_briefs("compositions"))
    assert all(set(kinds_of(each)) & set(NEW_KINDS) for each in frozen_briefs("kinds"))
    for each in frozen_briefs("contradictions"):
        assert each.population not in (USUAL, each.told_population) and "fact" in kinds_of(each)
    for each in frozen_briefs("distractors"):
        assert len(each.clauses) - len(kinds_of(each)) == 3
    firsts = {text for texts in wordings().values() for text in texts if "{x}" not in text}
    assert not any(text in each.text for each in frozen_briefs("wordings") for text in firsts)


def test_both_of_a_pair_differ_in_one_clause() -> None:
    briefs = frozen_briefs(PAIRS)
    for first, second in zip(briefs[::2], briefs[1::2], strict=True):
        assert first.id[:-1] == second.id[:-1] and first.text != second.text
        assert len(set(first.clauses) ^ set(second.clauses)) == 2
    again = list(islice(draw_pairs(20, lambda each: each), 20))
    assert {each.text for each in again} & {each.text for each in briefs}


def test_every_meaning_has_sentences_of_each_writer() -> None:
    for writer, count in (("first", 12), ("second", 6), ("hurried", 12)):
        given = wordings(writer)  # type: ignore[arg-type]
        assert set(given) == set(MEANINGS) - ({OTHER} if writer == "hurried" else set())
        for name, texts in given.items():
            assert len(set(texts)) == len(texts) >= count
            marked = [text.count("{x}") for text in texts]
            assert set(marked) == {int(MEANINGS[name].takes_amount)}, name


def test_a_changed_file_is_refused(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "digest", lambda path: "other")
    frozen_briefs.cache_clear()
    with pytest.raises(BriefError, match=r"same\.jsonl has changed since it was frozen"):
        frozen_briefs("same")
    with pytest.raises(BriefError, match="choose from same, wordings"):
        frozen_briefs("unknown")
    frozen_briefs.cache_clear()
