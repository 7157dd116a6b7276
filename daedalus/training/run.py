"""What all parts of a training run share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.objectives import draw_objectives
from daedalus.design.search.distillation import distil
from daedalus.design.search.trees import TreeDesigner
from daedalus.evaluation.run_report import Report
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import once
from daedalus.runs.tracking import Tracker
from daedalus.training.run_portfolio import find_portfolio
from daedalus.training.settings import ModelSettings, TrainingSettings


@dataclass(frozen=True)
class TrainingRun:
    """What all parts of a training run share.

    Attributes:
        env: The market of the run, and the reward that searches and training maximise.
        model: Settings of the model.
        settings: Settings of training.
        folder: Where the run keeps its files.
        tracker: Receives the logs.
        report: Receives what users read. Only the main process may use it.
        seed: Seed of all draws.
        portfolio: Mechanisms that are known to be good, see ``with_portfolio``; None without.
    """

    env: DesignEnv
    model: ModelSettings
    settings: TrainingSettings
    folder: RunFolder
    tracker: Tracker
    report: Report
    seed: int
    portfolio: Mechanisms | None = None

    def with_portfolio(self) -> TrainingRun:
        """Return the run with the portfolio of its settings. Every process must call it."""
        wanted, objectives = self.settings.portfolio, self.settings.objectives
        portfolio = once(find_portfolio)(wanted, self.env, self.folder, self.seed, objectives)
        return replace(self, portfolio=portfolio)

    def teacher(self) -> TreeDesigner | None:
        """Return the teacher of the settings, or None if they have none.

        Its data are kept in the run folder, and the next call fits the trees to them again. Every
        process must call it.
        """
        candidates, budget = self.portfolio, self.settings.sft.teacher
        if candidates is None or budget is None:
            return None
        keep = self.folder.distillation_data
        return once(distil)(self.env, candidates, budget, self.seed, keep)

    def goals(self, count: int, purpose: str) -> NDArray[np.object_] | None:
        """Draw goals of so many prompts, shape (count,); None if all have the environment's."""
        objectives = self.settings.objectives
        if not objectives:
            return None
        drawn = draw_objectives(
            objectives, count, generator(self.seed, f"objectives/{purpose}")
        ).goals
        allowed, brief = self.env.goal.allowed, self.env.brief
        drawn[:] = [replace(each, allowed=allowed, brief=brief) for each in drawn]
        return drawn
