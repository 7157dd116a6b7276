"""Tables over the runs of a sweep."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from daedalus.launch.config.jobs import Launch, jobs_of_sweep, lines_of_results
from daedalus.runs.files import locked, read_table, write_table
from daedalus.runs.folder import JOB_TABLE, RunFolder

if TYPE_CHECKING:
    import pandas as pd

SWEEP_TABLE, SEED_TABLE = "sweep.csv", "seeds.csv"
DIFFERENCE_TABLE, LEADERBOARD = "seed_differences.csv", "leaderboard.csv"
INTERVALS = "leaderboard_intervals.csv"
_FIGURES = ("leaderboard", "scores", "profiles", "intervals", "improvement")  # of a leaderboard
_SHARD, _SHARDS = "evaluation.shard", "evaluation.shards"
logger = logging.getLogger(__name__)


def collect_sweep(directory: Path) -> None:
    """Write the tables over the jobs below ``directory``, with overrides as columns.

    All that they say of a job is what it recorded in its own folder. jobs.csv has the state of each
    job that has started, see ``job_states``. sweep.csv has one row for each row of the summary.csv
    of each job. If the jobs compare designers over several seeds, it also writes seeds.csv, see
    ``over_seeds``, and from their differences.csv seed_differences.csv, see
    ``differences_over_seeds``. If they are leaderboards, it also writes leaderboard.csv, see
    ``aggregate``, leaderboard_intervals.csv, see ``three_intervals``, and its figures in
    ``figures/``, over the seeds that have all populations. In these four, jobs of the same
    configuration count once. One that the jobs do not give any more is removed. Of jobs that end
    together, one writes for all that wait.
    """
    _write_for_all(directory, "all", _write_tables)


def write_job_table(directory: Path) -> None:
    """Write jobs.csv, see ``job_states``. Of jobs that start together, one writes for all."""
    _write_for_all(directory, "jobs", _write_job_states)


def _write_for_all(directory: Path, name: str, write: Callable[[Path], None]) -> None:
    """Write tables, unless another job has begun to after this call, and has succeeded.

    The folder tells the jobs that wait what tables are ``wanted`` and ``begun``.
    """
    wanted, begun = (directory / f".{name}_{state}" for state in ("wanted", "begun"))
    wanted.touch()
    with locked(directory):
        with suppress(FileNotFoundError):  # another job took it, and wrote for this one
            wanted.replace(begun)
        if begun.exists():  # also of a job that was killed as it wrote
            write(directory)
            begun.unlink(missing_ok=True)


def _write_tables(directory: Path) -> None:
    _write_job_states(directory)
    _collect_summaries(directory)


def _write_job_states(directory: Path) -> None:
    write_table(job_states(directory), directory / JOB_TABLE)


def job_states(directory: Path) -> pd.DataFrame:
    """Return a row for each job of a sweep that has started.

    Its columns are the ``job`` (its folder), its overrides, its ``state``, and the ``error`` with
    which it failed. An unfinished job runs or was killed.
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
        return "finished", ""
    if not run.provenance.exists():
        return "unfinished", ""
    error = json.loads(run.provenance.read_text())[-1].get("error", "")
    return ("failed", error) if error else ("unfinished", "")


def _collect_summaries(directory: Path) -> None:
    jobs = {run: job for run, job in jobs_of_sweep(directory).items() if run.summary.exists()}
    if not jobs:
        return
    table = _joined({run: run.summary for run in jobs}, jobs)
    tables = {SWEEP_TABLE: table}
    distinct, confidence = _distinct(jobs), _confidence(next(iter(jobs)))
    once = table[table["job"].isin(distinct)]
    if {"seed", "designer", "mean"} <= set(once) and once["seed"].nunique() > 1:
        overrides = _override_columns(jobs.values(), table)
        tables[SEED_TABLE] = over_seeds(once, overrides, confidence)
        paths = {run: run.differences for run, job in jobs.items() if job.place in distinct}
        paired = _joined({run: path for run, path in paths.items() if path.exists()}, jobs)
        if len(paired):
            tables[DIFFERENCE_TABLE] = differences_over_seeds(paired, overrides, confidence)
    if len(whole := _played_everywhere(once)):
        tables |= _leaderboard(whole, confidence, directory / "figures")
    for name, frame in tables.items():
        write_table(frame, directory / name)
    _remove_stale(directory, kept=tables)


