"""Mechanisms that somebody submits, one for each episode and step: they are replayed and scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.submission_table import read_submission, submitted_populations
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation


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
        named = submitted_populations(Path(self.file))
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
