"""Odds of meanings by words: what scikit-learn fits, without scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from daedalus.design.briefs.amounts import masked
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.word_odds import WordOdds
from daedalus.design.briefs.wordings import examples
from daedalus.training.judging_reader import WORDS

UNSEEN = [
    "The winner stays secret, the winner!",
    "a reserve of 0.25",
    "Keep a reserve of three tenths, and a reserve it is.",
    "zzz",
    "",
]


@pytest.fixture(scope="module")
def fitted() -> WordOdds:
    return WordOdds.fit(examples())


def test_odds_are_those_of_scikit_learn(fitted: WordOdds) -> None:
    texts, meanings = zip(*examples(), strict=True)
    features = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=5)
    model = LogisticRegression(C=20.0, max_iter=300)
    model.fit(features.fit_transform([masked(each) for each in texts]), meanings)
    expected = model.predict_proba(features.transform([masked(each) for each in UNSEEN]))
    assert fitted.meanings == tuple(model.classes_)
    np.testing.assert_allclose(fitted.odds(UNSEEN), expected, atol=2e-3)  # weights have half


def test_it_knows_what_it_learnt(fitted: WordOdds) -> None:
    texts, meanings = zip(*examples(), strict=True)
    best = fitted.odds(texts).argmax(axis=1)
    right = [fitted.meanings[place] == each for place, each in zip(best, meanings, strict=True)]
    assert np.mean(right) > 0.9


def test_it_comes_back_from_its_file(fitted: WordOdds, tmp_path: Path) -> None:
    fitted.save(tmp_path / "odds.npz")
    kept = WordOdds.load(tmp_path / "odds.npz")
    assert (kept.meanings, kept.words) == (fitted.meanings, fitted.words)
    assert np.array_equal(kept.odds(UNSEEN), fitted.odds(UNSEEN))


def test_those_of_the_package_know_every_meaning() -> None:
    assert set(WordOdds.load(WORDS).meanings) == MEANINGS.keys()
