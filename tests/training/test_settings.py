"""Settings of training are checked, each and together."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.design.language.prompt import PromptSettings
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.sft.settings import CorrectionSettings, SftSettings
from daedalus.training.settings import (
    LoraSettings,
    ModelSettings,
    PortfolioSettings,
    TrainingSettings,
)
from tests.training.conftest import TEACHER

POPULATION = PopulationSettings("x", Population())
COMMITTED, TAUGHT = GrpoSettings(commitment_steps=2, horizon=3), SftSettings(teacher=TEACHER)
ASKED = [{"revenue": 1.0}]
QUANTISED = {"load_in_4bit": True, "lora": LoraSettings(rank=2)}
PRACTISED = SftSettings(practice={"x": POPULATION})


@pytest.mark.parametrize(
    ("settings", "values", "hint"),
    [
        (TrainingSettings, {"grpo": COMMITTED}, r"grpo\.commitment_steps .*set sft\.teacher"),
        (TrainingSettings, {"sft": TAUGHT}, r"sft\.teacher .*set portfolio\.populations"),
        (TrainingSettings, {"sft": PRACTISED}, r"sft\.practice .*set sft\.teacher"),
        (TrainingSettings, {"objectives": [{"x": 1.0}]}, r"objectives\.0: no term x; choose"),
        (
            TrainingSettings,
            {"objectives": ASKED, "prompt": PromptSettings(weights=["welfare"])},
            "prompt.weights: they follow training.objectives",
        ),
        (
            TrainingSettings,
            {"objectives": ASKED, "sft": TAUGHT, "portfolio": PortfolioSettings(populations=1)},
            "objectives: a teacher knows one objective; set sft.teacher: null",
        ),
        (ModelSettings, {"heads": 3}, "^heads: 3"),
        (ModelSettings, {"vocabulary": 10}, "^vocabulary: 10"),
        (ModelSettings, {"key_value_heads": 3}, "^key_value_heads: 3"),
        (SftSettings, {"steps": -1}, "^steps: -1"),  # a bound of the base class
        (GrpoSettings, {"commitment_steps": 0, "horizon": 2}, "^commitment_steps: 0"),
        (GrpoSettings, {"commitment_steps": 2, "horizon": 2}, ": 2; .* below the horizon, 2"),
        (SftSettings, {"corrections": CorrectionSettings(rounds=1)}, "follow lessons of a teacher"),
        (ModelSettings, {"load_in_4bit": True}, r"load_in_4bit: .*set lora\.rank"),
        (ModelSettings, {"dtype": "bfloat16"}, r"dtype: .*set lora\.rank"),
        (ModelSettings, {"dtype": "bfloat16", **QUANTISED}, "dtype: 4-bit weights compute in bf"),
        (ModelSettings, {"backend": "unsloth"}, "backend: unsloth trains adapters only; set lora"),
        (ModelSettings, {"merge": "dequantised"}, "merge: dequantised: no weights are quantised"),
        (LoraSettings, {"alpha": 16}, "alpha: there are no adapters; set rank too"),
        (LoraSettings, {"dropout": 0.1}, "dropout: there are no adapters; set rank too"),
        (GrpoSettings, {"last_sharpness": 9.0}, "last_sharpness: no other loss has them"),
        (GrpoSettings, {"loss_type": "boltzmann", "neighbours": 1}, "and constrained: true"),
        (GrpoSettings, {"constrained": True, "neighbours": 1}, "set loss_type: boltzmann"),
        (
            GrpoSettings,
            {"loss_type": "boltzmann", "constrained": True, "neighbours": 8},
            "neighbours: 8; give less than group_size",
        ),
        (GrpoSettings, {"vllm_server": "x", "constrained": True}, "set constrained: false"),
        (
            GrpoSettings,
            {"states": 7},
            "states: 7; a step takes 8 .*prompts_per_step.* give 8",
        ),
        (
            GrpoSettings,
            {"prompts_per_step": 7},
            r"prompts_per_step: 7 .* micro_batch: 64 .*"
            "give prompts_per_step: 8, or micro_batch: 56",
        ),
        (GrpoSettings, {"micro_batch": 7}, "micro_batch: 7 .* prompts_per_step: 14, or .*: 4"),
        (SftSettings, {"examples": 31}, r"^examples: 31; a step takes 32 .*batch_size"),
        (
            SftSettings,
            {"teacher": TEACHER, "corrections": CorrectionSettings(rounds=1, examples=31)},
            r"corrections\.examples: 31; a step takes 32",
        ),
        (
            SftSettings,
            {"practice": dict.fromkeys("abcde", POPULATION), "examples": 9, "batch_size": 4},
            r"^examples: 9; half of 9 .* 5 populations of practice",
        ),
        (
            SftSettings,
            {"practice": {"a": POPULATION}, "examples": 64, "first_decisions": 0.02},
            r"^examples: 64; half of 1 ",
        ),
        (PortfolioSettings, {"file": "absent.csv"}, "file: no file absent.csv; give a run's"),
        (PortfolioSettings, {"file": __file__}, "file: nothing reads it, because populations is 0"),
        (PortfolioSettings, {"file": __file__, "populations": 1}, "is no CSV file"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    settings: type, values: dict[str, Any], hint: str
) -> None:
    with pytest.raises(ValueError, match=hint):
        settings(**values)


SMOKE = ["+experiment=smoke", "training=planned", "training.sft.corrections.rounds=1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "hint"),
    [
        (["+experiment=smoke", "training.grpo.states=1"], "training.grpo.states: 1; .* give 2"),
        ([*SMOKE, "training.sft.corrections.examples=70"], "corrections.examples: 70; .* give 80"),
    ],
)
def test_a_run_that_would_not_do_what_is_asked_is_not_composed(
    overrides: list[str], hint: str
) -> None:
    with pytest.raises(ConfigError, match=hint):
        compose_config(*overrides)


@pytest.mark.parametrize(
    "overrides", [["training.sft.corrections.examples=71"], ["training.prompt.explained=true"]]
)
def test_a_run_that_does_what_is_asked_is_composed(overrides: list[str]) -> None:
    assert compose_config(*SMOKE, *overrides)
