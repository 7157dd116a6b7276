"""Answers that SFT learns from looking ahead."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset

from daedalus.designers.planner import DistilledSettings
from daedalus.designers.prompt import prompts
from daedalus.env import DesignEnv
from daedalus.market.interface import make_market
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.planning.distilled import Distilled
from daedalus.planning.lessons import distil
from daedalus.planning.states import Explorer, mid_episode_states
from daedalus.training.settings import (
    GrpoSettings,
    PortfolioSettings,
    SftSettings,
    TrainingSettings,
)
from daedalus.training.sft import taught_pairs
from tests.training.conftest import PROMPT

RULES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.5),
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.7),
        Mechanism(reserve_price=0.9),
    ]
)


TEACHER = DistilledSettings(rounds=1, states=64, futures=4, horizon=2)


def settings(scale: float, count: int = 64) -> TrainingSettings:
    sft = SftSettings(examples=count, answer_scale=scale, teacher=TEACHER)
    return TrainingSettings(prompt=PROMPT, sft=sft, portfolio=PortfolioSettings(populations=1))


@pytest.fixture(scope="module")
def taught_by(env: DesignEnv) -> Distilled:
    return distil(env, RULES, TEACHER, seed=0)


def answers(pairs: Dataset) -> list[str]:
    return [chat[0]["content"] for chat in pairs["completion"]]


def test_sharp_answers_are_the_rules_expected_to_earn_most(
    env: DesignEnv, taught_by: Distilled
) -> None:
    player = Explorer(taught_by, RULES, TEACHER.exploration)
    observed = mid_episode_states(env, 64, 0, "practice/0/0", designer=player).observe()
    wanted = [format_mechanism(RULES[row]) for row in taught_by.choose(observed)]
    pairs = taught_pairs([env], taught_by, settings(1e-9), seed=0)
    assert answers(pairs) == wanted
    assert list(pairs["prompt"]) == prompts(observed, PROMPT)
    assert all(parse_mechanism(answer).valid for answer in answers(pairs))


def test_a_wide_scale_teaches_near_ties_and_a_huge_one_everything(
    env: DesignEnv, taught_by: Distilled
) -> None:
    awful = format_mechanism(RULES[2])
    shares = [
        np.mean([text == awful for text in answers(taught_pairs([env], taught_by, each, seed=0))])
        for each in (settings(0.003, 200), settings(1e9, 200))
    ]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46


def test_half_of_the_pairs_are_of_the_run_and_the_others_shared_out(
    env: DesignEnv, taught_by: Distilled
) -> None:
    alone = taught_pairs([env], taught_by, settings(0.003, 7), seed=0)
    crowd = replace(env.market.population, bidders=30)
    other = DesignEnv(make_market(env.settings, crowd), env.settings)
    pairs = taught_pairs([env, other, other], taught_by, settings(0.003, 13), seed=0)
    said = [chat[-1]["content"] for chat in pairs["prompt"]]
    assert len(said) == 13
    assert said[:7] == [chat[-1]["content"] for chat in alone["prompt"]]
    assert len(set(said)) == 13


def test_settings_that_need_what_is_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"grpo\.kept: .*set sft\.teacher"):
        TrainingSettings(grpo=GrpoSettings(kept=2))
    with pytest.raises(ValueError, match=r"sft\.teacher: .*set portfolio\.populations"):
        TrainingSettings(sft=SftSettings(teacher=TEACHER))
    with pytest.raises(ValueError, match="kept: 0"):
        GrpoSettings(kept=0)


SMALL_RUN = """
training.portfolio.populations=1 training.portfolio.episodes=2 training.sft.steps=2
training.sft.batch_size=4 training.sft.examples=32 training.sft.validity_prompts=4
training.sft.teacher.rounds=2 training.sft.teacher.states=16
training.grpo.steps=1 training.grpo.prompts_per_step=2 training.grpo.group_size=2
training.grpo.micro_batch=4 training.grpo.states=8 training.grpo.futures=2 evaluation.episodes=2
evaluation.baselines.search.candidates=4 evaluation.baselines.search.sweeps=0
model.hidden_size=32 model.layers=2 model.heads=2 model.intermediate_size=64
""".split()


@pytest.mark.slow
def test_a_planned_run_keeps_its_portfolio_and_its_prompt(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "run.py", "+experiment=grpo_mixture", "tracking=files", *SMALL_RUN]
    subprocess.run([*command, f"hydra.run.dir={tmp_path}"], cwd=root, check=True)
    rules = pd.read_csv(tmp_path / "portfolio.csv")
    assert list(rules) == list(FIELDS) and len(rules) >= 1
    assert (tmp_path / "lessons.npz").exists()
    prompt = json.loads((tmp_path / "model" / "prompt.json").read_text())
    assert prompt["compact"] and prompt["rules"] and prompt["averages"]
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert set(summary["designer"]) == {"random", "informed_greedy", "search", "trained"}
