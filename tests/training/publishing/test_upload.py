"""The hub's own client uploads to a server on this machine, in one commit or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.training.publishing.settings import HubSettings
from daedalus.training.publishing.upload import require_token, upload
from tests.training.publishing.fake_hub import FakeHub

SETTINGS = HubSettings("OWNER/NAME")
FILES = {"README.md": b"---\nlicense: mit\n---\n# NAME\n", "run/config.yaml": b"seed: 0\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "published" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "published" / name).write_bytes(text)
    return tmp_path / "published"


def test_a_new_repository_gets_all_files_in_one_commit(hub: FakeHub, folder: Path) -> None:
    address = upload(folder, SETTINGS)
    assert address.startswith(f"{hub.address}/OWNER/NAME/commit/")
    assert hub.repositories == {"OWNER/NAME": FILES} and len(hub.messages) == 1
    assert hub.private == {"OWNER/NAME"}
    upload(folder, replace(SETTINGS, repo="OWNER/OTHER", private=False))
    assert hub.private == {"OWNER/NAME"} and hub.repositories["OWNER/OTHER"] == FILES


def test_a_repository_that_exists_is_left_alone(hub: FakeHub, folder: Path) -> None:
    hub.repositories["OWNER/NAME"] = {"old.txt": b"old"}
    with pytest.raises(CannotRunError, match=r"OWNER/NAME exists already; .*hub\.update=true"):
        upload(folder, SETTINGS)
    assert hub.repositories["OWNER/NAME"] == {"old.txt": b"old"} and not hub.messages


def test_an_update_replaces_what_the_repository_held(hub: FakeHub, folder: Path) -> None:
    hub.repositories["OWNER/NAME"] = {"old.txt": b"old", ".gitattributes": b"x", "README.md": b"y"}
    upload(folder, replace(SETTINGS, update=True))
    assert hub.repositories["OWNER/NAME"] == FILES | {".gitattributes": b"x"}


def test_a_failed_upload_says_how_to_go_on(hub: FakeHub, folder: Path) -> None:
    hub.refusal = 403
    with pytest.raises(CannotRunError, match=r"the upload failed.*hub\.update=true") as caught:
        upload(folder, SETTINGS)
    assert "\n" not in str(caught.value)
    assert hub.repositories == {"OWNER/NAME": {}}
    hub.refusal = 0
    upload(folder, replace(SETTINGS, update=True))
    assert hub.repositories["OWNER/NAME"] == FILES


@pytest.mark.parametrize("offline", [True, False])
def test_without_a_network_nothing_is_created(
    folder: Path, monkeypatch: pytest.MonkeyPatch, offline: bool
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")  # nobody's port
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_test")
    with pytest.raises(CannotRunError, match="OWNER/NAME was not created") as caught:
        upload(folder, SETTINGS)
    assert "hf_of_the_test" not in str(caught.value)


def test_a_missing_token_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    with pytest.raises(CannotRunError, match="HF_TOKEN: not set"):
        require_token()
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_test")
    require_token()


def test_a_repository_has_an_owner_and_a_name() -> None:
    assert HubSettings("OWNER/Qwen2.5-auctions_1").private
    for wrong in ("NAME", "a/b/c", "/NAME", "OWNER/", "OWNER/a b", "../x"):
        with pytest.raises(ValueError, match="give OWNER/NAME"):
            HubSettings(wrong)
