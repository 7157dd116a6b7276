"""Draws briefs: clauses that fit together, a wording for each, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from daedalus.design.briefs.amounts import written
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.design.briefs.meanings import MEANINGS, NOTHING, TRAINED_KINDS, USUAL, kind
from daedalus.design.briefs.readers import sentences_of
from daedalus.design.briefs.splits import TRAINING_BRIEFS
from daedalus.design.briefs.wordings import Writer, minimal_pairs, near_misses, wordings
from daedalus.market.seeds import generator

SEED = 0
"""Seed of the frozen briefs."""
MOST_CLAUSES = 5
_UNSEEN_PAIRS = 14
_WORDINGS = 12  # of each meaning
_DISTRACTED = 0.25  # share of briefs with a sentence that asks for nothing
_RINGS = 0.5  # share of conditions on a ring that meet one
_CONDITION, _RING_TOLD = "conditional", "fact/ring"

KINDS = tuple(each for each in TRAINED_KINDS if each != kind(NOTHING))
"""Types of clauses that train."""
NEW_KINDS = tuple(
    dict.fromkeys(
        kind(name) for name, each in MEANINGS.items() if each.settable and not each.trained
    )
)
"""Types of clauses that never train."""


def unseen_pairs() -> frozenset[frozenset[str]]:
    """Return pairs of types that never stand together in a training brief."""
    pairs = [frozenset(pair) for pair in combinations(KINDS, 2)]
    rng = generator(SEED, "briefs/unseen pairs")
    return frozenset(pairs[each] for each in rng.permutation(len(pairs))[:_UNSEEN_PAIRS])


@dataclass(frozen=True)
class Split:
    """How the briefs of a file are drawn.

    Attributes:
        name: Name of the file.
        size: Number of briefs.
        writer: Whose sentences they use.
        new_kind: Whether each has a type of clause that never trains.
        new_pair: Whether each has a pair of types that never trains together.
        distractors: Number of sentences that ask for nothing; None draws 0 or 1.
        contrary: Whether each tells of other bidders than those whose records the designer sees.
    """

    name: str
    size: int = 300
    writer: Writer = "first"
    new_kind: bool = False
    new_pair: bool = False
    distractors: int | None = None
    contrary: bool = False


TRAINING = Split("training", size=TRAINING_BRIEFS)
TEST_SPLITS = (
    Split("same"),
    Split("wordings", writer="second"),
    Split("compositions", new_pair=True),
    Split("kinds", new_kind=True),
    Split("distractors", distractors=3),
    Split("contradictions", contrary=True),
)
"""What is tested beside minimal pairs."""

Fits = Callable[[Brief], Brief | None]
"""Returns the brief, perhaps with its scale, or None if it cannot be used."""


def training_briefs() -> Iterator[Brief]:
    """Yield the briefs that train. No test has one of their texts."""
    return draw_split(TRAINING, lambda brief: brief)


def draw_split(split: Split, fits: Fits, taken: frozenset[str] = frozenset()) -> Iterator[Brief]:
    """Yield the briefs of a split that fit, in order; the same each time.

    They may not have the texts that are taken.
    """
    rng = generator(SEED, f"briefs/{split.name}")
    number, texts = 0, set(taken)
    while number < split.size:
        brief = _draw(split, f"{split.name}-{number:04}", rng)
        fitting = fits(brief) if brief and brief.text not in texts else None
        if fitting:
            number += 1
            texts.add(fitting.text)
            yield fitting


def draw_pairs(count: int, fits: Fits, taken: frozenset[str] = frozenset()) -> Iterator[Brief]:
    """Yield minimal pairs: two briefs of equal sentences, but for one or two words or an amount.

    Args:
        count: Number of pairs.
        fits: See ``draw_split``; both of a pair must fit.
        taken: Texts that neither may have.
    """
    rng = generator(SEED, "briefs/pairs")
    number, texts = 0, set(taken)
    while number < count:
        drawn = [each for each in _pair(number, rng) if each.text not in texts]
        both = [fitting for each in drawn if (fitting := fits(each))]
        if len(both) == 2:
            number += 1
            texts.update(each.text for each in both)
            yield from both


def shown_by(brief: Brief, most: int | None) -> bool:
    """Return whether all sentences of a brief are of the first ``most`` wordings of twelve.

    The brief has the first writer's sentences, with their meanings. None is all wordings.
    """
    if most is None:
        return True
    return all(
        any(_fills(each, sentence) for each in _first(meaning.partition(" ")[0], most))
        for meaning, sentence in zip(brief.clauses, sentences_of(brief.text), strict=True)
    )


def _first(meaning: str, most: int) -> Sequence[str]:
    texts = wordings()[meaning]
    return texts[: most * len(texts) // _WORDINGS]


def _fills(text: str, sentence: str) -> bool:
    before, _, after = text.lower().partition("{x}")
    return sentence.lower().startswith(before) and sentence.lower().endswith(after)


def brief_of(name: str, clauses: Sequence[Clause], told_population: str = USUAL) -> Brief | None:
    """Return the brief of clauses in this order; None if they exclude each other."""
    understood = understand(clauses)
    if understood.contradictions or understood.unread:
        return None
    population = understood.population or told_population
    return Brief(
        id=name,
        text=" ".join(each.sentence for each in clauses),
        population=population,
        reward=understood.reward,
        allowed=understood.allowed,
        floors=understood.floors,
        told_population=told_population,
        clauses=tuple(label(each) for each in clauses),
    )


def label(clause: Clause) -> str:
    """Return a clause's meaning, and its amount if it has one, as files of briefs write it."""
    return clause.meaning if clause.amount is None else f"{clause.meaning} {clause.amount:g}"


