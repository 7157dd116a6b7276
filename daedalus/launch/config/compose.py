"""From files and overrides to a checked configuration."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.checks import CannotRunError
from daedalus.design.designers.discovery import designer_settings
from daedalus.design.language_bidders.settings import KINDS
from daedalus.launch.config.changes import changes
from daedalus.launch.config.markets import check_market
from daedalus.launch.config.mistakes import (
    ADVICE,
    ConfigError,
    explain,
    is_of_composing,
    nothing_to_run,
)
from daedalus.launch.config.needs import check_needs
from daedalus.launch.config.nodes import require_known_keys, to_objects
from daedalus.launch.config.own import with_own_designers
from daedalus.launch.config.paths import CONF, listed_populations
from daedalus.launch.config.reading import check_reading, not_taken
from daedalus.launch.config.resolvers import register_resolvers
from daedalus.launch.config.task_options import (
    chosen_tasks,
    class_of,
    defaults_of,
    task_classes,
)
from daedalus.launch.config.task_parts import Task
from daedalus.market.mechanism import Mechanism
from daedalus.runs.earlier import load_run_config


def register(overrides: Sequence[str] = ()) -> None:
    """Register with Hydra what no file is: schemas, listed populations and resolvers.

    This comes before composing. Of tasks only the schemas that the overrides may choose are
    registered: each takes time to make.
    """
    _register(tuple(designer_settings().items()))
    store = ConfigStore.instance()  # a job in another process has one of its own
    for task in chosen_tasks(overrides):
        name = f"{task}_schema"
        if f"{name}.yaml" not in store.repo.get("task", {}):
            store.store(group="task", name=name, node=task_classes()[task], package="_global_")


class _Nodes(dict[str, Any]):
    """What is registered. Hydra copies each node that it takes, so no copy of all is needed.

    It made one whenever it composed, three in a run: a fifth of the time of composing.
    """

    def __deepcopy__(self, memo: object) -> _Nodes:
        return self


@cache  # for each set of designers
def _register(designers: tuple[tuple[str, type], ...]) -> None:
    store = ConfigStore.instance()
    store.repo = _Nodes(store.repo)
    for name, task in task_classes().items():
        store.store(
            group="task", name=name, node={"defaults": defaults_of(task)}, package="_global_"
        )
    store.store(group="mechanism", name="mechanism_schema", node=Mechanism)
    for name, settings in designers:
        store.store(group="designer", name=f"{name}_schema", node=settings)
    for name, kind in KINDS.items():
        store.store(group="bidder", name=f"{name}_bidder", node=kind)
    for name, population in listed_populations().items():
        store.store(group="population", name=name, node=population)
    register_resolvers()


def to_config(composed: DictConfig, overrides: Sequence[str] | None = None) -> Task:
    """Check a composed configuration and return it as objects.

    Args:
        composed: The configuration.
        overrides: Changes from the command line, such as ``population.classic.bidders=9``. A
            change that nothing reads is refused. None if they are not known.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type, out of range, missing or
            read by nothing.
    """
    asked = changes(overrides or ())
    if sentence := not_taken(require_task(composed), asked):  # Hydra lets it pass after a +
        raise ConfigError(sentence)
    if overrides is not None:
        composed = with_own_designers(composed)
    require_known_keys(composed)
    missing = sorted(OmegaConf.missing_keys(composed))
    if missing:
        raise ConfigError(f"{', '.join(missing)}: not set")
    config = to_objects(composed, overrides)
    assert isinstance(config, Task)
    check_market(config, asked)
    if overrides is not None:
        check_needs(config)
        check_reading(config, composed, asked)
    return config


def require_task(composed: DictConfig) -> type[Task]:
    """Return the class of the task that a configuration chooses as a group.

    Raises:
        ConfigError: The message says how to choose one.
    """
    kind = OmegaConf.get_type(composed)
    if kind is not None and issubclass(kind, Task):
        return kind
    if "experiment" in composed:
        raise ConfigError(f"experiment: {ADVICE}")
    name = composed.get("task")
    if name is None:
        raise ConfigError("task: not set; choose +experiment=NAME")
    raise ConfigError(
        f"task: {name}; the task brings the settings, so choose it in the experiment's defaults, "
        f"by `- override /task: {name}`"
    )


def quoted(text: str) -> str:
    """Return a text as the value of an override, in which only ``${`` has a meaning."""
    return QuotedString(text, Quote.single).with_quotes()


def compose_config(*overrides: str) -> Any:
    """Compose a configuration from overrides and check it, as ``run.py`` does.

    Returns:
        An object of the class of the task that the overrides choose.

    Raises:
        ConfigError: The configuration cannot be run. The message says what to write instead.
    """
    return compose_both(*overrides)[1]


def _hydra() -> AbstractContextManager[object]:
    """Start Hydra, unless this is within a run of ``run.py``, which has started it."""
    if GlobalHydra.instance().is_initialized():
        return nullcontext()
    started: AbstractContextManager[object] = initialize_config_dir(str(CONF), version_base="1.3")
    return started


def compose_both(*overrides: str) -> tuple[DictConfig, Task]:
    """Return a configuration as it is composed, and as checked objects, see ``compose_config``."""
    register(overrides)
    try:
        with _hydra():
            composed = compose("config", overrides=list(overrides))
            return composed, to_config(composed, overrides)
    except Exception as error:
        if not is_of_composing(error):
            raise
        raise ConfigError(why_not(error, overrides)) from error


def why_not(error: Exception, overrides: Sequence[str]) -> str:
    """Return one message for a command that cannot be composed.

    Args:
        error: What Hydra or a check raised.
        overrides: Changes from the command line.
    """
    if not any(each.startswith(("task=", "+experiment=")) for each in overrides):
        return nothing_to_run()
    for each in overrides:
        if each.startswith("+experiment=") and {",", "("} & set(each):  # a list of Hydra's
            return f"{each}: a command runs one experiment, so run one command for each of them"
    if isinstance(error, ConfigError):
        return explain(error)
    try:
        sentence = not_taken(require_task(_choices(overrides)), changes(overrides))
    except ConfigError as refusal:
        return str(refusal)
    except Exception:  # of the same mistake, or of a second one
        sentence = None
    return sentence or explain(error)


def _choices(overrides: Sequence[str]) -> DictConfig:
    """Return what a command chooses by its experiment and its task, whatever else it changes."""
    keys = ("task=", "+experiment=", "hydra.searchpath=")
    with _hydra():
        return compose("config", [each for each in overrides if each.startswith(keys)])


def read_config(path: Path) -> Any:
    """Read the config.yaml of a run. Designers stay plain mappings.

    Raises:
        ConfigError: Another version of the project wrote the file.
    """
    try:
        return to_config(recorded(path))
    except (OmegaConfBaseException, CannotRunError) as error:
        said = str(error).partition("\n")[0]
        raise ConfigError(
            f"{path}: another version of the project wrote this configuration ({said}); "
            "take the commit that its provenance.json names"
        ) from error


def recorded(path: Path) -> DictConfig:
    """Return the config.yaml of a run, with the class of its task and the defaults of new settings.

    Groups that the task does not take are left out: earlier versions recorded those of all tasks.
    """
    config = load_run_config(path)
    task = class_of(str(config.task))
    taken = OmegaConf.masked_copy(config, [each.name for each in fields(task)])
    merged = OmegaConf.merge(OmegaConf.structured(task), taken)
    assert isinstance(merged, DictConfig)
    return merged
