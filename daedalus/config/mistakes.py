"""One helpful message for a configuration that cannot be composed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from daedalus.config.paths import option_files


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
_BAD_ADVICE = "To append to your config use"  # wrong for a misspelt key


def explain(error: HydraException | OmegaConfBaseException | ConfigError) -> str:
    """Return one message for a failed configuration, with the nearest existing name."""
    causes = list(_causes(error))
    lines = [line for each in causes for line in str(each).splitlines() if line.strip()]
    message = "\n".join(line for line in dict.fromkeys(lines) if not line.startswith(_BAD_ADVICE))
    if _NO_EXPERIMENT in message:
        return "nothing to run: choose +experiment=NAME; python run.py --help lists the names"
    renamed = _renamed_option(message) or _renamed_key(message)
    if renamed:
        return renamed
    wrong, known = _unknown_name(message, causes)
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5) if wrong else []
    if close:
        message += f"\nDid you mean {close[0]}?"
    elif known:
        message += f"\nKnown here: {', '.join(known)}."
    return message


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


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
    if key is None or owner is None:
        return None
    parent, _, old = key[1].rpartition(".")
    new = RENAMED.get(f"{owner[1]}.{old}") or RENAMED.get(key[1])
    if new is None:
        return None
    full = " or ".join(f"{parent}.{each}" for each in new.split(" or "))
    return f"{key[1]}: renamed to {full}"


def _unknown_name(message: str, causes: list[BaseException]) -> tuple[str, list[str]]:
    """Return the name that does not exist, and the names that exist in its place."""
    option = _missing_option(message)
    if option:
        group, _, wrong = option.rpartition("/")
        return wrong, [path.stem for path in option_files(group)]
    key = re.search(r"Key '([^']+)' (?:is )?not in", message)
    for cause in causes:
        parent = getattr(cause, "parent_node", None)
        if key and isinstance(parent, DictConfig):
            return key[1], sorted(map(str, parent))
    return "", []