def clause_of(meaning: str, text: str, rng: np.random.Generator) -> Clause:
    """Return a clause in a wording, with an amount drawn if its meaning takes one."""
    if "{x}" not in text:
        return Clause(meaning, None, text)
    amount = float(rng.choice(MEANINGS[meaning].amounts))
    return Clause(meaning, amount, _filled(text, written(amount, rng)))


def _filled(text: str, amount: str) -> str:
    filled = text.replace("{x}", amount)
    return filled[0].upper() + filled[1:]


def _draw(split: Split, name: str, rng: np.random.Generator) -> Brief | None:
    kinds = _kinds(split, rng)
    held_out = any(frozenset(pair) in unseen_pairs() for pair in combinations(kinds, 2))
    if held_out != split.new_pair:
        return None
    texts = wordings(split.writer)
    clauses = []
    for each in kinds:
        meets = each == "fact" and _CONDITION in kinds
        meaning = _RING_TOLD if meets else _any_of(each, rng)
        clauses.append(clause_of(meaning, str(rng.choice(texts[meaning])), rng))
    clauses += _distractors(split, rng)
    order = rng.permutation(len(clauses))
    told = _told(split, understand(clauses), rng)
    return brief_of(name, [clauses[place] for place in order], told)


def _any_of(each: str, rng: np.random.Generator) -> str:
    return str(rng.choice([meaning for meaning in MEANINGS if kind(meaning) == each]))


def _kinds(split: Split, rng: np.random.Generator) -> list[str]:
    """Return the types of a brief's clauses."""
    least = 2 if split.new_pair else 1
    count = int(rng.integers(least, MOST_CLAUSES + 1))
    chosen = [str(each) for each in rng.choice(KINDS, size=count, replace=False)]
    if split.new_kind:
        chosen[0] = str(rng.choice(NEW_KINDS))
    if split.contrary:
        chosen = ["fact", *_but_facts(chosen)][:MOST_CLAUSES]
    if _CONDITION in chosen:
        told = ["fact"] if rng.random() < _RINGS else []
        chosen = [*_but_facts(chosen)[: MOST_CLAUSES - 1], *told]
    return chosen


def _but_facts(kinds: Sequence[str]) -> list[str]:
    return [each for each in kinds if each != "fact"]


def _distractors(split: Split, rng: np.random.Generator) -> list[Clause]:
    if split.distractors is None:
        count = int(rng.random() < _DISTRACTED)
        pool = wordings(split.writer)[NOTHING]
    else:
        count = split.distractors
        pool = (*wordings("second")[NOTHING], *near_misses())
    chosen = rng.choice(len(pool), size=count, replace=False)
    return [Clause(NOTHING, None, pool[each]) for each in chosen]


def _told(split: Split, understood: Understanding, rng: np.random.Generator) -> str:
    """Return the bidders whose records the designer sees."""
    if not split.contrary:
        return USUAL
    others = {each.population for each in MEANINGS.values() if each.population}
    return str(rng.choice(sorted(others - {understood.population})))


def _pair(number: int, rng: np.random.Generator) -> list[Brief]:
    """Return both briefs of a pair; fewer if the draw does not suit."""
    first, second = _twins(rng)
    around = _around({kind(first.meaning), kind(second.meaning)}, rng)
    if first.meaning == NOTHING or second.meaning == NOTHING:
        around = around or _around(set(), rng, least=1)
    place = int(rng.integers(len(around) + 1))
    found = []
    for letter, clause in zip("ab", (first, second), strict=True):
        name = f"pairs-{number:04}{letter}"
        brief = brief_of(name, [*around[:place], clause, *around[place:]])
        found += [brief] if brief else []
    return found


def _twins(rng: np.random.Generator) -> tuple[Clause, Clause]:
    """Return two clauses that differ in little: words of the third writer, or the amount alone."""
    if rng.random() < 0.7:
        a, a_text, b, b_text = minimal_pairs()[int(rng.integers(len(minimal_pairs())))]
        state = int(rng.integers(2**32))  # the same amount in both
        return (
            clause_of(a, a_text, np.random.default_rng(state)),
            clause_of(b, b_text, np.random.default_rng(state)),
        )
    bounded = [name for name, each in MEANINGS.items() if each.takes_amount and each.trained]
    meaning = str(rng.choice(bounded))
    text = str(rng.choice(wordings()[meaning]))
    amounts = rng.choice(MEANINGS[meaning].amounts, size=2, replace=False)
    state = int(rng.integers(2**32))
    first, second = (
        Clause(meaning, float(each), _filled(text, written(each, np.random.default_rng(state))))
        for each in amounts
    )
    return first, second


def _around(taken: set[str], rng: np.random.Generator, least: int = 0) -> list[Clause]:
    free = [each for each in KINDS if each not in taken]
    chosen = rng.choice(free, size=int(rng.integers(least, 3)), replace=False)
    clauses = []
    for each in chosen:
        meaning = _any_of(each, rng)
        clauses.append(clause_of(meaning, str(rng.choice(wordings()[meaning])), rng))
    return clauses
