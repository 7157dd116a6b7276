"""From a composed configuration to objects; what is wrong is named by its full key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.launch.config.mistakes import ConfigError, advice, explain, renamed
from daedalus.launch.config.origin import file_of
from daedalus.runs.earlier import gone


def require_known_keys(composed: DictConfig, besides: Sequence[str] = ()) -> None:
    """Refuse keys that no dataclass has. Hydra lets them pass after ``+`` and ``++``.

    Args:
        composed: The configuration.
        besides: Full keys that are allowed nevertheless.

    Raises:
        ConfigError: The message gives the key's new name, or the nearest one.
    """
    for key, node in _nodes(composed):
        known = _fields(node)
        for name in node:
            full = _joined(key, str(name))
            if known and name not in known and full not in besides:
                raise ConfigError(
                    gone(full)
                    or renamed(_kind(node).__name__, full)
                    or f"{full}: no such setting. {advice(str(name), known, _joined(key, ''))}"
                )


def to_objects(composed: DictConfig, overrides: Sequence[str] | None = None) -> Any:
    """Return the configuration as objects, which check their values.

    Args:
        composed: The configuration.
        overrides: Changes from the command line. With them the message can name the file of a
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
            file = file_of(_joined(key, named[0]), key, overrides) if overrides else None
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
    kind = _kind(node)
    return [each.name for each in fields(kind)] if is_dataclass(kind) else []


def _kind(node: DictConfig) -> type:
    return OmegaConf.get_type(node) or dict


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
