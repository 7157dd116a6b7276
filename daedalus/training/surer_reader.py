"""A reader of briefs that takes each sentence as the surer of two does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.readers import Reader


@dataclass(frozen=True)
class SurerReader:
    """Reads whole sentences.

    Attributes:
        first: It gives a sentence one meaning, and is taken where both are equally sure.
        second: It gives a sentence one meaning, too.
    """

    first: Reader
    second: Reader

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return for each sentence the clause of which its reader is surer, in doubt or not."""
        both = zip(self.first.clauses(sentences), self.second.clauses(sentences), strict=True)
        return [max(pair, key=lambda each: each.confidence) for pair in both]
