"""Publishing from the command line: a dry run without a network, an upload, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from daedalus.checks import CannotRunError
from daedalus.launch.config.task_parts import Task
from daedalus.runs.folder import RunFolder
from daedalus.training.publishing.evidence import read_evidence
from experiments.publish import main, make_example
from tests import forked
from tests.hub_cache import offline
from tests.launch.config.composing import composed, failure
from tests.training.publishing.conftest import hub  # noqa: F401  # a fixture
from tests.training.publishing.fake_hub import FakeHub


def settings(model: Path, *overrides: str) -> Task:
    checkpoint = f"designer.checkpoint={model}"
    return composed("+experiment=publish", checkpoint, "hub.repo=OWNER/NAME", *overrides)


@pytest.mark.slow
def test_a_dry_run_needs_no_network(
    trained_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    main(settings(trained_run.model, "hub.dry_run=true"), tmp_path)
    card = ModelCard.load(RunFolder(tmp_path).published / "README.md")
    assert card.data.model_name == "NAME" and "round_number: 0 / 10" in card.text
    assert [path.name for path in tmp_path.iterdir()] == ["published"]


@pytest.mark.slow
def test_a_folder_is_uploaded_once(trained_run: RunFolder, tmp_path: Path, hub: FakeHub) -> None:  # noqa: F811
    main(settings(trained_run.model), tmp_path)
    folder = RunFolder(tmp_path).published
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert hub.repositories["OWNER/NAME"] == {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in files
    }
    with pytest.raises(CannotRunError, match="OWNER/NAME exists already"):
        main(settings(trained_run.model), tmp_path)
    assert len(hub.messages) == 1


@pytest.mark.slow
def test_what_cannot_be_published_is_said_in_a_sentence(
    trained_run: RunFolder, tmp_path: Path
) -> None:
    words = ["+experiment=publish", "hub.repo=OWNER/NAME", "hydra.run.dir=out"]
    words.append(f"designer.checkpoint={trained_run.model}")
    environment = offline(tmp_path / "cache")
    answer = forked.run("run.py", *words, cwd=tmp_path, environment=environment)
    assert answer.returncode == 1 and "Traceback" not in answer.stderr
    told = answer.stderr.strip().splitlines()[-1]
    assert "HF_TOKEN: not set; set it to a token that may write" in told
    assert not (tmp_path / "out" / "published").exists()
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.slow
def test_a_repository_must_be_named(trained_run: RunFolder, tmp_path: Path) -> None:
    dry = ("+experiment=publish", f"designer.checkpoint={trained_run.model}", "hub.dry_run=true")
    assert "repo: 'NAME'; give OWNER/NAME" in failure(*dry, "hub.repo=NAME")
    with pytest.raises(CannotRunError, match="repo: not set; give OWNER/NAME"):
        main(composed(*dry), tmp_path)


@pytest.mark.slow
def test_the_example_is_the_run_s_own(trained_run: RunFolder) -> None:
    evidence = read_evidence(str(trained_run.model))
    example = make_example(evidence)
    assert [each["role"] for each in example.chat] == ["system", "user"]
    assert example == make_example(evidence) and example.answer == ""
