"""The notebooks run on what experiments leave, and are stored with what they show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.readers import KeywordReader
from daedalus.design.briefs.solver import BriefSolver
from daedalus.design.briefs.wordings import examples
from daedalus.design.designers.brief_search import BriefSearch
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.leaderboard import normalise
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import paired_differences, summarise
from daedalus.lab.studies.behaviour import decisions
from daedalus.lab.studies.brief_reading import reading, shares
from daedalus.lab.studies.briefs import by_clause, proposals, scores, summarised
from daedalus.lab.studies.understanding import changed_fields
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.runs.folder import RunFolder
from tests.populations import population

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "analysis").glob("*.ipynb"))
BOXPLOTS, DESIGNER = ROOT / "analysis" / "boxplots.ipynb", ROOT / "analysis" / "designer.ipynb"
UNDERSTANDING = ROOT / "analysis" / "understanding.ipynb"
BRIEFS = ROOT / "analysis" / "briefs.ipynb"
LANGUAGE_MODEL = ROOT / "analysis" / "language_model.ipynb"


def write_run(folder: Path) -> None:
    """Write what an experiment leaves for the notebook."""
    market = MarketSettings(episode_length=3)
    env = DesignEnv.of(market, population(4))
    designers = {"random": RandomDesigner(), "informed_greedy": FixedDesigner(Mechanism())}
    episodes = episode_means(compare(env, designers, 6, seed=0))
    settings = EvaluationSettings(resamples=200)
    folder.mkdir(parents=True)
    episodes.to_csv(folder / "episodes.csv", index=False)
    summarise(episodes, settings, 0).to_csv(folder / "summary.csv", index=False)
    differences = paired_differences(episodes, "random", settings, 0)
    differences.to_csv(folder / "differences.csv", index=False)
    history = "step,reward,loss\n" + "\n".join(f"{step},0.{step},0.1" for step in range(1, 9))
    (folder / "training_history.csv").write_text(history)


@pytest.fixture(scope="module")
def kernel() -> Iterator[NotebookClient]:
    """Return a kernel for all notebooks: what they import takes it longer than what they do."""
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=300)
    yield client
    client._cleanup_kernel()


BEGIN = """
import os
os.chdir({start!r})
for name in [each for each in os.environ if each in {variables}]:
    del os.environ[name]
