"""One helpful message for a configuration that cannot be composed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from traceback import walk_tb

from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from daedalus.runs.endings import program


class ConfigError(ValueError):
    """A configuration that cannot be run. The message says what to write instead."""


RENAMED = {
    "MarketSettings.rules": "name",
    "PopulationSettings.stage": "strategic.stage or classic.stage",
    "PopulationSettings.bidders": "strategic.bidders or classic.bidders",
    "PopulationSettings.units": "strategic.units",
    "PopulationSettings.concentration": "strategic.concentration",
    "PopulationSettings.types": "strategic.types",
    "PopulationSettings.groups": "classic.groups",
    "BidderType.hope": "expected_surplus",
    "AdversarySettings.hope": "expected_surplus",
    "PromptSettings.rules": "mechanism",
    "SftSettings.answer_scale": "temperature",
    "GrpoSettings.kept": "commitment_steps",
    "DistilledSettings.kept": "commitment_steps",
    "DistilledSettings.lessons": "data",
    "evaluation.baselines.random_card": "random_published",
}
"""New name of a key, by settings class and old name, or by its full path."""

RENAMED_OPTIONS = {
    "market/running": "strategic",
    "populations/shipped": "development",
    "training/card": "published",
    "training/curriculum/card": "published",
    "reward/card": "published",
    "reward/card_stability": "published_stability",
    "designer/random_card": "random_published",
    "experiment/replicate_card": "replicate_published",
}
"""New name of an option, by group and old name."""

_NO_EXPERIMENT = "'hydra.runtime.choices.experiment' not found"  # names the run's folder
_NO_OPTION = "Config group override must be"
_NO_BIDDER = "Could not override 'bidder."
_COMPOSER = "hydra._internal.config_loader_impl"
_LEFT_OUT = ("To append to your config use", "Config search path:", "\tprovider=")
"""Beginnings of lines of Hydra: advice that is wrong for a misspelt key, and folders."""


def explain(error: Exception) -> str:
    """Return one message for a failed configuration, with the nearest existing name."""
    causes = [error] if isinstance(error, ConfigError) else list(_causes(error))
    lines = [line for each in causes for line in str(each).splitlines() if line.strip()]
    message = "\n".join(line for line in dict.fromkeys(lines) if not line.startswith(_LEFT_OUT))
    if _NO_EXPERIMENT in message:
        return f"nothing to run: choose +experiment=NAME; {program()} --help lists the names"
    if _NO_BIDDER in message and "object_type=dict" in message:
        return "bidder: none here; first choose one by bidder=endpoint, local or recorded"
    if _NO_OPTION in message:
        return "a group takes the name of one of its files, as in population=stage3, and no more"
    renamed = _renamed_option(message) or _renamed_key(message)
    if renamed:
        return renamed
    option = _missing_option(message)
    if option:
        place = re.search(r"Available options in '([^']+)'", message)
        group = place[1] if place else option.rpartition("/")[0]
        wrong = option.removeprefix(f"{group}/")
        options = re.findall(r"^\t(\S+)$", message, re.MULTILINE)
        known = [name for name in options if not name.endswith("_schema")]
        return f"{group}: no option {wrong}\n{advice(wrong, known)}"
    wrong, known = _unknown_name(message, list(_causes(error)))
    return f"{message}\n{advice(wrong, known)}" if known else message


def advice(wrong: str, known: Sequence[str], place: str = "") -> str:
    """Return the nearest name to one that does not exist, or all names.

    Args:
        wrong: The name that does not exist. Initials, such as ``lr``, are a name, too.
        known: The names that exist.
        place: What stands before each name.
    """
    initials = {"".join(word[:1] for word in name.split("_")): name for name in known}
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    nearest = initials.get(wrong) or next(iter(close), None)
    return f"Did you mean {place}{nearest}?" if nearest else f"Known here: {', '.join(known)}."


def is_of_composing(error: Exception) -> bool:
    """Return whether an error says that the configuration cannot be composed.

    While Hydra composes, files that are no configuration raise plain errors, too.
    """
    if isinstance(error, HydraException | OmegaConfBaseException | ConfigError):
        return True
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(frame.f_globals["__name__"] == _COMPOSER for frame in frames)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _missing_option(message: str) -> str | None:
    """Return GROUP/OPTION if the message says that this option does not exist."""
    option = re.search(r"[Cc]ould not find '([^']+)'", message)
    return option[1] if option else None


def _renamed_option(message: str) -> str | None:
    option = _missing_option(message)
    if option not in RENAMED_OPTIONS:
        return None
    group, _, old = option.rpartition("/")
    return f"{group}={old}: renamed to {group}={RENAMED_OPTIONS[option]}"


def _renamed_key(message: str) -> str | None:
    key = re.search(r"full_key: (\S+)", message)
    owner = re.search(r"object_type=(\S+)", message)
    return renamed(owner[1], key[1]) if key and owner else None


def renamed(owner: str, key: str) -> str | None:
    """Return what to say of a key that has a new name, or None.

    Args:
        owner: Name of the settings class in which it is looked for.
        key: The full key.
    """
    parent, _, old = key.rpartition(".")
    new = RENAMED.get(f"{owner}.{old}") or RENAMED.get(key)
    if new is None:
        return None
    full = " or ".join(f"{parent}.{each}" for each in new.split(" or "))
    return f"{key}: renamed to {full}"


def _unknown_name(message: str, causes: list[BaseException]) -> tuple[str, list[str]]:
    """Return the name that does not exist, and the names that exist in its place."""
    key = re.search(r"Key '([^']+)' (?:is )?not in", message)
    for cause in causes:
        parent = getattr(cause, "parent_node", None)
        if key and isinstance(parent, DictConfig):
            return key[1], sorted(map(str, parent))
        owner = getattr(cause, "object_type", None)
        if key and isinstance(owner, type) and is_dataclass(owner):
            return key[1], [each.name for each in fields(owner)]
    return "", []
