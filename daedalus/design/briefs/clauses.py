"""Clauses of a brief: what each rules, what they ask for together, and what excludes what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from daedalus.design.briefs.meanings import MEANINGS, PENALTIES, RING, Meaning
from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import RANGES

MAIN_SHARE = 0.7
"""Weight of the main aim where another one counts too."""

_POINTS = (
    "Fines are read in points, not in money: by default a point is a quarter of the top value for "
    "false names and walking away, and all of it for rings."
)


@dataclass(frozen=True)
class Clause:
    """A sentence and its meaning.

    Attributes:
        meaning: One of ``MEANINGS``.
        amount: What the sentence names, if the meaning takes an amount.
        sentence: The sentence; empty if it is not at hand.
        confidence: How sure the reader is, from 0 to 1; 0 if no reader took the sentence.
        doubt: Why it should not be used though its meaning is named; empty if it may.
    """

    meaning: str
    amount: float | None = None
    sentence: str = ""
    confidence: float = 1.0
    doubt: str = ""

    @property
    def parts(self) -> Meaning:
        """Return what the meaning changes."""
        return MEANINGS[self.meaning]

    @property
    def fault(self) -> str:
        """Return why the sentence cannot be a rule, in words; empty if it can."""
        meaning = self.parts
        if self.doubt:
            return self.doubt
        if not meaning.settable:
            return "it was taken for a wish that no setting expresses; else word it otherwise"
        if not meaning.takes_amount:
            return ""
        if self.amount is None:
            return "it names no amount"
        low, high = RANGES[meaning.bounded] if meaning.bounded else (0.0, 1.0)
        if not low <= self.amount <= high:
            name = meaning.bounded or meaning.floor
            return f"it names {self.amount:g}; {name} is from {low:g} to {high:g}"
        return ""


@dataclass(frozen=True)
class Contradiction:
    """Two clauses that cannot both be kept.

    Attributes:
        first: The clause that stands first.
        second: The other one, which is left out.
        about: What they rule: a field of the mechanism, the aim, or the bidders.
    """

    first: Clause
    second: Clause
    about: str

    def __str__(self) -> str:
        """Return both sentences and what they are about."""
        return f"{self.about}: “{self.first.sentence}” excludes “{self.second.sentence}”"


@dataclass(frozen=True)
class Reading:
    """What became of a sentence.

    Attributes:
        clause: The sentence and its meaning.
        use: Whether it is used, cannot be, is excluded by an earlier one, or asks for nothing.
        says: What it asks for in terms of the market, or why it is not used.
    """

    clause: Clause
    use: Literal["used", "unused", "excluded", "idle"]
    says: str


@dataclass(frozen=True)
class Understanding:
    """What a brief asks for.

    Attributes:
        reward: Weights of reward terms, of sum 1.
        allowed: What restricted fields of the mechanism may be, see ``Goal``.
        floors: Least means of reward terms.
        population: The bidders that the brief tells of; empty if it tells of none.
        clauses: The sentences that count, in order.
        idle: Sentences that ask for nothing.
        unread: Sentences that ask for something, but could not be used, each with the reason.
        contradictions: Pairs of sentences of which the second was left out.
        sentences: All sentences, in order.
    """

    reward: Mapping[str, float] = field(default_factory=lambda: {"composite": 1.0})
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    population: str = ""
    clauses: tuple[Clause, ...] = ()
    idle: tuple[Clause, ...] = ()
    unread: tuple[tuple[Clause, str], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    sentences: tuple[Clause, ...] = ()

    @property
    def readings(self) -> list[Reading]:
        """Return what became of each sentence, in order."""
        return [self._reading(each) for each in self.sentences]

    def _reading(self, clause: Clause) -> Reading:
        if clause in self.clauses:
            return Reading(clause, "used", says(clause, self.population))
        if clause in self.idle:
            return Reading(clause, "idle", "asks for nothing")
        for each in self.contradictions:
            if each.second == clause:
                why = f"it contradicts “{each.first.sentence}” ({each.about})"
                return Reading(clause, "excluded", why)
        return Reading(clause, "unused", clause.fault)

    @property
    def notes(self) -> list[str]:
        """Return what else a reader of the answer should know, in sentences."""
        on_ring = any(each.parts.on_ring for each in self.clauses) and not self.population
        nothing = "No rule, aim or fact was found: only R counts, and all may be set."
        no_ring = "A condition was read as: no ring, since the brief tells of none."
        fined = any(each.parts.bounded in PENALTIES and each.amount for each in self.clauses)
        return [nothing] * (not self.clauses) + [no_ring] * on_ring + [_POINTS] * fined

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each sentence that was not used, with the reason."""
        named = [f"“{each.sentence}” is not used: {reason}" for each, reason in self.unread]
        return [*named, *(f"the second is not kept; {each}" for each in self.contradictions)]

    @property
    def warnings_in_play(self) -> list[str]:
        """Return ``warnings``, ``notes``, and each floor: no step can keep a mean of many."""
        floors = [
            f"a mean {name} of at least {least:g} was understood, but restricts nothing in play"
            for name, least in self.floors.items()
        ]
        return [*self.warnings, *self.notes, *floors]

    def goal(self, brief: str = "") -> Goal:
        """Return weights and what may be set as a goal; floors are no part of it."""
        return Goal(self.reward, self.allowed, brief)

    @property
    def key(self) -> str:
        """Return a text that is the same for those that ask for the same."""
        total = sum(self.reward.values())
        weights = {name: round(each / total, 6) for name, each in self.reward.items() if each}
        allowed = {
            name: each if isinstance(each, Between) else tuple(sorted(each, key=str))
            for name, each in self.allowed.items()
        }
        floors = {name: float(each) for name, each in self.floors.items()}
        parts = [sorted(each.items()) for each in (weights, allowed, floors)]
        return repr([*parts, self.population])

    def same_as(self, other: Understanding) -> bool:
        """Return whether both ask for the same, whatever the sentences were."""
        return self.key == other.key


