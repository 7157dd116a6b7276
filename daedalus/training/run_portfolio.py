"""The portfolio of a run: searched or copied once, and kept in the run folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pandas as pd

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.objectives import ObjectiveSetting, draw_objectives
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.portfolio import make_portfolio
from daedalus.market.mechanism import Mechanisms
from daedalus.market.mechanism_table import read_mechanisms
from daedalus.market.seeds import generator
from daedalus.runs.files import write_table, written_whole
from daedalus.runs.folder import RunFolder
from daedalus.training.settings import PortfolioSettings


def find_portfolio(
    settings: PortfolioSettings,
    env: DesignEnv,
    run: RunFolder,
    seed: int,
    objectives: Sequence[ObjectiveSetting] = (),
) -> Mechanisms | None:
    """Return the portfolio of a run, or None if the settings ask for none.

    If it is kept in the run's folder already, it is read. Each sampled population draws one of
    ``training.objectives``. Without any, all have the reward of ``env``.
    """
    path = run.portfolio
    if not settings.populations:
        return None
    if settings.file and not path.exists():
        with written_whole(path) as aside:
            shutil.copy(settings.file, aside)
    if not path.exists():
        count = settings.populations
        rewards = _rewards(objectives, count, seed) if objectives else None
        mechanisms = make_portfolio(env, count, settings.episodes, seed, rewards)
        rows = [mechanisms[row].to_dict() for row in range(len(mechanisms))]
        write_table(pd.DataFrame(rows), path)
    return env.goal.nearest(Mechanisms.stack(read_mechanisms(path)))


def _rewards(objectives: Sequence[ObjectiveSetting], count: int, seed: int) -> list[RewardStack]:
    drawn = draw_objectives(objectives, count, generator(seed, "objectives/portfolio"))
    return [RewardStack(dict(each.weights)) for each in drawn.goals]
