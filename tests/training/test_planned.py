"""Answers that SFT learns from looking ahead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.designers.planner import DistilledSettings
from daedalus.designers.prompt import prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.planning.distilled import expected_advantages
from daedalus.planning.lessons import Lessons, gather_lessons
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


@pytest.fixture(scope="module")
def lessons(env: DesignEnv) -> Lessons:
    return gather_lessons(env, RULES, TEACHER, seed=0)


def answers(lessons: Lessons, scale: float, count: int = 64) -> list[str]:
    pairs = taught_pairs(lessons, PROMPT, scale, count, seed=0)
    assert len(pairs) == count
    return [chat[0]["content"] for chat in pairs["completion"]]


def test_sharp_answers_are_the_rules_expected_to_earn_most(lessons: Lessons) -> None:
    best = expected_advantages(lessons.features, lessons.rewards, 0).argmax(axis=1)
    wanted = {
        (chat[-1]["content"], format_mechanism(RULES[row]))
        for chat, row in zip(prompts(lessons.observed[0], PROMPT), best, strict=True)
    }
    pairs = taught_pairs(lessons, PROMPT, 1e-9, 64, seed=0)
    given = {
        (ask[-1]["content"], answer[0]["content"])
        for ask, answer in zip(pairs["prompt"], pairs["completion"], strict=True)
    }
    assert given == wanted
    assert all(parse_mechanism(answer).valid for _, answer in given)


def test_a_wide_scale_teaches_near_ties_and_a_huge_one_everything(lessons: Lessons) -> None:
    awful = format_mechanism(RULES[2])
    shares = [np.mean([text == awful for text in answers(lessons, s, 200)]) for s in (0.003, 1e9)]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46


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
    prompt = json.loads((tmp_path / "model" / "prompt.json").read_text())
    assert prompt["compact"] and prompt["rules"] and prompt["averages"]
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert set(summary["designer"]) == {"random", "informed_greedy", "search", "trained"}
