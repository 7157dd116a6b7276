"""Every command begins fast, and ends in one sentence where it cannot begin."""

from __future__ import annotations

import ast
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from daedalus.launch.config.paths import ROOT

SCRIPTS = ("run.py", "inference.py")
HEAVY = ("torch", "numba", "pandas", "wandb", "matplotlib", "sklearn", "scipy", "fastapi")


def python(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a new process."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("version", [(3, 8), (3, 10)])
def test_an_old_python_says_which_one_to_take(
    script: str, version: tuple[int, int], tmp_path: Path
) -> None:
    ast.parse((ROOT / script).read_text(), feature_version=(3, 7))
    code = (
        f"import runpy, sys; sys.version_info = {version}\n"
        f"runpy.run_path({str(ROOT / script)!r}, run_name='__main__')"
    )
    done = python(code, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "Daedalus needs 3.11, 3.12 or 3.13. Run `source .venv/bin/activate`" in done.stderr
    assert "make setup" in done.stderr
    real = shutil.which("python" + ".".join(map(str, version)))
    if real:
        old = subprocess.run([real, ROOT / script], capture_output=True, text=True)
        assert "SyntaxError" not in old.stderr and "Traceback" not in old.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_python_without_the_libraries_says_what_to_do(script: str, tmp_path: Path) -> None:
    command = [sys.executable, "-S", str(ROOT / script), *(["ask"] if script == "run.py" else [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert " has no library " in last
    assert "activate" in last or "make setup" in last


STOPPED = """
import os, runpy, signal, sys, time
class Finder:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{signal})  # any thread may get it
            time.sleep(0.1)
sys.meta_path.insert(0, Finder())
sys.path.insert(0, {root!r})
runpy.run_path({root!r} + "/run.py", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("daedalus.launch.start", "SIGINT"),
        ("hydra", "SIGTERM"),
        ("daedalus.launch.config.tasks", "SIGINT"),
    ],
)
def test_a_stop_before_the_run_is_one_sentence(module: str, name: str, tmp_path: Path) -> None:
    assert stopped(module, name, tmp_path)[-1].startswith("Stopped before the run began.")
    assert list(tmp_path.iterdir()) == [tmp_path / "stopped.py"]


@pytest.mark.slow
def test_stopping_while_numba_is_imported_is_one_sentence(tmp_path: Path) -> None:
    """Its C code turns the stop into an ImportError."""
    *before, last = stopped("numba._devicearray", "SIGINT", tmp_path)
    # What holds the stop back may end before the import does.
    assert last.startswith(("Stopped; compare has kept nothing yet.", "Stopped. To go on: "))
    assert before[-1].startswith("compare: loading its libraries; the results go to ")


def stopped(module: str, name: str, folder: Path) -> list[str]:
    """Run an experiment that gets a signal when it imports a module; return what it says."""
    script = folder / "stopped.py"
    script.write_text(STOPPED.format(module=module, signal=name, root=str(ROOT)))
    command = [sys.executable, str(script), "+experiment=boxplot"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


REFUSED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from daedalus.launch.start import cli
words = sys.argv[1:]
for more in words.pop().split():
    sys.argv = ["run.py", *words, more]
    try:
        cli()
    except SystemExit as stopped:
        print(stopped)
print([name for name in {HEAVY} if name in sys.modules])
"""


LOGS = {
    "none": (None, "none.csv: no such file"),
    "empty": ("", "there is no header"),
    "other": ("auction,price\n1,2\n", "no column bid among auction, price"),
    "short": ("auction,bid\n1,2\n", "trained: nowhere has no folder model"),
}


@pytest.mark.slow
def test_what_lies_outside_is_refused_before_anything_slow_is_imported(tmp_path: Path) -> None:
    for name, (content, _) in LOGS.items():
        if content is not None:
            (tmp_path / f"{name}.csv").write_text(content)
    files = " ".join(f"bids={name}.csv" for name in LOGS)
    done = python(REFUSED, "+experiment=from_bids", "trained=nowhere", files, cwd=tmp_path)
    *said, imported = done.stdout.splitlines()
    assert imported == "[]"
    for (_, told), line in zip(LOGS.values(), said, strict=True):
        assert told in line
    assert not (tmp_path / "outputs").exists()


@pytest.mark.slow
def test_a_taken_port_is_refused_before_anything_slow_is_imported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = python(REFUSED, "+experiment=serve", f"service.port={port}", cwd=tmp_path)
    said, imported = done.stdout.splitlines()
    assert f"service.port {port}: Address already in use" in said and imported == "[]"
    assert not (tmp_path / "outputs").exists()


@pytest.mark.slow
def test_an_experiment_is_added_as_the_documents_say(tmp_path: Path) -> None:
    """A module and a file of the configuration, and nothing else."""
    for name in ("conf", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "daedalus").symlink_to(ROOT / "daedalus")
    shutil.copy(ROOT / "run.py", tmp_path)
    section = (ROOT / "docs" / "architecture.md").read_text().split("### An experiment, worked")[1]
    code, file = re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[:2]
    (tmp_path / "experiments" / "count_bidders.py").write_text(code)
    (tmp_path / "conf" / "experiment" / "count_bidders.yaml").write_text(file)
    broken = "import nothing_here\n\n\ndef main(config, out): ...\n"  # of another experiment
    (tmp_path / "experiments" / "draft.py").write_text(broken)
    command = [sys.executable, "run.py", "+experiment=count_bidders", "population=stage1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "stage1 has 8 bidders" in done.stdout
    assert len(list(tmp_path.glob("outputs/count_bidders/*/finished"))) == 1


BEGINNING = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import experiments.ask, experiments.grpo, experiments.grpo_briefs
from hydra.core.config_store import ConfigStore
from daedalus.launch.config.compose import compose_config
compose_config("+experiment=ask")
print([name for name in ConfigStore.instance().repo["task"] if name.endswith("_schema.yaml")])
compose_config("+experiment=grpo_stage3")
names = "torch scipy.stats scipy.optimize sklearn matplotlib seaborn"
print([name for name in names.split() if name in sys.modules])
"""


@pytest.mark.slow
def test_a_run_begins_without_what_it_uses_later_or_never(tmp_path: Path) -> None:
    *_, registered, imported = python(BEGINNING, cwd=tmp_path).stdout.splitlines()
    assert registered == "['ask_schema.yaml']" and imported == "[]"


ASKING = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import experiments.ask, daedalus.doors.inference
import daedalus.training.generation, daedalus.training.trained_prompt
names = "peft bitsandbytes trl seaborn matplotlib datasets"
print([name for name in names.split() if name in sys.modules])
"""


@pytest.mark.slow
def test_to_ask_a_model_imports_nothing_of_training_and_of_figures(tmp_path: Path) -> None:
    done = python(ASKING, cwd=tmp_path)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
