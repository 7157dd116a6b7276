"""Which file of the configuration set a value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import OmegaConf

from daedalus.launch.config.changes import changes, holds, touches
from daedalus.launch.config.paths import ROOT


def file_of(key: str, node: str, overrides: Sequence[str]) -> str | None:
    """Return the path of the last file that sets a value.

    Args:
        key: Full key of the value.
        node: Key of the settings to which it belongs; empty for the whole configuration.
        overrides: Changes from the command line.

    Returns:
        The path, from the root of the project if it lies there. None if the command line changes
        these settings, or no file sets the value.
    """
    if not GlobalHydra.instance().is_initialized():
        return None
    loader = GlobalHydra.instance().config_loader()
    values = [each for each in changes(overrides) if not loader.get_group_options(each.group)]
    place = node or key
    if any(touches(each.key, place) for each in values):
        return None
    listed = loader.compute_defaults_list("config", list(overrides), RunMode.RUN).defaults
    for each in listed[::-1]:
        package = "" if each.package in (None, "_global_") else each.package
        file = _file(f"{each.config_path}.yaml", loader, overrides)
        if file is not None and (not package or holds(package, key)):
            below = key.removeprefix(f"{package}.")
            if OmegaConf.select(OmegaConf.load(file), below, throw_on_missing=False) is not None:
                return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)
    return None


def _file(path: str, loader: ConfigLoader, overrides: Sequence[str]) -> Path | None:
    """Return a part of the configuration in the first folder that has it; None for a schema."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    more = [each.value() for each in parsed if each.key_or_group == "hydra.searchpath"]
    folders = [source.path for source in loader.get_sources()]
    folders += [str(folder) for listed in more if isinstance(listed, list) for folder in listed]
    found = (Path(folder.removeprefix("file://")) / path for folder in folders)
    return next((file for file in found if file.is_file()), None)
