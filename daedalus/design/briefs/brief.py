"""Briefs with their true meaning, and the JSON-lines files that hold them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from daedalus.design.briefs.clauses import (
    Clause,
    Understanding,
    both_allow,
    rules_of,
    understand,
)
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.rewards.terms import MARKET_TERMS
from daedalus.market.allowed import Allowed, read_allowed, written_allowed
from daedalus.market.goal import Goal
from daedalus.market.mechanism import MechanismError, mechanism_from_mapping
from daedalus.market.parsing import RepeatedKeyError, unique_keys

_REQUIRED = ("id", "brief", "population")
_KNOWN = (*_REQUIRED, "reward", "allowed", "floors", "told_population", "clauses", "scale")


class BriefError(ValueError):
    """A line of a file of briefs cannot be used. The message names the file and the line."""


@dataclass(frozen=True)
class BriefScale:
    """The ends of a brief's score, measured by ``scoring``.

    Attributes:
        floor: Objective of random allowed mechanisms, which scores 0.
        ceiling: Objective of a search that knows the true parts, which scores 1.
        mechanism: What that search found, by field.
    """

    floor: float
    ceiling: float
    mechanism: Mapping[str, Any]


@dataclass(frozen=True)
class Brief:
    """A brief, and what it truly asks for.

    Attributes:
        id: Its name, unique in a file.
        text: The sentences.
        population: Name of the bidders of the episode.
        reward: Weights of reward terms, what is to be maximised.
        allowed: What restricted fields of the mechanism may be, see ``Goal``.
        floors: Least means of reward terms.
        told_population: Name of the bidders that a designer without the brief expects; empty if
            these are the true ones.
        clauses: Meaning of each sentence, as ``TYPE/VALUE`` or ``TYPE/VALUE AMOUNT``, if known.
        scale: The ends of its score, if measured.

    Raises:
        ValueError: A part is not as described; the message says what to write.
    """

    id: str
    text: str
    population: str
    reward: Mapping[str, float] = field(default_factory=lambda: {"composite": 1.0})
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    told_population: str = ""
    clauses: tuple[str, ...] = ()
    scale: BriefScale | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.told_population, str):
            raise ValueError(f"told_population: {self.told_population!r}; give a name")
        for name in ("id", "text", "population"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                shown = "brief" if name == "text" else name
                raise ValueError(f"{shown}: {getattr(self, name)!r}; give a text that is not empty")
        _check_terms("reward", self.reward, lambda weight: 0 <= weight < math.inf, "0 up")
        if not any(self.reward.values()):
            raise ValueError("reward: no term has a weight above 0; give one")
        _check_terms("floors", self.floors, lambda least: 0 <= least <= 1, "0 to 1")

    @property
    def known_population(self) -> str:
        """Return the name of the bidders that a designer expects who has not read the brief."""
        return self.told_population or self.population

    @property
    def truth(self) -> Understanding:
        """Return what a perfect reader understands; of the bidders only what the brief tells."""
        told = self.population if self.population != self.known_population else ""
        return Understanding(self.reward, self.allowed, self.floors, told)

    @property
    def goal(self) -> Goal:
        """Return the true weights, rules and words."""
        return Goal(self.reward, self.allowed, self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return the line of a file, without the parts that are empty."""
        row: dict[str, Any] = {"id": self.id, "brief": self.text, "population": self.population}
        row |= {"reward": dict(self.reward), "allowed": written_allowed(self.allowed)}
        row |= {"floors": dict(self.floors), "told_population": self.told_population}
        row |= {"clauses": list(self.clauses)}
        if self.scale:
            row["scale"] = asdict(self.scale)
        return {name: each for name, each in row.items() if each not in ({}, [], "")}


