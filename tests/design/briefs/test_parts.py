"""Parts of sentences: how they join, where their amounts stand, and where a meaning ends."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.briefs.amounts import masked, masked_with_places
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.parts import (
    costs_of_a_part,
    joined,
    masked_labels,
    runs,
    sentences_in_parts,
    texts_of,
)
from daedalus.design.briefs.readers import clause

FIRST = (("We need money", "aim/revenue"), (", at 0.25 or more.", "reserve_least/x"))
SECOND = (("Nobody is told who won.", "winner_told/no"),)


def test_every_meaning_stands_in_sentences_of_several_parts() -> None:
    given = sentences_in_parts()
    assert {name for parts in given for _, name in parts} == set(MEANINGS)
    assert sum(len(parts) > 1 for parts in given) > 800 and len(set(given)) == len(given)


def test_amounts_of_parts_are_read() -> None:
    """A few of the 1,000 are not, such as *45 in every hundred*."""
    given = [each for parts in sentences_in_parts() for each in parts]
    takes = [(text, name) for text, name in given if MEANINGS[name].takes_amount]
    found = [clause(name, text, 1.0) for text, name in takes]
    assert sum(each.amount is None for each in found) <= 0.01 * len(found)


def test_two_sentences_become_one() -> None:
    both = joined(FIRST, SECOND, "; ")
    whole = "We need money, at 0.25 or more; nobody is told who won."
    assert "".join(text for text, _ in both) == whole
    assert [name for _, name in both] == ["aim/revenue", "reserve_least/x", "winner_told/no"]


def test_characters_of_a_masked_sentence_know_their_part() -> None:
    parts = (("At least a quarter", "reserve_least/x"), (", and tell nobody.", "nothing_told/all"))
    text, numbers = masked_labels(parts)
    first = len("At least some")
    assert text == "At least some, and tell nobody."
    assert numbers.tolist() == [0] * first + [1] * (len(text) - first)


@pytest.mark.parametrize("text", ["Half of it, or 20 percent.", "No amount.", "at a fifth; 3/4"])
def test_masked_characters_stood_where_it_says(text: str) -> None:
    short, places = masked_with_places(text)
    assert short == masked(text) and len(places) == len(short) and places == sorted(places)
    kept = [(a, text[b]) for a, b in zip(short, places, strict=True) if short != text]
    assert all(a == b or a in "some" for a, b in kept)


def test_runs_are_those_of_all_paths() -> None:
    rng = np.random.default_rng(0)
    probabilities, switches = rng.dirichlet(np.ones(3), 6), rng.uniform(0.2, 1.2, 6)
    paths = np.indices((3,) * 6).reshape(6, -1).T
    scores = np.log(probabilities + 1e-6)[np.arange(6), paths].sum(axis=1)
    best = paths[(scores - (np.diff(paths) != 0) @ switches[1:]).argmax()]
    found = np.concatenate(
        [[label] * (end - start) for start, end, label in runs(probabilities, switches)]
    )
    assert found.tolist() == best.tolist()


def test_parts_begin_after_punctuation_or_a_joining_word_and_never_inside_a_word() -> None:
    text = "Hide it, at 0.2 and never more than 0.3."
    starts = [text.index(each) for each in ("it", ",", "at", "and", "never", "than", "han")]
    inside, marked, unmarked = 20.0, 4.0, 6.0
    expected = [unmarked, marked, marked, marked, unmarked, unmarked, inside]
    assert costs_of_a_part(text, starts).tolist() == expected
    text = "Don't use second-price."
    starts = [text.index(each) for each in ("'t", "t ", "-", "price")]
    assert costs_of_a_part(text, starts).tolist() == [inside] * 4


def test_what_joins_parts_is_left_out() -> None:
    text = "We need money - and fast; nobody is told who won."
    assert texts_of(text, [0, 14, 24]) == ["We need money", "fast", "nobody is told who won."]
    assert texts_of("A gap, -0.2", [0, 5]) == ["A gap", "-0.2"]
