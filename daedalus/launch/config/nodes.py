"""From a composed configuration to objects; what is wrong is named by its full key and its file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.launch.config.changes import all_changes, changes, holds, touches
from daedalus.launch.config.mistakes import ConfigError, advice, explain
from daedalus.launch.config.paths import ROOT
from daedalus.runs.earlier import gone


def require_known_keys(composed: DictConfig, besides: Sequence[str] = ()) -> None:
    """Refuse keys that no dataclass has. Hydra lets them pass after ``+`` and ``++``.

    Args:
        composed: The configuration.
        besides: Full keys that are allowed nevertheless.

    Raises:
        ConfigError: The message gives the nearest key, or says that this one is gone.
    """
    for key, node in _nodes(composed):
        known = _fields(node)
        for name in node:
            full = _joined(key, str(name))
            if known and name not in known and full not in besides:
                hint = advice(str(name), known, _joined(key, ""))
                raise ConfigError(gone(full) or f"{full}: no such setting. {hint}")


def to_objects(composed: DictConfig, overrides: Sequence[str] | None = None) -> Any:
    """Return the configuration as objects, which check their values.

    ``overrides`` are changes from the command line. With them, the message can name the file of a
    wrong value.

    Raises:
        ConfigError: A value is of the wrong type or out of range.
    """
    try:
        return OmegaConf.to_object(composed)
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error)) from error
    except ValueError as error:
        raise ConfigError(_located(composed, error, overrides)) from error


def _located(composed: DictConfig, error: ValueError, overrides: Sequence[str] | None) -> str:
    """Return the message of a value's check after its full key, and the file that sets it."""
    for key, node in _nodes(composed):
        try:
            OmegaConf.to_object(node)
        except ValueError as found:
            named = re.match(r"(\w+)[\w.]*", str(found))
            if named is None or named[1] not in _fields(node):
                return f"{key}: {found}"
            file = _file_of(_joined(key, named[0]), key, overrides) if overrides else None
            return _joined(key, str(found)) + (f" (in {file})" if file else "")
    return str(error)


def _nodes(node: DictConfig, key: str = "") -> Iterator[tuple[str, DictConfig]]:
    """Yield every mapping with its full key, the inner ones first."""
    for name in node:
        if not OmegaConf.is_missing(node, name) and not OmegaConf.is_interpolation(node, str(name)):
            if isinstance(node[name], DictConfig):
                yield from _nodes(node[name], _joined(key, str(name)))
    yield key, node


def _fields(node: DictConfig) -> list[str]:
    """Return the names of the settings that a node may have, or none if it may have any."""
    kind = OmegaConf.get_type(node)
    return [each.name for each in fields(kind)] if is_dataclass(kind) else []


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _file_of(key: str, node: str, overrides: Sequence[str]) -> str | None:
    """Return the last file that sets the value of a full key; ``node`` is that of its settings.

    None if the command line changes these settings, or no file sets the value.
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
    more = [each.value for each in all_changes(overrides) if each.key == "hydra.searchpath"]
    folders = [source.path for source in loader.get_sources()]
    folders += [str(folder) for listed in more if isinstance(listed, list) for folder in listed]
    found = (Path(folder.removeprefix("file://")) / path for folder in folders)
    return next((file for file in found if file.is_file()), None)
