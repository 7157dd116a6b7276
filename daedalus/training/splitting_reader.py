"""A reader of briefs that takes a sentence as a whole or in parts, as it is surer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import other_sides, with_direction_checked
from daedalus.design.briefs.named import BESIDE, can_be_used, named_and_not_read
from daedalus.design.briefs.opposites import with_words_checked
from daedalus.design.briefs.ranges import range_in
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.terms import term_in, with_vickrey_alone

# Chosen, as is the least confidence, on sellers' briefs in files with ``dev`` in their names, and
# on the second writer's sentences.
_LEAD, _HINT = 0.4, 0.5
_SUREST = 0.99  # of two who agree: they learnt from the same writers, and may err together


@dataclass(frozen=True)
class SplittingReader:
    """Reads sentences that ask for one thing or for several.

    Attributes:
        whole: It gives a sentence one meaning.
        words: It gives each word one.
    """

    whole: Reader
    words: Reader

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the clauses of the surer reader, sentence by sentence.

        Where both find one and the same meaning, and one is at least 0.5 sure of it, each makes the
        other surer; if their amounts differ, that of the words counts. A whole in doubt is never
        taken. Where the words ask for several things, it must be surer by 0.4 than they are of the
        least sure one. What a sentence may ask for beside that is in doubt: a part of which the
        words are at least 0.5 sure, and what it names. So is an amount that is bounded from the
        other side than was read.
        """
        found: list[Clause] = []
        for whole, sentence in zip(self.whole.clauses(sentences), sentences, strict=True):
            parts = [term_in(each, sentence) or each for each in self.words.clauses([sentence])]
            taken = _surer(whole, parts)
            taken = [*taken, *_left_out(taken, parts)]
            taken = [*map(with_vickrey_alone, taken)]
            found += [*map(_checked, taken), *named_and_not_read(sentence, taken)]
            found += other_sides([each for each in taken if not range_in(each.sentence)])
        return found


def _checked(clause: Clause) -> Clause:
    if range_in(clause.sentence):
        return clause
    return with_words_checked(with_direction_checked(clause))


def _surer(whole: Clause, parts: list[Clause]) -> list[Clause]:
    asking = [each for each in parts if not each.parts.is_nothing]
    meanings = {each.meaning for each in asking}
    if meanings == {whole.meaning} and not whole.doubt:
        if {each.amount for each in asking} != {whole.amount}:
            return parts  # they know beside which words the amount stands
        if max(each.confidence for each in (whole, *asking)) >= _HINT:
            return [replace(whole, confidence=_of_two(whole, asking))]
    several = len(meanings) > 1
    least = min((each.confidence for each in asking), default=max(e.confidence for e in parts))
    surer = whole.confidence >= least + (_LEAD if several else 0.0)
    return [whole] if surer and not whole.doubt else parts


def _of_two(whole: Clause, asking: Sequence[Clause]) -> float:
    """Return how sure two readers are who agree, as if they erred apart."""
    sure = max(each.confidence for each in asking)
    return min(1.0 - (1.0 - whole.confidence) * (1.0 - sure), max(_SUREST, whole.confidence, sure))


def _left_out(taken: Sequence[Clause], parts: Sequence[Clause]) -> Iterator[Clause]:
    """Yield the parts that ask for something that was not taken, in doubt."""
    if len(parts) == 1 or not any(can_be_used(each) for each in taken):
        return
    about = {each.meaning for each in taken}
    for part in parts:
        if part.meaning not in about and part.confidence >= _HINT and not part.parts.is_nothing:
            yield replace(part, doubt=part.fault or BESIDE)
