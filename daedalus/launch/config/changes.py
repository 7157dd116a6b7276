"""The changes that a command line asks for, as Hydra reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

_CHOICES = ("hydra", "experiment", "task")
_OFF: tuple[object, ...] = (None, "none", "null", {}, [])


@dataclass(frozen=True)
class Change:
    """One override.

    Attributes:
        text: The override as it was written.
        key: Where it changes the configuration; a group's file goes to the place of its package.
        group: The key without its package; the name of the group, if it chooses an option.
        value: The value, or the option of a group.
        off: Whether it takes something away or turns it off.
    """

    text: str
    key: str
    group: str
    value: object
    off: bool

    @property
    def first(self) -> str:
        """Return the first part of the key, such as ``market``."""
        return self.key.partition(".")[0]


def holds(parent: str, key: str) -> bool:
    """Return whether a key is another one or lies below it."""
    return key == parent or key.startswith(f"{parent}.")


def touches(one: str, other: str) -> bool:
    """Return whether one of two keys holds the other."""
    return holds(one, other) or holds(other, one)


def changes(overrides: Sequence[str]) -> list[Change]:
    """Return the changes of the configuration, without those of Hydra and of the experiment."""
    return [each for each in all_changes(overrides) if each.first not in _CHOICES]


def all_changes(overrides: Sequence[str]) -> list[Change]:
    """Return the changes that overrides make."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    return [_change(each) for each in parsed]


def _change(override: Override) -> Change:
    key = override.package or override.key_or_group.replace("/", ".")
    value = None if override.is_sweep_override() else override.value()
    off = override.is_delete() or value in _OFF
    return Change(str(override.input_line), key, override.key_or_group, value, off)
