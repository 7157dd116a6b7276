"""The package's reader of briefs: what only sounds like a demand is put in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import NOTHING, OTHER
from daedalus.design.briefs.named import can_be_used
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.wordings import packaged_reader
from daedalus.training.splitting_reader import SplittingReader
from daedalus.training.tuned_reader import load_reader

NO_DEMAND = "it may ask for nothing that can be set; say otherwise what you want"
"""Why a clause that a doubter takes for none is not used."""

# The least at which no demand of the files with ``dev`` is lost but one plain one.
_SURE = 0.85


@dataclass(frozen=True)
class DoubtingReader:
    """Reads as another reader does, but for clauses that a doubter surely takes for no demand.

    Attributes:
        reader: It finds the demands of a sentence.
        doubter: It learnt what only sounds like a demand, too. It counts only where its likeliest
            meaning of a clause's words is ``NOTHING`` or ``OTHER``, and it is at least 0.85 sure.
            It does not doubt facts about bidders, nor floors: plain ones it took for nothing.
    """

    reader: Reader
    doubter: Reader

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the reader's clauses, with a doubt at what the doubter takes for no demand."""
        return [self._doubted(each) for each in self.reader.clauses(sentences)]

    def _doubted(self, clause: Clause) -> Clause:
        trusted = clause.parts.population or clause.parts.floor
        if trusted or not can_be_used(clause):
            return clause
        (found,) = self.doubter.clauses([clause.sentence])
        no_demand = found.meaning in (NOTHING, OTHER) and found.confidence >= _SURE
        return replace(clause, doubt=NO_DEMAND) if no_demand else clause


def load_doubting_reader() -> DoubtingReader:
    """Load the reader that the package uses; each of its three has an encoder of its own.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    whole, words, doubter = (
        load_reader(packaged_reader(name), sides=True)
        for name in ("reader", "words_reader", "doubting_reader")
    )
    return DoubtingReader(SplittingReader(whole, words), doubter)
