"""What GRPO trains on: every source pays the run's reward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import Message
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.distillation import DistillationData, gather_distillation_data
from daedalus.design.search.features import observed_features
from daedalus.design.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.evaluation.run_report import Report
from daedalus.launch.config import compose_config
from daedalus.launch.from_config import make_training_run
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import market_seeds
from daedalus.runs.folder import RunFolder
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.algorithms.sft.trainer import make_practice
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.run import TrainingRun
from daedalus.training.settings import PortfolioSettings, TrainingSettings
from daedalus.training.sources.make_source import make_source
from daedalus.training.sources.source import Source
from tests.design.search.markets import PUBLISHED, play_steps, published_reward
from tests.training.conftest import CANDIDATES, GRPO, PROMPT, TEACHER, make_run, make_tracker


def rewards_of(source: Source, mechanisms: list[Mechanism], rows: list[int]) -> list[float]:
    """Return what a source pays for answers that hold these mechanisms, at step 0."""
    texts = [format_mechanism(each) for each in mechanisms]
    return source.reward(
        completions=[[{"role": "assistant", "content": text}] for text in texts],
        state=rows,
        trainer_state=SimpleNamespace(global_step=0),
        log_metric=lambda name, value: None,
    )


def training(**grpo: object) -> TrainingSettings:
    settings = TrainingSettings(
        prompt=PROMPT,
        sft=SftSettings(examples=64, temperature=0.003, teacher=TEACHER),
        portfolio=PortfolioSettings(populations=1),
    )
    return replace(settings, grpo=replace(settings.grpo, states=8, futures=2, **grpo))


def test_the_teacher_acts_after_the_commitment_steps_of_a_completion(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path)
    features = observed_features(mid_episode_states(env, 20, 0, "x").observe())
    last = np.tile([0.0, 0.0, 1.0], (20, 1))  # a teacher that always chooses the last
    DistillationData(features, last, CANDIDATES).write(folder.distillation_data)
    totals = {}
    for steps in (None, 1):
        settings = training(horizon=2, commitment_steps=steps)
        run = make_run(env, tmp_path, settings, portfolio=CANDIDATES)
        source = make_source(small, run, "grpo")
        totals[steps] = rewards_of(source, [CANDIDATES[0]] * 8, [0] * 8)
    assert totals[1][0] < totals[None][0]


PLANNED = """
training.portfolio.populations=1 training.portfolio.episodes=2 training.sft.examples=16
training.sft.batch_size=4
training.sft.teacher.rounds=1 training.sft.teacher.states=32 training.sft.teacher.futures=2
training.sft.teacher.refinements=0 training.sft.teacher.improvements=0
training.sft.teacher.horizon=2 training.grpo.states=8 training.grpo.futures=2
training.grpo.horizon=2 training.grpo.commitment_steps=1 training.grpo.own_states=false
training.grpo.group_size=2 training.grpo.prompts_per_step=2 training.grpo.micro_batch=4
market.episode_length=4 model.hidden_size=32 model.layers=1 model.heads=2
model.intermediate_size=64
""".split()


@pytest.mark.slow
def test_distillation_and_grpo_of_a_planned_run_use_the_reward_of_the_run(tmp_path: Path) -> None:
    config = compose_config("+experiment=grpo_mixture", "reward=published", *PLANNED)
    assert config.reward == PUBLISHED
    tracker, settings = make_tracker(tmp_path), config.training
    run = make_training_run(config, RunFolder(tmp_path), tracker, Report(tmp_path, tracker))
    env, portfolio = run.env, run.portfolio
    assert portfolio is not None
    model = make_language_model(config.model, settings.prompt, env, config.seed, portfolio)
    practice = make_practice(run)
    assert practice is not None and len(practice.lessons()) == 16
    source = make_source(model, run, "grpo")
    player = RandomWalkDesigner(portfolio)
    check_grpo_rewards(run, player, source)
    alone = replace(run, folder=RunFolder(tmp_path / "without SFT"))  # then GRPO gathers the data
    make_source(model, alone, "grpo")
    teacher = settings.sft.teacher
    assert env.reward == PUBLISHED and teacher is not None
    wanted = gather_distillation_data(env, portfolio, teacher, config.seed)
    for each in (run, alone):
        data = DistillationData.read(each.folder.distillation_data)
        np.testing.assert_array_equal(data.rewards, wanted.rewards)


def check_grpo_rewards(run: TrainingRun, player: RandomWalkDesigner, source: Source) -> None:
    """Recompute what GRPO pays for an answer: a step under it, then a step under the teacher."""
    teacher = run.teacher()
    assert teacher is not None
    states = mid_episode_states(run.env, 8, 0, "grpo", 2, player)
    answer = Mechanism(auction_type="vcg", reserve_price=0.2)
    paid = rewards_of(source, [answer] * 4, [3, 3, 5, 5])
    for row, reward in ((3, paid[0]), (5, paid[2])):
        forks = states.fork(np.full(2, row), market_seeds(0, "futures", 2, 0, row))
        (first,) = play_steps(forks, answer, 1)
        chosen = teacher.propose(forks.observe(), np.random.default_rng(0))
        second = forks.step(chosen).scored
        steps = [published_reward(each) for each in (first, second)]
        assert reward == pytest.approx(np.mean(steps))


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
