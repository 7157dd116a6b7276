"""When mechanisms settle, what is lost before and after, and where two designers differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.lab.studies.behaviour import advantage, decisions
from daedalus.lab.studies.understanding import (
    changed_fields,
    choices,
    losses,
    settled_steps,
)
from daedalus.lab.studies.understanding_figures import changes, choice_panels, understanding
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.population import BidderType, Population
from tests.launching import play
from tests.proposing import proposing
from tests.untrained import leave_untrained_model

EPISODES, STEPS = 12, 6
CLOSED = Mechanism(reserve_price=0.9)


LATE = proposing(lambda steps, _: [CLOSED if step < 3 else Mechanism() for step in steps])
"""Hardly sells for three steps, then follows the default mechanism."""

STAMMERING = proposing(
    lambda steps, _: [None if step == STEPS - 1 else Mechanism() for step in steps]
)
"""Answers nothing valid at its last step."""


@pytest.fixture(scope="module")
def env() -> DesignEnv:
    settings = MarketSettings(name="strategic", episode_length=STEPS)
    return DesignEnv.of(settings, Population(types={"honest": BidderType()}))


@pytest.fixture(scope="module")
def table(env: DesignEnv) -> pd.DataFrame:
    designers = {"late": LATE, "own": FixedDesigner(Mechanism()), "stammering": STAMMERING}
    played = [decisions(env, designers, EPISODES, seed=1)] * 2
    frames = pd.concat(played, keys=["first", "second"], names=["population"])
    return frames.reset_index("population").reset_index(drop=True)


def test_a_mechanism_has_settled_when_no_other_follows(table: pd.DataFrame) -> None:
    settled = settled_steps(table)
    assert len(settled) == 2 * 3 * EPISODES
    steps = settled.groupby("designer")["settled"].agg(["min", "max"])
    assert steps.loc["late"].tolist() == [4, 4]
    assert steps.loc["own"].tolist() == [1, 1]
    assert steps.loc["stammering"].tolist() == [STEPS, STEPS]


def test_losses_before_and_after_settling_add_up_to_the_difference(table: pd.DataFrame) -> None:
    lost = losses(table, "late", "own")
    assert lost.index.tolist() == ["first", "second"]
    means = table.groupby(["population", "designer"])["reward"].mean().unstack()
    total = lost["before"] + lost["after"]
    assert total.to_numpy() == pytest.approx((means["own"] - means["late"]).to_numpy())
    early = table[table["step"] <= 3].groupby(["population", "designer"])["reward"].sum().unstack()
    before = (early["own"] - early["late"]) / EPISODES / STEPS
    assert lost["before"].to_numpy() == pytest.approx(before.to_numpy())
    assert (lost["before"] > 0.1).all() and (lost["before"] > lost["after"]).all()
    assert (lost[["early", "settled", "late"]] == 4).all(axis=None)


def test_gains_are_the_difference_in_reward(table: pd.DataFrame) -> None:
    lost = losses(table, "late", "own")
    found = advantage(table, "own", "late", "population")
    assert found["mean"].to_numpy() == pytest.approx((lost["before"] + lost["after"]).to_numpy())
    assert found["sem"].to_numpy() == pytest.approx(lost["sem"].to_numpy())


def test_shares_count_each_mechanism_at_each_step(table: pd.DataFrame) -> None:
    shares, mechanisms = choices(table, "late", most=1)
    assert list(shares.columns) == ["A", "others"] and len(mechanisms) == 1
    assert (shares.sum(axis=1) == 1).all()
    named = shares.loc["first", "A"].to_numpy()
    closed = np.array([1, 1, 1, 0, 0, 0])
    first = mechanisms.loc["A", "reserve_price"] == CLOSED.reserve_price
    assert (named == (closed if first else 1 - closed)).all()


def test_differences_are_told_by_step_and_field(env: DesignEnv) -> None:
    differ = changed_fields(env, LATE, FixedDesigner(Mechanism()), EPISODES, seed=1)
    assert len(differ) == EPISODES * STEPS
    by_step = differ.groupby("step")["any"].mean()
    assert by_step.tolist() == [1, 1, 1, 0, 0, 0]
    fields = differ[list(FIELDS)].mean()
    assert fields[fields > 0].to_dict() == {"reserve_price": 0.5}


def test_an_invalid_answer_differs_in_everything(env: DesignEnv) -> None:
    differ = changed_fields(env, STAMMERING, FixedDesigner(Mechanism()), EPISODES, seed=1)
    last = differ[differ["step"] == STEPS]
    assert last[list(FIELDS)].all(axis=None) and not differ[differ["step"] < STEPS]["any"].any()


def test_every_population_has_a_panel_and_every_mechanism_a_line(table: pd.DataFrame) -> None:
    figure = choice_panels(*choices(table, "late"), "late")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["first", "second"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any("reserve price 0.9" in text for text in texts) and texts[-1] == "others"


def test_what_is_lost_is_drawn_to_its_full_length(table: pd.DataFrame) -> None:
    lost = losses(table, "late", "own")
    bars = understanding(lost, "late", "own").axes[1].patches
    widths = sum(each.get_width() for each in bars)
    assert abs(widths - (lost["before"] + lost["after"]).sum()) < 1e-9


def test_where_two_designers_differ_is_told_in_percent(env: DesignEnv, table: pd.DataFrame) -> None:
    differ = changed_fields(env, LATE, FixedDesigner(Mechanism()), 4, seed=1)
    gains = pd.DataFrame({"mean": [-0.1], "sem": [0.01], "count": [4]}, index=["first"])
    figure = changes(differ.assign(population="first"), gains, "late", "own")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["100"] * 3 + ["0"] * 3


@pytest.mark.slow
def test_the_experiment_draws_every_population_even_for_a_model_that_errs(tmp_path: Path) -> None:
    for name in ("model", "sft_model"):
        leave_untrained_model(tmp_path / name)
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    out = tmp_path / "understanding"
    own = "evaluation.baselines.best_own"
    small_run = ["+experiment=understanding", f"trained={tmp_path}"]
    small_run += ["populations=stages", "evaluation.episodes=2", "market.episode_length=5"]
    small_run += ["~evaluation.baselines.distilled", f"{own}.candidates=8", f"{own}.sweeps=0"]
    small_run += ["designer.max_new_tokens=4", "evaluation.baselines.sft.max_new_tokens=4"]
    play(out, *small_run, "tracking=files")
    lost = pd.read_csv(out / "losses.csv").set_index("population")
    assert len(lost) == 5 and (lost["before"] + lost["after"] > 0).all()
    changed = pd.read_csv(out / "changes.csv")
    assert not changed["any"].any()  # both models answer nothing valid
    assert set(changed["designer"]) == {"trained"}
    figures = {path.stem for path in (out / "figures").iterdir()}
    assert {"choices", "understanding", "changes"} <= figures