def _remove_stale(directory: Path, kept: Iterable[str]) -> None:
    """Remove the tables and figures of an earlier state of the sweep, which this state lacks."""
    stale = {SEED_TABLE, DIFFERENCE_TABLE, LEADERBOARD, INTERVALS}.difference(kept)
    gone = [path for name in stale if (path := directory / name).exists()]
    if directory / LEADERBOARD in gone:
        gone += [directory / "figures" / f"{name}.png" for name in _FIGURES]
    for path in gone:
        path.unlink(missing_ok=True)


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


def _played_everywhere(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of leaderboards that compare designers in the same populations and seeds.

    They are of the seeds whose shards have all ended and that have all populations, and of the
    designers with one score in each.
    """
    runs = ["seed", "population", "designer"]
    if not {*runs, "normalised"} <= set(table) or table.duplicated(runs).any():
        return table[:0]
    if {_SHARD, _SHARDS} <= set(table):
        ended = table.groupby("seed")[_SHARD].transform("nunique")
        table = table[ended == table[_SHARDS].astype(float)]
    populations = table.groupby("seed")["population"].transform("nunique")
    table = table[populations == table["population"].nunique()]
    places = table[runs[:2]].nunique().prod()
    played = table.groupby("designer")["designer"].transform("size")
    return table[played == places]


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
        ``_high``), which is empty for a single seed, and what it is over (``_interval``); and the
        ``lowest`` and ``highest`` of them.
    """
    import pandas as pd

    from daedalus.evaluation.statistics import mean_estimate

    keys = [name for name in overrides if name != "seed"]
    names = ("population", "designer", "reference")
    keys += [name for name in names if name in table and name not in keys]
    rows = []
    for setting, group in table.groupby(keys, sort=False, dropna=False):
        values = group.drop_duplicates("seed")[number]
        row = dict(zip(keys, setting, strict=True)) | {"seeds": len(values)}
        row |= mean_estimate(number, values, confidence, "seed")
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


def _leaderboard(table: pd.DataFrame, confidence: float, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables over populations and seeds, and save their figures in a folder."""
    from daedalus.evaluation.leaderboard import REFERENCES, aggregate, three_intervals
    from daedalus.evaluation.leaderboard_figures import leaderboard_figures
    from daedalus.evaluation.run_report import save

    # Jobs may share the seeds or the populations out in any order, and the sums stay the same.
    table = table.sort_values(["seed", "population"], kind="stable", ignore_index=True)
    totals = aggregate(table, REFERENCES, confidence)
    for name, figure in leaderboard_figures(table, totals, confidence).items():
        save(figure, folder / f"{name}.png")
    return {LEADERBOARD: totals, INTERVALS: three_intervals(table, REFERENCES, confidence)}


def _confidence(run: RunFolder) -> float:
    """Return the coverage of a job's intervals; 0.95 if its task has none."""
    config = OmegaConf.load(run.config)
    return float(OmegaConf.select(config, "evaluation.confidence", default=0.95))


def _joined(paths: Mapping[RunFolder, Path], jobs: Mapping[RunFolder, Launch]) -> pd.DataFrame:
    """Return the rows of one table of each job, see ``_job_table``."""
    import pandas as pd

    tables = [_job_table(path, run, jobs[run]) for run, path in paths.items()]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _job_table(path: Path, run: RunFolder, job: Launch) -> pd.DataFrame:
    """Return a table of a job after columns for the job's folder and its overrides.

    An override is left out if the table has a column of that name with that value. The seed is
    always there.
    """
    table = _as_of(path, path.stat().st_mtime_ns).copy()
    seed = re.search(r"^seed: (\d+)$", run.config.read_text(), re.MULTILINE)
    assert seed is not None  # as every configuration has
    for key, value in reversed((job.settings() | {"seed": seed[1]}).items()):
        if key not in table or not (table[key].astype(str) == value).all():
            table.insert(0, _column(key, table), int(value) if key == "seed" else value)
    table.insert(0, "job", job.place)
    return table


@cache  # a process that runs all jobs of a sweep reads the table of each once
def _as_of(path: Path, written: int) -> pd.DataFrame:
    """Return a table that was written at a time."""
    return read_table(path)


def _column(key: str, table: pd.DataFrame) -> str:
    """Return the column's name for an override: its key, or override.KEY if that name is taken."""
    return f"override.{key}" if key in table else key


def _override_columns(jobs: Iterable[Launch], table: pd.DataFrame) -> list[str]:
    """Return the columns of the overrides of any job."""
    keys = dict.fromkeys(key for job in jobs for key in job.settings())
    return [f"override.{key}" if f"override.{key}" in table else key for key in keys]
