"""The configuration of an earlier run, as objects."""

from __future__ import annotations

from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.config.compose import to_config
from daedalus.config.mistakes import ConfigError
from daedalus.config.schema import Config


def read_config(path: Path) -> Config:
    """Read the config.yaml of a run. Designers stay plain mappings.

    Raises:
        ConfigError: Another version of the project wrote the file.
    """
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.load(path))
        return to_config(merged)  # type: ignore[arg-type]  # of a mapping, so not a list
    except (OmegaConfBaseException, ConfigError) as error:
        said = str(error).partition("\n")[0]
        raise ConfigError(
            f"{path}: another version of the project wrote this configuration ({said}); "
            "take the commit that its provenance.json names"
        ) from error
