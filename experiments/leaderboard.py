"""Compare all designers in held-out populations, on a scale from random to what is possible."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.designers.build import require_other_names
from daedalus.design.designers.fixed import BEST_FIXED, best_fixed
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.basis import COLUMN, NONE, counted, noted
from daedalus.evaluation.episodes import COMPOSITE, compare, episode_means
from daedalus.evaluation.leaderboard import (
    REFERENCES,
    aggregate,
    in_all_populations,
    normalise,
    require_scale,
    three_intervals,
)
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from daedalus.evaluation.scale import ENDS
from daedalus.lab.studies.certificates import mean_regrets
from daedalus.launch.comparison import keep_answers
from daedalus.launch.config.tasks import Leaderboard
from daedalus.launch.from_config import (
    all_designers,
    designers_of,
    make_env,
    make_envs,
    portable_designers,
    require_portfolio,
)
from daedalus.launch.tracked import tracked
from daedalus.market.mechanism import Mechanisms
from daedalus.runs.files import write_table
from daedalus.runs.folder import RunFolder
from daedalus.runs.workers import share_out


def main(config: Leaderboard, out: Path) -> None:
    """Play all designers in all populations; write summary, totals, intervals and figures.

    Raises:
        CannotRunError: A designer has the name of the best fixed mechanism.
    """
    require_other_names(all_designers(config), BEST_FIXED, "the best fixed mechanism beside it")
    require_scale([*config.evaluation.baselines, config.designer.name])  # before anything is played
    portfolio = require_portfolio(config, make_env(config), RunFolder(out))
    beside: dict[str, Designer] = {BEST_FIXED: best_fixed(portfolio)}
    portable = beside | portable_designers(config, portfolio)
    envs = _own_shard(config)
    own = list(share_out(partial(_own_scores, config, portfolio), envs.items(), len(envs)))
    logs = {population: AnswerLog(population) for population in envs}
    scores = [
        pd.concat([_mean_scores(config, env, portable, logs[population]), theirs]).assign(
            population=population
        )
        for (population, env), theirs in zip(envs.items(), own, strict=True)
    ]
    table = _normalised(pd.concat(scores, ignore_index=True), out)
    confidence = config.evaluation.confidence
    whole = in_all_populations(table)
    totals = aggregate(whole, REFERENCES, confidence)
    sure = three_intervals(whole, REFERENCES, confidence)
    with tracked(config, out) as (_, report):
        report.table(table, "summary")
        report.table(totals, "totals")
        report.table(sure, "intervals")
        keep_answers([*logs.values()], report)
        episodes = counted(config.evaluation.episodes, "episode")
        title = (
            f"normalised reward: {ENDS}; each over {episodes}, without an interval; "
            "intervals.csv has those over populations"
        )
        report.show(_side_by_side(table, list(totals["designer"])), title)
        title = f"over populations; {ENDS}; ex-post regret in units of value a sale"
        report.show(totals.dropna(axis=1), title)
        title = f"means over populations of seed {config.seed}, and leads: ± is {confidence:.0%}"
        report.show(sure.dropna(axis=1, how="all"), title)
        for name, figure in leaderboard_figures(whole, totals, confidence).items():
            report.figure(figure, name)


def _normalised(scores: pd.DataFrame, out: Path) -> pd.DataFrame:
    """Return ``normalise``; if that fails, what was played is not lost."""
    try:
        return normalise(scores)
    except ValueError as error:
        write_table(scores, out / "scores.csv")
        raise CannotRunError(f"{error}. scores.csv has the rewards that were played") from error


def _own_shard(config: Leaderboard) -> dict[str, DesignEnv]:
    """Return the environments of the populations that this job plays, by name."""
    envs, shards, shard = make_envs(config), config.evaluation.shards, config.evaluation.shard
    first, last = (len(envs) * number // shards for number in (shard, shard + 1))
    return dict(list(envs.items())[first:last])


def _side_by_side(table: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    """Return a column for each designer, with a dash where it does not play."""
    wide = table.pivot(index="population", columns="designer", values="normalised")
    others = [name for name in wide if name not in first]
    return wide[[*first, *others]].astype(object).where(wide.notna(), "-").reset_index()


def _own_scores(
    config: Leaderboard, portfolio: Mechanisms, item: tuple[str, DesignEnv]
) -> pd.DataFrame:
    """Return the rows of the designers that are made for a population."""
    population, env = item
    return _mean_scores(config, env, designers_of(config, population, env, portfolio))


def _mean_scores(
    config: Leaderboard,
    env: DesignEnv,
    designers: Mapping[str, Designer],
    answers: AnswerLog | None = None,
) -> pd.DataFrame:
    """Return a row for each designer: mean reward, valid answers, ex-post regret and seed.

    ``mean_interval`` says what the means are over, and that they have no interval.
    """
    settings = config.evaluation
    steps = compare(env, designers, settings.episodes, config.seed, answers)
    means = episode_means(steps)
    columns = ["reward", "valid", *({COMPOSITE} & set(means))]
    rows = means.groupby("designer", sort=False)[columns].mean().reset_index()
    rows = rows.join(mean_regrets(steps, env.market, config.seed), on="designer")
    rows = rows.rename(columns={"reward": "mean"})
    over = noted(settings.episodes, "episode", NONE)
    return rows.assign(seed=config.seed, **{f"mean{COLUMN}": over})
