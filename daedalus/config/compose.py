"""From files and overrides to a checked configuration."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.bidders.settings import KINDS
from daedalus.checks import CannotRunError
from daedalus.config.changes import changes
from daedalus.config.markets import check_market
from daedalus.config.mistakes import ConfigError, explain, is_of_composing
from daedalus.config.nodes import require_known_keys, to_objects
from daedalus.config.options import listed_populations
from daedalus.config.own import with_own_designers
from daedalus.config.paths import CONF
from daedalus.config.reading import check_needs, check_reading, require_bidder, require_designers
from daedalus.config.resolvers import register_resolvers
from daedalus.config.schema import Config
from daedalus.designers.discovery import designer_settings
from daedalus.market.mechanism import Mechanism
from daedalus.runs.earlier import load_run_config


def register() -> None:
    """Register with Hydra what no file is: schemas, listed populations and resolvers.

    This comes before composing.
    """
    _register(tuple(designer_settings().items()))


@cache  # for each set of designers: it takes as long as half of a composition
def _register(designers: tuple[tuple[str, type], ...]) -> None:
    store = ConfigStore.instance()
    store.store(name="schema", node=Config)
    store.store(group="mechanism", name="mechanism_schema", node=Mechanism)
    for name, settings in designers:
        store.store(group="designer", name=f"{name}_schema", node=settings)
    for name, kind in KINDS.items():
        store.store(group="bidder", name=f"{name}_bidder", node=kind)
    for name, population in listed_populations().items():
        store.store(group="population", name=name, node=population)
    register_resolvers()


def to_config(composed: DictConfig, overrides: Sequence[str] | None = None) -> Config:
    """Check a composed configuration and return it as objects.

    Args:
        composed: The configuration.
        overrides: Changes from the command line, such as ``population.classic.bidders=9``. A
            change that nothing reads is refused. None if they are not known.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type, out of range, missing or
            read by nothing.
    """
    if overrides is not None:
        composed = with_own_designers(composed)
    require_known_keys(composed)
    missing = sorted(OmegaConf.missing_keys(composed))
    if missing:
        advice = "; choose +experiment=NAME" if "task" in missing else ""
        raise ConfigError(f"{', '.join(missing)}: not set{advice}")
    config = to_objects(composed, overrides)
    assert isinstance(config, Config)
    asked = changes(overrides or ())
    check_market(config, asked)
    if overrides is not None:
        require_designers(config)
        require_bidder(config)
        check_needs(config)
        check_reading(config, composed, asked)
    return config


def quoted(text: str) -> str:
    """Return a text as the value of an override, in which only ``${`` has a meaning."""
    return QuotedString(text, Quote.single).with_quotes()


def compose_config(*overrides: str) -> Config:
    """Compose a configuration from overrides and check it, as ``run.py`` does.

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


def compose_both(*overrides: str) -> tuple[DictConfig, Config]:
    """Return a configuration as it is composed, and as checked objects, see ``compose_config``."""
    register()
    try:
        with _hydra():
            composed = compose("config", overrides=list(overrides))
            return composed, to_config(composed, overrides)
    except Exception as error:
        if not is_of_composing(error):
            raise
        raise ConfigError(explain(error)) from error


def read_config(path: Path) -> Config:
    """Read the config.yaml of a run. Designers stay plain mappings.

    Raises:
        ConfigError: Another version of the project wrote the file.
    """
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Config), load_run_config(path))
        return to_config(merged)  # type: ignore[arg-type]  # of a mapping, so not a list
    except (OmegaConfBaseException, CannotRunError) as error:
        said = str(error).partition("\n")[0]
        raise ConfigError(
            f"{path}: another version of the project wrote this configuration ({said}); "
            "take the commit that its provenance.json names"
        ) from error
