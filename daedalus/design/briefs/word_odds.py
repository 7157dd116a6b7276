"""How likely each meaning of a sentence is by its words alone, in any order but of pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.amounts import masked
from daedalus.runs.files import written_whole

_WORD = re.compile(r"\b\w\w+\b")
_STRENGTH = 20.0  # inverse regularisation, for features of length 1
_LEAST = 5  # sentences that a word, or a pair of words, must stand in


@dataclass(frozen=True)
class WordOdds:
    """Logistic regression over TF-IDF of words and pairs of words.

    scikit-learn fits it; what reads a brief would wait longer for its import than for the rest.

    Attributes:
        meanings: What it knows, M in all.
        words: F words and pairs.
        rarity: Inverse frequency of each, shape (F,).
        weights: Shape (M, F).
        bias: Shape (M,).
    """

    meanings: tuple[str, ...]
    words: tuple[str, ...]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float16]
    bias: NDArray[np.float32]

    @classmethod
    def fit(cls, examples: Iterable[tuple[str, str]]) -> Self:
        """Learn from pairs of a sentence and its meaning."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import
        from sklearn.linear_model import LogisticRegression

        sentences, meanings = zip(*examples, strict=True)
        features = TfidfVectorizer(analyzer=_words, sublinear_tf=True, min_df=_LEAST)
        model = LogisticRegression(C=_STRENGTH, max_iter=300)
        model.fit(features.fit_transform(sentences), meanings)
        return cls(
            tuple(map(str, model.classes_)),
            tuple(features.get_feature_names_out()),
            features.idf_.astype(np.float32),
            model.coef_.astype(np.float16),
            model.intercept_.astype(np.float32),
        )

    def odds(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of each meaning of each sentence, shape (B, M)."""
        places = {word: place for place, word in enumerate(self.words)}
        rows = np.zeros((len(sentences), len(self.meanings)), np.float32)
        for row, sentence in zip(rows, sentences, strict=True):
            row[:] = self.bias
            counts = Counter(each for each in _words(sentence) if each in places)
            if counts:
                own = [places[each] for each in counts]
                values = self.rarity[own] * (1.0 + np.log([*counts.values()]))
                row += self.weights[:, own] @ (values / np.linalg.norm(values))
        raised: NDArray[np.float32] = np.exp(rows - rows.max(axis=1, keepdims=True))
        raised /= raised.sum(axis=1, keepdims=True)
        return raised

    def save(self, path: Path) -> None:
        """Write it to a file, whole or not at all."""
        with written_whole(path) as whole, whole.open("wb") as file:
            np.savez_compressed(file, **vars(self))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what ``save`` wrote."""
        with np.load(path) as kept:
            meanings, words = (tuple(kept[name].tolist()) for name in ("meanings", "words"))
            return cls(meanings, words, kept["rarity"], kept["weights"], kept["bias"])


def _words(sentence: str) -> list[str]:
    """Return the words of a sentence whose amounts are masked, and then their pairs."""
    words = _WORD.findall(masked(sentence).lower())
    return [*words, *map(" ".join, pairwise(words))]
