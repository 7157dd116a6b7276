"""A model is asked with the prompt that it was trained on, in a folder and on the hub."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import PromptSettings
from daedalus.runs.folder import PROMPT
from daedalus.training.trained_prompt import trained_prompt
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


def test_a_model_without_a_prompt_of_its_own_takes_the_default(tmp_path: Path) -> None:
    assert trained_prompt(tmp_path) == PromptSettings()
    shown = PromptSettings(rounds=1, stage=True, mechanism=True)
    (tmp_path / "prompt.json").write_text(json.dumps(asdict(shown)))
    assert trained_prompt(tmp_path) == shown


def test_a_prompt_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompt.json").write_text(json.dumps(asdict(PromptSettings()) | {"version": 0}))
    with pytest.raises(ValueError, match="prompts have changed since"):
        trained_prompt(tmp_path)


def test_a_prompt_with_the_old_key_says_how_to_rename_it(tmp_path: Path) -> None:
    written = asdict(PromptSettings(mechanism=True))
    written["rules"] = written.pop("mechanism")
    (tmp_path / "prompt.json").write_text(json.dumps(written))
    with pytest.raises(ValueError, match=r"prompt\.json: rules .* mechanism; rename the key"):
        trained_prompt(tmp_path)


def test_a_published_model_keeps_its_prompt_if_it_has_one(tmp_path: Path, cache: Path) -> None:
    leave_snapshot(leave(tmp_path / "model", PROMPT), "OWNER/NAME", cache)
    assert trained_prompt("OWNER/NAME").compact
    leave_snapshot(leave(tmp_path / "other", "config.json"), "OWNER/OTHER", cache, missing=PROMPT)
    assert not trained_prompt("OWNER/OTHER").compact


def test_an_unknown_file_is_not_taken_for_a_missing_one(tmp_path: Path, cache: Path) -> None:
    leave_snapshot(leave(tmp_path / "model", "config.json"), "OWNER/NAME", cache)
    with pytest.raises(CannotRunError, match=r"OWNER/NAME: prompt\.json is not in the cache"):
        trained_prompt("OWNER/NAME")