def read_briefs(path: Path, check: Callable[[Brief], object] | None = None) -> list[Brief]:
    """Return the briefs of a JSON-lines file: one object for each line, see ``brief_from``.

    A check raises an error for a brief that cannot be played, such as one of unknown bidders.

    Raises:
        BriefError: The file is not there, is empty or has a line that is no brief or cannot be
            played, or two of the same id.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BriefError(
            f"briefs: {path} cannot be read ({error}); give a JSON-lines file"
        ) from None
    found: dict[str, Brief] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            brief = brief_from(json.loads(line, object_pairs_hook=unique_keys))
            if check:
                check(brief)
        except ValueError as error:
            raise BriefError(f"{path}, line {number}: {_sentence(error)}") from None
        if brief.id in found:
            raise BriefError(f"{path}, line {number}: id {brief.id!r} stands twice; give another")
        found[brief.id] = brief
    if not found:
        raise BriefError(f"briefs: {path} has no line; write one JSON object for each brief")
    return [*found.values()]


def write_briefs(briefs: Iterable[Brief], path: Path) -> None:
    """Write a JSON-lines file."""
    lines = [json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in briefs]
    path.write_text("".join(lines), encoding="utf-8")


def brief_from(row: object) -> Brief:
    """Return a brief from the JSON object of its line.

    Args:
        row: ``id``, ``brief`` and ``population``, and as needed ``reward`` ({term: weight}; R by
            default), ``allowed`` ({field: [values]} or {field: {"min": a, "max": b}}), ``floors``
            ({term: least}), ``told_population``, ``clauses`` and ``scale``.

    Raises:
        ValueError: A key is unknown or missing, a part is not as described, or clauses contradict
            each other or what is allowed.
    """
    if not isinstance(row, dict):
        raise ValueError(f'{str(row)[:40]!r} is no object; write {{"id": …, "brief": …}}')
    for name in row:
        if name not in _KNOWN:
            raise ValueError(f"no key {name!r}; the keys are {', '.join(_KNOWN)}")
    for name in _REQUIRED:
        if name not in row:
            raise ValueError(f"{name} is missing; give {', '.join(_REQUIRED)}")
    allowed = read_allowed(_mapping(row, "allowed"))
    return Brief(
        id=row["id"],
        text=row["brief"],
        population=row["population"],
        reward=_mapping(row, "reward") or {"composite": 1.0},
        allowed=allowed,
        floors=_mapping(row, "floors"),
        told_population=row.get("told_population", ""),
        clauses=_clauses(row, allowed),
        scale=_scale(row),
    )


def _clauses(row: Mapping[str, Any], allowed: Mapping[str, Allowed]) -> tuple[str, ...]:
    given = row.get("clauses", [])
    named = isinstance(given, list) and all(isinstance(each, str) for each in given)
    if not named or any(each.partition(" ")[0] not in MEANINGS for each in given):
        raise ValueError(f"clauses: {str(given)[:40]}; give a list of meanings, or leave it out")
    _require_agreement(understand([_clause(each) for each in given]), allowed)
    return tuple(given)


def _clause(written: str) -> Clause:
    """Return the clause of a meaning and its amount; its sentence is what was written."""
    name, _, amount = written.partition(" ")
    try:
        found = Clause(name, float(amount) if amount else None, written)
    except ValueError:
        raise ValueError(f"clauses: {written!r}; write its amount as a number") from None
    if found.parts.settable and found.fault:
        raise ValueError(f"clauses: {written!r}; {found.fault}")
    return found


def _require_agreement(clauses: Understanding, allowed: Mapping[str, Allowed]) -> None:
    """Refuse clauses that contradict each other, or what the line allows."""
    for each in clauses.contradictions:
        first, second = each.first.sentence, each.second.sentence
        raise ValueError(
            f"clauses: {first!r} excludes {second!r} ({each.about}); leave one of them out"
        )
    for name, rule in clauses.allowed.items():
        if name in allowed and both_allow(rule, allowed[name]) is None:
            ruled = [c for c in clauses.clauses if name in rules_of(c, clauses.population)]
            named = ", ".join(repr(each.sentence) for each in ruled)
            raise ValueError(f"allowed.{name}: it excludes {named} of clauses; change one of them")


def _scale(row: Mapping[str, Any]) -> BriefScale | None:
    given = _mapping(row, "scale")
    if not given:
        return None
    if set(given) != {"floor", "ceiling", "mechanism"} or not _are_ends(given):
        raise ValueError(
            "scale: give floor, ceiling above it and mechanism, or leave it out to have it measured"
        )
    try:
        mechanism_from_mapping(given["mechanism"])
    except MechanismError as error:
        raise ValueError(f"scale.mechanism.{error}") from None
    return BriefScale(**given)


def _are_ends(scale: Mapping[str, Any]) -> bool:
    ends = (scale["floor"], scale["ceiling"])
    if not all(isinstance(each, int | float) for each in ends):
        return False
    return ends[0] < ends[1] and isinstance(scale["mechanism"], dict)


def _mapping(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    given = row.get(name, {})
    if not isinstance(given, dict):
        raise ValueError(f"{name}: {str(given)[:40]}; give an object, by name")
    return given


def _check_terms(name: str, given: Mapping[str, Any], holds: Any, span: str) -> None:
    for term, number in given.items():
        if term not in MARKET_TERMS:
            raise ValueError(f"{name}.{term}: no such term; choose from {', '.join(MARKET_TERMS)}")
        if isinstance(number, bool) or not isinstance(number, int | float) or not holds(number):
            raise ValueError(f"{name}.{term}: {number!r}; give a number from {span}")


def _sentence(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON ({error.msg} at column {error.colno}); write one object for each line"
    if isinstance(error, RepeatedKeyError):
        return f"{error}; write it once"
    return str(error)
