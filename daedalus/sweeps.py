"""Tables over the runs of a sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from daedalus.config.jobs import HOW_LAUNCHED, jobs_of_sweep
from daedalus.files import locked, written_whole
from daedalus.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas as pd

JOB_TABLE, SWEEP_TABLE = "jobs.csv", "sweep.csv"
SEED_TABLE, DIFFERENCE_TABLE, LEADERBOARD = "seeds.csv", "seed_differences.csv", "leaderboard.csv"
FINISHED, FAILED, UNFINISHED, WAITING = "finished", "failed", "unfinished", "waiting"
"""States of a job. An unfinished one runs or was killed."""


def collect_sweep(directory: Path) -> None:
    """Write the tables over the jobs below ``directory``, with overrides as columns.

    jobs.csv has the state of each job, see ``job_states``. sweep.csv has one row for each row of
    the summary.csv of each job. If the jobs compare designers over several seeds, it also writes
    seeds.csv, see ``over_seeds``, and from their differences.csv seed_differences.csv, see
    ``differences_over_seeds``. If they are leaderboards, and all seeds have the same populations,
    it also writes leaderboard.csv, see ``aggregate``, and its figures in ``figures/``.
    Jobs that end together take turns.
    """
    with locked(directory):
        with written_whole(directory / JOB_TABLE) as aside:
            job_states(directory).to_csv(aside, index=False)
        _collect_summaries(directory)


def job_states(directory: Path) -> pd.DataFrame:
    """Return a row for each job of a sweep.

    Its columns are the ``job``, its overrides, its ``state``, and the ``error`` with which it
    failed.
    """
    import pandas as pd  # slow to import

    rows = []
    for number, overrides in enumerate(jobs_of_sweep(directory / "multirun.yaml")):
        state, error = _state(RunFolder(directory / str(number)))
        rows.append({"job": number, **overrides, "state": state, "error": error})
    return pd.DataFrame(rows)


def _state(run: RunFolder) -> tuple[str, str]:
    """Return the state of a job and its last error, if there is one."""
    if run.finished.exists():
        return FINISHED, ""
    if not run.path.exists():
        return WAITING, ""
    if not run.provenance.exists():
        return UNFINISHED, ""
    error = json.loads(run.provenance.read_text())[-1].get("error", "")
    return (FAILED, error) if error else (UNFINISHED, "")


def _collect_summaries(directory: Path) -> None:
    import pandas as pd

    jobs = sorted(
        (path.parent for path in directory.glob("*/summary.csv")),
        key=lambda job: (len(job.name), job.name),
    )
    if not jobs:
        return
    table = pd.concat([_job_table(RunFolder(job).summary) for job in jobs], ignore_index=True)
    tables = {SWEEP_TABLE: table}
    if {"seed", "designer", "mean"} <= set(table) and table["seed"].nunique() > 1:
        overrides, confidence = _override_columns(jobs[0], table), _confidence(jobs[0])
        tables[SEED_TABLE] = over_seeds(table, overrides, confidence)
        paths = [RunFolder(job).differences for job in jobs]
        paired = [_job_table(path) for path in paths if path.exists()]
        if paired:
            differences = pd.concat(paired, ignore_index=True)
            tables[DIFFERENCE_TABLE] = differences_over_seeds(differences, overrides, confidence)
    if _is_leaderboard(table):
        tables[LEADERBOARD] = _leaderboard(table, _confidence(jobs[0]), directory / "figures")
    for name, frame in tables.items():
        with written_whole(directory / name) as aside:
            frame.to_csv(aside, index=False)


def _is_leaderboard(table: pd.DataFrame) -> bool:
    """Return whether each designer has one score in each population and seed."""
    runs = ["seed", "population", "designer"]
    if not {*runs, "normalised"} <= set(table) or table.duplicated(runs).any():
        return False
    return len(table) == table[runs].nunique().prod()


def over_seeds(
    table: pd.DataFrame, overrides: list[str], confidence: float, number: str = "mean"
) -> pd.DataFrame:
    """Average a number of each designer over seeds.

    Each seed is one sample, because a designer that is trained differs between seeds. A seed that
    ran twice counts once.

    Args:
        table: Rows of jobs with ``designer``, ``seed`` and a number, such as its ``mean`` reward.
            A difference also has the ``reference``.
        overrides: Columns of the overrides, in which the jobs differ.
        confidence: Coverage of the intervals.
        number: Column of the number.

    Returns:
        One row for each designer (and reference) in each setting, that is all overrides except the
        seed, and the population if there is such a column. Its columns are the number of ``seeds``;
        the mean over them, under the number's name, with Student's t interval (``_low``,
        ``_high``), which is empty for a single seed; and the ``lowest`` and ``highest`` of them.
    """
    import pandas as pd

    from daedalus.evaluation.statistics import t_interval

    keys = [name for name in overrides if name != "seed"]
    names = ("population", "designer", "reference")
    keys += [name for name in names if name in table and name not in keys]
    rows = []
    for setting, group in table.groupby(keys, sort=False):
        values = group.drop_duplicates("seed")[number]
        row = dict(zip(keys, setting, strict=True)) | {"seeds": len(values)}
        low, high = t_interval(values, confidence)
        row |= {number: values.mean(), f"{number}_low": low, f"{number}_high": high}
        rows.append(row | {"lowest": values.min(), "highest": values.max()})
    return pd.DataFrame(rows)


def differences_over_seeds(
    table: pd.DataFrame, overrides: list[str], confidence: float
) -> pd.DataFrame:
    """Average the paired differences of designers over seeds.

    Args:
        table: Rows of the differences.csv of the jobs, with ``seed``.
        overrides: Columns of the overrides, in which the jobs differ.
        confidence: Coverage of the intervals.

    Returns:
        The frame of ``over_seeds`` for each designer and reference, with the column ``improves``:
        whether the interval over seeds lies above 0. It is empty for a single seed, which supports
        no claim about others.
    """
    frame = over_seeds(table, overrides, confidence, "difference")
    low = frame["difference_low"]
    return frame.assign(improves=(low > 0).astype(object).where(low.notna()))


def _leaderboard(table: pd.DataFrame, confidence: float, folder: Path) -> pd.DataFrame:
    """Return the table over populations and seeds, and save its figures in a folder."""
    from daedalus.evaluation.figures import save
    from daedalus.evaluation.leaderboard import REFERENCES, aggregate
    from daedalus.evaluation.leaderboard_figures import leaderboard_figures

    # Jobs may share the seeds or the populations out in any order, and the sums stay the same.
    table = table.sort_values(["seed", "population"], kind="stable", ignore_index=True)
    totals = aggregate(table, REFERENCES, confidence)
    for name, figure in leaderboard_figures(table, totals, confidence).items():
        save(figure, folder / f"{name}.png")
    return totals


def _confidence(job: Path) -> float:
    """Return the coverage of a job's intervals."""
    return float(OmegaConf.load(RunFolder(job).config).evaluation.confidence)


