"""Checks that the chosen market can play every population and reads every changed setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from omegaconf import DictConfig, OmegaConf

from daedalus.launch.config.changes import Change
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.paths import CONF, listed_populations, option_names
from daedalus.launch.config.task_parts import InMarket, OfPopulations, Played, Task, WithTraining
from daedalus.market.interface import MARKETS, MarketSettings
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import SIZES, TRAITS


def check_market(config: Task, changes: Sequence[Change]) -> None:
    """Refuse populations that the market cannot play, and changes that it does not read.

    Raises:
        ConfigError: The message says what to choose instead.
    """
    if not isinstance(config, InMarket):
        return
    market = config.market.name
    for key, population in _populations(config):
        if market not in population.markets:
            raise ConfigError(
                f"{key}: market={market} cannot play {population.name}; it plays "
                f"{', '.join(playable(market))}. Choose one of them, or "
                f"{_choices(population.markets)}."
            )
        if market == "strategic":
            _check_rings(key, population)
    if market != "strategic" and config.by_type:
        raise ConfigError(f"task: {config.task} needs bidder types; choose market=strategic")
    portfolio = isinstance(config, WithTraining) and config.training.portfolio.populations
    if market != "strategic" and portfolio:
        raise ConfigError(
            "training.portfolio.populations: sampling populations needs bidder types; "
            "choose market=strategic, or set it to 0"
        )
    for change in changes:
        _check_read(change, config)
        if isinstance(config, Played):
            _check_not_drawn(change, config)
    if isinstance(config, Played):
        _check_name(changes, config)


def _populations(config: Task) -> Iterator[tuple[str, PopulationSettings]]:
    """Yield every population that the run plays, with its key in the configuration."""
    if isinstance(config, Played):
        yield "population", config.population
    if isinstance(config, OfPopulations) and not config.offers:
        for name, each in config.populations.items():
            yield f"populations.{name}", each
    if isinstance(config, WithTraining):
        for name, each in config.training.sft.practice.items():
            yield f"training.sft.practice.{name}", each


def _check_rings(key: str, population: PopulationSettings) -> None:
    """Refuse a ring that never has two members."""
    assert population.strategic is not None
    try:
        population.strategic.check_rings()
    except ValueError as error:
        raise ConfigError(f"{key}.strategic.{error}") from error


def _check_read(change: Change, config: InMarket) -> None:
    """Refuse a change of a setting that only another market reads."""
    market = _market_of(change.key, config)
    if market not in (None, config.market.name) and not config.both_markets:
        raise ConfigError(
            f"{change.text}: market={config.market.name} does not read {change.key}; "
            f"leave it out, or choose market={market}"
        )


def _market_of(key: str, config: Task) -> str | None:
    """Return the market to which a key belongs by its place, or None."""
    node: object = config
    for name in key.split("."):
        if isinstance(node, PopulationSettings | MarketSettings) and name in MARKETS:
            return name
        node = node.get(name) if isinstance(node, dict) else getattr(node, name, None)
    return None


def _check_not_drawn(change: Change, config: Played) -> None:
    """Refuse a change of what each episode draws for itself, from a range of the population."""
    *group, name = change.key.split(".")
    population = config.population.strategic
    if population is None or group[:2] != ["population", "strategic"] or "ranges" in group:
        return
    ends = population.ranges.of(SIZES + TRAITS).get(name)
    if ends is not None:
        raise ConfigError(
            f"{change.text}: each episode draws {name} from {ends}; "
            f"add population.strategic.ranges.{name}=null"
        )


def _check_name(changes: Sequence[Change], config: Played) -> None:
    """Refuse a chosen population whose file has another name; tables would show the wrong one."""
    values = {each.key: each.value for each in changes if not each.off}
    name, chosen = config.population.name, values.get("population")
    if isinstance(chosen, list):
        raise ConfigError(f"population: {', '.join(chosen)}; choose one file of conf/population/")
    if chosen not in (None, name) and "population.name" not in values:
        raise ConfigError(f"conf/population/{chosen}.yaml: name: {name}; write name: {chosen}")


def _choices(markets: Sequence[str]) -> str:
    return " or ".join(f"market={each}" for each in markets)


def playable(market: str) -> list[str]:
    """Return the names of the populations that a market can play."""
    names = option_names("population")
    return [name for name in names if _population(name).get(market) is not None]


@cache  # each refusal asks for all of them
def _population(name: str) -> DictConfig:
    """Return a population merged with its defaults."""
    listed = listed_populations().get(name)
    own = OmegaConf.load(CONF / "population" / f"{name}.yaml") if listed is None else listed
    loaded = OmegaConf.create(own)
    assert isinstance(loaded, DictConfig)
    parents = [_population(each) for each in loaded.pop("defaults", []) if each != "_self_"]
    merged = OmegaConf.merge(*parents, loaded)
    assert isinstance(merged, DictConfig)
    return merged
