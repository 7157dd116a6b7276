"""Checks of what lies outside the configuration, before a task imports anything slow.

A check may import only what is imported fast: it answers within the first two seconds of a run.
"""

from __future__ import annotations

from pathlib import Path

from daedalus.checks import CannotRunError, doing
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.lab.bids.cleaning import require_log
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.reading import may_read
from daedalus.launch.config.task_options import class_of
from daedalus.launch.config.task_parts import Designed, Measured, OfRun, Task, WithModel
from daedalus.launch.config.tasks import FromBids, Publish, Serve, Tune
from daedalus.runs.endings import described
from daedalus.runs.folder import MODEL
from daedalus.runs.hub import is_hub_name, require_hub
from daedalus.service.address import bound_socket

_SOURCES = ("pretrained", "tokenizer")


def preflight(config: Task) -> None:
    """Refuse a run for which something is missing outside of its configuration.

    Raises:
        ConfigError: A file is missing or unreadable, an address is taken, or a hub out of reach.
    """
    try:
        if isinstance(config, FromBids):
            require_log(config.bids, config.bid_log)
        if isinstance(config, OfRun) and "trained" not in config.if_referred:
            _require_trained(config)
        if isinstance(config, Serve):
            bound_socket(config.service).close()
        _require_hub(config)
    except CannotRunError as error:
        raise ConfigError(described(error)) from error


def _require_trained(config: OfRun) -> None:
    """Refuse a folder in ``trained`` that is no training run with its model."""
    if config.trained and not (Path(config.trained) / MODEL / "config.json").is_file():
        raise CannotRunError(
            f"trained: {config.trained} has no folder {MODEL} with a config.json; name the folder "
            "of a training run"
        )


def _require_hub(config: Task) -> None:
    """Refuse models of the hub where it cannot be reached."""
    task = class_of(config.tuning.task) if isinstance(config, Tune) else type(config)
    for key, source in _models(config).items():
        if is_hub_name(source) and may_read(task, key):
            with doing(key):
                require_hub(source)


def _models(config: Task) -> dict[str, str]:
    """Return where language models come from, by the settings that say so."""
    found: dict[str, str] = {}
    designers: dict[str, object] = {}
    if isinstance(config, WithModel):
        found |= {f"model.{name}": getattr(config.model, name) for name in _SOURCES}
    if isinstance(config, Designed | Publish):
        designers["designer"] = config.designer
    if isinstance(config, Measured):
        for name, each in config.evaluation.baselines.items():
            designers[f"evaluation.baselines.{name}"] = each
    for key, each in designers.items():
        if isinstance(each, LanguageModelSettings):
            found[f"{key}.checkpoint"] = each.checkpoint
    return found
