"""The configuration of an earlier run gives its objects back."""

from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from daedalus.config import ConfigError
from daedalus.config.saved import read_config
from tests.config.composing import composed


def test_a_saved_configuration_is_the_run_s(tmp_path: Path) -> None:
    asked = composed("+experiment=grpo_mixture", "model=tiny_qlora", "seed=3")
    OmegaConf.save(OmegaConf.structured(asked), tmp_path / "config.yaml")
    found = read_config(tmp_path / "config.yaml")
    for part in ("seed", "population", "market", "reward", "model", "training"):
        assert getattr(found, part) == getattr(asked, part)


@pytest.mark.parametrize("line", ["no_such_key: 1", "seed: -1", "market: { rules: classic }"])
def test_a_configuration_of_another_version_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "config.yaml").write_text(line)
    with pytest.raises(ConfigError, match=r"another version of the project.*provenance\.json"):
        read_config(tmp_path / "config.yaml")
