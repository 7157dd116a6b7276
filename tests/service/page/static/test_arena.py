"""The arena: the bids of every round, and the types when they are revealed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from daedalus.market.mechanism import Mechanism
from tests.service.page.static.visitor import Visit, Visitor, bar_heights

pytestmark = pytest.mark.slow


def test_the_arena_shows_what_the_api_tells(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(population="stage4", seed=9)
    visitor.set_field("reveal_competing_bids", True)
    visitor.step()
    rounds = visitor.told("/api/arena")["rounds"]
    walked_away = 0
    for each in rounds:
        visitor.page.get_by_label(f"Look at round {each['number']} again").click()
        names = [*each["bids"], *each["false_bids"]]
        heights = bar_heights(visitor.page)
        tallest = max(names)
        assert len(heights) >= len(names)
        shown = [height / heights[names.index(tallest)] * tallest for height in heights]
        assert shown[: len(names)] == pytest.approx(names, abs=0.01)
        arena = visitor.page.locator("#arena")
        assert arena.locator(".won .sold:not([r='0'])").count() == sum(each["delivered"])
        unsold = arena.locator(".left .sold:not([r='0'])").count()
        assert unsold <= 3 - sum(each["delivered"])
        walked_away += unsold
        text = f"price {each['price']:.2f}"
        assert visitor.page.locator("#arena .price text").text_content() == text
    assert walked_away == 15 - sum(sum(each["delivered"]) for each in rounds) > 0
    score = f"{rounds[-1]['scores']['composite']:.2f}"
    expect(visitor.page.locator(".tile-composite .number")).to_have_text(score)


def test_a_first_visitor_finds_a_step_that_was_played(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    expect(page.locator("#arena .invitation")).to_have_count(0)
    assert max(bar_heights(page)) > 0
    assert visitor.state["mechanism"] == Mechanism().to_dict()
    expect(page.locator("#log td").first).to_have_text("the page")
    arena = visitor.told("/api/arena")
    assert (arena["scored"], len(arena["rounds"])) == (3, 5)  # revenue is of the rounds of R
    revenue = np.mean([each["revenue"] for each in arena["rounds"][-3:]])
    expect(page.locator("#scores-of")).to_have_text("step 1, mean over its last 3 rounds")
    tiles = page.locator(".tile:not([hidden])")
    expect(tiles.nth(0).locator(".number")).to_have_text(f"{visitor.state['rewards'][0]:.2f}")
    expect(tiles.nth(1).locator(".number")).to_have_text(f"{revenue:.2f}")
    expect(page.locator("#log td.revenue")).to_have_text(f"{revenue:.2f}")
    expect(page.locator("#par")).to_be_hidden()
    assert not any("/api/design" in url and "status" not in url for url in visitor.requested)
    visitor.speed(4)
    page.fill("#episode_length", "1")
    page.click("#reset")
    visitor.at_step(0)  # or nothing would be left to play
    visitor.step()


def after_a_first_price_step(visit: Visit, population: str) -> Visitor:
    visitor = visit().open(speed=4)
    visitor.begin(population=population, seed=3)
    visitor.set_field("auction_type", "first_price")
    visitor.step()
    return visitor


def test_revealed_values_stand_above_shaded_bids(visit: Visit) -> None:
    visitor = after_a_first_price_step(visit, "stage3")
    page = visitor.page
    outlines = page.locator("#arena .value")
    expect(outlines.first).to_have_css("opacity", "0")
    page.click("#reveal")
    expect(page.locator("#arena-types")).to_be_visible()
    expect(page.locator(".legend .hidden-side")).to_be_visible()
    values = visitor.told("/api/reveal")["values"]
    for number, each in enumerate(visitor.told("/api/arena")["rounds"]):
        page.locator("#arena-rounds button").nth(number).click()
        heights = outlines.evaluate_all("all => all.map((each) => each.height.baseVal.value)")
        scale = max(heights) / max(values[number])
        assert heights == pytest.approx([value * scale for value in values[number]], abs=0.1)
        bids = [bid * scale for bid in each["bids"]]
        assert bar_heights(page)[: len(bids)] == pytest.approx(bids, abs=0.1)
        assert all(bid <= height + 0.1 for bid, height in zip(bids, heights, strict=False))
        said = page.locator("#arena").get_attribute("aria-label") or ""
        told = re.findall(r"bidder \d+ \([a-z -]+, value (\d\.\d\d)\)", said)
        assert told == [f"{value:.2f}" for value in values[number]]


def test_in_first_price_each_winners_own_price_is_drawn_and_said(visit: Visit) -> None:
    visitor = after_a_first_price_step(visit, "stage4")
    page = visitor.page
    several = 0
    for number, each in enumerate(visitor.told("/api/arena")["rounds"]):
        page.locator("#arena-rounds button").nth(number).click()
        prices = [
            paid / units
            for paid, units in zip(each["paid"], each["delivered"], strict=True)
            if units
        ]
        average = f"{each['revenue'] / sum(each['delivered']):.2f}"
        expect(page.locator("#arena-caption")).to_contain_text(average)
        if len({f"{price:.2f}" for price in prices}) < 2:
            continue
        several += 1
        said = f"sold at {min(prices):.2f} to {max(prices):.2f}, {average} on average"
        expect(page.locator("#arena-caption")).to_contain_text(said)
        expect(page.locator("#arena .line.price")).to_have_css("opacity", "0")
        marks = page.locator("#arena .won .paid")
        tops = marks.evaluate_all("all => all.map((each) => each.y1.baseVal.value)")
        ordered = sorted(zip(prices, tops, strict=True))
        assert [top for _, top in ordered] == sorted(tops, reverse=True)
        expect(marks.first).to_have_css("opacity", "1")
    assert several > 2


def test_less_motion_is_no_motion(visit: Visit) -> None:
    visitor = visit(reduced_motion="reduce").open(speed=0)
    with visitor.page.expect_response("**/step"):
        visitor.page.click("#step")
    began = visitor.told("/api/arena")["rounds"][0]["number"]
    expect(visitor.page.locator("#arena-caption")).to_contain_text(f"Round {began} ")
    first = bar_heights(visitor.page)
    visitor.page.wait_for_timeout(200)
    assert bar_heights(visitor.page) == first and max(first) > 0
    visitor.speed(4)
    visitor.at_step(2)


def test_types_are_hidden_until_they_are_revealed(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(population="stage4", seed=3)
    visitor.step()
    page = visitor.page
    types = page.locator("#arena-types")
    assert not any("/api/reveal" in url for url in visitor.requested)
    assert types.is_hidden() and "truthful" not in page.locator("#arena").inner_html()
    page.click("#reveal")
    expect(types).to_be_visible()
    told = visitor.told("/api/reveal")["bidders"]
    for name in {each["type"] for each in told}:
        count = sum(each["type"] == name for each in told)
        expect(types).to_contain_text(re.compile(rf"{name.capitalize()} . {count}:"))
    labels = page.locator("#arena .seat.kind").all_text_contents()
    assert labels[:8] == [each["type"] for each in told]
    page.click("#reset")
    visitor.at_step(1)
    expect(page.locator("#reveal")).to_have_attribute("aria-pressed", "false")
    page.click("#reveal")
    expect(types).to_be_visible()
    page.click("#reveal")
    expect(types).to_be_hidden()
    assert "truthful" not in page.locator("body").inner_html().split('id="setup-meaning"')[0]