def rules_of(clause: Clause, population: str) -> dict[str, Allowed]:
    """Return what a clause without ``fault`` allows, by field.

    What a conditional clause allows depends on the bidders that its brief tells of.
    """
    meaning = clause.parts
    if meaning.on_ring and population != RING:
        return {meaning.bounded: (0.0,)}
    rules = dict(meaning.allowed)
    if meaning.bounded and clause.amount is not None:
        rules[meaning.bounded] = meaning.range_of(clause.amount)
    return rules


def says(clause: Clause, population: str) -> str:
    """Return what a clause asks for in terms of the market, such as *reserve_price: 0.2 to 0.9*.

    See ``rules_of``.
    """
    meaning = clause.parts
    parts = [f"{name}: {_in_words(each)}" for name, each in rules_of(clause, population).items()]
    parts += [f"most of all: {meaning.aim}"] * bool(meaning.aim)
    parts += [f"counts too: {meaning.also}"] * bool(meaning.also)
    parts += [f"bidders: population={meaning.population}"] * bool(meaning.population)
    if meaning.floor:
        parts.append(f"mean {meaning.floor} at least {clause.amount:g}")
    return ", ".join(parts) or "asks for nothing"


def _in_words(allowed: Allowed) -> str:
    if isinstance(allowed, Between):
        return f"{allowed.low:g}" + f" to {allowed.high:g}" * (allowed.low < allowed.high)
    return " or ".join(str(each).lower() for each in allowed)


def understand(clauses: Sequence[Clause]) -> Understanding:
    """Put the clauses of a brief together.

    A clause that excludes an earlier one is left out and named in ``contradictions``. One without a
    usable amount is named in ``unread``.
    """
    wanted = [each for each in clauses if each.doubt or not each.parts.is_nothing]
    usable = [each for each in wanted if not each.fault]
    unread = tuple((each, each.fault) for each in wanted if each.fault)
    found = _Builder()
    facts = sorted(usable, key=lambda each: not each.parts.population)  # conditions need facts
    for each in facts:
        found.add(each)
    kept = tuple(each for each in usable if each in found.kept)
    idle = tuple(each for each in clauses if each not in wanted)
    read = tuple(clauses)
    return replace(found.result(), clauses=kept, idle=idle, unread=unread, sentences=read)


