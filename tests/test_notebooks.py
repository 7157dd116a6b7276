from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.random import RandomDesigner
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import paired_differences, summarise
from daedalus.market.interface import MarketSettings, make_market
from tests.populations import population

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "analysis").glob("*.ipynb"))
BOXPLOTS = ROOT / "analysis" / "boxplots.ipynb"


def write_run(folder: Path) -> None:
    """Write what an experiment leaves for the notebook."""
    market = MarketSettings(episode_length=3)
    env = DesignEnv(make_market(market, population(4)), market)
    designers = {"random": RandomDesigner(), "informed_greedy": FixedDesigner()}
    episodes = episode_means(compare(env, designers, 6, seed=0))
    settings = EvaluationSettings(resamples=200)
    folder.mkdir(parents=True)
    episodes.to_csv(folder / "episodes.csv", index=False)
    summarise(episodes, settings, 0).to_csv(folder / "summary.csv", index=False)
    differences = paired_differences(episodes, "random", settings, 0)
    differences.to_csv(folder / "differences.csv", index=False)
    history = "step,reward,loss\n" + "\n".join(f"{step},0.{step},0.1" for step in range(1, 9))
    (folder / "training_history.csv").write_text(history)


def execute(
    run: Path, output: Path, start: Path, monkeypatch: pytest.MonkeyPatch
) -> subprocess.CompletedProcess[str]:
    """Run the notebook from the folder ``start`` and store it under ``output``."""
    monkeypatch.setenv("DAEDALUS_RUN", str(run))
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", str(BOXPLOTS)]
    command += ["--output-dir", str(output), "--output", "executed.ipynb"]
    return subprocess.run(command, cwd=start, capture_output=True, text=True, timeout=300)


def test_there_are_notebooks() -> None:
    assert BOXPLOTS in NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_stripped(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.slow
def test_notebook_draws_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "run")
    done = execute(tmp_path / "run", tmp_path, ROOT, monkeypatch)
    assert done.returncode == 0, done.stderr
    notebook = nbformat.read(tmp_path / "executed.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    tables = [
        output for output in outputs if "<table" in output.get("data", {}).get("text/html", "")
    ]
    assert len(pictures) == 3
    assert len(tables) == 2


@pytest.mark.slow
def test_notebook_without_a_run_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = execute(tmp_path / "nothing", tmp_path, ROOT / "analysis", monkeypatch)
    assert done.returncode != 0
    assert "python run.py +experiment=boxplot" in done.stderr
