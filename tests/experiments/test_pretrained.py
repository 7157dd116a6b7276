"""Packing the model of a run for the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config.task_parts import Task
from daedalus.runs.folder import RunFolder
from daedalus.runs.pretrained import ABOUT, read_pretrained
from daedalus.training.publishing.hub_folder import hashes
from experiments import pretrained
from tests.conftest import SMALLEST
from tests.launch.config.composing import composed


def packing(model: Path) -> Task:
    """Return the packing of a model, with two populations of the benchmark."""
    few = ["evaluation.episodes=2", f"designer.checkpoint={model}", "tracking=files"]
    config = composed("+experiment=pretrained", *few)
    populations = dict(list(config.populations.items())[:2])
    return replace(config, populations=populations)


@pytest.mark.slow
def test_the_model_is_packed_with_its_card_its_scores_and_hashes(
    trained_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CannotRunError, match=r"model\.hidden_size, .* make pretrained"):
        pretrained.main(packing(trained_run.model), tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(pretrained, "RECIPE", SMALLEST)
    pretrained.main(packing(trained_run.model), tmp_path)
    packed, found = tmp_path / "pretrained", read_pretrained(tmp_path / "pretrained")
    there = hashes(packed)
    del there[ABOUT]
    assert found.sha256 == there and len(found.scores) == 2
    assert {"model.safetensors", "README.md", "run/config.yaml"} <= set(found.sha256)
    assert not {"run/metrics.jsonl", "run/provenance.json"} & set(found.sha256)
