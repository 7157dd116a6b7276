"""The distributions, installed: ``daedalus`` works from any folder and needs no checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pandas as pd
import pytest
import requests

from daedalus.runs.pretrained import read_pretrained

ROOT = Path(__file__).parents[1]
QUICK = "tracking=files evaluation.episodes=4 evaluation.resamples=200".split()

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def installed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the checkout, which workers of pytest-xdist add to the path of their children."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "children"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leave a copy of what the package is built from."""
    source = tmp_path_factory.mktemp("source")
    needed = ("pyproject.toml", "setup.py", "requirements.txt", "README.md", "LICENSE", "Makefile")
    for name in needed:
        shutil.copy(ROOT / name, source)
    for name in ("conf", "daedalus", "experiments"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    return source


@pytest.fixture(scope="module")
def built(source: Path) -> Path:
    """Build the source distribution, and of it the wheel, as ``make dist`` does; no download."""
    make = ["make", "--no-print-directory", "-C", source, f"RUN={sys.executable}", "dist"]
    already = ["-o", "setup", "-o", ".venv/installed"]
    environment = os.environ | {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1"}
    subprocess.run([*make, *already], env=environment, capture_output=True, check=True)
    return source / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def packed_source(built: Path) -> Path:
    (found,) = built.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def daedalus(packed_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the source distribution beside the libraries that are here; return the command.

    pip makes the wheel of it that it installs.

    Near the checkout pip may see a ``daedalus.egg-info`` and take the package for installed.
    Kernels that the checkout has compiled are copied: they are those of the same sources.
    """
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    libraries = Path(packages.stdout.strip()) / "libraries.pth"
    libraries.write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    alone = ["--ignore-installed", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, *alone, packed_source], check=True)
    for kernel in (ROOT / "daedalus" / "market").rglob("*.nb[ci]"):
        copied = Path(packages.stdout.strip()) / kernel.relative_to(ROOT)
        copied.parent.mkdir(exist_ok=True)
        shutil.copy(kernel, copied)
    return place / "bin" / "daedalus"


def run(command: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, *arguments], cwd=cwd, capture_output=True, text=True)


def files(folder: str) -> set[str]:
    paths = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}


def test_the_wheel_holds_every_file_of_the_packages_and_of_conf(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        (about,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_string(packed.read(about).decode())
    conf = {f"daedalus/{path}" for path in files("conf")}
    assert names == files("daedalus") | files("experiments") | conf
    pinned = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line]
    needed = metadata.get_all("Requires-Dist") or []
    assert [line for line in needed if "extra" not in line] == pinned


def test_the_source_distribution_holds_the_same_files(packed_source: Path) -> None:
    with tarfile.open(packed_source) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"requirements.txt", *files("daedalus"), *files("experiments"), *files("conf")} <= names


def test_openenv_finds_the_graders_of_the_installed_package(daedalus: Path, tmp_path: Path) -> None:
    load = "from openenv.validation.graders import GraderRegistry as G; g = G(); "
    load += "print(g.load_entry_points(), type(g.get('semantic.oracle_max')).__module__)"
    python = daedalus.with_name("python")
    done = subprocess.run([python, "-c", load], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "8 daedalus.doors.grading.graders\n", done.stderr


def test_the_designer_of_the_package_answers_right_after_the_install(
    daedalus: Path, tmp_path: Path
) -> None:
    asked = ["population=stage3", "evaluation.episodes=3"]
    done = run(daedalus, "ask", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"designer: {read_pretrained()}\n")
    (out,) = tmp_path.glob("outputs/ask/*")
    summary = pd.read_csv(out / "summary.csv", index_col="designer")
    assert summary["valid"]["trained"] == 1 and summary["mean"]["trained"] > 0.3
    assert {"run.log", "finished"} < {path.name for path in out.iterdir()}
    (launch,) = json.loads((out / "provenance.json").read_text())
    assert launch["command"] == " ".join(["daedalus +experiment=ask", *asked])
    assert launch["commit"] is None and "daedalus" in launch["packages"]


def test_the_help_names_the_command_and_the_folder_of_its_settings(
    daedalus: Path, tmp_path: Path
) -> None:
    told = run(daedalus, "--help", cwd=tmp_path).stdout
    assert "daedalus +experiment=grpo_stage3" in told and "run.py" not in told
    found = re.search(r"The first line of (\S+)/GROUP/OPTION.yaml", told)
    assert found and (Path(found[1]) / "population" / "stage3.yaml").exists()
    assert daedalus.parents[1] in Path(found[1]).parents
    refused = run(daedalus, "seed=1", cwd=tmp_path)
    assert refused.returncode == 1 and "daedalus --help lists the names" in refused.stderr


def test_a_sweep_has_several_jobs_at_once_and_settings_of_the_user(
    daedalus: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine" / "population").mkdir(parents=True)
    shipped = (ROOT / "conf" / "population" / "stage1.yaml").read_text()
    mine = shipped.replace("name: stage1", "name: mine")
    (tmp_path / "mine" / "population" / "mine.yaml").write_text(mine)
    where = [f"hydra.searchpath=[file://{tmp_path}/mine]", "hydra.sweep.dir=sweep"]
    jobs = ["+experiment=boxplot", "population=mine,stage2", "hydra/launcher=local"]
    done = run(daedalus, "-m", *where, *jobs, *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "sweep" / "jobs.csv")
    assert list(table.population) == ["mine", "stage2"] and set(table.state) == {"finished"}
    assert (tmp_path / "sweep" / "0" / "figures" / "boxplot.png").exists()


def test_the_service_has_its_page_and_says_that_it_has_no_article(
    daedalus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")  # with every library that OpenEnv imports
    command = [daedalus, "+experiment=serve", "service.port=0", "service.checkpoint=none"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = (re.search(r"http://[\d.:]+", line) for line in process.stdout)
    address = next(filter(None, told))[0]
    page = requests.get(address, timeout=30).text
    parts = re.findall(r'(?:href|src)="(/page/[^"]+)"', page)
    assert len(parts) > 2
    for path in parts:
        assert requests.get(f"{address}{path}", timeout=30).ok, path
    assert "this server has no article" in requests.get(f"{address}/read/blog.md", timeout=30).text
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
