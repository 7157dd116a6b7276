"""What a run says about its model is read from its files, or the run is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.runs.folder import RunFolder
from daedalus.training.publishing.evidence import read_evidence

pytestmark = pytest.mark.slow  # the run that is read is trained


@pytest.fixture
def copy(trained_run: RunFolder, tmp_path: Path) -> RunFolder:
    """Leave a copy of a run, to be changed."""
    shutil.copytree(trained_run.path, tmp_path / "copy")
    return RunFolder(tmp_path / "copy")


def test_all_files_are_read(trained_run: RunFolder) -> None:
    evidence = read_evidence(f"{trained_run.model}/")
    assert evidence.run.path == trained_run.path.resolve()
    assert evidence.config["training"]["sft"]["steps"] == 3
    assert list(evidence.summary["designer"]) == ["random", "informed_greedy", "trained"]
    assert len(evidence.history) == 2 and evidence.sft_validity == 0.0
    assert evidence.trained["episodes"] == 3
    assert len(evidence.launches) == 1 and evidence.launches[0]["seconds"] > 0
    assert (evidence.intervals.confidence, evidence.intervals.resamples) == (0.95, 100)


def test_a_run_without_grpo_has_no_history(copy: RunFolder) -> None:
    copy.history.write_text("[]\n")
    copy.history_table.write_text("\n")  # an empty table
    copy.metrics.unlink()
    evidence = read_evidence(str(copy.model))
    assert evidence.history.empty and evidence.sft_validity is None


def test_a_folder_that_is_no_run_s_model_is_refused(trained_run: RunFolder) -> None:
    places = ("sft_model", "checkpoints/base", ".", "none", "model/x")
    for checkpoint in ("OWNER/model", *(str(trained_run.path / each) for each in places)):
        with pytest.raises(CannotRunError, match="is not the model of a run; give RUN/model"):
            read_evidence(checkpoint)


@pytest.mark.parametrize("name", ["summary.csv", "differences.csv", "episodes.csv"])
def test_a_run_without_an_evaluation_is_refused(copy: RunFolder, name: str) -> None:
    (copy.path / name).unlink()
    with pytest.raises(CannotRunError, match=f"lacks {name}; finish it with resume=true") as caught:
        read_evidence(str(copy.model))
    assert "\n" not in str(caught.value)


def test_the_summary_of_sft_is_no_evaluation(copy: RunFolder) -> None:
    pd.DataFrame({"step": [3], "validity": [0.5]}).to_csv(copy.summary, index=False)
    with pytest.raises(CannotRunError, match=r"lacks the row trained in summary\.csv"):
        read_evidence(str(copy.model))
