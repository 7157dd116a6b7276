"""The simplest reader: each meaning has a few words of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from daedalus.design.briefs.amounts import masked
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import NOTHING
from daedalus.design.briefs.readers import clause

_WORDS = 10  # of each meaning
_LEAST = 2  # words that a sentence must share with its meaning


class KeywordReader:
    """Counts the words of each meaning in a sentence.

    The words of a meaning are those that stand more often in its sentences than in the others.

    Args:
        examples: Pairs of a sentence and its meaning.
    """

    def __init__(self, examples: Iterable[tuple[str, str]]) -> None:
        pairs = [(_words(sentence), meaning) for sentence, meaning in examples]
        everywhere = Counter(word for words, _ in pairs for word in words)
        self._words: dict[str, set[str]] = {}
        for name in dict.fromkeys(meaning for _, meaning in pairs):
            own = [words for words, meaning in pairs if meaning == name]
            here = Counter(word for words in own for word in words)
            others = max(1, len(pairs) - len(own))
            lead = {
                word: count / len(own) - (everywhere[word] - count) / others
                for word, count in here.items()
            }
            self._words[name] = set(sorted(lead, key=lambda word: (-lead[word], word))[:_WORDS])

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the meaning with most words in each sentence; ``nothing`` if all have few."""
        return [clause(self._meaning(each), each, 1.0) for each in sentences]

    def _meaning(self, sentence: str) -> str:
        words = _words(sentence)
        shared = {name: len(own & words) for name, own in self._words.items() if name != NOTHING}
        best = max(shared, key=lambda name: shared[name])
        return best if shared[best] >= _LEAST else NOTHING


def _words(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z']+", masked(sentence).lower()))
