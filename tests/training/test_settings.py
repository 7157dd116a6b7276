"""Settings of training are checked, each and together."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.designers.distilled import DistilledSettings
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.training.settings import (
    GrpoSettings,
    LoraSettings,
    ModelSettings,
    PortfolioSettings,
    SftSettings,
    StageSettings,
    TrainingSettings,
)

TEACHER = DistilledSettings(rounds=1, states=64, futures=4, horizon=2)
POPULATION = PopulationSettings("x", Population())


def test_settings_that_need_what_is_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"grpo\.commitment_steps .*set sft\.teacher"):
        TrainingSettings(grpo=GrpoSettings(commitment_steps=2, horizon=3))
    with pytest.raises(ValueError, match=r"sft\.teacher .*set portfolio\.populations"):
        TrainingSettings(sft=SftSettings(teacher=TEACHER))
    with pytest.raises(ValueError, match="commitment_steps: 0"):
        GrpoSettings(commitment_steps=0, horizon=2)
    with pytest.raises(ValueError, match=r"commitment_steps: 2; .* below the horizon, 2"):
        GrpoSettings(commitment_steps=2, horizon=2)
    with pytest.raises(ValueError, match=r"sft\.practice .*set sft\.teacher"):
        TrainingSettings(sft=SftSettings(practice={"x": POPULATION}))
    with pytest.raises(ValueError, match=r"load_in_4bit: .*set lora\.rank"):
        ModelSettings(load_in_4bit=True)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        (LoraSettings, {"rank": -1}),
        (LoraSettings, {"dropout": 1.0}),
        (ModelSettings, {"heads": 3}),
        (ModelSettings, {"vocabulary": 10}),
        (ModelSettings, {"key_value_heads": 3}),
        (ModelSettings, {"backend": "keras"}),
        (ModelSettings, {"merge": "top"}),
        (ModelSettings, {"memory_limit": -1.0}),
        (SftSettings, {"temperature": 0.0}),
        (SftSettings, {"examples": 0}),
        (GrpoSettings, {"group_size": 1}),
        (GrpoSettings, {"rollouts": "game"}),
        (GrpoSettings, {"schedule": "steep"}),
        (GrpoSettings, {"scale_rewards": "all"}),
        (GrpoSettings, {"horizon": 0}),
        (GrpoSettings, {"loss_type": "ppo"}),
        (GrpoSettings, {"importance_sampling_level": "answer"}),
        (GrpoSettings, {"epsilon": -0.1}),
        (PortfolioSettings, {"episodes": 0}),
        (StageSettings, {"population": POPULATION, "promotion": 1.1}),
        (StageSettings, {"population": POPULATION, "window": 0}),
    ],
)
def test_a_setting_out_of_range_is_refused(settings: type, values: dict[str, Any]) -> None:
    name = list(values)[-1]
    with pytest.raises(ValueError, match=f"^{name}: {values[name]!r}"):
        settings(**values)


@pytest.mark.parametrize(
    ("settings", "values", "hint"),
    [
        (ModelSettings, {"backend": "unsloth"}, "backend: unsloth trains adapters only; set lora"),
        (ModelSettings, {"merge": "dequantised"}, "merge: dequantised: no weights are quantised"),
        (ModelSettings, {"double_quantisation": True}, "double_quantisation: no weights are"),
        (GrpoSettings, {"epsilon_high": 0.3}, "epsilon_high: one iteration clips no ratio"),
        (GrpoSettings, {"epsilon_high": 0.1, "iterations": 2}, "epsilon_high: 0.1; .* from 0.2 up"),
        (GrpoSettings, {"loss_type": "cispo"}, "loss_type: cispo needs epsilon_high"),
        (GrpoSettings, {"loss_type": "cispo", "epsilon_high": 0.5}, "epsilon_high: 0.5; .* 1.0 up"),
        (GrpoSettings, {"loss_type": "luspo"}, "luspo needs importance_sampling_level: sequence"),
        (GrpoSettings, {"vllm_server": "x", "rollouts": "episode"}, "set rollouts: state"),
        (PortfolioSettings, {"file": "absent.csv"}, "file: no file absent.csv; give a run's"),
        (PortfolioSettings, {"file": __file__}, "file: nothing reads it, because populations is 0"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    settings: type, values: dict[str, Any], hint: str
) -> None:
    with pytest.raises(ValueError, match=hint):
        settings(**values)
