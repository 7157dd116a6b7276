"""What the requirements pin, and that it can be installed. deptry compares it with the imports."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFUSAL = "Daedalus needs Python 3.11, 3.12 or 3.13. Install one"


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(file: str) -> set[str]:
    """Return the names that a requirements file asks for, with the files that it includes."""
    names: set[str] = set()
    for line in (ROOT / file).read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("-r "):
            names |= required(line.removeprefix("-r ").strip())
        elif line and "extra ==" not in line:
            assert re.fullmatch(r"[\w.-]+==[\w.]+", line), f"{file}: {line} is not pinned"
            names.add(normal(line.partition("==")[0]))
    return names


def test_development_includes_running() -> None:
    assert required("requirements.txt") < required("requirements-dev.txt")


def make_setup(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, folder)
    command = ["make", "setup", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_setup_installs_both_lists(tmp_path: Path) -> None:
    plan = make_setup(tmp_path, "--dry-run", f"PYTHON={sys.executable}")
    assert plan.returncode == 0, plan.stderr
    assert f"{sys.executable} -m venv .venv" in plan.stdout
    assert "-r requirements-dev.txt" in plan.stdout
    assert "GB" in plan.stdout and "--index-url" not in plan.stdout


def test_setup_takes_another_build_of_torch_before_the_rest(tmp_path: Path) -> None:
    plan = make_setup(tmp_path, "--dry-run", f"PYTHON={sys.executable}", "TORCH_INDEX=ADDRESS")
    torch, rest = plan.stdout.split("--index-url ADDRESS torch\n")
    assert "--constraint requirements.txt" in torch and "-r requirements-dev.txt" in rest
    assert "GB" not in plan.stdout


@pytest.mark.parametrize("minor", range(10, 15))
def test_setup_and_the_package_take_the_same_pythons(tmp_path: Path, minor: int) -> None:
    """A script stands for each Python: it answers as one of that version."""
    python = tmp_path / "python3"
    version = f"import sys; sys.version_info = (3, {minor}, 1)"
    python.write_text(f'#!/bin/sh\n[ $1 = -c ] && exec {sys.executable} -c "{version}; $2"\n')
    python.chmod(0o755)
    refused = make_setup(tmp_path, f"PYTHON={python}").stderr.startswith(REFUSAL)
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least, beyond = map(int, re.findall(r"3\.(\d+)", about["requires-python"]))
    assert refused != (least <= minor < beyond)


@pytest.mark.parametrize("python", ["false", "no-such-python", ""])
def test_setup_without_the_right_python_says_what_to_install(tmp_path: Path, python: str) -> None:
    answer = make_setup(tmp_path, f"PYTHON={python}")
    assert answer.returncode != 0
    first = answer.stderr.splitlines()[0]
    assert first.startswith(REFUSAL) and "make setup" in first
    assert not (tmp_path / ".venv").exists()


def test_the_extra_for_reinforcement_learning_is_that_of_the_tests() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = set(about["optional-dependencies"]["rl"])
    assert extra and extra <= set((ROOT / "requirements-dev.txt").read_text().splitlines())


def test_vllm_has_the_pins_of_running_without_the_service() -> None:
    """vLLM conflicts with OpenEnv's libraries, and with the numba of requirements.txt."""
    base, vllm = pins("requirements.txt"), pins("requirements-vllm.txt")
    service = {"openenv", "fastapi", "starlette", "uvicorn", "uvloop", "httptools", "websockets"}
    service |= {"markdown-it-py"}  # for the article
    assert {line.partition("==")[0] for line in base - vllm} == service | {"numba"}
    assert vllm - base == {"numba==0.65.0", "vllm==0.30.0"}


def pins(*files: str) -> set[str]:
    lines = (line for file in files for line in (ROOT / file).read_text().splitlines())
    return {line for line in lines if "==" in line}


def test_evaluators_have_the_pins_of_running() -> None:
    """Only verifiers and Inspect, in the version of the extra, are theirs."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = pins("requirements.txt", "requirements-dev.txt")
    theirs = pins("requirements-evaluators.txt") - base
    assert theirs == {"verifiers==0.4.0", *about["optional-dependencies"]["inspect"]}


@pytest.mark.slow
def test_what_evaluators_need_can_be_installed() -> None:
    resolve = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--python", sys.executable]
    command = [*resolve, "requirements-evaluators.txt"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert pins("requirements-evaluators.txt") <= set(answer.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ("pyproject.toml --extra gpu", "unsloth"),
        ("pyproject.toml --extra rl", "stable-baselines3"),
        ("pyproject.toml --extra inspect", "inspect-ai"),
        ("requirements-vllm.txt", "vllm"),
    ],
)
def test_what_an_extra_needs_can_be_installed(wanted: str, named: str) -> None:
    """Resolve against the pins; nothing is installed."""
    resolve = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--python", sys.executable]
    answer = subprocess.run([*resolve, *wanted.split()], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    found = dict(re.findall(r"^([\w.-]+)==([\w.]+)", answer.stdout, re.M))
    for name, _, version in (line.partition("==") for line in pins("requirements-vllm.txt")):
        if name not in ("numba", "vllm"):
            assert found[normal(name)] == version
    assert found[named]


def set_up(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "setup", f"PYTHON={python}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def made(folder: Path) -> str:
    done = set_up(folder, sys.executable)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_second_setup_names_the_requirements_that_changed(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text("")  # nothing to install
    assert "again" not in made(tmp_path)
    assert "again" not in made(tmp_path)
    later = (tmp_path / ".venv" / "installed").stat().st_mtime + 5
    os.utime(tmp_path / "requirements.txt", (later, later))
    refused = set_up(tmp_path, "false")  # it installs nothing, but says why it would
    told = refused.stdout.splitlines()
    assert refused.returncode != 0 and REFUSAL in refused.stderr
    said = "make installs the requirements again, since these are newer than .venv: "
    assert told[0] == f"{said}requirements.txt"
