"""Checks of what lies outside the configuration, before a task imports anything slow.

A check may import only what is imported fast: it answers within the first two seconds of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from daedalus.bids.rows import require_log
from daedalus.checks import CannotRunError, doing
from daedalus.config.mistakes import ConfigError
from daedalus.config.schema import Config
from daedalus.config.tasks import task_of
from daedalus.designers.language_model import LanguageModelSettings
from daedalus.runs.endings import described
from daedalus.runs.folder import MODEL
from daedalus.runs.hub import is_hub_name, require_hub
from daedalus.service.address import require_free_address


def preflight(config: Config) -> None:
    """Refuse a run for which something is missing outside of its configuration.

    Raises:
        ConfigError: A file is missing or unreadable, an address is taken, or a hub out of reach.
    """
    try:
        for check in (*_CHECKS.get(config.task, ()), _hub):
            check(config)
    except CannotRunError as error:
        raise ConfigError(described(error)) from error


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


def _hub(config: Config) -> None:
    """Refuse models of the hub where it cannot be reached."""
    tasks = [config.task, *([config.tuning.task] if config.task == "tune" else [])]
    reads = [task_of(name) for name in tasks]
    for key, source in _models(config).items():
        if is_hub_name(source) and any(each.may_read(key) for each in reads):
            with doing(key):
                require_hub(source)


def _models(config: Config) -> dict[str, str]:
    """Return where language models come from, by the settings that say so."""
    model = config.model
    found = {"model.pretrained": model.pretrained, "model.tokenizer": model.tokenizer}
    designers = {"designer": config.designer}
    for name, each in config.evaluation.baselines.items():
        designers[f"evaluation.baselines.{name}"] = each
    for key, each in designers.items():
        if isinstance(each, LanguageModelSettings):
            found[f"{key}.checkpoint"] = each.checkpoint
    return found


_CHECKS: dict[str, tuple[Callable[[Config], None], ...]] = {
    "from_bids": (_bids, _trained),
    "llm_bidders": (_trained,),
    "serve": (_address,),
}
"""The checks of each task that has some."""