os.environ.update({runs})
%reset -f
"""
"""What a kernel does before each notebook, which finds no name of the last one."""


def execute(
    kernel: NotebookClient, path: Path, runs: dict[str, Path], start: Path
) -> nbformat.NotebookNode:
    """Run a notebook from the folder ``start`` on the runs of those variables, and return it."""
    notebook = nbformat.read(path, as_version=4)
    named = {name: str(run) for name, run in runs.items()}
    begin = BEGIN.format(start=str(start), variables=VARIABLES, runs=named)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(begin))
    kernel.nb = notebook
    kernel.execute(cleanup_kc=False)
    return notebook


def shown(notebook: nbformat.NotebookNode) -> tuple[int, int]:
    """Count pictures and tables of an executed notebook."""
    data = [each.get("data", {}) for cell in notebook.cells for each in cell.get("outputs", [])]
    pictures = sum("image/png" in each for each in data)
    return pictures, sum("<table" in each.get("text/html", "") for each in data)


def write_leaderboard(folder: Path) -> None:
    """Write what a sweep of leaderboards over two seeds leaves for the notebook."""
    names = ["random", "planner", "best_own", "informed_greedy", "best_fixed", "trained"]
    rows = [
        {"seed": seed, "population": population, "designer": name, "mean": 0.1 * rank + 0.01 * seed}
        for seed in (0, 1)
        for population in ("one", "two")
        for rank, name in enumerate(names)
    ]
    frame = pd.DataFrame(rows).assign(mean=lambda rows: rows["mean"] % 0.4, valid=1.0)
    scores = normalise(frame)
    folder.mkdir(parents=True)
    scores.to_csv(folder / "sweep.csv", index=False)


def write_behaviour(folder: Path) -> None:
    """Write what the experiment on behaviour leaves for the notebook."""
    settings = MarketSettings(name="strategic", episode_length=5)
    kinds = {"ring": BidderType(menu=["collude"]), "impostor": BidderType(menu=["shill"])}
    bidders = Population(types=kinds | {"honest": BidderType()}, concentration=1.0)
    env = DesignEnv.of(settings, bidders)
    designers = {"trained": RandomDesigner(), "best_fixed": FixedDesigner(Mechanism())}
    table = decisions(env, designers, 40, 0)
    folder.mkdir(parents=True)
    table.to_csv(folder / "decisions.csv", index=False)


def write_understanding(folder: Path) -> None:
    """Write what the experiment understanding leaves for the notebook."""
    market = MarketSettings(name="strategic", episode_length=3)
    env = DesignEnv.of(market, Population(types={"honest": BidderType()}))
    fixed = FixedDesigner(Mechanism())
    designers = {"random": RandomDesigner(), "trained": RandomDesigner()}
    designers |= {"sft": RandomDesigner(), "best_own": fixed}
    folder.mkdir()
    differ = changed_fields(env, RandomDesigner(), fixed, 4, seed=0).assign(designer="trained")
    tables = {"decisions": decisions(env, designers, 4, seed=0), "changes": differ}
    for name, table in tables.items():
        joined = pd.concat([table] * 2, keys=["one", "two"], names=["population"])
        joined.reset_index("population").to_csv(folder / f"{name}.csv", index=False)


def write_briefs(folder: Path) -> None:
    """Write what the experiment briefs leaves for the notebook."""
    env = DesignEnv.of(MarketSettings(episode_length=3), population(4))
    budget = SearchBudget(candidates=8, episodes=2, keep=2, sweeps=0, sweep_episodes=1)
    solver = BriefSolver(KeywordReader(examples(True)), lambda _: env, budget=budget)
    designers = {"blind": FixedDesigner(Mechanism()), "keywords": BriefSearch(solver)}
    briefs = frozen_briefs("wordings")[:3]
    given = proposals(briefs, lambda _: env, lambda _: designers, 0)
    table = scores(given, lambda _: env, 0, lambda _: "wordings")
    folder.mkdir()
    table.to_csv(folder / "briefs.csv", index=False)
    summarised(table, 0.95).to_csv(folder / "summary.csv", index=False)
    by_clause(given, table).to_csv(folder / "clauses.csv", index=False)


def write_reading(folder: Path) -> None:
    """Write what the experiment brief_reading leaves for the notebook."""
    readers = {count: KeywordReader(examples(True, count)) for count in (1, 12)}
    tables = [
        reading(each, True).assign(reader="keywords", wordings=count)
        for count, each in readers.items()
    ]
    folder.mkdir()
    table = pd.concat(tables)
    table.to_csv(folder / "reading.csv", index=False)
    shares(table, 0.95).to_csv(folder / "reading_shares.csv", index=False)


def test_there_are_notebooks() -> None:
    assert [BOXPLOTS, BRIEFS, DESIGNER, LANGUAGE_MODEL, UNDERSTANDING] == NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_hold_what_they_show(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [each for cell in cells for each in cell.outputs if each.output_type == "error"]
    assert shown(notebook)[0] >= 3
    text = path.read_text()
    assert len(text) < 700_000
    assert str(Path.home()) not in text and not re.search(r"[\s\"'](/\w+){2,}/outputs", text)


RUNS: dict[Path, dict[str, Callable[[Path], None]]] = {
    BOXPLOTS: {"DAEDALUS_RUN": write_run},
    DESIGNER: {"DAEDALUS_LEADERBOARD": write_leaderboard, "DAEDALUS_BEHAVIOUR": write_behaviour},
    UNDERSTANDING: {"DAEDALUS_UNDERSTANDING": write_understanding},
    BRIEFS: {"DAEDALUS_BRIEFS": write_briefs, "DAEDALUS_READING": write_reading},
}
"""What writes the runs that a notebook reads, by the variables that name them."""
VARIABLES = [name for each in RUNS.values() for name in each] + ["DAEDALUS_TRAINING"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("notebook", "drawn"),
    [(BOXPLOTS, (3, 2)), (DESIGNER, (7, 4)), (UNDERSTANDING, (3, 4)), (BRIEFS, (3, 2))],
)
def test_notebooks_draw_runs(
    notebook: Path, drawn: tuple[int, int], tmp_path: Path, kernel: NotebookClient
) -> None:
    for variable, write in RUNS[notebook].items():
        write(tmp_path / variable)
    runs = {variable: tmp_path / variable for variable in RUNS[notebook]}
    assert shown(execute(kernel, notebook, runs, ROOT)) == drawn


@pytest.mark.slow
def test_the_models_of_a_run_are_asked_and_drawn(
    trained_run: RunFolder, kernel: NotebookClient
) -> None:
    runs = {"DAEDALUS_TRAINING": trained_run.path}
    assert shown(execute(kernel, LANGUAGE_MODEL, runs, ROOT)) == (3, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("notebook", "experiment"),
    [
        (BOXPLOTS, "boxplot"),
        (DESIGNER, "leaderboard"),
        (UNDERSTANDING, "understanding"),
        (LANGUAGE_MODEL, "grpo_stage3"),
        (BRIEFS, "briefs"),
    ],
)
def test_notebooks_without_a_run_say_what_to_do(
    notebook: Path, experiment: str, tmp_path: Path, kernel: NotebookClient
) -> None:
    runs = dict.fromkeys(VARIABLES, tmp_path / "nothing")
    with pytest.raises(CellExecutionError, match=rf"python run.py \+experiment={experiment}\b"):
        execute(kernel, notebook, runs, ROOT / "analysis")
