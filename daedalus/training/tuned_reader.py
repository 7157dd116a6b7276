"""A reader of briefs: the sentence encoder with adapters, and a linear layer for meanings.

One sentence is one example. Whole briefs are read sentence by sentence, so their composition needs
no training. A sentence has one meaning, or each of its words has one, so that it may ask for
several things.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from daedalus.design.briefs.amounts import masked, masked_with_places
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import on_the_side_of_its_words
from daedalus.design.briefs.meanings import OTHER
from daedalus.design.briefs.parts import costs_of_a_part, runs, texts_of
from daedalus.design.briefs.ranges import range_by_its_words
from daedalus.design.briefs.readers import clause
from daedalus.design.briefs.wordings import NEAR
from daedalus.training.sentence_encoder import SentenceEncoder, load_encoder

HEAD, CLASSES = "head.pt", "meanings.json"
"""Files of a reader beside its adapters."""
_AT_ONCE = 64
_SHARPNESS = 10.0  # of the logits: embeddings have length 1


class TunedReader:
    """Reads sentences by an encoder with adapters.

    Args:
        encoder: The encoder, adapters included, in eval mode.
        head: From an embedding to a logit for each class.
        classes: Names of the classes, in the order of the logits: meanings, and what is ``NEAR``
            one of them and asks for nothing that a meaning has.
        by_word: Whether each word has a meaning, and not the sentence as a whole.
        sides: Whether words such as "at most" say from which side an amount is bounded.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        head: nn.Linear,
        classes: Sequence[str],
        by_word: bool,
        sides: bool = False,
    ) -> None:
        self.encoder, self.head = encoder, head
        self.classes, self.by_word, self.sides = tuple(classes), by_word, sides
        self._near = np.array([each.startswith(NEAR) for each in self.classes])
        self.meanings = tuple(each for each in self.classes if not each.startswith(NEAR))

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the likeliest meaning of each sentence, or of each part, with its probability."""
        read = self._clauses_of_parts if self.by_word else self._clauses_of_sentences
        with torch.no_grad():
            starts = range(0, len(sentences), _AT_ONCE)
            return [each for at in starts for each in read(sentences[at : at + _AT_ONCE])]

    def odds(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of each meaning of each sentence as a whole, shape (B, M)."""
        with torch.no_grad():
            starts = range(0, len(sentences), _AT_ONCE)
            rows = [self._odds_of_sentences(sentences[at : at + _AT_ONCE]) for at in starts]
        return np.concatenate([np.zeros((0, len(self.meanings)), np.float32), *rows])

    def _odds_of_sentences(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        return self._odds(self.logits(self.encoder([masked(each) for each in sentences])))

    def _clauses_of_sentences(self, sentences: Sequence[str]) -> list[Clause]:
        return [
            self._clause(sentence, sentence, int(row.argmax()), row)
            for sentence, row in zip(sentences, self._odds_of_sentences(sentences), strict=True)
        ]

    def _clauses_of_parts(self, sentences: Sequence[str]) -> list[Clause]:
        given = [masked_with_places(each) for each in sentences]
        words, characters = self.encoder.words([text for text, _ in given])
        probabilities = self._odds(self.logits(words))
        found: list[Clause] = []
        for row, (_, places) in enumerate(given):
            starts, ends = characters[row].T
            real = starts < ends
            parts = self._parts(
                sentences[row], probabilities[row, real], np.array(places)[starts[real]]
            )
            found += [*parts] or [Clause(OTHER, None, sentences[row], 0.0)]  # no word in it
        return found

    def _odds(self, logits: Tensor) -> NDArray[np.float32]:
        """Return the probability of each meaning; what is near one belongs to ``OTHER``."""
        odds: NDArray[np.float32] = logits.softmax(dim=-1).numpy()
        found = odds[..., ~self._near]
        if self._near.any():
            found[..., self.meanings.index(OTHER)] += odds[..., self._near].sum(axis=-1)
        return found

    def _parts(
        self, sentence: str, probabilities: NDArray[np.float32], places: NDArray[np.int64]
    ) -> Iterator[Clause]:
        """Yield a clause for each run of words with one meaning."""
        if not len(probabilities):
            return
        found = runs(probabilities, costs_of_a_part(sentence, places.tolist()))
        texts = texts_of(sentence, [0, *(int(places[start]) for start, _, _ in found[1:])])
        for text, (start, end, label) in zip(texts, found, strict=True):
            if text:
                mean = probabilities[start:end].mean(axis=0)
                yield from self._clauses_of_part(text, sentence, label, mean)

    def _clauses_of_part(
        self, text: str, sentence: str, label: int, probabilities: NDArray[np.float32]
    ) -> list[Clause]:
        """Return the clause of a part; two if it names a range, since a rule has one end."""
        if self.sides:
            named = dict(zip(self.meanings, probabilities.tolist(), strict=True))
            ends = range_by_its_words(self.meanings[label], text, sentence, named)
            if ends:
                return [Clause(meaning, amount, text, sure) for meaning, amount, sure in ends]
        return [self._clause(text, sentence, label, probabilities)]

    def _clause(
        self, text: str, sentence: str, label: int, probabilities: NDArray[np.float32]
    ) -> Clause:
        named = dict(zip(self.meanings, probabilities.tolist(), strict=True))
        meaning, sure = self.meanings[label], named[self.meanings[label]]
        if self.sides:
            meaning, sure = on_the_side_of_its_words(meaning, text, sentence, named)
        return clause(meaning, text, sure)

    def logits(self, embeddings: Tensor) -> Tensor:
        """Return the logits of embeddings, shape (..., classes)."""
        scores: Tensor = self.head(_SHARPNESS * embeddings)
        return scores


def load_reader(folder: Path, sides: bool = False) -> TunedReader:
    """Return the reader that ``brief_reader.save`` wrote.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    names = json.loads((folder / CLASSES).read_text())
    weights = torch.load(folder / HEAD, weights_only=True)
    head = nn.Linear(weights["weight"].shape[1], len(names["meanings"]))
    head.load_state_dict(weights)
    return TunedReader(load_encoder(folder), head, names["meanings"], names["by_word"], sides)
