"""Tables over the runs of a sweep."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from daedalus.config.jobs import Launch, jobs_of_sweep, lines_of_results
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.files import locked, read_table, write_table
from daedalus.run_folder import JOB_TABLE, RunFolder

if TYPE_CHECKING:
    import pandas as pd

SWEEP_TABLE, SEED_TABLE, LEADERBOARD = "sweep.csv", "seeds.csv", "leaderboard.csv"
FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
"""States of a job. An unfinished one runs or was killed."""
logger = logging.getLogger(__name__)


def collect_sweep(directory: Path) -> None:
    """Write the tables over the jobs below ``directory``, with overrides as columns.

    All that they say of a job is what it recorded in its own folder. jobs.csv has the state of each
    job that has started, see ``job_states``. sweep.csv has one row for each row of the summary.csv
    of each job. If the jobs compare designers over several seeds, it also writes seeds.csv, see
    ``over_seeds``. If they are leaderboards, and all seeds have the same populations, it also
    writes leaderboard.csv, see ``aggregate``, and its figures in ``figures/``. In these two, jobs
    of the same configuration count once. Jobs that end together take turns.
    """
    with locked(directory):
        write_table(job_states(directory), directory / JOB_TABLE)
        _collect_summaries(directory)


def write_job_table(directory: Path) -> None:
    """Write jobs.csv, see ``job_states``."""
    with locked(directory):
        write_table(job_states(directory), directory / JOB_TABLE)


def job_states(directory: Path) -> pd.DataFrame:
    """Return a row for each job of a sweep that has started.

    Its columns are the ``job`` (its folder), its overrides, its ``state``, and the ``error`` with
    which it failed.
    """
    import pandas as pd  # slow to import

    rows = []
    for run, launch in jobs_of_sweep(directory).items():
        state, error = _state(run)
        row = {"job": launch.place, **launch.settings(), "state": state, "error": error}
        rows.append(row)
    return pd.DataFrame(rows)


def _state(run: RunFolder) -> tuple[str, str]:
    """Return the state of a job and its last error, if there is one."""
    if run.finished.exists():
        return FINISHED, ""
    if not run.provenance.exists():
        return UNFINISHED, ""
    error = json.loads(run.provenance.read_text())[-1].get("error", "")
    return (FAILED, error) if error else (UNFINISHED, "")


def _collect_summaries(directory: Path) -> None:
    import pandas as pd

    jobs = {run: job for run, job in jobs_of_sweep(directory).items() if run.summary.exists()}
    if not jobs:
        return
    table = pd.concat([_job_table(run, job) for run, job in jobs.items()], ignore_index=True)
    tables = {SWEEP_TABLE: table}
    once, settings = table[table["job"].isin(_distinct(jobs))], _evaluation(next(iter(jobs)))
    if {"seed", "designer", "mean"} <= set(once) and once["seed"].nunique() > 1:
        tables[SEED_TABLE] = over_seeds(once, _override_columns(jobs.values(), table), settings)
    if _is_leaderboard(once):
        tables[LEADERBOARD] = _leaderboard(once, settings, directory / "figures")
    for name, frame in tables.items():
        write_table(frame, directory / name)


def _distinct(jobs: Mapping[RunFolder, Launch]) -> list[str]:
    """Return the folders of the jobs whose configuration, so their results, no job before has."""
    first: dict[tuple[str, ...], str] = {}
    for run, job in jobs.items():
        same = first.setdefault(tuple(lines_of_results(run.config.read_text())), job.place)
        if same != job.place:
            logger.warning(
                "job %s has the configuration of job %s; %s and %s count it once",
                *(job.place, same, SEED_TABLE, LEADERBOARD),
            )
    return list(first.values())


def _is_leaderboard(table: pd.DataFrame) -> bool:
    """Return whether each designer has one score in each population and seed."""
    runs = ["seed", "population", "designer"]
    if not {*runs, "normalised"} <= set(table) or table.duplicated(runs).any():
        return False
    return len(table) == table[runs].nunique().prod()


def over_seeds(
    table: pd.DataFrame, overrides: list[str], settings: EvaluationSettings
) -> pd.DataFrame:
    """Summarise each designer's mean reward over seeds.

    Each seed is one sample, because a designer that is trained differs between seeds.

    Args:
        table: Rows of sweep.csv with ``designer``, ``seed`` and the designer's ``mean`` reward.
        overrides: Columns of the overrides, in which the jobs differ.
        settings: Confidence and number of resamples.

    Returns:
        One row for each designer in each setting (all overrides except the seed, and the
        population if there is such a column). Its columns are the number of ``seeds``, their
        ``mean`` with a bootstrap interval (``mean_low``, ``mean_high``), and the ``lowest`` and
        ``highest`` of them.
    """
    import numpy as np
    import pandas as pd

    from daedalus.evaluation.statistics import bootstrap_interval
    from daedalus.market.seeds import generator

    keys = [name for name in overrides if name != "seed"]
    keys += [name for name in ("population", "designer") if name in table and name not in keys]
    rows = []
    for setting, group in table.groupby(keys, sort=False, dropna=False):
        means = group["mean"].to_numpy(np.float64)
        row = dict(zip(keys, setting, strict=True)) | {"seeds": len(means), "mean": means.mean()}
        if len(means) > 1:
            rng = generator(0, "bootstrap/seeds")
            interval = bootstrap_interval([means], np.mean, settings, rng)
            row |= dict(zip(("mean_low", "mean_high"), interval, strict=True))
        rows.append(row | {"lowest": means.min(), "highest": means.max()})
    return pd.DataFrame(rows)


def _leaderboard(table: pd.DataFrame, settings: EvaluationSettings, folder: Path) -> pd.DataFrame:
    """Return the table over populations and seeds, and save its figures in a folder."""
    from daedalus.evaluation.figures import save
    from daedalus.evaluation.leaderboard import REFERENCES, aggregate
    from daedalus.evaluation.leaderboard_figures import leaderboard_figures

    # Jobs may share the seeds or the populations out in any order, and the sums stay the same.
    table = table.sort_values(["seed", "population"], kind="stable", ignore_index=True)
    totals = aggregate(table, REFERENCES, settings, seed=0)
    for name, figure in leaderboard_figures(table, totals, settings).items():
        save(figure, folder / f"{name}.png")
    return totals


def _evaluation(run: RunFolder) -> EvaluationSettings:
    """Return the evaluation settings of a job."""
    chosen = OmegaConf.load(run.config).evaluation
    return EvaluationSettings(chosen.episodes, chosen.confidence, chosen.resamples)


def _job_table(run: RunFolder, job: Launch) -> pd.DataFrame:
    """Return a job's summary after columns for its folder and its overrides.

    An override is left out if the summary has a column of that name with that value. The seed is
    always there.
    """
    table = read_table(run.summary)
    seed = re.search(r"^seed: (\d+)$", run.config.read_text(), re.MULTILINE)
    assert seed is not None  # as every configuration has
    for key, value in reversed((job.settings() | {"seed": seed[1]}).items()):
        if key not in table or not (table[key].astype(str) == value).all():
            table.insert(0, _column(key, table), int(value) if key == "seed" else value)
    table.insert(0, "job", job.place)
    return table


def _column(key: str, table: pd.DataFrame) -> str:
    """Return the column's name for an override: its key, or override.KEY if that name is taken."""
    return f"override.{key}" if key in table else key


def _override_columns(jobs: Iterable[Launch], table: pd.DataFrame) -> list[str]:
    """Return the columns of the overrides of any job."""
    keys = dict.fromkeys(key for job in jobs for key in job.settings())
    return [f"override.{key}" if f"override.{key}" in table else key for key in keys]
