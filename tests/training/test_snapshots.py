"""The prompt of a model on the hub is the one that it was published with."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.runs.folder import PROMPT
from daedalus.training.model import trained_prompt
from daedalus.training.snapshots import prompt_folder
from tests.hub_cache import leave_snapshot


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work without a network, with an empty cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def leave(folder: Path, *files: str) -> Path:
    folder.mkdir()
    for name in files:
        (folder / name).write_text('{"compact": true}')
    return folder


def test_a_folder_is_its_own(tmp_path: Path, cache: Path) -> None:
    assert prompt_folder(str(tmp_path)) == tmp_path


def test_a_published_model_keeps_its_prompt(tmp_path: Path, cache: Path) -> None:
    snapshot = leave_snapshot(leave(tmp_path / "model", PROMPT), "OWNER/NAME", cache)
    assert prompt_folder("OWNER/NAME") == snapshot
    assert trained_prompt(prompt_folder("OWNER/NAME")).compact


def test_a_model_without_the_file_gets_the_default_prompt(tmp_path: Path, cache: Path) -> None:
    leave_snapshot(leave(tmp_path / "model", "config.json"), "OWNER/NAME", cache, missing=PROMPT)
    assert not trained_prompt(prompt_folder("OWNER/NAME")).compact


def test_an_unknown_file_is_not_taken_for_a_missing_one(tmp_path: Path, cache: Path) -> None:
    leave_snapshot(leave(tmp_path / "model", "config.json"), "OWNER/NAME", cache)
    with pytest.raises(CannotRunError, match=r"OWNER/NAME: prompt\.json is not in the cache"):
        prompt_folder("OWNER/NAME")
