"""One sentence for a value whose type is not that of its setting."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from omegaconf import Container, OmegaConf
from omegaconf.errors import OmegaConfBaseException, ValidationError

_PLAIN = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list as in [A,B]",
    tuple: "a list as in [A,B]",
}
_TOLD = {"Integer": int, "Float": float, "bool": bool, "ListConfig": list}
"""Types by the words of OmegaConf's messages, where no settings class has the key."""


def wrong_type(causes: Iterable[BaseException]) -> str | None:
    """Return a sentence that names the setting, its value and what to write instead.

    Args:
        causes: An error and what caused it, the outermost first. OmegaConf raises the innermost
            one before it knows the key and the value, as a template with ``$VALUE``.

    Returns:
        None if the type of a value is not what was wrong.
    """
    written, value = "", ""
    for cause in causes:
        override = re.match(r"Error merging override \+*([^=]+)=(.*)", str(cause))
        written, value = override.groups() if override else (written, value)
        if isinstance(cause, ValidationError) and cause.full_key:
            if not written.endswith(cause.full_key):  # it is of a file, or below what was written
                written, value = cause.full_key, _shown(cause.value)
            return f"{written}: {value or 'empty'}; give {_wanted(cause, written)}"
    return None


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Container):
        value = OmegaConf.to_container(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _wanted(error: OmegaConfBaseException, key: str) -> str:
    """Return what the setting takes."""
    declared = _declared(error)
    if declared is None:
        told = re.search(r"converted to (\w+)|valid (bool)|not a (ListConfig)", str(error))
        declared = _TOLD.get(next(filter(None, told.groups())) if told else "")
    kinds = [each for each in get_args(declared) if get_origin(declared) in (Union, UnionType)]
    words = [_words(each, key) for each in kinds or [declared] if each is not type(None)]
    return " or ".join([*words, "null"] if type(None) in kinds else words)


def _declared(error: OmegaConfBaseException) -> Any:
    """Return the type of the setting, as its settings class declares it; None if none does."""
    owner = error.object_type
    if not is_dataclass(owner):
        return None
    return get_type_hints(owner).get(str(error.key))


def _words(kind: Any, key: str) -> str:
    plain = get_origin(kind) or kind
    if plain in _PLAIN:
        return _PLAIN[plain]
    named = "NAME." if plain is dict else ""
    return f"the settings below it, as in {key}.{named}KEY=VALUE"
