"""Settings of designers that need the market itself, or learn from it: ``daedalus.planning``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from daedalus.designers.base import DesignerSettings, require_at_least


@dataclass
class PlannerSettings(DesignerSettings):
    """How far and how broadly to look ahead in forks of the true state.

    Attributes:
        candidates: Random mechanisms to choose from if no better ones are known.
        futures: Futures K that every candidate is played in, the same for all of a state.
        horizon: Steps that each future runs under the candidate.
        variations: Variants of the best so far, each with one field changed, in a round of local
            search.
        rounds: Rounds of local search; 0 only compares the candidates.
    """

    candidates: int = 64
    futures: int = 8
    horizon: int = 3
    variations: int = 16
    rounds: int = 2

    def __post_init__(self) -> None:
        require_at_least(1, self, "candidates", "futures", "horizon", "variations")
        require_at_least(0, self, "rounds")


@dataclass
class DistilledSettings(DesignerSettings):
    """A regressor from observations to what candidates would earn, by looking ahead.

    Attributes:
        refinements: How often the candidates are fitted to the states in which the learner chooses
            them, each time after half the rounds and before lessons begin anew.
        rounds: Rounds of lessons: the first under candidates at random, the others under what was
            learnt so far.
        improvements: Rounds that replace those lessons: what a candidate is worth if the learner so
            far goes on after it to the end of the episode.
        states: Mid-episode states in each round.
        exploration: How often the learner plays a candidate at random instead, 0 to 1, in lessons
            and where a model practises what it teaches.
        candidates: Random mechanisms to choose from if no better ones are known.
        futures: Futures that every candidate is played in.
        horizon: Steps that each future runs, but for improvements.
        kept: Steps that a candidate is kept before the learner goes on, in improvements.
        lessons: A training run's lessons.npz, to be learnt from instead of looking ahead; its rules
            then are the candidates.

    Raises:
        ValueError: A number is out of range, or there is no such file of lessons.
    """

    refinements: int = 0
    rounds: int = 4
    improvements: int = 0
    states: int = 8192
    exploration: float = 0.1
    candidates: int = 64
    futures: int = 8
    horizon: int = 3
    kept: int = 2
    lessons: str | None = None

    def __post_init__(self) -> None:
        require_at_least(1, self, "rounds", "states", "candidates", "futures", "horizon", "kept")
        require_at_least(0, self, "refinements", "improvements", "exploration")
        if self.exploration > 1:
            raise ValueError(f"exploration: {self.exploration}; give a number from 0 to 1")
        if self.lessons and not Path(self.lessons).is_file():
            raise ValueError(
                f"lessons: no file {self.lessons}; give the lessons.npz of a training run, or null"
            )


@dataclass
class EvolutionSettings(DesignerSettings):
    """Budget of an evolutionary search (Storn & Price 1997) for one fixed mechanism.

    Attributes:
        population: Mechanisms in a generation, for each of the eleven fields.
        generations: How many.
        episodes: Episodes that each mechanism is scored on, the same for all.
    """

    population: int = 6
    generations: int = 40
    episodes: int = 64

    def __post_init__(self) -> None:
        require_at_least(1, self, "population", "generations", "episodes")
