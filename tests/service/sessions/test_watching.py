"""Watching changes nothing, and an ended episode keeps its last rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import Ranges
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.sessions.watching import arena, reveal
from tests.populations import TYPES

SHILLS = {"auction_type": "vcg", "reserve_price": 0.2, "reveal_competing_bids": True}


def played(catalogue: Catalogue, action: dict[str, Any], **options: Any) -> DaedalusEnvironment:
    """Return an environment after one step of an episode."""
    environment = DaedalusEnvironment(catalogue)
    environment.reset(**{"seed": 3} | options)
    environment.step(DaedalusAction(**action))
    return environment


def test_watching_changes_nothing(catalogue) -> None:
    rewards = []
    for watching in (True, False):
        environment = played(catalogue, SHILLS, population="stage4")
        for _ in range(3):
            if watching:
                assert arena(environment) == arena(environment)
                reveal(environment)
            environment.step(DaedalusAction(**SHILLS))
        rewards.append(environment.state.rewards)
    assert rewards[0] == rewards[1]


def test_empty_seats_are_not_shown(catalogue) -> None:
    ranges = Ranges(bidders=[3, 12])
    world = PopulationSettings("world", Population(types=TYPES, ranges=ranges))
    offered = replace(catalogue, populations={"world": world}, default="world")
    seen = set()
    for seed in range(6):
        environment = played(offered, SHILLS, seed=seed)
        bidders = environment.state.n_agents
        seen.add(bidders)
        assert len(reveal(environment).bidders) == bidders
        for each in arena(environment).rounds:
            assert len(each.bids) == len(each.present) == len(each.delivered) == bidders
    assert len(seen) > 2


def test_payments_are_what_winners_paid(catalogue) -> None:
    for market, auction in (("strategic", "first_price"), ("strategic", "vcg"), ("classic", "vcg")):
        action = {"auction_type": auction, "reserve_price": 0.05}
        rounds = arena(played(catalogue, action, population="stage4", market=market)).rounds
        assert len(rounds) == 5
        for each in rounds:
            assert sum(each.paid) == pytest.approx(each.revenue)
            assert all(
                (paid > 0) <= (units > 0)
                for paid, units in zip(each.paid, each.delivered, strict=True)
            )


def test_in_second_price_a_truthful_bidder_bids_the_value_that_is_revealed(catalogue) -> None:
    for market in ("strategic", "classic"):
        environment = DaedalusEnvironment(catalogue)
        environment.reset(seed=3, population="stage0", market=market)
        assert reveal(environment).values == []
        environment.step(DaedalusAction(auction_type="second_price"))
        told = reveal(environment)
        honest = [seat for seat, each in enumerate(told.bidders) if each.type == "truthful"]
        bids = np.array([each.bids for each in arena(environment).rounds])
        assert len(honest) > 1
        assert np.array(told.values)[:, honest] == pytest.approx(bids[:, honest])


def test_in_first_price_shaders_bid_below_the_values_that_are_revealed(catalogue) -> None:
    environment = played(catalogue, {"auction_type": "first_price"}, population="stage3")
    told = reveal(environment)
    shaders = [seat for seat, each in enumerate(told.bidders) if each.type == "shader"]
    bids = np.array([each.bids for each in arena(environment).rounds])
    values = np.array(told.values)
    assert (bids <= values + 1e-12).all()
    competing = bids[:, shaders] > DaedalusAction().reserve_price
    assert competing.sum() > 5 and (bids[:, shaders] < values[:, shaders])[competing].all()


def test_an_ended_episode_keeps_its_last_rounds(catalogue) -> None:
    environment = played(catalogue, {}, episode_length=1)
    last = arena(environment)
    environment.step(DaedalusAction(auction_type="first_price"))
    assert arena(environment) == last and len(last.rounds) == 5
