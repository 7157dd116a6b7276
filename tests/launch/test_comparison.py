"""Comparisons report R, the reward of the run's designers, and the name of the population."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.evaluation.comparison import comparison
from daedalus.evaluation.episodes import COMPOSITE, METRICS
from daedalus.evaluation.run_report import Report
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.compose import compose_config
from daedalus.launch.from_config import make_env, own_context
from daedalus.market.mechanism import Mechanism

SMALL = ["+experiment=boxplot", "evaluation.episodes=3", "evaluation.resamples=100"]
SMALL += ["market.episode_length=2"]


@pytest.mark.parametrize("reward", ["composite", "published"])
def test_r_is_beside_another_reward(reward: str) -> None:
    config = compose_config(*SMALL, f"reward={reward}")
    designers = {"one": FixedDesigner(Mechanism()), "two": FixedDesigner(Mechanism("vcg"))}
    tables = comparison(make_env(config), designers, ["one"], config.evaluation, config.seed)
    extra = [COMPOSITE] if reward == "published" else []
    assert list(tables["episodes"]) == ["designer", "episode", *METRICS, *extra]
    assert set(tables) == {"steps", "episodes", "summary", "differences"}
    if extra:
        assert (tables["steps"]["reward"] > 1.0 + tables["steps"][COMPOSITE]).all()
        means = tables["episodes"].groupby("designer")["reward"].mean()
        (lead,) = tables["differences"]["difference"]
        assert lead == pytest.approx(means["two"] - means["one"])


@pytest.mark.parametrize(("market", "population"), [("strategic", "varied"), ("classic", "stage3")])
def test_the_boxplot_is_titled_by_the_market_and_the_population(
    market: str, population: str
) -> None:
    config = compose_config(*SMALL, f"market={market}", f"population={population}")
    report = Mock(Report)
    compare_designers(config.evaluation, own_context(config, make_env(config)), report, {})
    (boxplot,) = [each.args[0] for each in report.figure.mock_calls if each.args[1] == "boxplot"]
    assert boxplot.texts[0].get_text() == f"{market} market, {population}"
