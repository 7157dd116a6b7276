"""What the files of a run say about its model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from daedalus.checks import CannotRunError
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.runs.files import read_table, whole_lines
from daedalus.runs.folder import PROMPT, RunFolder

TRAINED = "trained"
"""Name of the trained model in the tables of its run."""


@dataclass(frozen=True)
class Evidence:
    """The files of a run.

    Attributes:
        run: The run folder.
        config: The resolved configuration.
        launches: Commit, command, hardware and versions of each launch, the last at the end.
        summary: Scores, one row for each designer.
        differences: Paired differences between designers.
        episodes: Rewards and their factors, one row for each designer and episode.
        history: Training signals of the last algorithm that trained, one row for each step.
        sft_validity: Share of valid answers after SFT at temperature 1, if it was measured.
    """

    run: RunFolder
    config: dict[str, Any]
    launches: list[dict[str, Any]]
    summary: pd.DataFrame
    differences: pd.DataFrame
    episodes: pd.DataFrame
    history: pd.DataFrame
    sft_validity: float | None

    @property
    def stack(self) -> RewardStack:
        """Return the reward of the run, by which designers were compared."""
        reward = self.config["reward"]
        return RewardStack(dict(reward["weights"]), dict(reward.get("own_terms", {})))

    @property
    def score(self) -> str:
        """Return what the card calls this reward."""
        return "R" if self.stack.is_composite else "reward"

    @property
    def intervals(self) -> EvaluationSettings:
        """Return the settings of the run's intervals."""
        settings = self.config["evaluation"]
        return EvaluationSettings(
            confidence=settings["confidence"], resamples=settings["resamples"]
        )

    @property
    def trained(self) -> dict[str, Any]:
        """Return the scores of the trained model."""
        return records(self.summary[self.summary["designer"] == TRAINED])[0]

    @property
    def leads(self) -> list[dict[str, Any]]:
        """Return the paired differences of the trained model to each baseline."""
        return records(self.differences[self.differences["designer"] == TRAINED])


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, each by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def read_evidence(checkpoint: str) -> Evidence:
    """Read the files of the run that trained the model in a folder.

    Raises:
        CannotRunError: It is not the model of a run, or the run has not evaluated it.
    """
    run = RunFolder(Path(checkpoint).resolve().parent)
    if Path(checkpoint).resolve() != run.model or not run.config.exists():
        raise CannotRunError(
            f"designer.checkpoint: {checkpoint} is not the model of a run; give RUN/model, where "
            "RUN also holds the config.yaml of the run"
        )
    _require_evaluation(run)
    config = OmegaConf.to_container(OmegaConf.load(run.config))
    assert isinstance(config, dict)
    return Evidence(
        run,
        {str(name): value for name, value in config.items()},
        json.loads(run.provenance.read_text()),
        read_table(run.summary),
        read_table(run.differences),
        read_table(run.episodes),
        _history(run),
        _sft_validity(run),
    )


def _require_evaluation(run: RunFolder) -> None:
    needed = (run.model / PROMPT, run.provenance, run.summary, run.differences, run.episodes)
    missing = [path.name for path in needed if not path.exists()]
    if missing or TRAINED not in set(read_table(run.summary).get("designer", [])):
        what = ", ".join(missing) or f"the row {TRAINED} in summary.csv"
        raise CannotRunError(
            f"{run.path}: the run has no evaluation of its model, because it lacks {what}; finish "
            "it with resume=true, or train with a task that evaluates, such as +experiment="
            "grpo_stage3"
        )


def _history(run: RunFolder) -> pd.DataFrame:
    empty = not run.history.exists() or not json.loads(run.history.read_text())
    return pd.DataFrame() if empty else read_table(run.history_table)


def _sft_validity(run: RunFolder) -> float | None:
    if not run.metrics.exists():
        return None
    records = [json.loads(line) for line in whole_lines(run.metrics)]
    measured = [each["validity"] for each in records if each["phase"] == "sft_validity"]
    return float(measured[-1]) if measured else None
