"""Checks that the chosen market can play every population and reads every changed setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omegaconf import DictConfig, OmegaConf

from daedalus.config.mistakes import ConfigError
from daedalus.config.paths import CONF, option_files
from daedalus.config.schema import Config
from daedalus.market.interface import MARKETS
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import SIZES, TRAITS

SERVING = ("serve", "bench_service")
"""Tasks that offer populations to visitors, who choose the market."""
BOTH = (*SERVING, "bench")
"""Tasks that play both markets."""
BY_TYPE = ("exploitability", "behaviour", "sensitivity")
"""Tasks that need bidder types. Only the strategic market has them."""


def check_market(config: Config, overrides: Sequence[str]) -> None:
    """Refuse populations that the market cannot play, and changes that it does not read.

    Args:
        config: The composed configuration.
        overrides: Changes from the command line.

    Raises:
        ConfigError: The message says what to choose instead.
    """
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
    if market != "strategic" and config.task in BY_TYPE:
        raise ConfigError(f"task: {config.task} needs bidder types; choose market=strategic")
    if market != "strategic" and config.training.portfolio.populations:
        raise ConfigError(
            "training.portfolio.populations: sampling populations needs bidder types; "
            "choose market=strategic, or set it to 0"
        )
    for override in overrides:
        _check_read(override, config)
        _check_not_drawn(override, config)
    _check_name(config, overrides)


def _populations(config: Config) -> Iterator[tuple[str, PopulationSettings]]:
    """Yield every population that the run plays, with its key in the configuration."""
    yield "population", config.population
    if config.task not in SERVING:
        for name, each in config.populations.items():
            yield f"populations.{name}", each
    for name, each in config.training.sft.practice.items():
        yield f"training.sft.practice.{name}", each
    for name, stage in config.training.curriculum.stages.items():
        yield f"training.curriculum.stages.{name}", stage.population


def _check_rings(key: str, population: PopulationSettings) -> None:
    """Refuse a ring that never has two members.

    Raises:
        ConfigError: There is such a ring.
    """
    assert population.strategic is not None
    try:
        population.strategic.check_rings()
    except ValueError as error:
        raise ConfigError(f"{key}.strategic.{error}") from error


def _check_read(override: str, config: Config) -> None:
    """Refuse a change of a setting that only another market reads.

    Raises:
        ConfigError: The task does not play that market.
    """
    key, market = override.partition("=")[0].lstrip("+~"), config.market.name
    unread = [each for each in MARKETS if each != market and each in key.split(".")]
    if unread and config.task not in BOTH:
        raise ConfigError(
            f"{override}: market={market} does not read {key}; "
            f"leave it out, or choose {_choices(unread)}"
        )


def _check_not_drawn(override: str, config: Config) -> None:
    """Refuse a change of what each episode draws for itself.

    Raises:
        ConfigError: The population has a range for it.
    """
    key = override.partition("=")[0].lstrip("+~")
    *group, name = key.split(".")
    population = config.population.strategic
    if population is None or group[:2] != ["population", "strategic"] or "ranges" in group:
        return
    ends = population.ranges.of(SIZES + TRAITS).get(name)
    if ends is not None:
        raise ConfigError(
            f"{override}: each episode draws {name} from {ends}; "
            f"add population.strategic.ranges.{name}=null"
        )


def _check_name(config: Config, overrides: Sequence[str]) -> None:
    """Refuse a chosen population whose file has another name; tables would show the wrong one.

    Raises:
        ConfigError: The file does not set its name, or sets another.
    """
    values = dict(each.lstrip("+").partition("=")[::2] for each in overrides)
    name, chosen = config.population.name, values.get("population", "").strip("'\"")
    if chosen not in ("", name) and "population.name" not in values:
        raise ConfigError(f"conf/population/{chosen}.yaml: name: {name}; write name: {chosen}")


def _choices(markets: Sequence[str]) -> str:
    return " or ".join(f"market={each}" for each in markets)


def playable(market: str) -> list[str]:
    """Return the names of the files in ``conf/population/`` that a market can play."""
    names = [path.stem for path in option_files("population")]
    return [name for name in names if _population(name).get(market) is not None]


def _population(name: str) -> DictConfig:
    """Return a file of ``conf/population/`` merged with its defaults."""
    loaded = OmegaConf.load(CONF / "population" / f"{name}.yaml")
    assert isinstance(loaded, DictConfig)
    parents = [_population(each) for each in loaded.pop("defaults", []) if each != "_self_"]
    merged = OmegaConf.merge(*parents, loaded)
    assert isinstance(merged, DictConfig)
    return merged
