"""Mechanisms that somebody submits, one for each episode and step: they are replayed and scored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms, shown
from daedalus.market.mechanism_table import MechanismRow, read_rows, require_columns
from daedalus.market.observation import Observation

_LEAST = {"episode": 0, "step": 1, "seed": 0}
_PLACE = ("episode", "step")
_INTEGER = re.compile(r"[0-9]{1,16}")


@dataclass
class SubmissionSettings(DesignerSettings):
    """Settings of a submission.

    Attributes:
        file: The table, see ``read_submission``. A run's steps.csv is one. Its populations are
            where it plays; without a column ``population`` it plays everywhere.
        of: Name of the designer in the table whose rows are replayed; empty takes all rows.

    Raises:
        ValueError: There is no such file.
    """

    file: str = ""
    of: str = ""

    per_population: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not Path(self.file).is_file():
            raise ValueError(
                f"file: {self.file!r} is no file; give a CSV with the columns episode, step and "
                "the eleven fields, such as the steps.csv of a run"
            )

    def plays(self, population: str) -> bool:
        """Return whether the file has mechanisms for the population."""
        named = _named(read_rows(Path(self.file))[1], "population")
        return not named or population in named

    def build(self, context: DesignerContext) -> SubmissionDesigner:
        """Return the designer.

        Raises:
            ValueError: The file is no submission, or none for the population, or a mechanism in it
                is not allowed.
        """
        file, population = Path(self.file), context.population
        found = read_submission(file, self.of, context.seed, population)
        for (episode, step), mechanism in found.items():
            if refusal := context.env.goal.refusal(mechanism):
                raise ValueError(f"{file}, episode {episode}, step {step}: {refusal}")
        return SubmissionDesigner(found)


class SubmissionDesigner:
    """Proposes the submitted mechanisms. Where there is none, the proposal is malformed.

    Episodes are told apart by their row. So it plays at most ``evaluation.episodes.AT_ONCE``.

    Args:
        mechanisms: By episode, which is the row of a batch, and step, from 1.
    """

    def __init__(self, mechanisms: Mapping[tuple[int, int], Mechanism]) -> None:
        self._mechanisms = mechanisms

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one mechanism for each episode of the run, which are in order."""
        places = enumerate((observations.round_number + 1).tolist())
        return Mechanisms.stack([self._mechanisms.get(place) for place in places])


def read_submission(
    path: Path, designer: str, seed: int, population: str | None = None
) -> dict[tuple[int, int], Mechanism]:
    """Return the mechanisms of a submission by episode, from 0, and step, from 1.

    Args:
        path: A CSV file with the columns ``episode``, ``step`` and the eleven fields, such as the
            steps.csv of a run. Other columns are ignored, and so are rows that have no fields,
            because the answer was refused.
        designer: Whose rows count, if there is a column ``designer``; empty takes all.
        seed: Seed of the episodes; a column ``seed`` must agree.
        population: Whose rows count, if there is a column ``population``; None takes all.

    Raises:
        ValueError: The file is no such table, a value is out of range, two rows have the same
            episode and step, or none is of the designer and the population. The message names the
            file and, where there is one, the line and the column.
    """
    columns, rows = read_rows(path)
    require_columns(path, columns, (*_PLACE, *FIELDS))
    asked = {"designer": designer, "population": population or ""}
    for name, value in asked.items():
        named = _named(rows, name)
        if named and value and value not in named:
            others = ", ".join(sorted(named))
            raise ValueError(f"{path} has no row of the {name} {value}, but of {others}")
    found: dict[tuple[int, int], Mechanism | None] = {}
    for row in rows:
        if any(value and row.cells.get(name, value) != value for name, value in asked.items()):
            continue
        place = _place(row, seed)
        if place in found:
            raise ValueError(
                f"{path}, line {row.line}: episode {place[0]}, step {place[1]} stands twice; if "
                "the file has several designers, choose one by designer.of"
            )
        found[place] = row.mechanism() if row.has_mechanism else None
    mechanisms = {place: each for place, each in found.items() if each is not None}
    if not mechanisms:
        raise ValueError(f"{path} has no mechanism")
    return mechanisms


def _named(rows: Sequence[MechanismRow], column: str) -> set[str]:
    """Return what stands in a column of owners; nothing if there is no such column."""
    for row in rows:
        if row.cells.get(column) == "":
            raise ValueError(f"{row.place(column)}: empty; give a name")
    return {row.cells[column] for row in rows if column in row.cells}


def _place(row: MechanismRow, seed: int) -> tuple[int, int]:
    """Return the episode and the step of a row, and check its seed if it has one."""
    told = _integer(row, "seed") if "seed" in row.cells else seed
    if told != seed:
        raise ValueError(f"{row.place('seed')}: {told}, but this run has seed={seed}")
    return _integer(row, "episode"), _integer(row, "step")


def _integer(row: MechanismRow, column: str) -> int:
    text, least = row.cells[column], _LEAST[column]
    if not _INTEGER.fullmatch(text) or int(text) < least:
        raise ValueError(f"{row.place(column)}: {shown(text)}; give an integer from {least} up")
    return int(text)
