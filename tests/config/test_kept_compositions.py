"""What tests keep of a composition is what Hydra composes."""

from __future__ import annotations

import pytest
from hydra._internal import defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from omegaconf import OmegaConf
from omegaconf.base import Box

from daedalus.config import compose_both
from tests.config import kept_compositions as kept

COMMANDS = [
    ["+experiment=grpo_stage3"],
    ["+experiment=grpo_stage3", "population=stage2", "seed=3", "evaluation.episodes=7"],
    [
        "+experiment=baselines",
        "+designer@evaluation.baselines.mine=fixed",
        "~evaluation.baselines.random",
    ],
    ["+experiment=baselines", "population=stage1", "+reward.weights.welfare=0.5"],
    ["+experiment=serve"],
]


@pytest.mark.slow
def test_a_kept_composition_is_hydra_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [[OmegaConf.to_yaml(compose_both(*each)[0]) for each in COMMANDS] for _ in range(2)]
    monkeypatch.setattr(defaults_list, "_create_defaults_list", kept._create)
    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", kept._compose)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", kept._choices)
    monkeypatch.setattr(Box, "_re_parent", kept._re_parent)
    own = [OmegaConf.to_yaml(compose_both(*each)[0]) for each in COMMANDS]
    assert found == [own, own] and len(set(own)) == len(COMMANDS)
