"""What an experiment builds follows the reward, the seed and the folder of its run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.design.designers.build import build_all, instead
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.designers.search import SearchSettings
from daedalus.design.env import DesignEnv
from daedalus.design.search.distillation import DistillationData
from daedalus.design.search.portfolio import make_portfolio
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.from_config import (
    all_designers,
    make_context,
    make_env,
    make_envs,
    own_context,
    require_portfolio,
)
from daedalus.market.allowed import Between
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.runs.folder import RunFolder
from daedalus.training.run_portfolio import find_portfolio
from tests.design.search.markets import PUBLISHED
from tests.runs.trained_runs import leave_trained_run

SMALL = ["task=grpo", "population=stage3", "seed=2"]
SMALL += ["market.episode_length=2"]
PORTFOLIO = ["training.portfolio.populations=1", "training.portfolio.episodes=2"]


def rows(mechanisms: Mechanisms) -> list[Mechanism]:
    return [mechanisms[row] for row in range(len(mechanisms))]


@pytest.mark.slow
def test_the_portfolio_is_searched_on_the_runs_reward_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, searches = {}, []

    def noted(env: DesignEnv, *how: object) -> Mechanisms:
        searches.append((env.reward, make_portfolio(env, *how), how))  # type: ignore[arg-type]
        return searches[-1][1]

    monkeypatch.setattr("daedalus.training.run_portfolio.make_portfolio", noted)
    for reward in ("composite", "published"):
        config = compose_config(*SMALL, *PORTFOLIO, f"reward={reward}")
        env, run = make_env(config), RunFolder(tmp_path / reward)
        found[reward] = require_portfolio(config, env, run)
        asked, searched, how = searches.pop()
        assert (asked, how) == (config.reward, (1, 2, 2, None))
        assert rows(found[reward]) == rows(searched)
        run.portfolio.write_text("".join(run.portfolio.read_text().splitlines(True)[:2]))
        assert rows(require_portfolio(config, env, run)) == rows(found[reward])[:1]
        assert not searches
    assert rows(found["composite"]) != rows(found["published"])


def test_the_portfolio_of_another_run_replaces_the_search(tmp_path: Path) -> None:
    other, run = tmp_path / "other.csv", RunFolder(tmp_path)
    mechanism = Mechanism(reserve_price=0.25)
    pd.DataFrame([mechanism.to_dict()]).to_csv(other, index=False)
    config = compose_config(*SMALL, *PORTFOLIO, f"training.portfolio.file={other}")
    assert rows(require_portfolio(config, make_env(config), run)) == [mechanism]
    assert run.portfolio.read_bytes() == other.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "warned"),
    [
        ("reward=composite", ""),
        ("reward=revenue", "another run; it was trained for R with the bidders of stage3"),
        ("population=stage1", "and not with those of stage1"),
    ],
)
def test_files_of_a_run_for_something_else_are_warned_of(
    asked: str, warned: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    planned = ["task=grpo", "population=stage3", "training=planned"]
    leave_trained_run(tmp_path / "other", *planned)
    portfolio, data = (tmp_path / "other" / name for name in ("portfolio.csv", "data.npz"))
    pd.DataFrame([Mechanism().to_dict()]).to_csv(portfolio, index=False)
    mechanisms = Mechanisms.stack([Mechanism()])
    DistillationData(np.zeros((1, 2)), np.zeros((1, 1)), mechanisms).write(data)
    files = [f"training.portfolio.file={portfolio}", f"training.sft.teacher.data={data}"]
    config = compose_config(*planned, *files, asked)
    require_portfolio(config, make_env(config), RunFolder(tmp_path))
    told = [each.getMessage() for each in caplog.records]
    assert len(told) == (2 if warned else 0) and all(warned in each for each in told)


def test_without_populations_there_is_no_portfolio(tmp_path: Path) -> None:
    config = compose_config(*SMALL, "training.portfolio.populations=0")
    env, run = make_env(config), RunFolder(tmp_path)
    portfolio = config.training.portfolio
    assert find_portfolio(portfolio, env, run, config.seed) is None
    assert not run.portfolio.exists()


def test_designers_are_built_for_the_runs_reward() -> None:
    config = compose_config(*SMALL, "reward=published")
    env = make_env(config)
    context = make_context(config, env)
    assert (context.env.reward, context.seed, context.portfolio) == (PUBLISHED, 2, None)
    search = SearchSettings(candidates=8, episodes=1, sweeps=0)
    settings = {"fixed": FixedSettings(Mechanism(reserve_price=0.3)), "found": search}
    built = build_all(settings, context)
    assert list(built) == ["fixed", "found"]
    assert built["fixed"].mechanism.reserve_price == 0.3
    assert built["found"].mechanism == search.build(context).mechanism


@pytest.mark.slow
def test_environments_follow_what_is_allowed() -> None:
    change = "allowed={auction_type: [vcg], reserve_price: {min: 0.1, max: 0.3}}"
    allowed = {"auction_type": ("vcg",), "reserve_price": Between(0.1, 0.3)}
    config = compose_config("+experiment=leaderboard", f"+{change}")
    for env in (make_env(config), *make_envs(config).values()):
        assert env.allowed == allowed
    assert make_env(compose_config("task=compare")).allowed == {}


def test_a_restriction_that_is_none_is_refused_before_the_run() -> None:
    with pytest.raises(ConfigError, match=r"^allowed\.reserve_price: .* ends before it begins"):
        compose_config("task=compare", "+allowed.reserve_price={min: 0.5, max: 0.1}")


@pytest.mark.slow
def test_a_designer_that_was_trained_for_something_else_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shipped = compose_config("task=compare", "designer=pretrained").designer
    for changes, told in (
        (["population=stage4"], ""),
        (["population=stage3"], ", and not with those of stage3"),
        (["population=stage4", "reward=welfare"], ", and not for welfare"),
    ):
        config = compose_config("task=compare", *changes)
        caplog.clear()
        build_all({"trained": shipped}, own_context(config, make_env(config)))
        assert caplog.text.rstrip().endswith(told) and bool(caplog.text) == bool(told)
    several = make_context(config, make_env(compose_config("task=compare")))  # not this population
    assert instead(shipped, several) == ""


@pytest.mark.slow
def test_a_designer_that_changes_a_baseline_does_not_take_its_place() -> None:
    asked = ["+experiment=leaderboard", "designer=planner"]
    same, changed = (
        all_designers(compose_config(*asked, *more)) for more in ([], ["designer.candidates=4"])
    )
    assert "planner_changed" not in same
    assert changed["planner"] == same["planner"] != changed["planner_changed"]
