"""Runs and sweeps that Hydra launches within the process of the tests; not a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from daedalus import command_line
from daedalus.config import Config
from daedalus.runs.files import write_table
from daedalus.runs.folder import RunFolder
from experiments import compare

QUIET = ("hydra/job_logging=none", "hydra/hydra_logging=none", "tracking=files")
Start = Callable[..., None]


def write_summary(config: Config, out: Path) -> None:
    """Leave what an experiment leaves; fail at seed 13."""
    if config.seed == 13:
        raise RuntimeError("no luck")
    rows = [{"designer": name, "mean": config.seed / 10} for name in ("random", "null")]
    write_table(pd.DataFrame(rows), RunFolder(out).summary)


def starter(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    play: Callable[[Config, Path], None] = write_summary,
) -> Start:
    """Return a function that starts ``run.py`` with arguments in a folder, and what runs play."""

    def start(*arguments: str) -> None:
        flags = [each for each in arguments if each.startswith("-")]
        words = [each for each in arguments if each not in flags]
        if not any(each.startswith("+experiment=") for each in words):
            words.insert(0, "+experiment=boxplot")
        monkeypatch.setattr("sys.argv", ["run.py", *flags, *QUIET, *words])
        command_line.cli()

    monkeypatch.setattr(compare, "main", play)
    monkeypatch.setattr("daedalus.provenance.provenance", dict)  # it takes long
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    monkeypatch.chdir(folder)
    return start
