"""A submission is replayed: the rewards are those of the mechanisms, whatever the file claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.designers.submission import SubmissionSettings
from daedalus.design.env import DesignEnv
from daedalus.evaluation import episodes
from daedalus.evaluation.episodes import compare
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS
from tests.populations import in_both_markets

ENV = DesignEnv.of(MarketSettings("strategic"), in_both_markets(3).in_market("strategic"))


@pytest.fixture(scope="module")
def steps() -> pd.DataFrame:
    return compare(ENV, {"random": RandomDesigner()}, 3, 7)


def replayed(steps: pd.DataFrame, folder: Path, seed: int = 7, **settings: str) -> pd.DataFrame:
    steps.to_csv(folder / "steps.csv", index=False)
    built = SubmissionSettings(file=str(folder / "steps.csv"), **settings)
    return compare(ENV, {"submission": built.build(DesignerContext(ENV, seed))}, 3, seed)


def test_the_steps_of_a_run_earn_the_same_again(steps: pd.DataFrame, tmp_path: Path) -> None:
    again = replayed(steps.assign(reward=1.0), tmp_path)  # what the file claims does not count
    assert again.drop(columns="designer").equals(steps.drop(columns="designer"))


def test_a_submission_plays_no_second_piece_of_episodes(
    steps: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "AT_ONCE", 2)  # its third row would be the first one again
    with pytest.raises(CannotRunError, match=r"episodes: 3; the submission .* plays at most 2"):
        replayed(steps, tmp_path)


def test_of_several_designers_one_is_chosen(steps: pd.DataFrame, tmp_path: Path) -> None:
    both = pd.concat([steps, steps.assign(designer="other", reserve_price=0.5)])
    assert (replayed(both, tmp_path, of="other")["reserve_price"] == 0.5).all()
    with pytest.raises(ValueError, match=r"line 32: episode 0, step 1 stands twice; .*designer.of"):
        replayed(both, tmp_path)


def test_a_step_without_a_row_is_malformed(steps: pd.DataFrame, tmp_path: Path) -> None:
    again = replayed(steps[steps["step"] != 2], tmp_path)
    missing = again["step"] == 2
    assert not again.loc[missing, "valid"].any() and (again.loc[missing, "reward"] == 0).all()
    assert again.loc[~missing, "valid"].all()


def test_a_file_that_names_populations_plays_there_alone(
    steps: pd.DataFrame, tmp_path: Path
) -> None:
    named = pd.concat(
        [steps.assign(population="a"), steps.assign(population="b", reserve_price=0.5)]
    )
    named.to_csv(tmp_path / "steps.csv", index=False)
    settings = SubmissionSettings(file=str(tmp_path / "steps.csv"))
    assert [settings.plays(name) for name in "abc"] == [True, True, False]
    designer = settings.build(DesignerContext(ENV, 7, population="b"))
    assert (compare(ENV, {"it": designer}, 3, 7)["reserve_price"] == 0.5).all()
    with pytest.raises(ValueError, match=r"no row of the population c, but of a, b"):
        settings.build(DesignerContext(ENV, 7, population="c"))
    steps.to_csv(tmp_path / "steps.csv", index=False)
    assert settings.plays("c") and settings.build(DesignerContext(ENV, 7, population="c"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 8}, "line 2, column seed: 8, but this run has seed=7"),
        (
            {"reserve_price": 2.0},
            "line 2, column reserve_price: 2.0 is not allowed; give a number from 0.0 to 0.9",
        ),
        ({"step": "first"}, "line 2, column step: 'first'; give an integer from 1 up"),
    ],
)
def test_a_wrong_row_is_named(
    changes: dict[str, object], message: str, steps: pd.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        replayed(steps.assign(**changes), tmp_path)


def test_a_mechanism_that_is_not_allowed_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    steps.assign(auction_type="first_price").to_csv(tmp_path / "steps.csv", index=False)
    settings = SubmissionSettings(file=str(tmp_path / "steps.csv"))
    env = replace(ENV, allowed={"auction_type": ("vcg",)})
    with pytest.raises(
        ValueError, match=r"steps\.csv, episode 0, step 1: auction_type: .*write vcg"
    ):
        settings.build(DesignerContext(env, 7))


def test_a_wrong_file_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lacks the columns auction_type"):
        replayed(steps.drop(columns="auction_type"), tmp_path)
    with pytest.raises(ValueError, match=r"'none\.csv' is no file; give a CSV"):
        SubmissionSettings(file="none.csv")


def test_a_designer_without_a_row_is_named(steps: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no row of the designer nobody, but of random"):
        replayed(steps, tmp_path, of="nobody")
    refused = steps.assign(**dict.fromkeys(FIELDS, np.nan))
    with pytest.raises(ValueError, match="has no mechanism"):
        replayed(refused, tmp_path)
