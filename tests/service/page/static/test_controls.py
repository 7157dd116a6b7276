"""The controls: every field, the setup of an episode, and playing it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from daedalus.market.allowed import read_allowed
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.openenv.catalogue import Catalogue
from tests.populations import population, seat_plan
from tests.service.page.static.visitor import Visit, at_own_site

pytestmark = pytest.mark.slow


CHANGES = {
    "auction_type": "first_price",
    "reserve_price": 0.35,
    "reveal_reserve": True,
    "reveal_competing_bids": True,
    "reveal_winner_identity": True,
    "reveal_clearing_price": False,
    "reveal_bid_distribution": True,
    "shill_penalty": 1.5,
    "withdrawal_penalty": 0.75,
    "collusion_penalty": 3.0,
    "coalition_policy": "penalize_suspected",
}


def test_every_field_is_a_control_that_the_next_step_obeys(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(episode_length=20)
    expected = Mechanism().to_dict()
    assert set(CHANGES) == set(expected)
    for name, value in CHANGES.items():
        visitor.set_field(name, value)
        expect(visitor.page.locator("#pending")).to_have_text("1 rule changes with the next step")
        visitor.step()
        expected[name] = value
        assert visitor.state["mechanism"] == expected
    rows = visitor.page.locator("#log tr")
    expect(rows.nth(0)).to_contain_text("Coalition policy: allow → penalize suspected")
    rewards = [f"{each:.3f}" for each in reversed(visitor.state["rewards"])]
    assert [row.split()[-2] for row in rows.all_inner_texts()] == rewards
    visitor.page.click("#defaults")
    visitor.step()
    assert visitor.state["mechanism"] == Mechanism().to_dict()


def test_controls_show_what_the_server_allows(visit: Visit, catalogue: Catalogue) -> None:
    written = {"auction_type": ["vcg", "first_price"], "reserve_price": {"min": 0.105, "max": 0.3}}
    written |= {"shill_penalty": [1, 2], "reveal_clearing_price": [False]}
    offer = replace(catalogue, allowed=read_allowed(written))
    with at_own_site(visit, offer, speed=4) as visitor:
        page = visitor.page
        visitor.begin()
        expect(page.locator("#rule-auction_type option")).to_have_text(["VCG", "First price"])
        expect(page.locator("#rule-shill_penalty option")).to_have_text(["1", "2"])
        expect(page.locator("#rule-reveal_clearing_price")).to_be_disabled()
        visitor.step()  # under the defaults, all of which are allowed
        played = visitor.state["mechanism"]
        assert (played["auction_type"], played["reserve_price"]) == ("vcg", 0.105)
        page.select_option("#rule-shill_penalty", "2")
        page.fill("#rule-reserve_price", "0.9")
        page.press("#rule-reserve_price", "Enter")
        visitor.step()
        played = visitor.state["mechanism"]
        assert (played["shill_penalty"], played["reserve_price"]) == (2.0, 0.3)


def test_what_differs_from_the_incumbent_is_a_change(visit: Visit, catalogue: Catalogue) -> None:
    opaque = Mechanism(reserve_price=0.3, reveal_clearing_price=False)
    taken = replace(catalogue.markets["strategic"], incumbents={"opaque": opaque})
    markets = catalogue.markets | {"strategic": taken}
    with at_own_site(visit, replace(catalogue, markets=markets)) as visitor:
        pending = visitor.page.locator("#pending")
        visitor.page.goto(f"{visitor.address}/?seed=1")  # a link without steps
        visitor.speed(4)
        expect(pending).to_have_text("2 rules change with the next step")
        visitor.page.click("#reset")
        visitor.at_step(1)
        expect(pending).to_have_text("in force")
        visitor.set_field("reserve_price", 0.3)
        expect(pending).to_have_text("1 rule changes with the next step")
        visitor.step()
        visitor.page.reload()
        visitor.at_step(2)
        newest, first = visitor.page.locator("#log tr").all()
        for row, changed in ((newest, [False, True]), (first, [True, True])):
            names = ("Reveal clearing price", "Reserve price")
            assert [name in row.inner_text() for name in names] == changed


def test_a_badge_says_what_truth_loses_under_the_rules_shown(visit: Visit) -> None:
    visitor = visit().open()
    visitor.begin(population="stage3")
    badge = visitor.page.locator("#truth-loss")
    visitor.set_field("auction_type", "vcg")
    expect(badge).to_have_text("Truth pays")
    visitor.set_field("auction_type", "first_price")
    expect(badge).to_contain_text("Truth loses 0.0")
    visitor.begin(market="classic")
    expect(badge).to_be_hidden()


def test_sliders_move_numbers_and_numbers_stay_in_range(visit: Visit) -> None:
    page = visit().open().page
    slider = page.get_by_label("Reserve price, slider")
    number = page.locator("#rule-reserve_price")
    slider.press("End")
    expect(number).to_have_value("0.90")
    slider.press("ArrowLeft")
    expect(number).to_have_value("0.89")
    for written, kept in (("7", "0.90"), ("-1", "0.00"), ("", "0.10")):
        number.fill(written)
        number.press("Tab")
        expect(number).to_have_value(kept)


def test_an_episode_begins_as_it_was_asked_for(visit: Visit) -> None:
    visitor = visit().open()
    chosen = {"population": "stage4", "market": "classic", "n_agents": 12, "episode_length": 7}
    visitor.begin(**chosen, seed=5)
    assert chosen | {"seed": 5} == {name: visitor.state[name] for name in (*chosen, "seed")}
    expect(visitor.page.locator("#arena .name")).to_have_count(12)
    visitor.page.click("#draw")
    visitor.page.click("#reset")
    drawn = visitor.page.locator("#seed")
    expect(drawn).not_to_have_value("5")
    visitor.at_step(1)
    visitor.begin(seed="")
    expect(drawn).not_to_have_value("")
    assert visitor.state["seed"] == int(drawn.input_value())


def test_a_population_offers_only_the_markets_that_can_play_it(
    visit: Visit, catalogue: Catalogue
) -> None:
    alone = {
        "strategic": PopulationSettings("types", population(3), None),
        "classic": PopulationSettings("seats", None, seat_plan(3)),
    }
    added = {each.name: each for each in alone.values()}
    offer = replace(catalogue, populations=catalogue.populations | added)
    with at_own_site(visit, offer) as visitor:
        offered = visitor.page.locator("#market option:not(:disabled)")
        for market, each in alone.items():
            visitor.begin(population=each.name)
            expect(offered).to_have_attribute("value", market)
            assert visitor.state["market"] == market
        visitor.begin(population="stage3")
        expect(offered).to_have_count(2)


def test_auto_plays_on_and_pause_stops(visit: Visit) -> None:
    visitor = visit().open(speed=3)
    page = visitor.page
    page.click("#auto")
    expect(page.locator("#auto")).to_be_disabled()
    visitor.at_step(2)
    page.click("#pause")
    expect(page.locator("#auto")).to_be_enabled()
    expect(page.locator("#step")).to_be_enabled()
    visitor.speed(4)
    page.wait_for_timeout(400)
    stopped = visitor.state["step_count"]
    assert stopped <= 4
    page.click("#auto")
    visitor.at_step(10)
    expect(page.locator("#step")).to_be_disabled()
    assert len(visitor.state["rewards"]) == 10
    page.click("#reset")
    visitor.at_step(1)
    assert len(visitor.state["rewards"]) == 1 and page.locator("#step").is_enabled()


def test_speed_is_how_long_a_round_takes_and_another_step_cuts_it_short(visit: Visit) -> None:
    visitor = visit().open(speed=0)
    page = visitor.page
    page.click("#step")
    expect(page.locator("#arena-caption")).to_contain_text("Round 9")
    page.wait_for_timeout(600)
    assert page.locator("#log tr").count() == 1 and visitor.state["step_count"] == 2
    page.click("#step")
    expect(page.locator("#log tr")).to_have_count(2)
    began = time.perf_counter()
    visitor.speed(4)
    visitor.at_step(3)
    assert time.perf_counter() - began < 9.0  # at half speed five rounds take eleven seconds


def test_a_step_plays_the_population_that_is_shown(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    visitor.step()  # so that step 1 below is one of the new episode
    pending = page.locator("#setup-pending")
    expect(pending).to_be_hidden()
    page.select_option("#population", "stage0")
    expect(pending).to_contain_text("Reset or Step begins an episode")
    expect(page.locator("#reset")).to_have_class("primary")
    page.click("#step")
    visitor.at_step(1)
    assert (visitor.state["population"], visitor.state["step_count"]) == ("stage0", 1)
    expect(pending).to_be_hidden()
    page.fill("#n_agents", "3")
    for button in ("#auto", "#reset"):
        page.click(button)
        page.wait_for_timeout(300)
        assert visitor.state["step_count"] == 1  # the form is not valid
    page.fill("#n_agents", "9")
    page.click("#draw")
    page.click("#auto")
    visitor.at_step(10)
    assert visitor.state["n_agents"] == 9
    assert visitor.state["seed"] == int(page.input_value("#seed"))
