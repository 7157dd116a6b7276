"""The offer: every field with its range, every population with its types and markets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.allowed import read_allowed
from daedalus.market.mechanism import CHOICES, FIELDS, RANGES, Mechanism
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import Ranges
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.page.offer import make_brief_offer, make_offer
from daedalus.service.page.page_messages import MechanismField
from tests.populations import TYPES, seat_plan


def test_every_field_has_its_kind_its_range_and_its_default(catalogue: Catalogue) -> None:
    fields = {each.name: each for each in make_offer(catalogue, []).fields}
    assert list(fields) == list(FIELDS)
    for name, each in fields.items():
        assert each.default == getattr(Mechanism(), name) and each.meaning
        assert each.choices == (list(CHOICES[name]) if name in CHOICES else None)
        assert (each.low, each.high) == RANGES.get(name, (None, None))
        kind = {str: "choice", bool: "flag", float: "number"}[type(each.default)]
        assert each.kind == kind


def test_a_field_has_what_the_server_allows(catalogue: Catalogue) -> None:
    written = {"auction_type": ["vcg"], "reserve_price": {"min": 0.105, "max": 0.3}}
    written |= {"shill_penalty": [1, 2], "reveal_clearing_price": [False]}
    offer = make_offer(replace(catalogue, allowed=read_allowed(written)), [])
    fields = {each.name: each for each in offer.fields}
    shown = {name: fields[name].choices for name in written}
    assert shown == written | {"reserve_price": None, "shill_penalty": [1.0, 2.0]}
    reserve, penalty = fields["reserve_price"], fields["shill_penalty"]
    assert (reserve.low, reserve.high, reserve.default) == (0.105, 0.3, 0.105)
    assert (penalty.low, penalty.high, penalty.default) == (1.0, 2.0, 1.0)
    assert fields["auction_type"].default == "vcg"
    assert fields["reveal_clearing_price"].default is False
    assert fields["coalition_policy"].choices == list(CHOICES["coalition_policy"])


def test_a_population_shows_its_types_and_the_markets_that_play_it(catalogue: Catalogue) -> None:
    plan = seat_plan(2, bidders=10)
    seats = {"seats": PopulationSettings("seats", None, plan)}
    offer = make_offer(replace(catalogue, populations=catalogue.populations | seats), [])
    stage4, alone = offer.populations[-2:]
    assert (stage4.name, stage4.stage, stage4.bidders, stage4.units) == ("stage4", 4, 8, 3)
    assert {each.name: (each.share, each.menu) for each in stage4.types} == {
        name: (each.share, each.menu) for name, each in TYPES.items()
    }
    assert stage4.markets == list(catalogue.markets)
    assert (alone.name, alone.stage, alone.bidders) == ("seats", 2, 10)
    assert (alone.types, alone.units, alone.markets) == ([], 1, ["classic"])
    assert stage4.ranges == alone.ranges == {}


def test_a_population_shows_what_its_episodes_draw(catalogue: Catalogue) -> None:
    ranges = Ranges(bidders=[4, 16], discretion=[0.0, 0.9])
    world = PopulationSettings("world", Population(types=TYPES, ranges=ranges))
    offered = catalogue.populations | {"world": world}
    offer = make_offer(replace(catalogue, populations=offered), [])
    assert offer.populations[-1].ranges == {"bidders": [4, 16], "discretion": [0.0, 0.9]}


def test_an_episode_begins_as_the_catalogue_says(catalogue: Catalogue) -> None:
    offer = make_offer(catalogue, [])
    assert (offer.default.population, offer.default.market) == ("stage3", catalogue.market)
    assert (offer.episode_length, offer.max_episode_length) == (10, 50)


def test_the_trained_designer_comes_first_and_every_name_has_a_meaning(
    catalogue: Catalogue,
) -> None:
    designers = make_offer(catalogue, ["random", "own"]).designers
    assert [each.name for each in designers] == ["trained", "random", "own"]
    assert designers[1].meaning != "random" and designers[2].meaning == "own"
    assert [each.name for each in make_offer(catalogue, []).markets] == list(catalogue.markets)


def test_an_objective_says_what_it_rewards(catalogue: Catalogue) -> None:
    own = RewardStack({"revenue": 0.5, "welfare": 0.5})
    offered = replace(catalogue, objectives=catalogue.objectives | {"own": own}, objective="own")
    offer = make_offer(offered, [])
    told = {each.name: each.meaning for each in offer.objectives}
    assert list(told) == ["composite", "revenue", "own"] and offer.default.objective == "own"
    assert told["own"] == "0.5 revenue + 0.5 welfare" and "seller" in told["revenue"]


@pytest.mark.parametrize("default", [True, 0.5, "allow"])
def test_a_default_keeps_its_type(default: bool | float | str) -> None:
    told = MechanismField(name="reserve_price", kind="number", meaning="", default=default)
    assert type(MechanismField.model_validate_json(told.model_dump_json()).default) is type(default)


def test_every_meaning_of_a_sentence_has_words_of_its_own_and_its_amounts() -> None:
    offered = {each.name: each for each in make_brief_offer().meanings}
    assert set(offered) == set(MEANINGS)
    assert len({each.meaning for each in offered.values()}) == len(MEANINGS)
    for name, meaning in MEANINGS.items():
        assert (offered[name].low is not None) == meaning.takes_amount
    assert offered["reserve_least/x"].high == RANGES["reserve_price"][1]
    assert offered["payment/vcg"].meaning == "Format: VCG"
