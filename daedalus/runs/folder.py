"""The folder of a run: the name of every file that several parts of the program share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

CONFIG = "config.yaml"
HISTORY = "training_history.json"
MODEL = "model"
POLICY = "policy.npz"
PROMPT = "prompt.json"
JOB_TABLE = "jobs.csv"


def adapters_of(model: Path) -> Path:
    """Return the folder of the adapters that were merged into an exported model."""
    return model.with_name(f"{model.name}_adapters")


class _Place:
    """Names a file of a run by its path in the run's folder."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __get__(self, folder: RunFolder, owner: type[RunFolder]) -> Path:
        return folder.path / self._path


@dataclass(frozen=True)
class RunFolder:
    """Names the files of one run below its folder, the ``path``."""

    path: Path

    config = _Place(CONFIG)
    """The resolved configuration."""
    provenance = _Place("provenance.json")
    """Commit, command and package versions of every launch."""
    launch = _Place("launch.json")
    """How Hydra launched the run: its overrides, and its place in a sweep."""
    finished = _Place("finished")
    """The empty file that marks a run as complete."""
    log = _Place("run.log")
    """What the run logged, and the traceback of its failure."""
    portfolio = _Place("portfolio.csv")
    """The portfolio from which training begins."""
    distillation_data = _Place("distillation_data.npz")
    """The data from which the teacher of SFT learnt."""
    metrics = _Place("metrics.jsonl")
    """Every logged record, one JSON object in each line."""
    summary = _Place("summary.csv")
    """The table that a sweep gathers from its runs."""
    episodes = _Place("episodes.csv")
    """The reward and its factors of every designer and episode."""
    differences = _Place("differences.csv")
    """The paired differences between designers."""
    phases = _Place("phases.csv")
    """The time of the run by phase."""
    figures = _Place("figures")
    """The folder of the figures."""
    history = _Place(HISTORY)
    """The training signals of every step, as JSON."""
    history_table = _Place(Path(HISTORY).with_suffix(".csv"))
    """The same as a table."""
    base_model = _Place("checkpoints/base")
    """The embedded model before training, into which adapters are merged."""
    sft_model = _Place("sft_model")
    """The model after SFT, from which GRPO starts."""
    model = _Place(MODEL)
    """The trained model."""
    policy = _Place(POLICY)
    """The policy that PPO trained."""
    ppo_checkpoint = _Place("checkpoints/ppo/last.pickle")
    """The last checkpoint of PPO."""
    published = _Place("published")
    """The model with its card, as it is uploaded."""

    def checkpoints(self, phase: str) -> Path:
        """Return the folder of a phase's checkpoints."""
        return self.path / "checkpoints" / phase


def runs_below(folder: Path) -> list[RunFolder]:
    """Return the runs directly below a folder, by name."""
    return [RunFolder(path.parent) for path in sorted(folder.glob(f"*/{CONFIG}"))]


def files_below(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files of a name at any depth below a folder, and below folders it links to."""
    for path, folders, files in os.walk(folder, followlinks=True):
        here = Path(path)
        above = {each.resolve() for each in (here, *here.parents)}  # a link to one is a loop
        folders[:] = sorted(each for each in folders if (here / each).resolve() not in above)
        if name in files:
            yield here / name


def newest_first(paths: Iterable[Path]) -> list[Path]:
    """Return files by the time at which they were last written."""
    return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)
