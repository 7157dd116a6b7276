"""What tests keep of a composition is what Hydra composes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal import defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from omegaconf import OmegaConf
from omegaconf.base import Box, Node

from daedalus.launch.config import compose_both
from tests.launch.config import kept_compositions as kept

COMMANDS = [
    ["+experiment=grpo_stage3"],
    ["+experiment=grpo_stage3", "population=stage2", "seed=3", "evaluation.episodes=7"],
    [
        "+experiment=baselines",
        "+designer@evaluation.baselines.mine=fixed",
        "~evaluation.baselines.random",
    ],
    ["+experiment=baselines", "population=stage1", "+reward.weights.welfare=0.5"],
]


@pytest.mark.slow
def test_a_kept_composition_is_hydra_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [[compose_both(*each)[0] for each in COMMANDS] for _ in range(2)]
    assert not [stray for each in ours[0] for stray in strays(each)]
    monkeypatch.setattr(defaults_list, "_create_defaults_list", kept._create)
    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", kept._compose)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", kept._choices)
    monkeypatch.setattr(Box, "_re_parent", kept._re_parent)
    monkeypatch.setattr(ConfigRepository, "load_config", kept._read)
    monkeypatch.setattr(CachingConfigRepository, "__init__", kept._make_repository)
    own = [OmegaConf.to_yaml(compose_both(*each)[0]) for each in COMMANDS]
    assert [[OmegaConf.to_yaml(each) for each in found] for found in ours] == [own, own]
    assert len(set(own)) == len(COMMANDS)


def strays(box: Box) -> list[Node]:
    """Return the nodes below a box whose parent is not what holds them."""
    content = vars(box)["_content"]
    nodes = content.values() if isinstance(content, dict) else content
    held = [each for each in nodes if each is not None] if isinstance(content, dict | list) else []
    below = [stray for each in held if isinstance(each, Box) for stray in strays(each)]
    return below + [each for each in held if each._get_parent() is not box]


def test_a_default_that_refers_to_another_is_composed(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("defaults: [size: small, colour: '${size}_one']")
    for name in ("size/small", "colour/small_one"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.yaml").write_text("chosen: true")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        assert compose("config") == {"size": {"chosen": True}, "colour": {"chosen": True}}
