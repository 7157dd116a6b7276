"""Checks of what lies outside the configuration, before a task imports anything slow.

A check may import only what is imported fast: it answers within the first two seconds of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from daedalus.bids.rows import require_log
from daedalus.checks import CannotRunError
from daedalus.config.mistakes import ConfigError
from daedalus.config.schema import Config
from daedalus.runs.folder import MODEL
from daedalus.service.address import require_free_address


def preflight(config: Config) -> None:
    """Refuse a run for which something is missing outside of its configuration.

    Raises:
        ConfigError: A file is missing or unreadable, or an address is taken.
    """
    try:
        for check in _CHECKS.get(config.task, ()):
            check(config)
    except CannotRunError as error:
        raise ConfigError(str(error)) from error


def _bids(config: Config) -> None:
    require_log(config.bids, config.bid_log)


def _trained(config: Config) -> None:
    """Refuse a folder in ``trained`` that is no training run with its model."""
    if config.trained and not (Path(config.trained) / MODEL / "config.json").is_file():
        raise CannotRunError(
            f"trained: {config.trained} has no folder {MODEL} with a config.json; name the folder "
            "of a training run"
        )


def _address(config: Config) -> None:
    require_free_address(config.service)


_CHECKS: dict[str, tuple[Callable[[Config], None], ...]] = {
    "from_bids": (_bids, _trained),
    "llm_bidders": (_trained,),
    "serve": (_address,),
}
"""The checks of each task that has some."""
