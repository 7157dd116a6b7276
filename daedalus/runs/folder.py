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


@dataclass(frozen=True)
class RunFolder:
    """Names the files of one run.

    Attributes:
        path: The folder.
    """

    path: Path

    @property
    def config(self) -> Path:
        """Return the resolved configuration."""
        return self.path / CONFIG

    @property
    def provenance(self) -> Path:
        """Return commit, command and package versions of every launch."""
        return self.path / "provenance.json"

    @property
    def launch(self) -> Path:
        """Return how Hydra launched the run: its overrides, and its place in a sweep."""
        return self.path / "launch.json"

    @property
    def finished(self) -> Path:
        """Return the empty file that marks a run as complete."""
        return self.path / "finished"

    @property
    def log(self) -> Path:
        """Return what the run logged, and the traceback of its failure."""
        return self.path / "run.log"

    @property
    def portfolio(self) -> Path:
        """Return the portfolio from which training begins."""
        return self.path / "portfolio.csv"

    @property
    def distillation_data(self) -> Path:
        """Return the data from which the teacher of SFT learnt."""
        return self.path / "distillation_data.npz"

    @property
    def metrics(self) -> Path:
        """Return every logged record, one JSON object in each line."""
        return self.path / "metrics.jsonl"

    @property
    def summary(self) -> Path:
        """Return the table that a sweep gathers from its runs."""
        return self.path / "summary.csv"

    @property
    def episodes(self) -> Path:
        """Return the reward and its factors of every designer and episode."""
        return self.path / "episodes.csv"

    @property
    def differences(self) -> Path:
        """Return the paired differences between designers."""
        return self.path / "differences.csv"

    @property
    def phases(self) -> Path:
        """Return the time of the run by phase."""
        return self.path / "phases.csv"

    @property
    def figures(self) -> Path:
        """Return the folder of the figures."""
        return self.path / "figures"

    @property
    def history(self) -> Path:
        """Return the training signals of every step, as JSON."""
        return self.path / HISTORY

    @property
    def history_table(self) -> Path:
        """Return the same as a table."""
        return self.history.with_suffix(".csv")

    @property
    def base_model(self) -> Path:
        """Return the embedded model before training, into which adapters are merged."""
        return self.path / "checkpoints" / "base"

    @property
    def sft_model(self) -> Path:
        """Return the model after SFT, from which GRPO starts."""
        return self.path / "sft_model"

    @property
    def model(self) -> Path:
        """Return the trained model."""
        return self.path / MODEL

    @property
    def policy(self) -> Path:
        """Return the policy that PPO trained."""
        return self.path / POLICY

    @property
    def ppo_checkpoint(self) -> Path:
        """Return the last checkpoint of PPO."""
        return self.checkpoints("ppo") / "last.pickle"

    @property
    def published(self) -> Path:
        """Return the model with its card, as it is uploaded."""
        return self.path / "published"

    @property
    def adapters(self) -> Path:
        """Return the adapters of the last phase, which ``model`` contains."""
        return adapters_of(self.model)

    @property
    def sft_adapters(self) -> Path:
        """Return the adapters of SFT, which ``sft_model`` contains."""
        return adapters_of(self.sft_model)

    def checkpoints(self, phase: str) -> Path:
        """Return the folder of a phase's checkpoints."""
        return self.path / "checkpoints" / phase


def adapters_of(model: Path) -> Path:
    """Return the folder of the adapters that were merged into an exported model."""
    return model.with_name(f"{model.name}_adapters")


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
