"""A hub that cannot be reached is noticed in seconds."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from huggingface_hub import constants

from daedalus.checks import CannotRunError
from daedalus.runs.hub import is_hub_name, require_hub
from tests.launch.config.composing import composed


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let no server answer; return the folder of the cache."""
    monkeypatch.setattr("daedalus.runs.hub.getproxies", dict)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")  # is put back, whatever a test does to it
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_a_model_that_cannot_be_had_is_refused_in_seconds(offline: Path) -> None:
    began = time.monotonic()
    with pytest.raises(CannotRunError, match=r"OWNER/NAME is not in .* 127.0.0.1 cannot be reach"):
        require_hub("OWNER/NAME")
    assert time.monotonic() - began < 10


def test_a_model_in_the_cache_is_taken_from_there(offline: Path) -> None:
    (offline / "models--OWNER--NAME" / "snapshots" / "abc").mkdir(parents=True)
    require_hub("OWNER/NAME")
    assert os.environ["HF_HUB_OFFLINE"] == "1" and constants.HF_HUB_OFFLINE


def test_a_hub_that_answers_is_asked(offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        require_hub("OWNER/NAME")


def test_folders_files_and_wheels_are_no_names_on_the_hub(tmp_path: Path) -> None:
    assert is_hub_name("Qwen/Qwen2.5-1.5B-Instruct")
    assert not is_hub_name(str(tmp_path)) and not is_hub_name("") and not is_hub_name("README.md")
    assert not is_hub_name(composed("task=grpo", "model=smollm2").model.pretrained)
