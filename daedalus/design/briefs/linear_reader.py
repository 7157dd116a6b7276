"""A small reader: features of a sentence, and logistic regression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from daedalus.design.briefs.amounts import masked
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.readers import Embed, clause

_STRENGTH = 30.0  # inverse regularisation, for features of length 1


class LinearReader:
    """Logistic regression over features of single sentences, whose amounts are masked.

    Args:
        embed: Features; TF-IDF of words and pairs of words if None.
    """

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed
        self._words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        self._model = LogisticRegression(C=_STRENGTH, max_iter=3000)

    def fit(self, examples: Iterable[tuple[str, str]]) -> Self:
        """Learn from pairs of a sentence and its meaning."""
        sentences, meanings = zip(*examples, strict=True)
        texts = [masked(each) for each in sentences]
        if self._embed is None:
            self._words.fit(texts)
        self._model.fit(self._features(texts), meanings)
        return self

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the likeliest meaning of each sentence, with its probability."""
        probabilities = self._model.predict_proba(
            self._features([masked(each) for each in sentences])
        )
        best = probabilities.argmax(axis=1)
        return [
            clause(str(self._model.classes_[place]), sentence, float(row[place]))
            for sentence, row, place in zip(sentences, probabilities, best, strict=True)
        ]

    def _features(self, texts: Sequence[str]) -> Any:
        return self._words.transform(texts) if self._embed is None else self._embed(texts)