def _job_table(path: Path) -> pd.DataFrame:
    """Return a table of a job after columns for the job's number and its overrides.

    An override is left out if the table has a column of that name with that value.
    """
    import pandas as pd

    table, job = pd.read_csv(path), path.parent
    for override in reversed(_overrides(job)):
        key, _, value = override.partition("=")
        if key not in table or not (table[key].astype(str) == value).all():
            table.insert(0, _column(key, table), value)
    table.insert(0, "job", job.name)
    return table


def _overrides(job: Path) -> list[str]:
    """Return a job's overrides, without those that say how it was launched."""
    loaded = OmegaConf.to_container(OmegaConf.load(job / ".hydra" / "overrides.yaml"))
    assert isinstance(loaded, list)
    overrides = [str(each) for each in loaded]
    return [each for each in overrides if each.partition("=")[0] not in HOW_LAUNCHED]


def _column(key: str, table: pd.DataFrame) -> str:
    """Return the column's name for an override: its key, or override.KEY if that name is taken."""
    name = key.lstrip("+~")
    return f"override.{name}" if name in table else name


def _override_columns(job: Path, table: pd.DataFrame) -> list[str]:
    keys = [override.partition("=")[0].lstrip("+~") for override in _overrides(job)]
    marked = [f"override.{key}" for key in keys]
    return [both if both in table else key for key, both in zip(keys, marked, strict=True)]
