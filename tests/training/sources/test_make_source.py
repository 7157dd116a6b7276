"""What GRPO trains on: every source pays the run's reward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import Message, prompts
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.distillation import DistillationData
from daedalus.design.search.features import observed_features
from daedalus.design.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.training.model import LanguageModel
from daedalus.training.settings import TrainingSettings
from daedalus.training.sources.make_source import Source, make_source
from tests.training.conftest import CANDIDATES, GRPO, PROMPT, make_run, taught


def rewards_of(source: Source, mechanisms: list[Mechanism], rows: list[int]) -> list[float]:
    """Return what a source pays for answers that hold these mechanisms, at step 0."""
    texts = [format_mechanism(each) for each in mechanisms]
    return source.reward(
        completions=[[{"role": "assistant", "content": text}] for text in texts],
        state=rows,
        trainer_state=SimpleNamespace(global_step=0),
        log_metric=lambda name, value: None,
    )


def test_the_teacher_acts_after_the_commitment_steps_of_a_completion(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path)
    features = observed_features(mid_episode_states(env, 20, 0, "x").observe())
    last = np.tile([0.0, 0.0, 1.0], (20, 1))  # a teacher that always chooses the last
    DistillationData(features, last, CANDIDATES).write(folder.distillation_data)
    totals = {}
    for steps in (None, 1):
        settings = taught()
        grpo = replace(settings.grpo, states=8, futures=2, horizon=2, commitment_steps=steps)
        settings = replace(settings, grpo=grpo)
        run = make_run(env, tmp_path, settings, portfolio=CANDIDATES)
        source = make_source(small, run, "grpo")
        totals[steps] = rewards_of(source, [CANDIDATES[0]] * 8, [0] * 8)
    assert totals[1][0] < totals[None][0]
    states = mid_episode_states(env, 8, 0, "grpo", 2, RandomWalkDesigner(CANDIDATES))
    assert list(source.prompts["prompt"]) == prompts(states.observe(), PROMPT)


ASKED = [{"participation": 1.0}, {"revenue": 1.0}]


def weights_shown(chats: Iterable[list[Message]]) -> list[str]:
    lines = [chat[-1]["content"].splitlines() for chat in chats]
    return [line for each in lines for line in each if line.startswith("objective: ")]


def test_each_state_pays_by_the_objective_that_its_prompt_shows(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    settings = TrainingSettings(prompt=PROMPT, grpo=replace(GRPO, horizon=2), objectives=ASKED)
    run = make_run(env, tmp_path, settings)
    source, rows = make_source(small, run, "grpo"), list(range(8))
    shown = weights_shown(source.prompts["prompt"])
    paid = rewards_of(source, [CANDIDATES[2]] * 8, rows)
    for asked, line in zip(ASKED, ["{participation:1.00,", ",revenue:1.00}"], strict=True):
        one = replace(settings, prompt=PROMPT, objectives=[])
        alone = make_run(replace(env, reward=RewardStack(asked)), tmp_path, one)
        only = rewards_of(make_source(small, alone, "grpo"), [CANDIDATES[2]] * 8, rows)
        mine = [row for row in rows if line in shown[row]]
        assert mine and [paid[row] for row in mine] == [only[row] for row in mine]


def test_the_model_plays_up_to_a_state_with_the_objective_of_its_prompt(
    env: DesignEnv, small: LanguageModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def generate(chats: Sequence[list[Message]], *_: object) -> list[str]:
        seen.append(weights_shown(chats))
        return [format_mechanism(Mechanism())] * len(chats)

    monkeypatch.setattr("daedalus.training.sources.make_source.make_generate", lambda *_: generate)
    grpo = replace(GRPO, own_states=True)
    settings = TrainingSettings(prompt=PROMPT, grpo=grpo, objectives=ASKED)
    source = make_source(small, make_run(env, tmp_path, settings), "grpo")
    shown = weights_shown(source.prompts["prompt"])
    assert len(set(shown)) == 2 and seen and all(each == shown for each in seen)
