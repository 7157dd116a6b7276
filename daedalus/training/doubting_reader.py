"""The package's reader of briefs: what only sounds like a demand is put in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import NOTHING, OTHER
from daedalus.design.briefs.named import can_be_used
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.terms import term_of, with_vickrey_alone
from daedalus.design.briefs.wordings import packaged_reader
from daedalus.training.splitting_reader import SplittingReader
from daedalus.training.surer_reader import SurerReader
from daedalus.training.tuned_reader import load_reader

NO_DEMAND = "it may ask for nothing that can be set; say otherwise what you want"
"""Why a clause that a doubter takes for none is not used."""
ELSE = "it may ask for something else; say it in other words"
"""Why a clause that a doubter takes for another one is not used."""

# Chosen among six on the files with ``dev``: of 1,157 demands read without it 1,141 stay.
_SURE_OF_NONE, _SURE_OF_ANOTHER = 0.6, 0.55
_SHORT = 7  # words, as the orders have that it learnt, most of them without a period


@dataclass(frozen=True)
class DoubtingReader:
    """Reads as another reader does, but for clauses that a doubter takes for something else.

    Terms of the trade, such as "No reserve.", need no reader.

    Attributes:
        reader: It finds the demands of a sentence.
        doubter: It learnt what only sounds like a demand, too. It counts where it takes the words
            of a clause for no demand, and is at least 0.6 sure, or for another one, and is at least
            0.55 sure. It does not doubt floors: plain ones it took for nothing.
    """

    reader: Reader
    doubter: Reader

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the reader's clauses, in doubt where the doubter finds something else."""
        found: list[Clause] = []
        for known, given in groupby(sentences, lambda each: term_of(each) is not None):
            some = [*given]
            found += filter(None, map(term_of, some)) if known else self.reader.clauses(some)
        doubts = iter(self._doubts([each for each in found if _may_err(each)]))
        return [replace(each, doubt=next(doubts)) if _may_err(each) else each for each in found]

    def _doubts(self, clauses: Sequence[Clause]) -> list[str]:
        """Return why each clause is in doubt; empty if it is not."""
        forms = [_forms(each.sentence) for each in clauses]
        read = self.doubter.clauses([each for some in forms for each in some])
        assert len(read) == sum(map(len, forms))  # one for each: the doubter takes sentences whole
        one = iter(read)
        return [
            next(filter(None, [_doubt(clause, next(one)) for _ in some]), "")
            for clause, some in zip(clauses, forms, strict=True)
        ]


def _may_err(clause: Clause) -> bool:
    trusted = clause.parts.floor or clause == term_of(clause.sentence)
    return not trusted and can_be_used(clause)


def _forms(sentence: str) -> list[str]:
    """Return a sentence; a short one also with a period, or without: people write both."""
    if len(sentence.split()) > _SHORT:
        return [sentence]
    bare = sentence.rstrip(".! ")
    return [sentence, f"{bare}." if bare == sentence else bare]


def _doubt(clause: Clause, found: Clause) -> str:
    """Return why a clause is in doubt if a doubter finds another one; empty if it is not."""
    found = with_vickrey_alone(found)  # as the clause
    if found.meaning in (NOTHING, OTHER):
        return NO_DEMAND if found.confidence >= _SURE_OF_NONE else ""
    field = clause.parts.bounded  # another bound of it is no other demand: words tell the side
    same = found.meaning == clause.meaning or (field and found.parts.bounded == field)
    return "" if same or found.confidence < _SURE_OF_ANOTHER else ELSE


def load_doubting_reader() -> DoubtingReader:
    """Load the reader that the package uses; each of its three has an encoder of its own.

    That which doubts also reads whole sentences: it learnt more of what people type than the other.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    whole, words, doubter = (
        load_reader(packaged_reader(name), sides=True)
        for name in ("reader", "words_reader", "doubting_reader")
    )
    return DoubtingReader(SplittingReader(SurerReader(whole, doubter), words), doubter)