class _Builder:
    """Collects the parts of an ``Understanding``, clause by clause."""

    def __init__(self) -> None:
        self.aim: dict[str, Clause] = {}
        self.also: dict[str, Clause] = {}
        self.rules: dict[str, Allowed] = {}
        self.owners: dict[str, list[tuple[Allowed, Clause]]] = defaultdict(list)
        self.floors: dict[str, float] = {}
        self.population: dict[str, Clause] = {}
        self.kept: list[Clause] = []
        self.contradictions: list[Contradiction] = []

    def add(self, clause: Clause) -> None:
        """Take a clause, or note that it excludes an earlier one."""
        meaning = clause.parts
        named = (
            (self.population, meaning.population, "the bidders"),
            (self.aim, meaning.aim, "the aim"),
        )
        for stored, name, about in named:
            if name and stored and name not in stored:
                return self._note(next(iter(stored.values())), clause, about)
        rules = rules_of(clause, next(iter(self.population), ""))
        for name, allowed in rules.items():
            if name in self.rules and both_allow(self.rules[name], allowed) is None:
                return self._note(self._opposed(name, allowed), clause, name)
        self._take(clause, rules)
        return None

    def _take(self, clause: Clause, rules: Mapping[str, Allowed]) -> None:
        meaning = clause.parts
        for stored, name in (
            (self.population, meaning.population),
            (self.aim, meaning.aim),
            (self.also, meaning.also),
        ):
            if name:
                stored.setdefault(name, clause)
        for name, allowed in rules.items():
            both = both_allow(self.rules[name], allowed) if name in self.rules else allowed
            assert both is not None
            self.rules[name] = both
            self.owners[name].append((allowed, clause))
        if meaning.floor and clause.amount is not None:
            self.floors[meaning.floor] = max(clause.amount, self.floors.get(meaning.floor, 0.0))
        self.kept.append(clause)

    def _opposed(self, name: str, allowed: Allowed) -> Clause:
        """Return the first clause that alone excludes what another allows, or else the last."""
        owners = self.owners[name]
        alone = (each for rule, each in owners if both_allow(rule, allowed) is None)
        return next(alone, owners[-1][1])

    def _note(self, first: Clause, second: Clause, about: str) -> None:
        self.contradictions.append(Contradiction(first, second, about))

    def result(self) -> Understanding:
        """Return the parts together."""
        return Understanding(
            reward=_weights(next(iter(self.aim), "composite"), list(self.also)),
            allowed=dict(sorted(self.rules.items())),
            floors=dict(sorted(self.floors.items())),
            population=next(iter(self.population), ""),
            contradictions=tuple(self.contradictions),
        )


def _weights(main: str, others: Sequence[str]) -> dict[str, float]:
    """Return the main aim's weight and what the others share."""
    others = [each for each in others if each != main]
    if not others:
        return {main: 1.0}
    share = round((1.0 - MAIN_SHARE) / len(others), 4)
    return {main: MAIN_SHARE} | dict.fromkeys(sorted(others), share)


def both_allow(first: Allowed, second: Allowed) -> Allowed | None:
    """Return what both rules of a field allow; None if that is nothing."""
    if isinstance(first, Between) and isinstance(second, Between):
        low, high = max(first.low, second.low), min(first.high, second.high)
        return Between(low, high) if low <= high else None
    if isinstance(first, Between):
        first, second = second, first
    common = tuple(each for each in first if _admits(second, each))
    return common or None


def _admits(allowed: Allowed, value: Any) -> bool:
    if isinstance(allowed, Between):
        return bool(allowed.low <= value <= allowed.high)
    return value in allowed
