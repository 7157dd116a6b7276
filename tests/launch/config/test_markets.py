"""A market refuses the populations and the settings that it cannot play or does not read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daedalus.launch.config.changes import changes
from daedalus.launch.config.markets import check_market
from daedalus.launch.config.mistakes import ConfigError
from tests.launch.config.composing import (
    POPULATIONS,
    STAGES,
    composed,
    composed_once,
    failure,
    listed_populations,
)

QUICK = ("stage0", "stage3", "walkers")  # the others take as long again for each


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in POPULATIONS],
)
def test_a_population_is_played_as_described_or_refused(name: str) -> None:
    asked = [f"population={name}"]
    found = composed_once("task=compare", *asked)
    assert found.population.name == name and "strategic" in found.population.markets
    config = replace(found, market=replace(found.market, name="classic"))
    if name in STAGES:
        check_market(config, changes(asked))
        assert config.population.classic is not None
    else:
        with pytest.raises(ConfigError, match=f"market=classic cannot play {name}") as caught:
            check_market(config, changes(asked))
        assert f"it plays {', '.join(STAGES)}." in str(caught.value)
        assert "market=strategic" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("group", ["validation", "benchmark", "benchmark_2", "known_optimum"])
def test_a_listed_population_is_the_same_by_its_name(group: str) -> None:
    for name, each in listed_populations(group).items():
        assert composed_once("task=compare", f"population={name}").population == each


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (["task=compare", "population=walkers"], "cannot play walkers"),
        (["task=leaderboard", "populations=development"], "populations.thick_ring"),
        (["task=grpo", "training=planned"], "training.sft.practice.exploiter_heavy"),
        (["task=exploitability"], "task: exploitability"),
        (["task=grpo", "training=reading"], "training.portfolio.populations"),
    ],
)
def test_the_classic_market_refuses_what_it_cannot_play(overrides: list[str], key: str) -> None:
    message = failure("market=classic", *overrides)
    assert key in message and "market=strategic" in message


def test_both_markets_play_the_stages() -> None:
    chosen = composed("task=oracle", "designer=search", "market=classic", "populations=stages")
    assert list(chosen.populations) == STAGES


@pytest.mark.slow
def test_a_population_of_the_classic_market_alone_is_refused_by_the_strategic_one() -> None:
    message = failure("task=compare", "population.strategic=null")
    assert "market=strategic cannot play stage3" in message and "or market=classic" in message


@pytest.mark.parametrize(
    ("override", "name"),
    [
        ("population.strategic.bidders=12", "bidders"),
        ("population.strategic.types.shader.rivals=5", "rivals"),
    ],
)
def test_a_setting_that_each_episode_draws_is_refused(override: str, name: str) -> None:
    world = ("task=compare", "population=world")
    assert f"each episode draws {name} from" in failure(*world, override)
    freed = f"population.strategic.ranges.{name}=null"
    assert composed(*world, override, freed).population.strategic is not None
    assert composed(*world, f"population.strategic.ranges.{name}=[5,7]", "seed=1").seed == 1


@pytest.mark.parametrize(
    ("market", "override"),
    [
        ("classic", "population.strategic.bidders=12"),
        ("classic", "population.strategic.types.shader.rivals=5"),
        ("classic", "market.strategic.audit_rate=0.1"),
        ("classic", "++market.strategic.audit_rate=0.1"),
        ("strategic", "population.classic.bidders=12"),
        ("strategic", "population.classic.groups.shader.value_low=0.5"),
    ],
)
def test_a_setting_that_the_market_does_not_read_is_refused(market: str, override: str) -> None:
    other = "strategic" if market == "classic" else "classic"
    message = failure("task=compare", f"market={market}", override)
    assert f"market={market} does not read {override.split('=')[0].lstrip('+')}" in message
    assert f"leave it out, or choose market={other}" in message
    assert composed("task=compare", f"market={other}", override).market.name == other
    assert composed("task=bench", f"market={market}", override)  # it plays both


def test_a_population_whose_file_has_another_name_is_refused() -> None:
    config, overrides = composed("task=compare", "population=stage4"), ["population=stage4"]
    config.population.name = "stage3"
    check_market(config, changes([*overrides, "population.name=stage3"]))
    with pytest.raises(ConfigError, match="name: stage3; write name: stage4"):
        check_market(config, changes(overrides))


def test_a_ring_of_one_is_refused_with_its_place() -> None:
    message = failure("task=compare", "population=stage3", "population.strategic.bidders=5")
    assert message.startswith("population.strategic.types.colluder: its share gives 1 of 5 bidders")
