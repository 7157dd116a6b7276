"""One tidy table over the runs of a sweep."""

from __future__ import annotations

from pathlib import Path

from omegaconf import OmegaConf

from daedalus.files import written_whole

SWEEP_TABLE = "sweep.csv"


def collect_sweep(directory: Path) -> None:
    """Gather every job's summary.csv below ``directory`` into sweep.csv, overrides as columns."""
    import pandas as pd  # slow to import and not needed by --help

    tables = []
    jobs = [path.parent for path in directory.glob("*/summary.csv")]
    for job in sorted(jobs, key=lambda each: (len(each.name), each.name)):
        table = pd.read_csv(job / "summary.csv")
        overrides = OmegaConf.to_object(OmegaConf.load(job / ".hydra" / "overrides.yaml"))
        assert isinstance(overrides, list)
        for override in reversed(overrides):
            key, _, value = str(override).partition("=")
            table.insert(0, key.lstrip("+~"), value)
        table.insert(0, "job", job.name)
        tables.append(table)
    if tables:
        with written_whole(directory / SWEEP_TABLE) as aside:
            pd.concat(tables, ignore_index=True).to_csv(aside, index=False)
