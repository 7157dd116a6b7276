"""Episodes with a brief: one's own words are read, and those of the benchmark are answered once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.clauses import understand
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.allowed import Between
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import mechanism_from_mapping
from daedalus.market.population import BidderType, Population
from daedalus.market.views import View
from daedalus.service.openenv.briefs_on_offer import BriefsOnOffer, Understand
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import EpisodeError, FieldError
from daedalus.service.openenv.messages import DaedalusAction, ForkQuestion, WireMechanism
from daedalus.service.openenv.remote import RemoteMarket
from daedalus.service.openenv.tool_market import (
    BRIEF_OF_EPISODE,
    ENDED,
    ToolMarket,
    tool_prompts,
)
from tests.service.briefs import load, offer
from tests.service.conftest import serving

OWN = "We need money. Winners pay their own bid. At least half of all must come. They are a ring."
SEED = 5


@pytest.fixture(scope="module")
def reading(catalogue: Catalogue) -> Catalogue:
    return replace(catalogue, briefs=offer())


def begun(catalogue: Catalogue, **options: Any) -> DaedalusEnvironment:
    environment = DaedalusEnvironment(catalogue, max_fork_steps=8)
    environment.reset(SEED, **options)
    return environment


def test_ones_own_words_set_reward_rules_and_bidders(reading: Catalogue) -> None:
    environment = DaedalusEnvironment(reading)
    told = environment.reset(SEED, population="stage0", brief=OWN)
    assert told.brief == environment.state.brief == OWN
    assert told.metadata["objective"] == "brief" and told.metadata["population"] == "briefs_ring"
    assert told.metadata["allowed"] == {"auction_type": ["first_price"]}
    understood = told.metadata["understood"]
    assert understood["reward"] == {"revenue": 1.0}
    assert understood["floors"] == {"participation": 0.5}
    (floor,) = understood["warnings"]
    assert floor.startswith("a mean participation of at least 0.5")
    with pytest.raises(FieldError, match="auction_type: 'vcg' is not allowed"):
        environment.step(DaedalusAction(auction_type="vcg"))
    played = environment.step(DaedalusAction(auction_type="first_price"))
    assert played.reward == played.metadata["scores"]["objective"] and played.brief == OWN


def test_a_brief_of_the_benchmark_is_answered_once(reading: Catalogue) -> None:
    environment = DaedalusEnvironment(reading, max_fork_steps=8)
    told = environment.reset(SEED, briefs="contradictions")
    briefs = {each.id: each for each in frozen_briefs("contradictions")}
    brief = briefs[told.metadata["brief_id"]]
    assert told.brief == brief.text and told.episode_length == 1
    assert told.metadata["population"] == brief.told_population != brief.population
    assert "allowed" not in told.metadata and brief.scale is not None
    with pytest.raises(EpisodeError, match="read and answered once"):
        environment.fork(ForkQuestion(mechanisms=[WireMechanism()]))
    best = mechanism_from_mapping(dict(brief.scale.mechanism))
    answered = environment.step(DaedalusAction(**best.to_dict()))
    assert answered.done and answered.reward == pytest.approx(1.0, abs=1e-4)
    assert answered.metadata["verdict"]["broken"] == []
    again = begun(reading, briefs="contradictions")
    assert again.state.brief == brief.text


def test_a_broken_rule_earns_nothing_and_is_named(reading: Catalogue) -> None:
    env = reading.briefs.frozen("wordings", 0).env
    benchmark = Benchmark(frozen_briefs("wordings"), lambda _: env)
    seed = next(each for each in range(99) if "auction_type" in benchmark.drawn(each).allowed)
    (allowed, *_) = benchmark.drawn(seed).allowed["auction_type"]
    other = "vcg" if allowed != "vcg" else "first_price"
    if other in benchmark.drawn(seed).allowed["auction_type"]:
        other = "second_price"
    environment = DaedalusEnvironment(reading)
    environment.reset(seed, briefs="wordings")
    answered = environment.step(DaedalusAction(auction_type=other))
    assert answered.reward == 0.0 == environment.state.rewards[0]
    assert f"auction_type: {other}" in answered.metadata["verdict"]["broken"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"brief": OWN, "objective": "revenue"}, "objective: .* brief says it itself"),
        ({"brief": OWN, "allowed": {"auction_type": ["vcg"]}}, "allowed: .* brief says it itself"),
        ({"briefs": "same", "brief": OWN}, "brief: .* briefs says it itself"),
        ({"briefs": "same", "population": "stage0"}, "population: 'stage0' .* briefs says it"),
        ({"briefs": "same", "episode_length": 3}, "episode_length: 3 .* briefs says it"),
    ],
)
def test_what_a_brief_says_itself_is_refused(
    reading: Catalogue, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(FieldError, match=said):
        begun(reading, **options)


def test_who_reads_no_briefs_or_forbids_what_they_ask_says_so(
    catalogue: Catalogue, reading: Catalogue
) -> None:
    with pytest.raises(FieldError, match="this service reads no briefs"):
        begun(catalogue, brief=OWN)
    strict = replace(reading, allowed={"auction_type": ("vcg",)})
    with pytest.raises(FieldError, match="it asks for what this service forbids"):
        begun(strict, brief=OWN)
    with pytest.raises(FieldError, match="the benchmark needs all mechanisms"):
        begun(strict, briefs="same")
    with pytest.raises(FieldError, match="it tells of bidders, but"):
        begun(reading, brief=OWN, market="classic")


def test_a_brief_narrows_what_a_service_offers(reading: Catalogue) -> None:
    offered = {"reserve_price": Between(0.1, 0.5), "auction_type": ("vcg", "first_price")}
    strict, brief = replace(reading, allowed=offered), "The reserve is 0.3 at least."
    allowed = begun(strict, brief=brief).state.allowed
    assert allowed["reserve_price"] == {"min": 0.3, "max": 0.5}
    assert allowed["auction_type"] == ["vcg", "first_price"]
    with pytest.raises(FieldError, match=r"what this service forbids \(reserve_price\)"):
        begun(replace(reading, allowed={"reserve_price": (0.1, 0.2)}), brief=brief)


def test_what_else_is_to_be_known_of_a_brief_is_told(reading: Catalogue) -> None:
    told = DaedalusEnvironment(reading).reset(SEED, brief="Thank you.")
    assert told.metadata["understood"]["warnings"] == understand([]).notes


def test_no_brief_tells_of_bidders_where_a_language_model_bids(reading: Catalogue) -> None:
    class Nothing:
        def bid(self, view: View) -> float:
            return 0.0

    bidders = Population(types={"bidder": BidderType()})
    env = DesignEnv.of(MarketSettings(), bidders, players={"bidder": Nothing()})
    assert reading.briefs.market(env, "") is env
    with pytest.raises(FieldError, match="a language model bids"):
        reading.briefs.market(env, "briefs_ring")


def test_a_reader_is_loaded_once_and_beside_the_event_loop(reading: Catalogue) -> None:
    loaded = []

    def slow() -> Understand:
        loaded.append(1)
        return load()

    offer = BriefsOnOffer(slow, reading.briefs.populations)
    environment = DaedalusEnvironment(replace(reading, briefs=offer))
    for brief in (OWN, OWN, "We need money."):
        told = asyncio.run(environment.reset_async(SEED, brief=brief))
        assert told.brief == brief
    assert loaded == [1]


def test_the_schema_tells_of_briefs(reading: Catalogue) -> None:
    schema = reading.options.model_json_schema()["properties"]
    splits = schema["briefs"]["anyOf"][0]["enum"]
    assert splits[0] == "same" and "training" in splits and "brief" in schema
    shown = type(DaedalusEnvironment(reading).reset(SEED)).model_json_schema()["properties"]
    assert shown["brief"]["description"] == "what the seller asks for, in words"


def test_trainers_are_shown_the_words(reading: Catalogue) -> None:
    prompt = PromptSettings(explained=True)
    (row,) = tool_prompts([SEED], prompt, BRIEF_OF_EPISODE)
    assert "You are scored by what the seller asks for" in row["prompt"][0]["content"]
    with (
        serving(reading) as address,
        DaedalusClient(base_url=address).sync() as session,
    ):
        market = ToolMarket(session, PromptSettings(), briefs="same")
        text = session.reset(seed=SEED, briefs="same").observation.brief
        assert f"choose what serves the seller's aim best:\n{text}\n\nround_number: 0 / 1" in (
            market.reset(SEED)
        )
        assert market.set_rules() == ENDED
        assert market.get_reward() == session.state().rewards[0]
        remote = RemoteMarket(session, prompt, briefs="same")
        (asked,) = remote.prompts([SEED])
        assert asked["prompt"][0]["content"].endswith(text)
        answered = session.reset(seed=SEED, brief=OWN)
        assert answered.observation.brief == OWN
