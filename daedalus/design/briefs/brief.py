"""Briefs with their true meaning, and the JSON-lines files that hold them."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
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
from daedalus.market.mechanism import MechanismError, mechanism_from_mapping, shown
from daedalus.market.parsing import RepeatedKeyError, unique_keys

_REQUIRED = ("id", "brief", "population")
_KNOWN = (*_REQUIRED, "reward", "allowed", "floors", "told_population", "clauses", "scale")
_MOST_WEIGHT, _MOST_END = 1e6, 1e9  # no goal needs more, and what is larger may overflow


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
        place: File and line in which it stands; empty if in none.

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
    place: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.told_population, str):
            raise ValueError(f"told_population: {shown(self.told_population)}; give a name")
        texts = {"id": self.id, "brief": self.text, "population": self.population}
        for name, given in texts.items():
            if not isinstance(given, str) or not given.strip():
                raise ValueError(f"{name}: {shown(given)}; give a text that is not empty")
        _check_terms("reward", self.reward, _MOST_WEIGHT)
        if not any(self.reward.values()):
            raise ValueError("reward: no term has a weight above 0; give one")
        _check_terms("floors", self.floors, 1)

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


def read_briefs(path: Path, market: Callable[[str], object] | None = None) -> list[Brief]:
    """Return the briefs of a JSON-lines file: one object for each line, see ``brief_from``.

    Args:
        path: The file.
        market: Opens the market of bidders, by their name; it raises an error if there are none.

    Raises:
        BriefError: The file is not there, is empty or has a line that is no brief or cannot be
            played, or two of the same id.
    """
    try:
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    except OSError as error:
        raise BriefError(
            f"briefs: {path} cannot be read ({error}); give a JSON-lines file"
        ) from None
    found: dict[str, Brief] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            brief = replace(brief_from(_row(line)), place=place)
            if market:
                market(brief.population)
                market(brief.known_population)
        except ValueError as error:
            raise BriefError(f"{place}: {error}") from None
        if brief.id in found:
            raise BriefError(f"{place}: id {shown(brief.id)} stands twice; give another")
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
        raise ValueError(f'{shown(row)} is no object; write {{"id": …, "brief": …}}')
    for name in row:
        if name not in _KNOWN:
            raise ValueError(f"no key {shown(name)}; the keys are {', '.join(_KNOWN)}")
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
        scale=_scale(row, allowed),
    )


def _clauses(row: Mapping[str, Any], allowed: Mapping[str, Allowed]) -> tuple[str, ...]:
    given = row.get("clauses", [])
    named = isinstance(given, list) and all(isinstance(each, str) for each in given)
    if not named or any(each.partition(" ")[0] not in MEANINGS for each in given):
        raise ValueError(f"clauses: {shown(given)}; give a list of meanings, or leave it out")
    _require_agreement(understand([_clause(each) for each in given]), allowed)
    return tuple(given)


def _clause(written: str) -> Clause:
    """Return the clause of a meaning and its amount; its sentence is what was written."""
    name, _, amount = written.partition(" ")
    try:
        found = Clause(name, float(amount) if amount else None, written)
    except ValueError:
        raise ValueError(f"clauses: {shown(written)}; write its amount as a number") from None
    if found.parts.settable and found.fault:
        raise ValueError(f"clauses: {shown(written)}; {found.fault}")
    return found


def _require_agreement(clauses: Understanding, allowed: Mapping[str, Allowed]) -> None:
    """Refuse clauses that contradict each other, or what the line allows."""
    for each in clauses.contradictions:
        first, second = each.first.sentence, each.second.sentence
        raise ValueError(
            f"clauses: {shown(first)} excludes {shown(second)} ({each.about}); leave one of them "
            "out"
        )
    for name, rule in clauses.allowed.items():
        if name in allowed and both_allow(rule, allowed[name]) is None:
            ruled = [c for c in clauses.clauses if name in rules_of(c, clauses.population)]
            named = ", ".join(shown(each.sentence) for each in ruled)
            raise ValueError(f"allowed.{name}: it excludes {named} of clauses; change one of them")


def _scale(row: Mapping[str, Any], allowed: Mapping[str, Allowed]) -> BriefScale | None:
    given = _mapping(row, "scale")
    if not given:
        return None
    if set(given) != {"floor", "ceiling", "mechanism"} or not _are_ends(given):
        raise ValueError(
            "scale: give floor, ceiling above it (both from -1e9 to 1e9) and mechanism, or leave "
            "it out to have it measured"
        )
    try:
        Goal({}, allowed).require(mechanism_from_mapping(given["mechanism"]))
    except MechanismError as error:
        raise ValueError(f"scale.mechanism.{error}") from None
    return BriefScale(**given)


def _are_ends(scale: Mapping[str, Any]) -> bool:
    ends = (scale["floor"], scale["ceiling"])
    if not all(_is_number(each, -_MOST_END, _MOST_END) for each in ends):
        return False
    return ends[0] < ends[1] and isinstance(scale["mechanism"], dict)


def _mapping(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    given = row.get(name, {})
    if not isinstance(given, dict):
        raise ValueError(f"{name}: {shown(given)}; give an object, by name")
    return given


def _check_terms(name: str, given: Mapping[str, Any], most: float) -> None:
    for term, number in given.items():
        if term not in MARKET_TERMS:
            raise ValueError(
                f"{name}: no term {shown(term)}; choose from {', '.join(MARKET_TERMS)}"
            )
        if not _is_number(number, 0, most):
            raise ValueError(f"{name}.{term}: {shown(number)}; give a number from 0 to {most:,.0f}")


def _is_number(value: Any, low: float, high: float) -> bool:
    """Return whether a value is a number within a range, which neither a flag nor NaN ever is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and low <= value <= high


def _row(line: bytes) -> object:
    """Return what a line says.

    Raises:
        ValueError: It is no JSON, or no JSON that can be read; the message says why.
    """
    try:
        row = json.loads(line.decode(), object_pairs_hook=unique_keys)
        json.dumps(row, ensure_ascii=False).encode()  # else a table would fail after the search
        return row
    except UnicodeEncodeError:
        why = "a \\ud… escape without its other half; write the character itself"
    except UnicodeDecodeError as error:
        why = f"no UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
    except json.JSONDecodeError as error:
        why = f"no JSON ({error.msg} at column {error.colno}); write one object for each line"
    except RepeatedKeyError as error:
        why = f"{error}; write it once"
    except RecursionError:
        why = "nested too deeply; write one object of the known keys"
    except ValueError:
        why = "a number has thousands of digits; write fewer"
    raise ValueError(why)
