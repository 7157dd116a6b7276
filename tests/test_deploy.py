"""The files behind a container and a Space; the tests build no image."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from omegaconf import OmegaConf

from tests.config.composing import composed

ROOT = Path(__file__).parents[1]
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions and what follows each."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line.strip()]
    return [(name, rest) for name, rest in pairs]


def only(name: str) -> str:
    (value,) = [rest for each, rest in instructions() if each == name]
    return value


def front_matter() -> dict:
    _, text, _ = (ROOT / "deploy" / "README.md").read_text().split("---\n", 2)
    matter = OmegaConf.to_container(OmegaConf.create(text))
    assert isinstance(matter, dict)
    return matter


def test_the_container_starts_the_service_where_the_space_looks_for_it() -> None:
    program, script, *overrides = json.loads(only("CMD"))
    assert (program, (ROOT / script).exists()) == ("python", True)
    settings = composed(*overrides)
    assert settings.task == "serve" and settings.service.host == "0.0.0.0"
    assert settings.service.port == int(only("EXPOSE")) == front_matter()["app_port"]


def test_the_front_matter_is_what_spaces_take() -> None:
    matter = front_matter()
    assert {"title", "emoji", "sdk", "pinned"} <= set(matter) and matter["sdk"] == "docker"
    assert {matter["colorFrom"], matter["colorTo"]} <= COLOURS
    assert len(matter["short_description"]) <= 60


def test_the_image_gets_what_it_copies_and_runs_as_an_ordinary_user() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name, rest in instructions():
        for source in rest.split()[:-1] if name == "COPY" else []:
            assert source.startswith("--") or (ROOT / source).exists()
            assert source not in ignored
    assert ("COPY", "--chown=1000 . .") in instructions()  # the article and its figures too
    assert not [each for each in ignored if each.strip("*/").startswith(("docs", ".png"))]
    runs = "\n".join(rest for name, rest in instructions() if name == "RUN")
    assert only("USER") == "1000" and "--uid 1000" in runs
    home = only("WORKDIR").removesuffix("/app")
    assert only("ENV").startswith(f"NUMBA_CACHE_DIR={home}/")
    (first,) = re.findall(r"grep '(.*?)' requirements.txt", runs)
    assert len(re.findall(first, (ROOT / "requirements.txt").read_text(), re.MULTILINE)) == 1
    modules = re.findall(r"python -m ([\w.]+)", runs)
    assert modules == ["deploy.compile"] and (ROOT / "deploy" / "compile.py").exists()


def test_a_space_is_the_commit_with_its_own_readme_and_the_model(tmp_path: Path) -> None:
    repository, model, tools = tmp_path / "repository", tmp_path / "run" / "model", tmp_path / "bin"
    shutil.copytree(ROOT / "deploy", repository / "deploy")
    for name in ("Dockerfile", ".gitignore", "README.md"):
        shutil.copy(ROOT / name, repository)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(repository)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    (repository / "uncommitted").touch()
    model.mkdir(parents=True)
    (model / "prompt.json").write_text("{}")
    tools.mkdir()
    (tools / "hf").write_text(  # stands for the hub's client: keeps what it is told to upload
        f'#!/bin/bash\necho "$@" >> {tmp_path}/said\n'
        f'[ $1 != upload ] || cp -r "$3" {tmp_path}/space\n'
    )
    (tools / "hf").chmod(0o755)
    push = [repository / "deploy" / "push", "me/daedalus", "run/model"]
    told = {"PATH": f"{tools}:{os.environ['PATH']}"}
    subprocess.run(push, cwd=tmp_path, env=os.environ | told, check=True)
    space = tmp_path / "space"
    assert (space / "README.md").read_text() == (ROOT / "deploy" / "README.md").read_text()
    assert (space / "outputs" / "designer" / "model" / "prompt.json").exists()
    assert (space / "Dockerfile").exists()
    assert not (space / ".gitignore").exists() and not (space / "uncommitted").exists()
    created, uploaded = (tmp_path / "said").read_text().splitlines()
    assert created.startswith("repos create me/daedalus --repo-type space --space-sdk docker")
    assert uploaded.startswith("upload me/daedalus ") and "--repo-type space" in uploaded
    refused = subprocess.run(push[:1], capture_output=True, text=True)
    assert refused.returncode != 0 and "OWNER/NAME" in refused.stderr
