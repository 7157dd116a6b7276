"""The portfolio of a run: searched or copied once, and kept in the run folder."""

from __future__ import annotations

import shutil

import pandas as pd

from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.mechanism_table import read_mechanisms
from daedalus.runs.files import write_table, written_whole
from daedalus.runs.folder import RunFolder
from daedalus.search.portfolio import make_portfolio
from daedalus.training.settings import PortfolioSettings


def find_portfolio(
    settings: PortfolioSettings, env: DesignEnv, run: RunFolder, seed: int
) -> Mechanisms | None:
    """Return the portfolio of a run, or None if the settings ask for none.

    Args:
        settings: How much is searched, or the file that is copied.
        env: The market that the mechanisms are searched for, by its reward.
        run: Where the portfolio is kept. If it is there, it is read.
        seed: Seed of the search.
    """
    path = run.portfolio
    if not settings.populations:
        return None
    if settings.file and not path.exists():
        with written_whole(path) as aside:
            shutil.copy(settings.file, aside)
    if not path.exists():
        found = make_portfolio(env, settings.populations, settings.episodes, seed)
        rows = [found[row].to_dict() for row in range(len(found))]
        write_table(pd.DataFrame(rows), path)
    return Mechanisms.stack(read_mechanisms(path))
