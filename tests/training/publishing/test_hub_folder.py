"""The folder loads as a model, its card holds, and its snippet runs as it stands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.training.generation import complete
from daedalus.training.model import load_language_model
from daedalus.training.publishing.card import Example
from daedalus.training.publishing.evidence import Evidence
from daedalus.training.publishing.hub_folder import check_folder, write_folder
from daedalus.training.publishing.settings import HubSettings
from daedalus.training.trained_prompt import trained_prompt
from tests.hub_cache import leave_snapshot, offline

pytestmark = pytest.mark.slow  # their folder takes long to make

SETTINGS = HubSettings("OWNER/NAME", dry_run=True)
CHAT = [{"role": "user", "content": "round_number: 0 / 10\nReply with JSON only."}]
EXAMPLE = Example(CHAT, "")


@pytest.fixture(scope="module")
def folder(evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("published")
    write_folder(evidence, SETTINGS, EXAMPLE, made)
    return made


def test_the_folder_holds_the_model_the_card_and_the_evidence(
    folder: Path, evidence: Evidence
) -> None:
    assert check_folder(folder) == []
    model = {path.name for path in evidence.run.model.iterdir()}
    assert {path.name for path in folder.iterdir()} == model | {"README.md", "run", "figures"}
    assert {path.name for path in (folder / "run").iterdir()} == {
        "config.yaml", "provenance.json", "metrics.jsonl", "summary.csv", "differences.csv",
        "episodes.csv", "training_history.csv",
    }  # fmt: skip
    assert trained_prompt(folder) == trained_prompt(evidence.run.model)


def test_the_snippet_prints_what_the_model_answers(folder: Path, tmp_path: Path) -> None:
    """It runs in a fresh interpreter and finds the model by its name on the hub."""
    leave_snapshot(folder, "OWNER/NAME", tmp_path / "cache")
    (snippet,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    answer = subprocess.run(
        [sys.executable, "-c", snippet],
        cwd=tmp_path, env=offline(tmp_path / "cache"), capture_output=True, text=True,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    expected = complete(load_language_model(folder), [CHAT], 0.0, 24).texts[0]
    assert answer.stdout == expected + "\n" and expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("figures/boxplot.png", "figures/other.png", "figures/other.png does not exist"),
        ("license: apache-2.0", "x: y", "its metadata lack scores or the licence"),
        ("model-index:", "other:", "its metadata lack scores or the licence"),
        ("## Scores", "## nan", "a value is missing"),
    ],
)
def test_a_wrong_card_is_found(
    folder: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    text = (folder / "README.md").read_text()
    assert old in text
    (tmp_path / "copy" / "README.md").write_text(text.replace(old, new))
    (wrong,) = check_folder(tmp_path / "copy")
    assert wrong == f"README.md: {message}"


def test_an_empty_file_is_found(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "tokenizer.json").write_text("")
    assert check_folder(tmp_path / "copy") == ["tokenizer.json: 0 bytes"]
