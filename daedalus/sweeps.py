"""One tidy table over the runs of a sweep, and one over its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from daedalus.evaluation.settings import EvaluationSettings
from daedalus.files import written_whole
from daedalus.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas as pd

SWEEP_TABLE, SEED_TABLE, LEADERBOARD = "sweep.csv", "seeds.csv", "leaderboard.csv"


def collect_sweep(directory: Path) -> None:
    """Gather every job's summary.csv below ``directory``, overrides as columns.

    Writes sweep.csv, one row for each row of each job, and if more than one seed was run and
    designers were compared, seeds.csv, see ``over_seeds``; of leaderboards leaderboard.csv, which
    ``aggregate`` describes, and its figures in ``figures/``.
    """
    import pandas as pd  # slow to import and not needed by --help

    jobs = sorted(
        (path.parent for path in directory.glob("*/summary.csv")),
        key=lambda job: (len(job.name), job.name),
    )
    if not jobs:
        return
    table = pd.concat([_job_table(job) for job in jobs], ignore_index=True)
    tables = {SWEEP_TABLE: table}
    if {"seed", "designer", "mean"} <= set(table) and table["seed"].nunique() > 1:
        overrides = _override_columns(jobs[0], table)
        tables[SEED_TABLE] = over_seeds(table, overrides, _evaluation(jobs[0]))
    runs = ["seed", "population", "designer"]
    if {*runs, "normalised"} <= set(table) and not table.duplicated(runs).any():
        tables[LEADERBOARD] = _leaderboard(table, _evaluation(jobs[0]), directory / "figures")
    for name, frame in tables.items():
        with written_whole(directory / name) as aside:
            frame.to_csv(aside, index=False)


def over_seeds(
    table: pd.DataFrame, overrides: list[str], settings: EvaluationSettings
) -> pd.DataFrame:
    """Take the seed as the replicate, as a trained designer's must be.

    Args:
        table: Rows of sweep.csv with ``designer``, ``seed`` and the designer's ``mean`` reward.
        overrides: Columns that tell settings apart.
        settings: How uncertainty is stated.

    Returns:
        One row for each setting but the seed, population if there are several, and designer: the
        number of ``seeds``, their ``mean`` and its bootstrap interval (``mean_low``,
        ``mean_high``), lowest and highest.
    """
    import numpy as np
    import pandas as pd

    from daedalus.evaluation.statistics import bootstrap_interval
    from daedalus.market.seeds import generator

    keys = [name for name in overrides if name != "seed"]
    keys += [name for name in ("population", "designer") if name in table and name not in keys]
    rows = []
    for setting, group in table.groupby(keys, sort=False):
        means = group["mean"].to_numpy(np.float64)
        row = dict(zip(keys, setting, strict=True)) | {"seeds": len(means), "mean": means.mean()}
        if len(means) > 1:
            rng = generator(0, "bootstrap/seeds")
            interval = bootstrap_interval([means], np.mean, settings, rng)
            row |= dict(zip(("mean_low", "mean_high"), interval, strict=True))
        rows.append(row | {"lowest": means.min(), "highest": means.max()})
    return pd.DataFrame(rows)


def _leaderboard(table: pd.DataFrame, settings: EvaluationSettings, folder: Path) -> pd.DataFrame:
    """Return the table over populations and seeds, and draw it into a folder."""
    from daedalus.evaluation.figures import save
    from daedalus.evaluation.leaderboard import REFERENCES, aggregate
    from daedalus.evaluation.leaderboard_figures import leaderboard_figures

    totals = aggregate(table, REFERENCES, settings, seed=0)
    for name, figure in leaderboard_figures(table, totals, settings).items():
        save(figure, folder / f"{name}.png")
    return totals


def _evaluation(job: Path) -> EvaluationSettings:
    """Return how a job states uncertainty."""
    chosen = OmegaConf.load(RunFolder(job).config).evaluation
    return EvaluationSettings(chosen.episodes, chosen.confidence, chosen.resamples)


def _job_table(job: Path) -> pd.DataFrame:
    """Return a job's summary with its number, and overrides that it does not state, in front."""
    import pandas as pd

    table = pd.read_csv(RunFolder(job).summary)
    for override in reversed(_overrides(job)):
        key, _, value = override.partition("=")
        if key not in table or not (table[key].astype(str) == value).all():
            table.insert(0, _column(key, table), value)
    table.insert(0, "job", job.name)
    return table


def _overrides(job: Path) -> list[str]:
    loaded = OmegaConf.to_container(OmegaConf.load(job / ".hydra" / "overrides.yaml"))
    assert isinstance(loaded, list)
    return [str(each) for each in loaded]


def _column(key: str, table: pd.DataFrame) -> str:
    """Return the column of an override: its key, marked if the summary has one of that name."""
    name = key.lstrip("+~")
    return f"override.{name}" if name in table else name


def _override_columns(job: Path, table: pd.DataFrame) -> list[str]:
    keys = [override.partition("=")[0].lstrip("+~") for override in _overrides(job)]
    marked = [f"override.{key}" for key in keys]
    return [both if both in table else key for key, both in zip(keys, marked, strict=True)]
