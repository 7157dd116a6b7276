"""The package's reader of briefs: witnesses say how sure it may be of what it reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.named import can_be_used
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.terms import term_of, with_vickrey_alone
from daedalus.design.briefs.word_odds import WordOdds
from daedalus.design.briefs.wordings import DATA, packaged_reader
from daedalus.training.splitting_reader import SplittingReader
from daedalus.training.surer_reader import SurerReader
from daedalus.training.tuned_reader import load_reader

JUDGE, WORDS = DATA / "judge.json", DATA / "word_odds.npz"
"""Files of the package's judge and of its witness by words."""
_SHORT = 7  # words, as the orders have that the witness learnt, most of them without a period
_LEAST_ODDS = 1e-3  # a witness may err


class Witness(Protocol):
    """Knows how likely each meaning of a sentence is."""

    @property
    def meanings(self) -> Sequence[str]:
        """Return M meanings."""
        ...

    def odds(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of each meaning of each sentence, shape (B, M)."""
        ...


@dataclass(frozen=True)
class Judge:
    """Logistic regression: is a clause right, by what a reader and its witnesses say?

    Attributes:
        weights: What the log-odds of each count, the reader's first.
        bias: Added to their sum.
    """

    weights: tuple[float, ...]
    bias: float

    @classmethod
    def fit(cls, evidence: NDArray[np.float64], right: NDArray[np.bool_]) -> Self:
        """Learn from log-odds, shape (B, 1 + witnesses), of clauses that are right or wrong."""
        from sklearn.linear_model import LogisticRegression  # slow to import

        model = LogisticRegression().fit(evidence, right)
        return cls(tuple(model.coef_[0].tolist()), float(model.intercept_[0]))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the judge in a file of JSON."""
        kept = json.loads(path.read_text())
        return cls(tuple(kept["weights"]), kept["bias"])

    def odds(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely each clause is right, shape (B,)."""
        total: NDArray[np.float64] = evidence @ np.array(self.weights) + self.bias
        return 1.0 / (1.0 + np.exp(-total))


@dataclass(frozen=True)
class JudgingReader:
    """Reads as another reader does, and says how sure that is by what others make of its clauses.

    Terms of the trade, such as "No reserve.", need no reader.

    Attributes:
        reader: It finds the demands of a sentence.
        witnesses: They read the words of a clause anew, each in its own way.
        judge: It weighs how sure the reader is with the odds that the witnesses give its meaning.
    """

    reader: Reader
    witnesses: tuple[Witness, ...]
    judge: Judge

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the reader's clauses; the confidence of those that can be used is the judge's."""
        found: list[Clause] = []
        for known, given in groupby(sentences, lambda each: term_of(each) is not None):
            some = [*given]
            found += filter(None, map(term_of, some)) if known else self.reader.clauses(some)
        judged = [each for each in found if _may_err(each)]
        sure = iter(self.judge.odds(self.evidence(judged)).tolist() if judged else ())
        return [replace(each, confidence=next(sure)) if _may_err(each) else each for each in found]

    def evidence(self, clauses: Sequence[Clause]) -> NDArray[np.float64]:
        """Return the log-odds of clauses by the reader and each witness, shape (B, 1 + W)."""
        own = _log_odds(np.array([each.confidence for each in clauses]))
        return np.stack([own, *(_said(clauses, each) for each in self.witnesses)], axis=1)


def _may_err(clause: Clause) -> bool:
    return clause != term_of(clause.sentence) and can_be_used(clause)


def _said(clauses: Sequence[Clause], witness: Witness) -> NDArray[np.float64]:
    """Return the log-odds that a witness gives clauses, the mean over the forms of their words."""
    forms = [_forms(each.sentence) for each in clauses]
    rows = iter(witness.odds([each for some in forms for each in some]))
    found = []
    for clause, some in zip(clauses, forms, strict=True):
        same = np.array([_is_same(clause, each) for each in witness.meanings])
        found.append(_log_odds(np.array([next(rows)[same].sum() for _ in some])).mean())
    return np.array(found)


def _is_same(clause: Clause, meaning: str) -> bool:
    """Return whether a meaning is a clause's, or another bound of what that limits."""
    field = clause.parts.bounded
    if field and MEANINGS[meaning].bounded == field:
        return True
    return with_vickrey_alone(replace(clause, meaning=meaning)).meaning == clause.meaning


def _log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log((probability + _LEAST_ODDS) / (1.0 - probability + _LEAST_ODDS))


def _forms(sentence: str) -> list[str]:
    """Return a sentence; a short one also with a period, or without: people write both."""
    if len(sentence.split()) > _SHORT:
        return [sentence]
    bare = sentence.rstrip(".! ")
    return [sentence, f"{bare}." if bare == sentence else bare]


def load_judging_reader(judge: Judge | None = None) -> JudgingReader:
    """Load the reader that the package uses; each of its three has an encoder of its own.

    The witnesses are the third, which learnt what only sounds like a demand, too, and also reads
    whole sentences, and one that goes by the words alone.

    Args:
        judge: That of the package if None.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    whole, words, wary = (
        load_reader(packaged_reader(name), sides=True)
        for name in ("reader", "words_reader", "wary_reader")
    )
    reader = SplittingReader(SurerReader(whole, wary), words)
    return JudgingReader(reader, (wary, WordOdds.load(WORDS)), judge or Judge.load(JUDGE))
