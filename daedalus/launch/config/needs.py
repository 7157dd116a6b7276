"""Checks that a configuration has what its task needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields

from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.discovery import designer_settings
from daedalus.design.language_bidders.settings import KINDS, BidderSettings
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.task_options import task_classes
from daedalus.launch.config.task_parts import (
    Compared,
    Designed,
    Measured,
    OfPopulations,
    Task,
    Trained,
    WithBidder,
    WithTraining,
)
from daedalus.launch.config.tasks import Briefed, Publish, Tune
from daedalus.training.settings import check_backend


def check_needs(config: Task) -> None:
    """Refuse a configuration that lacks what its task needs.

    Raises:
        ConfigError: The message says what to add.
    """
    if isinstance(config, Measured):
        for name, each in config.evaluation.baselines.items():
            key = f"evaluation.baselines.{name}"
            _require_designer(key, f"+designer@{key}", each)
        known = config.evaluation.baselines
        _require_names("evaluation.baselines", known, config.needs_baselines, config.task)
    if isinstance(config, Designed | Publish):
        _require_designer("designer", "designer", config.designer)
        _require_kind(config)
    if isinstance(config, Compared) and not (_has_briefs(config) or config.offers):
        _refuse_readers_of_briefs(config)
    if isinstance(config, WithBidder):
        _require_bidder(config)
    if isinstance(config, OfPopulations) and not (config.offers or isinstance(config, Tune)):
        _require_populations(config)
    if isinstance(config, WithTraining) and "training.portfolio" in config.partly:
        _require_portfolio(config)
    if isinstance(config, Tune):
        _require_study(config)


def _require_designer(key: str, group: str, given: object) -> None:
    if not isinstance(given, DesignerSettings):
        raise ConfigError(f"{key}: {_shown(given)} is no designer; choose one by {group}=NAME")


def _shown(given: object) -> str:
    """Return a value, or of a mapping why it is no designer."""
    if not isinstance(given, dict):
        return repr(given)
    kinds = ", ".join(designer_settings())
    return (
        f"a mapping ({', '.join(map(str, given))}) without defaults: [KIND_schema, _self_], where "
        f"KIND is one of {kinds}, and without _target_: MODULE.CLASS,"
    )


def _require_kind(config: Designed | Publish) -> None:
    if not isinstance(config.designer, config.designers):
        kind = next(name for name, each in designer_settings().items() if each is config.designers)
        raise ConfigError(f"designer: {config.designer.name}; {config.task} needs designer={kind}")


def _has_briefs(config: Compared) -> bool:
    return config.gives_briefs or (isinstance(config, Briefed) and bool(config.brief))


def _refuse_readers_of_briefs(config: Compared) -> None:
    designers = {
        f"evaluation.baselines.{k}": each for k, each in config.evaluation.baselines.items()
    }
    if isinstance(config, Designed):
        designers["designer"] = config.designer
    for key, each in designers.items():
        if each.reads_briefs:
            raise ConfigError(
                f"{key}: {each.name} reads briefs, and {config.task} has none; run "
                "+experiment=briefs, or choose another designer"
            )


def _require_bidder(config: WithBidder) -> None:
    """Refuse what is no bidder. A task that offers markets may do without."""
    if not (isinstance(config.bidder, BidderSettings) or (config.offers and not config.bidder)):
        raise ConfigError(
            f"bidder: {config.bidder!r} is no bidder; choose one by bidder=NAME, where NAME is "
            f"one of {', '.join(KINDS)}"
        )


def _require_populations(config: OfPopulations) -> None:
    if not config.populations:
        raise ConfigError(f"populations: none; {config.task} needs some: choose populations=NAME")
    _require_names("populations", config.populations, config.needs_populations, config.task)


def _require_portfolio(config: WithTraining) -> None:
    if isinstance(config, Trained) or config.training.portfolio.populations:
        return
    raise ConfigError(
        f"training.portfolio.populations: 0; {config.task} needs a portfolio, so give 1 or more"
    )


def _require_study(config: Tune) -> None:
    if not config.tuning.space:
        raise ConfigError("tuning.space: it is empty; choose what is tuned, as in tuning=grpo")
    own = {each.name for each in fields(config)}
    kinds = {
        name: kind
        for name, kind in task_classes().items()
        if kind is not Tune and {each.name for each in fields(kind)} <= own
    }
    if config.tuning.task not in kinds:
        raise ConfigError(f"tuning.task: {config.tuning.task!r}; choose one of {', '.join(kinds)}")
    if issubclass(kinds[config.tuning.task], Trained):
        try:
            check_backend(config.model, config.training)
            config.training.require_fit(config.market.episode_length)
        except ValueError as error:
            raise ConfigError(str(error)) from error


def _require_names(key: str, known: Collection[str], needed: Iterable[str], task: str) -> None:
    missing = [name for name in needed if name not in known]
    if missing:
        raise ConfigError(f"{key}: {task} needs {', '.join(missing)}; keep the experiment's own")
