"""Answers that SFT learns from looking ahead."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from daedalus.planning.distilled import Distilled, features
from daedalus.planning.lessons import Lessons, distil, gather_lessons, write_lessons
from daedalus.planning.states import Explorer, mid_episode_states
from datasets import Dataset

from daedalus.designers.planner import DistilledSettings
from daedalus.designers.prompt import prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.rewards.stack import RewardStack
from daedalus.training.model import LanguageModel
from daedalus.training.settings import (
    GrpoSettings,
    PortfolioSettings,
    SftSettings,
    TrainingSettings,
)
from daedalus.training.sft import taught_pairs, training_pairs
from daedalus.training.sources import make_source
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


@pytest.fixture
def player(taught_by: Distilled) -> Explorer:
    return Explorer(taught_by, RULES, TEACHER.exploration)


def answers(pairs: Dataset) -> list[str]:
    return [chat[0]["content"] for chat in pairs["completion"]]


def test_sharp_answers_are_the_rules_expected_to_earn_most(
    env: DesignEnv, player: Explorer, taught_by: Distilled
) -> None:
    observed = mid_episode_states(env, 64, 0, "practice/0/0", designer=player).observe()
    wanted = [format_mechanism(RULES[row]) for row in taught_by.choose(observed)]
    pairs = taught_pairs([env], player, taught_by, settings(1e-9), seed=0)
    assert answers(pairs) == wanted
    assert list(pairs["prompt"]) == prompts(observed, PROMPT)
    assert all(parse_mechanism(answer).valid for answer in answers(pairs))


def test_a_wide_scale_teaches_near_ties_and_a_huge_one_everything(
    env: DesignEnv, player: Explorer, taught_by: Distilled
) -> None:
    awful = format_mechanism(RULES[2])
    shares = [
        np.mean(
            [text == awful for text in answers(taught_pairs([env], player, taught_by, each, 0))]
        )
        for each in (settings(0.003, 200), settings(1e9, 200))
    ]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46


def test_half_of_the_pairs_are_of_the_run_and_the_others_shared_out(
    env: DesignEnv, player: Explorer, taught_by: Distilled
) -> None:
    crowd = replace(env.market.population, bidders=30)
    other = DesignEnv.of(env.settings, crowd)
    places = [(env, 7), (other, 3), (other, 3)]
    pairs = taught_pairs([env, other, other], player, taught_by, settings(0.003, 13), seed=0)
    wanted = []
    for number, (place, count) in enumerate(places):
        states = mid_episode_states(place, count, 0, f"practice/{number}/0", designer=player)
        wanted += prompts(states.observe(), PROMPT)
    assert list(pairs["prompt"]) == wanted
    assert wanted[7:10] != wanted[10:]


def test_the_populations_of_practice_are_practised_in(
    env: DesignEnv, taught_by: Distilled, tmp_path: Path
) -> None:
    write_lessons(gather_lessons(env, RULES, TEACHER, seed=0), tmp_path / "lessons.npz")
    asked = settings(0.003, 8)
    walkers = Population(types={"walker": BidderType(1, ["withdraw"], outside_option=0.3)})
    practising = replace(
        asked, sft=replace(asked.sft, practice={"walkers": PopulationSettings("walkers", walkers)})
    )
    alone = training_pairs(env, asked, RULES, tmp_path, seed=0)
    pairs = training_pairs(env, practising, RULES, tmp_path, seed=0)
    assert len(pairs) == len(alone) == 8
    there = DesignEnv.of(env.settings, walkers)
    player = Explorer(taught_by, RULES, TEACHER.exploration)
    states = mid_episode_states(there, 4, 0, "practice/1/0", designer=player)
    assert list(pairs["prompt"])[4:] == prompts(states.observe(), PROMPT)


def test_the_teacher_follows_a_completion_in_grpo(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    seen = features(mid_episode_states(env, 20, 0, "x").observe())
    lessons = Lessons(seen, np.tile([0.0, 0.0, 1.0], (20, 1)), RULES)
    write_lessons(lessons, tmp_path / "lessons.npz")  # of a teacher who always takes the last
    asked = settings(0.003)
    grpo = replace(asked.grpo, states=4, horizon=2, futures=2, kept=1)
    totals = {}
    for name, each in {"kept": replace(grpo, kept=None), "followed": grpo}.items():
        source = make_source(
            small, env, RULES, RewardStack(), replace(asked, grpo=each), [], tmp_path, seed=0
        )
        text = format_mechanism(RULES[0])
        totals[name] = source.reward(
            completions=[[{"role": "assistant", "content": text}]] * 8,
            state=[0] * 8,
            trainer_state=SimpleNamespace(global_step=0),
            log_metric=lambda name, value: None,
        )
    assert totals["followed"][0] < totals["kept"][0]


def test_settings_that_need_what_is_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"grpo\.kept: .*set sft\.teacher"):
        TrainingSettings(grpo=GrpoSettings(kept=2, horizon=3))
    with pytest.raises(ValueError, match=r"sft\.teacher: .*set portfolio\.populations"):
        TrainingSettings(sft=SftSettings(teacher=TEACHER))
    with pytest.raises(ValueError, match="kept: 0"):
        GrpoSettings(kept=0, horizon=2)
    with pytest.raises(ValueError, match=r"kept: 2; .* below the horizon, 2"):
        GrpoSettings(kept=2, horizon=2)
    with pytest.raises(ValueError, match=r"sft\.practice: .*set sft\.teacher"):
        TrainingSettings(sft=SftSettings(practice={"x": PopulationSettings("x", Population())}))


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
