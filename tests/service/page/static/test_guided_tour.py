"""The guided tour: every stop is visited in the browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from experiments.serve import make_catalogue
from tests.config.composing import composed
from tests.service.conftest import serving
from tests.service.page.static.visitor import Visit, Visitor

pytestmark = pytest.mark.slow


def test_the_tour_hurts_and_mends_at_every_stop(visit: Visit) -> None:
    with serving(make_catalogue(composed("+experiment=serve"))) as address:
        visitor = visit(address).open()
        visitor.speed(4)
        visitor.page.click("#tour-start")
        stops = visitor.told("/api/tour")["stops"]
        assert len(stops) >= 5
        for number, stop in enumerate(stops, start=1):
            expect(visitor.page.locator("#tour-number")).to_have_text(
                f"Stop {number} of {len(stops)}"
            )
            go_through(visitor, stop)
        expect(visitor.page.locator("#tour")).to_be_hidden()
        visitor.page.context.close()


def test_the_tour_goes_back_jumps_and_is_left(visit: Visit) -> None:
    with serving(make_catalogue(composed("+experiment=serve"))) as address:
        visitor = visit(address).open()
        page = visitor.page
        page.click("#tour-start")
        titles = [stop["title"] for stop in visitor.told("/api/tour")["stops"]]
        dots = page.locator("#tour-dots button")
        expect(dots).to_have_count(len(titles))
        expect(page.locator("#tour-back")).to_be_disabled()
        dots.nth(2).click()
        at_stop(visitor, 2, titles)
        page.click("#tour-back")
        at_stop(visitor, 1, titles)
        begun = visitor.state
        page.click("#tour-exit")
        expect(page.locator("#tour")).to_be_hidden()
        expect(page.locator("#tour-start")).to_be_focused()
        assert visitor.state == begun  # the episode stays
        page.context.close()


def at_stop(visitor: Visitor, index: int, titles: list[str]) -> None:
    page = visitor.page
    expect(page.locator("#tour-title")).to_have_text(titles[index])
    expect(page.locator("#tour-dots [aria-current=step]")).to_have_count(1)
    current = page.locator("#tour-dots button").nth(index)
    expect(current).to_have_attribute("aria-current", "step")
    stop = visitor.told("/api/tour")["stops"][index]
    state = visitor.state
    assert (state["population"], state["seed"]) == (stop["population"], stop["seed"])


def go_through(visitor: Visitor, stop: dict[str, Any]) -> None:
    page = visitor.page
    expect(page.locator("#tour-title")).to_have_text(stop["title"])
    expect(page.locator("#tour-fix")).to_be_hidden()
    visitor.at_step(0)
    page.click("#tour-hurt")
    expect(page.locator("#tour-fix")).to_be_enabled()
    visitor.at_step(5)
    assert visitor.state["mechanism"] == stop["hurt"]
    page.click("#tour-fix")
    visitor.at_step(10)
    state = visitor.state
    assert state["mechanism"] == stop["fixed"]
    assert (state["population"], state["seed"]) == (stop["population"], stop["seed"])
    before, after = sum(state["rewards"][:5]) / 5, sum(state["rewards"][5:]) / 5
    expect(page.locator("#tour-before")).to_have_text(f"{before:.3f}")
    expect(page.locator("#tour-after")).to_have_text(f"{after:.3f}")
    expect(page.locator("#tour-gain")).to_have_text(f"+{after - before:.3f}")
    page.click("#tour-next")
