"""Lessons of many objectives are the best of the portfolio for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.objectives import Objectives
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism
from daedalus.training.algorithms.sft.trainer import best_known, own_pairs
from daedalus.training.settings import TrainingSettings
from tests.training.conftest import PROMPT, SFT, answers, make_run

SECOND, FIRST = Mechanism(), Mechanism(auction_type="first_price")
PORTFOLIO = Mechanisms.stack([SECOND, FIRST])
ASKED = [{"fairness": 1.0}, {"revenue": 1.0}]
GIVES = {"fairness": SECOND, "revenue": FIRST}


def test_the_best_follows_the_objective(env: DesignEnv) -> None:
    objectives = Objectives(tuple(GIVES), np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert best_known(env, PORTFOLIO, objectives.goals, seed=0) == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize("known", [True, False])
def test_pairs_of_many_objectives_answer_what_the_prompt_asks(
    known: bool, env: DesignEnv, tmp_path: Path
) -> None:
    settings = TrainingSettings(prompt=PROMPT, sft=SFT, objectives=ASKED)
    run = make_run(env, tmp_path, settings, portfolio=PORTFOLIO if known else None)
    pairs = own_pairs(run)
    told = [chat[-1]["content"] for chat in pairs["prompt"]]
    asked = ["revenue" if "revenue:1.00" in text else "fairness" for text in told]
    assert len(set(asked)) == 2
    assert all(f"{name}:1.00" in text for name, text in zip(asked, told, strict=True))
    wanted = [format_mechanism(GIVES[name]) for name in asked]
    assert (answers(pairs) == wanted) == known


def test_without_objectives_a_portfolio_does_not_answer(env: DesignEnv, tmp_path: Path) -> None:
    run = make_run(env, tmp_path, SFT)
    with_portfolio = replace(run, portfolio=PORTFOLIO)
    assert own_pairs(with_portfolio).to_dict() == own_pairs(run).to_dict()
