"""Fronts of many objectives: weightings, domination, hypervolume, and what designers reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.episodes import compare
from daedalus.lab.studies.pareto_fronts import (
    GOALS,
    front_panels,
    fronts,
    hypervolume,
    on_front,
    reached,
    volumes,
    weightings,
)
from daedalus.launch.config.compose import compose_config
from daedalus.market.mechanism import Mechanism
from experiments import objectives
from tests.design.search.markets import env_of
from tests.launching import play
from tests.untrained import leave_untrained_model


def test_weightings_cover_the_simplex() -> None:
    found = weightings()
    assert len(found) == len({tuple(each.items()) for each in found}) == 15
    assert all(sum(each.values()) == 1 and min(each.values()) > 0 for each in found)
    assert {"revenue": 1.0} in found and {"welfare": 0.25, "fairness": 0.75} in found
    assert {"revenue": 0.5, "welfare": 0.25, "fairness": 0.25} in found


def test_a_point_on_the_front_is_dominated_by_none() -> None:
    points = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.4, 0.5, 0], [1, 0, 0]], float)
    assert on_front(points).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("points", "volume"),
    [
        ([[0.5, 0.5, 0.5]], 0.125),
        ([[1, 1, 0.5], [0.5, 0.5, 1]], 0.625),
        ([[0.5, 1, 1], [1, 0.5, 1], [0.2, 0.2, 0.2]], 0.75),
        ([[1, 1, -1], [0.5, 0.5, 0.5]], 0.125),
        ([[0.5, 1], [1, 0.5]], 0.75),
    ],
)
def test_hypervolumes_are_exact(points: list[list[float]], volume: float) -> None:
    assert hypervolume(np.array(points, float)) == pytest.approx(volume)


def test_a_hypervolume_is_the_share_of_draws_that_some_point_dominates() -> None:
    rng = np.random.default_rng(0)
    points, draws = rng.random((12, 3)), rng.random((20_000, 3))
    below = (draws[:, None] <= points[None]).all(axis=2).any(axis=1).mean()
    assert hypervolume(points) == pytest.approx(below, abs=0.01)


def test_what_is_reached_is_what_a_comparison_measures() -> None:
    env = env_of(RewardStack({"welfare": 0.5, "fairness": 0.5}))
    designers = {"fixed": FixedDesigner(Mechanism())}
    (row,) = reached(env, designers, 6, seed=3).to_dict("records")
    steps = compare(env, designers, 6, seed=3)
    means = steps.groupby("episode")[["reward", "welfare", "fairness"]].mean()
    for name in ("reward", "welfare", "fairness"):
        assert row[name] == pytest.approx(means[name].mean())
    assert row["welfare_sem"] == pytest.approx(means["welfare"].sem())
    assert (row["weight_revenue"], row["weight_welfare"]) == (0.0, 0.5)
    revenue = compare(replace(env, reward=RewardStack({"revenue": 1.0})), designers, 6, seed=3)
    assert row["revenue"] == pytest.approx(revenue.groupby("episode")["reward"].mean().mean())


def test_fronts_and_volumes_are_those_of_each_designer() -> None:
    points = [("a", 1.0, 0.5, 1.0), ("a", 0.5, 0.5, 0.5), ("b", 0.5, 0.5, 0.5)]
    table = pd.DataFrame(points, columns=["designer", *GOALS]).assign(reward=[0.5, 0.3, 0.2])
    assert fronts(table)["front"].tolist() == [True, False, True]
    found = volumes(table, "a").set_index("designer")
    assert found["share"].to_dict() == {"a": 1.0, "b": pytest.approx(0.25)}
    assert found.loc["a", "reward"] == pytest.approx(0.4)


def test_each_pair_of_goals_has_a_panel_with_a_line_for_each_objective() -> None:
    points = [("x", "search", 0.9, 0.5, 0.4), ("x", "trained", 0.8, 0.5, 0.3)]
    points += [("y", "search", 0.4, 0.9, 0.9), ("y", "trained", 0.4, 0.8, 0.8)]
    table = pd.DataFrame(points, columns=["objective", "designer", *GOALS])
    table = table.assign(reward=0.5, front=[True, False, True, True])
    figure = front_panels(table, volumes(table, "search"))
    panels = figure.axes
    labels = [(panel.get_xlabel(), panel.get_ylabel()) for panel in panels]
    assert labels == [("revenue", "welfare"), ("revenue", "fairness"), ("welfare", "fairness")]
    assert all(len(panel.lines) == 2 for panel in panels)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["search", "trained"]


SEARCH = "evaluation.baselines.search"
SMALL_RUN = ["+experiment=objectives", "evaluation.episodes=2", "market.episode_length=4"]
SMALL_RUN += [f"{SEARCH}.candidates=8", f"{SEARCH}.sweeps=0", "tracking=files"]


def leave_model(folder: Path, *weights: str) -> str:
    """Leave a run with a model that was asked for these weights; return the override for it."""
    prompt = PromptSettings(weights=list(weights))
    leave_untrained_model(folder / "model", prompt, constrained=True)
    (folder / "config.yaml").write_text("seed: 0\n")
    return f"trained={folder}"


@pytest.mark.slow
def test_every_weighting_is_searched_and_asked_for(tmp_path: Path) -> None:
    trained = leave_model(tmp_path, *GOALS, "participation")
    play(tmp_path / "out", *SMALL_RUN, trained)
    points = pd.read_csv(tmp_path / "out" / "fronts.csv")
    assert points.groupby("designer").size().to_dict() == {"search": 15, "trained": 15}
    shares = pd.read_csv(tmp_path / "out" / "volumes.csv").set_index("designer")["share"]
    assert shares["search"] == 1.0 and 0 < shares["trained"] <= 1
    assert (tmp_path / "out" / "figures" / "fronts.png").exists()


@pytest.mark.slow
def test_a_model_of_one_objective_is_refused(tmp_path: Path) -> None:
    config = compose_config(*SMALL_RUN, leave_model(tmp_path))
    with pytest.raises(CannotRunError, match="not trained with weights of revenue, welfare, fair"):
        objectives.main(config, tmp_path)
