"""The catalogue: a reset names what is on offer, and each refusal names its option."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from daedalus.design.env import DesignEnv
from daedalus.market.allowed import Between, read_allowed
from daedalus.market.interface import MARKETS
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import Ranges
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import MAX_SEED
from daedalus.service.openenv.warm_up import warm_up
from tests.populations import TYPES, population
from tests.service.generated import seeded

RESET: dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "seed": (st.integers(0, MAX_SEED), st.integers(max_value=-1) | st.integers(MAX_SEED + 1)),
    "n_agents": (st.integers(8, 64), st.integers(max_value=7) | st.integers(65) | st.booleans()),
    "episode_length": (st.integers(1, 50), st.integers(51) | st.floats() | st.just("3")),
    "population": (st.sampled_from(["stage0", "stage4"]), st.text() | st.none() | st.integers()),
    "market": (st.sampled_from(list(MARKETS)), st.text() | st.none()),
    "objective": (st.sampled_from(["composite", "revenue"]), st.text() | st.none()),
    "episode_id": (st.none() | st.text(max_size=255), st.integers()),
}


@seeded(100)
@given(data=st.data(), name=st.sampled_from(list(RESET)))
def test_any_one_option_of_a_reset_out_of_range_is_named(
    catalogue: Any, data: st.DataObject, name: str
) -> None:
    fits = data.draw(st.fixed_dictionaries({}, optional={k: v[0] for k, v in RESET.items()}))
    told = catalogue.options.model_validate(fits)
    assert told.model_dump(exclude_unset=True) == fits
    with pytest.raises(ValidationError) as caught:
        catalogue.options.model_validate(fits | {name: data.draw(RESET[name][1])})
    assert {error["loc"][0] for error in caught.value.errors()} == {name}


def chosen(catalogue: Catalogue, **options: Any) -> DesignEnv:
    return catalogue.build(catalogue.options(**options))


def test_a_reset_describes_an_environment(catalogue: Catalogue) -> None:
    env = chosen(catalogue)
    assert (env.settings, env.market.population.stage) == (catalogue.markets["strategic"], 3)
    options = {"population": "stage4", "market": "classic", "n_agents": 12, "episode_length": 7}
    env = chosen(catalogue, **options)
    assert (env.settings.name, env.settings.episode_length) == ("classic", 7)
    assert (env.market.population.stage, env.market.population.bidders) == (4, 12)
    assert env.reward.is_composite
    assert chosen(catalogue, objective="revenue").reward == catalogue.objectives["revenue"]


def test_a_market_plays_only_its_populations(catalogue: Catalogue) -> None:
    ring = PopulationSettings("ring", population(3), None)
    offered = replace(catalogue, populations=catalogue.populations | {"ring": ring})
    assert offered.playable("strategic") == ["stage0", "stage3", "stage4", "ring"]
    assert offered.playable("classic") == ["stage0", "stage3", "stage4"]
    with pytest.raises(FieldError, match="the classic market plays stage0, stage3, stage4") as told:
        chosen(offered, population="ring", market="classic")
    assert (told.value.field, told.value.value) == ("population", "ring")


def test_a_number_of_bidders_that_a_market_cannot_play_is_refused(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> DesignEnv:
        raise ValueError("too many")

    monkeypatch.setattr(DesignEnv, "of", refuse)
    with pytest.raises(FieldError, match="n_agents: 60 is not allowed; too many"):
        chosen(catalogue, n_agents=60)


def test_a_number_of_bidders_takes_the_place_of_a_range(catalogue: Catalogue) -> None:
    drawn = Population(types=TYPES, ranges=Ranges(bidders=[3, 12], units=[1, 5]))
    world = {"world": PopulationSettings("world", drawn)}
    offered = replace(catalogue, populations=catalogue.populations | world)
    env = chosen(offered, population="world", n_agents=9)
    state = env.reset(np.arange(20, dtype=np.uint64)).state
    assert set(state.sizes) == {9} and len(set(state.units)) > 1


def test_a_reset_restricts_what_the_server_allows(catalogue: Catalogue) -> None:
    offered = replace(catalogue, allowed={"reserve_price": Between(0.1, 0.5)})
    with ThreadPoolExecutor(1) as thread:  # which plays alone from then on
        thread.submit(warm_up, offered).result()  # whose default mechanism is not allowed
    assert chosen(offered).allowed == offered.allowed
    asked = {"reserve_price": [0.2], "auction_type": ["vcg"]}
    assert chosen(offered, allowed=asked).allowed == read_allowed(asked)
    for wrong, field, said in (
        ({"reserve_price": [0.6]}, "reserve_price", "give a number from 0.1 to 0.5"),
        ({"auction_type": ["dutch"]}, "auction_type", "choose one of first_price"),
        ({"auction_type": []}, "auction_type", "give at least one value"),
        ({"shill_penalty": {"min": 2, "max": 1}}, "shill_penalty", "the range ends before"),
        ({"shill_penalty": [0.0] * 101}, "shill_penalty", "give at most 100 values"),
        ({"colour": ["red"]}, "colour", "no such field"),
    ):
        with pytest.raises(FieldError, match=said) as told:
            chosen(offered, allowed=wrong)
        assert told.value.field == f"allowed.{field}"


def test_a_default_that_is_not_on_offer_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(ValueError, match="default: 'stage9' is not on offer; choose one of stage0"):
        replace(catalogue, default="stage9")
    with pytest.raises(ValueError, match="objective: 'profit' is not on offer; choose one of comp"):
        replace(catalogue, objective="profit")
