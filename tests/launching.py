"""Runs and sweeps that tests launch, in their own process or in another; not a test."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from daedalus.design.search.space import random_mechanisms
from daedalus.launch import command_line
from daedalus.launch.config.paths import ROOT
from daedalus.launch.config.task_parts import Task
from daedalus.market.seeds import generator
from daedalus.runs.files import write_table
from daedalus.runs.folder import RunFolder
from experiments import compare
from tests.forked import Forked

QUIET = ("hydra/job_logging=none", "hydra/hydra_logging=none", "tracking=files")
Start = Callable[..., None]


def run_here(folder: Path, *words: str) -> None:
    """Run the command line in this process, from a folder; it must succeed.

    Another process would import PyTorch and its kin, which takes longer than most runs of tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["run.py", *words, *QUIET[:2]])
        for name in ("PYTHONPATH", "PYTHONWARNINGS", "HYDRA_FULL_ERROR"):
            patch.setenv(name, os.environ.get(name, ""))  # the command line changes them
        patch.setattr(Figure, "savefig", sketch)
        patch.chdir(folder)
        command_line.cli()


_save = Figure.savefig


def sketch(figure: Figure, path: Path, **options: Any) -> None:
    """Save an empty picture, for a third of a short run went into pictures.

    Tests of figures save them as they are.
    """
    _save(Figure(), path, **options | {"dpi": 20})


def play(out: Path, *words: str) -> None:
    """Do a run in the folder ``out``, in this process; it must succeed."""
    run_here(ROOT, *words, f"hydra.run.dir={out}")


def write_portfolio(folder: Path) -> None:
    """Leave a portfolio in a run's folder, so that the run searches none."""
    drawn = random_mechanisms(3, generator(0, "portfolio")).rounded()
    rows = [drawn[row].to_dict() for row in range(len(drawn))]
    write_table(pd.DataFrame(rows), RunFolder(folder).portfolio)


def wait_for(
    condition: Callable[[], object],
    process: subprocess.Popen[bytes] | Forked | None = None,
    seconds: float = 480,
) -> None:
    """Wait until a condition holds, while a process is still at work."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, "the run ended before it was interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def write_summary(config: Task, out: Path) -> None:
    """Leave what an experiment leaves; fail at seed 13."""
    if config.seed == 13:
        raise RuntimeError("no luck")
    rows = [{"designer": name, "mean": config.seed / 10} for name in ("random", "null")]
    write_table(pd.DataFrame(rows), RunFolder(out).summary)


def starter(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    play: Callable[[Task, Path], None] = write_summary,
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
    monkeypatch.setattr("daedalus.launch.provenance.provenance", dict)  # it takes long
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    monkeypatch.chdir(folder)
    return start
