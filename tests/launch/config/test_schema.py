"""The classes of tasks: their defaults, and the values that they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.needs import check_needs
from daedalus.launch.config.task_parts import Task
from daedalus.launch.config.tasks import (
    Compare,
    Exploitability,
    Grpo,
    GrpoNumbers,
    KnownOptimum,
    Leaderboard,
    Sensitivity,
    Tune,
)
from daedalus.launch.config.tuning import SpaceSettings, TuningSettings
from daedalus.market.interface import MarketSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.settings import LoraSettings, ModelSettings, TrainingSettings
from daedalus.training.tabular_settings import TabularSettings

SPACE = {"steps": SpaceSettings("training.grpo.steps", choices=[1, 2])}
UNSLOTH = ModelSettings(backend="unsloth", lora=LoraSettings(rank=4))
FOUR_BITS = ModelSettings(load_in_4bit=True, lora=LoraSettings(rank=4))


def of_grpo(**changes: Any) -> TrainingSettings:
    return TrainingSettings(grpo=GrpoSettings(**changes))


def test_a_run_begins_with_seed_zero_and_afresh() -> None:
    config = KnownOptimum()
    assert (config.seed, config.resume, config.trained, config.populations) == (0, False, "", {})
    assert KnownOptimum().populations is not config.populations


@pytest.mark.parametrize(
    ("task", "changes", "hint"),
    [
        (Compare, {"seed": -1}, "seed: -1; give an integer from 0 to 4294967295"),
        (Compare, {"seed": 2**32}, "seed: 4294967296; give an integer from 0 to 4294967295"),
        (Compare, {"workers": 0}, "workers: 0; give an integer from 1 up, or null for all cores"),
        (
            Compare,
            {"evaluation": EvaluationSettings(shards=2)},
            "evaluation.shards: 2; compare has none, so leave it out",
        ),
        (
            Exploitability,
            {"reward": RewardStack({"revenue": 1.0})},
            "reward: exploitability is measured in R; leave it out",
        ),
        (
            Sensitivity,
            {"evaluation": EvaluationSettings(7)},
            "evaluation.episodes: 7; give 8 or more",
        ),
        (
            Sensitivity,
            {"populations": {"stage1": None, "mixture": None}},
            "populations: give two or more beside mixture",
        ),
        (
            Leaderboard,
            {"evaluation": EvaluationSettings(shards=2)},
            "evaluation.shards: 2; there are 0 populations, so give at most as many",
        ),
        (
            Grpo,
            {"market": MarketSettings(episode_length=2), "training": of_grpo(horizon=3)},
            "training.grpo.horizon: 3; an episode has 2 steps",
        ),
        (
            GrpoNumbers,
            {"market": MarketSettings(episode_length=2), "updates": {"mine": TabularSettings()}},
            "numbers.horizon: 5; an episode has 2 steps",
        ),
        (
            GrpoNumbers,
            {"numbers": TabularSettings(horizon=1), "updates": {"mine": TabularSettings()}},
            "numbers: the updates are trained instead; set updates.NAME",
        ),
        (
            GrpoNumbers,
            {"updates": {"a/b": TabularSettings()}},
            "updates.a/b: name it by letters, digits and underscores",
        ),
        (
            GrpoNumbers,
            {
                "updates": {"search": TabularSettings()},
                "evaluation": EvaluationSettings(baselines={"search": None}),
            },
            "updates.search: a baseline has this name",
        ),
        (
            Grpo,
            {"model": UNSLOTH, "training": of_grpo(loss_type="target")},
            "loss_type: target; unsloth does not tell the probabilities of answers",
        ),
        (
            Grpo,
            {"model": UNSLOTH, "training": of_grpo(loss_type="dr_grpo", scale_rewards="group")},
            "unsloth does not scale the rewards of dr_grpo",
        ),
        (
            Grpo,
            {"model": UNSLOTH, "training": of_grpo(vllm_server="http://localhost:8000")},
            "training.grpo.vllm_server: not with unsloth",
        ),
        (
            Grpo,
            {"model": FOUR_BITS, "training": of_grpo(vllm_server="http://localhost:8000")},
            "its server cannot take over 4-bit weights; set model.load_in_4bit=false",
        ),
    ],
)
def test_a_value_that_no_run_can_have_is_refused(
    task: type[Task], changes: dict[str, Any], hint: str
) -> None:
    with pytest.raises(ValueError, match=hint):
        task(**changes)


@pytest.mark.parametrize(
    ("tuning", "hint"),
    [
        (TuningSettings(), "tuning.space: it is empty; choose what is tuned, as in tuning=grpo"),
        (TuningSettings(task="tune", space=SPACE), "tuning.task: 'tune'; choose one of behav"),
    ],
)
def test_a_study_without_trials_is_refused(tuning: TuningSettings, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        check_needs(Tune(tuning=tuning, designer=FixedSettings()))
