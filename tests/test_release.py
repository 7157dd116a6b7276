"""A release: one version in every file, and workflows that test, build and draft it."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from daedalus.service.openenv import environment

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.stem: path.read_text() for path in FOLDER.glob("*.yml")}
TESTING, WORKFLOW = (yaml.load(TEXTS[name], yaml.BaseLoader) for name in ("test", "release"))
"""Read as text, since YAML 1.1 takes ``on`` for a truth."""
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_every_file_has_the_version_of_the_package() -> None:
    for name in ("openenv.yaml", "CITATION.cff"):
        assert str(OmegaConf.load(ROOT / name).version) == VERSION
    assert environment.VERSION == VERSION
    assert f"daedalus-{VERSION}-py3-none-any.whl" in (ROOT / "docs" / "plugs.md").read_text()
    sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert sections[:2] == ["Unreleased", VERSION]


def test_the_workflow_tests_and_builds_by_the_repository_s_own_commands() -> None:
    made = [each for each in commands(TESTING["jobs"]["test"]) if "git config" not in each]
    assert made == [".ci/run", "make test-plugs", "make dist"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    for name, text in TEXTS.items():
        permitted = yaml.load(text, yaml.BaseLoader)["permissions"]
        assert "secrets." not in text and permitted == {"contents": "read"}, name


def test_each_push_is_tested_and_a_release_begins_with_the_same() -> None:
    assert {*TESTING["on"]} == {"push", "pull_request", "workflow_call"}
    assert {*WORKFLOW["on"]} == {"workflow_dispatch"}
    called = WORKFLOW["jobs"]["test"]["uses"]
    assert called.startswith("./") and ROOT / called == FOLDER / "test.yml"
    assert WORKFLOW["jobs"]["draft"]["needs"] == "test"


def test_the_draft_takes_what_the_tests_leave() -> None:
    both = [*TESTING["jobs"]["test"]["steps"], *WORKFLOW["jobs"]["draft"]["steps"]]
    passed = [each["with"]["name"] for each in both if "artifact" in each.get("uses", "")]
    assert passed == ["dist", "dist"]


def test_the_draft_has_both_distributions_and_its_part_of_the_changelog(tmp_path: Path) -> None:
    """The commands run here; a program that only says what it is asked stands for GitHub's."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    distributions = (f"daedalus-{VERSION}-py3-none-any.whl", f"daedalus-{VERSION}.tar.gz")
    for folder, names in (("dist", distributions), ("bin", ("gh",))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text('#!/bin/sh\nprintf "%s\\n" "$@" > said\n')
    (tmp_path / "bin" / "gh").chmod(0o755)
    (draft,) = commands(WORKFLOW["jobs"]["draft"])
    told = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "GITHUB_SHA": "abc"}
    subprocess.run(["bash", "-eo", "pipefail", "-c", draft], cwd=tmp_path, env=told, check=True)
    said = (tmp_path / "said").read_text().splitlines()
    assert said[:5] == ["release", "create", f"v{VERSION}", "--draft", "--target"]
    assert said[-2:] == [f"dist/{name}" for name in distributions]
    notes = (tmp_path / "notes.md").read_text()
    sections = re.split(r"^## ", (tmp_path / "CHANGELOG.md").read_text(), flags=re.M)
    assert notes == sections[2].partition("\n")[2]
