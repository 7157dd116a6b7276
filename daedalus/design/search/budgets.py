"""Budgets of the searches. This module stays light, so that composing a configuration is quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, is_zipfile

from daedalus.checks import Checked, at_least, within
from daedalus.market.mechanism import FIELDS


@dataclass
class SearchBudget(Checked):
    """Budget of a search for one fixed mechanism: successive halving, then sweeps.

    Each rung scores the candidates on ``keep`` times as many episodes as the rung before. One
    candidate in ``keep`` goes on (Jamieson & Talwalkar 2016; Karnin, Koren & Somekh 2013).

    Attributes:
        candidates: Random mechanisms in the first rung.
        episodes: Episodes behind each score in the first rung.
        keep: One of this many candidates survives a rung; at least 2.
        sweeps: Most sweeps over all fields, from the best mechanism of each auction type.
        sweep_episodes: Episodes behind each score of a sweep.
    """

    candidates: int = at_least(1, 1024)
    episodes: int = at_least(1, 8)
    keep: int = at_least(2, 4)
    sweeps: int = at_least(0, 3)
    sweep_episodes: int = at_least(1, 256)


@dataclass
class EvolutionBudget(Checked):
    """Budget of differential evolution (Storn & Price 1997) for one fixed mechanism.

    Attributes:
        population: Mechanisms in a generation, for each of the eleven fields.
        generations: Number of generations.
        episodes: Episodes behind each score. All mechanisms play the same episodes.
    """

    population: int = at_least(1, 6)
    generations: int = at_least(1, 40)
    episodes: int = at_least(1, 64)


@dataclass
class PlannerBudget(Checked):
    """How far and how broadly the planner looks ahead in forks of the true state.

    Attributes:
        candidates: Random mechanisms to choose from if there is no portfolio.
        futures: Futures K in which every candidate is played. All candidates of a state share them.
        horizon: Steps of each future under the candidate.
        variations: Variants of the best mechanism in each round of local search. Each variant
            changes one field.
        rounds: Rounds of local search; 0 only compares the candidates.
    """

    candidates: int = at_least(1, 64)
    futures: int = at_least(1, 8)
    horizon: int = at_least(1, 3)
    variations: int = at_least(1, 16)
    rounds: int = at_least(0, 2)


@dataclass
class DistillationBudget(Checked):
    """How trees learn from look-ahead which candidate is best in an observed market.

    Attributes:
        refinements: How often each candidate is refitted to the states in which the trees choose
            it. A refinement takes half of the rounds. All rounds then start again.
        rounds: Rounds of distillation data. Random candidates lead to the states of the first
            round. The trees so far lead to the states of the others.
        improvements: Rounds that replace this data. In them the trees so far act after the
            candidate, until the episode ends.
        states: Mid-episode states in each round.
        exploration: Probability, 0 to 1, that a random candidate is played instead of the trees'
            choice while data is gathered.
        candidates: Random mechanisms to choose from if there is no portfolio.
        futures: Futures in which every candidate is played.
        horizon: Steps of each future, except in improvements.
        commitment_steps: Steps for which a candidate stays in force in improvements, before the
            trees act.
        data: A training run's distillation_data.npz. The trees then learn from this file, without
            look-ahead, and the file's candidates replace the portfolio.

    Raises:
        ValueError: A number is out of range, or the file ``data`` does not exist.
    """

    refinements: int = at_least(0, 0)
    rounds: int = at_least(1, 4)
    improvements: int = at_least(0, 0)
    states: int = at_least(1, 8192)
    exploration: float = within(0, 1, 0.1)
    candidates: int = at_least(1, 64)
    futures: int = at_least(1, 8)
    horizon: int = at_least(1, 3)
    commitment_steps: int = at_least(1, 2)
    data: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data and not _holds_distillation_data(self.data):
            there = Path(self.data).is_file()
            fault = f"{self.data} holds no distillation data" if there else f"no file {self.data}"
            raise ValueError(
                f"data: {fault}; give the distillation_data.npz of a training run, or null"
            )


def _holds_distillation_data(path: str) -> bool:
    if not is_zipfile(path):
        return False
    with ZipFile(path) as archive:
        return {f"{name}.npy" for name in ("features", "rewards", *FIELDS)} <= {*archive.namelist()}
