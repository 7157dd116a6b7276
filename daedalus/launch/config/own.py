"""Designers of the user's own modules, which a configuration names by ``_target_``."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import is_dataclass

from omegaconf import DictConfig, OmegaConf

from daedalus.checks import imported
from daedalus.design.designers.base import DesignerSettings
from daedalus.launch.config.mistakes import ConfigError

_TARGET = "_target_"
_ADVICE = (
    "name a dataclass that inherits from DesignerSettings of daedalus.design.designers.base and "
    "has a method build"
)


def with_own_designers(composed: DictConfig) -> DictConfig:
    """Return a configuration in which each designer of a user's module has its settings class.

    The class is named as ``_target_: MODULE.CLASS``. From here on its settings are checked as those
    of the package are. ``composed`` stays as it is.

    Raises:
        ConfigError: There is no such class, or it is none of settings of a designer.
    """
    found = list(_own(composed))
    if not found:
        return composed
    changed = deepcopy(composed)
    for key in found:
        given = OmegaConf.to_container(OmegaConf.select(changed, key))
        assert isinstance(given, dict)
        kind = _settings_class(key, given.pop(_TARGET))
        OmegaConf.update(changed, key, OmegaConf.structured(kind), merge=False)
        OmegaConf.update(changed, key, given, merge=True)
    return changed


def _own(composed: DictConfig) -> Iterator[str]:
    """Yield the keys of designers with a target."""
    baselines = OmegaConf.select(composed, "evaluation.baselines") or {}
    for key in ("designer", *(f"evaluation.baselines.{name}" for name in baselines)):
        node = OmegaConf.select(composed, key, throw_on_missing=False)
        if isinstance(node, DictConfig) and _TARGET in node:
            yield key


def _settings_class(key: str, place: object) -> type[DesignerSettings]:
    where = f"{key}.{_TARGET}"
    if not isinstance(place, str):
        raise ConfigError(f"{where}: {place!r}; give MODULE.CLASS, such as my_module.MySettings")
    try:
        kind = imported(place)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, DesignerSettings)):
        raise ConfigError(f"{where}: {place} is no settings of a designer; {_ADVICE}")
    if "__dataclass_fields__" not in vars(kind) or not is_dataclass(kind):
        raise ConfigError(f"{where}: {place} is no dataclass; put @dataclass above it")
    if kind.build is DesignerSettings.build:
        raise ConfigError(f"{where}: {place} has no method build; {_ADVICE}")
    return kind
