"""Unknown keys are refused wherever they stand, and wrong values are named by their full key."""

from __future__ import annotations

from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from daedalus.design.designers.fixed import FixedSettings
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.nodes import require_known_keys, to_objects
from daedalus.launch.config.tasks import Tune
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings

PRACTICE = {
    "training": {"sft": {"practice": {"p": {"name": "p", "strategic": {"types": {"a": {}}}}}}}
}


def composed(added: dict[str, Any]) -> DictConfig:
    """Return a configuration with some values merged into it, as from files."""
    base = OmegaConf.structured(Tune(population=PopulationSettings("p", Population())))
    base.designer = OmegaConf.structured(FixedSettings)
    base.evaluation.baselines = {"mine": OmegaConf.structured(FixedSettings)}
    merged = OmegaConf.merge(base, added)
    assert isinstance(merged, DictConfig)
    return merged


def let_pass(key: str) -> DictConfig:
    """Return a configuration with a key that Hydra has let pass after ``+``."""
    config = composed(PRACTICE)
    OmegaConf.update(config, key, 1, force_add=True)
    return config


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("training.grpo.lr", "Did you mean training.grpo.learning_rate?"),
        ("trainin", "Did you mean training?"),
        ("designer.mechansm", "Did you mean designer.mechanism?"),
        ("evaluation.baselines.mine.nam", "Did you mean evaluation.baselines.mine.name?"),
        ("training.sft.practice.p.strategic.types.a.shar", "strategic.types.a.share?"),
        ("market.incumbents.default.reserve", "Did you mean market.incumbents.default.reserve_p"),
        ("zzz", "Known here: task, seed"),
    ],
)
def test_a_key_that_no_dataclass_has_is_refused(key: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        require_known_keys(let_pass(key))
    assert str(caught.value).startswith(key) and said in str(caught.value)
    require_known_keys(let_pass(key), besides=[key])


def test_names_that_a_user_chooses_are_no_unknown_keys() -> None:
    require_known_keys(let_pass("reward.weights.anything"))
    require_known_keys(composed({"populations": {"anything": {"name": "a"}}}))


def population(**strategic: Any) -> dict[str, Any]:
    return {"populations": {"a": {"name": "a", "strategic": strategic}}}


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ({"seed": -1}, "seed: -1; give"),
        ({"training": {"grpo": {"horizon": 0}}}, "training.grpo.horizon: 0; give"),
        (population(bidders=1), "populations.a.strategic.bidders: 1; give"),
        (population(types={"b": {"share": -1}}), "populations.a.strategic.types.b.share: -1.0; g"),
        (population(ranges={"units": [1]}), "populations.a.strategic.ranges.units: [1]; give"),
        ({"populations": {"a": {"name": "a"}}}, "populations.a.name: a: no market plays it"),
        ({"designer": {"mechanism": "vcg"}}, "designer.mechanism: 'vcg'; give its fields"),
        ({"designer": {"mechanism": {"x": 1}}}, "designer.mechanism.x: 1 is not allowed"),
        ({"training": {"grpo": {"prompts_per_step": 7}}}, "training.grpo.prompts_per_step: 7 in"),
    ],
)
def test_a_wrong_value_is_named_by_its_full_key(added: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        to_objects(composed(added))
    assert str(caught.value).startswith(said)
