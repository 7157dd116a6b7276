"""The guided tour: every stop is visited in the browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.service.page.static.test_sessions import SLOW_RESETS
from tests.service.page.static.visitor import Visit, Visitor, by_hand

pytestmark = pytest.mark.slow


def test_each_stop_plays_the_same_rounds_under_both_rules(visit: Visit, toured: str) -> None:
    visitor = visit(toured).open(speed=4)
    page = visitor.page
    visitor.set_field("shill_penalty", 1.5)
    page.click("#tour-start")
    stops = visitor.told("/api/tour")["stops"]
    assert len(stops) >= 5
    for number, stop in enumerate(stops, start=1):
        expect(page.locator("#tour-number")).to_have_text(f"Stop {number} of {len(stops)}")
        assert page.locator("#tour-words").evaluate("each => each.open") == (number == 1)
        go_through(visitor, stop)
    expect(page.locator("#tour-title")).to_have_text("What the attacks taught")
    lessons = page.locator("#tour-lessons li")
    expect(lessons).to_have_count(len(stops))
    for lesson, stop in zip(lessons.all(), stops, strict=True):
        expect(lesson).to_contain_text(stop["lesson"])
        expect(lesson).to_contain_text("You saw R go from")
    expect(page.locator("#tour-right")).to_have_text("1 of your 6 predictions came true.")
    page.click("#tour-free")
    visitor.at_step(1)
    expect(page.locator("#tour")).to_be_hidden()
    assert visitor.state["population"] == visitor.told("/api/catalogue")["default"]["population"]
    expect(page.locator("#rule-shill_penalty")).to_have_value("1.50")
    expect(page.locator("#step")).to_be_focused()


IN_VIEW = """each => {
    const box = each.getBoundingClientRect();
    const bar = document.querySelector('.transport').getBoundingClientRect().top;
    const floor = Math.min(innerHeight, each.closest('.transport') ? innerHeight : bar);
    return [each.id || each.className, Math.round(box.top), Math.round(box.bottom), floor];
}"""


def test_on_a_phone_what_the_tour_says_to_watch_is_in_view(visit: Visit, toured: str) -> None:
    phone = {"width": 390, "height": 844}
    visitor = visit(toured, viewport=phone, has_touch=True, reduced_motion="reduce").open(speed=4)
    page = visitor.page
    page.click("#tour-start")
    for number in range(6):
        expect(page.locator("#tour-number")).to_contain_text(f"Stop {number + 1}")
        page.click("#tour-hurt")
        visitor.at_step(5)
        in_view(page, ["#tour-note", "#arena-canvas", ".tile"])
        page.locator("#tour-choices input").first.check()
        page.click("#tour-fix")
        visitor.at_step(10)
        in_view(page, ["#tour-note", "#twin-frame .arena-canvas", "#arena-canvas", ".tile"])
        page.locator(".to-tour").click()
        expect(page.locator("#tour-guess")).to_be_in_viewport()
        page.click("#tour-next")


def in_view(page: Page, selectors: list[str]) -> None:
    page.wait_for_timeout(300)
    for selector in selectors:
        for name, top, bottom, floor in page.locator(selector).evaluate_all(
            f"all => all.map({IN_VIEW})"
        ):
            assert top >= 0 and bottom <= floor, (name, top, bottom, floor)


def test_the_tour_goes_back_jumps_and_is_left(visit: Visit, toured: str) -> None:
    visitor = visit(toured).open()
    page = visitor.page
    visitor.set_field("reserve_price", 0.42)
    page.click("#tour-start")
    reserve = page.locator("#rule-reserve_price")
    expect(reserve).to_be_disabled()
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
    expect(reserve).to_have_value("0.42")  # and the visitor's own rules come back
    expect(reserve).to_be_enabled()


def test_a_comparison_does_not_disturb_the_tour(visit: Visit, toured: str) -> None:
    visitor = visit(toured).open(speed=4)
    page, played = visitor.page, set[str]()

    def note(request: Request) -> None:
        if request.url.endswith("/step"):
            played.add(request.post_data_json["session_id"])

    page.click("#tour-start")
    page.click("#tour-hurt")
    visitor.at_step(5)
    page.on("request", note)
    page.get_by_label("F Fairness").check()
    page.click("#tour-fix")
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done")
    visitor.at_step(10)
    assert len(played) == 3  # own, beside it, compared


def test_another_stop_ends_what_the_last_one_began(visit: Visit, toured: str) -> None:
    visitor = visit(toured).open(speed=4)
    page = visitor.page
    page.click("#tour-start")
    page.click("#tour-hurt")
    visitor.at_step(5)
    page.evaluate(SLOW_RESETS)
    page.get_by_label("F Fairness").check()
    page.click("#tour-fix")
    page.locator("#tour-dots button").nth(1).click()
    page.locator("#tour-dots button").nth(2).click()
    expect(page.locator("#tour-title")).to_be_focused()
    at_stop(visitor, 2, [stop["title"] for stop in visitor.told("/api/tour")["stops"]])
    page.wait_for_timeout(1500)  # in which the old stop would play
    visitor.at_step(0)
    expect(page.locator("#twin-frame")).to_be_hidden()
    expect(page.locator("#reveal")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#notices")).to_be_empty()


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
    expect(page.locator("#tour-predict")).to_be_hidden()
    expect(page.locator("#twin-frame")).to_be_hidden()
    visitor.at_step(0)
    page.click("#tour-hurt")
    visitor.at_step(5)
    assert visitor.state["mechanism"] == stop["hurt"]
    expect(page.locator("#tour-note")).to_have_text(f"The round shown: {stop['seen']}")
    expect(page.locator("#arena-rounds [aria-pressed=true]")).to_have_text(str(stop["shown"] + 1))
    expect(page.locator("#arena-types")).to_be_visible()
    page.click("#tour-fix")  # refused: no prediction yet
    page.wait_for_timeout(100)
    assert visitor.state["step_count"] == 5
    page.get_by_label("F Fairness").check()
    page.click("#tour-fix")
    visitor.at_step(10)
    state = visitor.state
    assert state["mechanism"] == stop["fixed"]
    begin = {name: stop[name] for name in ("population", "market", "seed", "n_agents")}
    old = by_hand(visitor.address, "own", stop["hurt"], begin | {"episode_length": 10})
    before, after = sum(old[5:]) / 5, sum(state["rewards"][5:]) / 5
    shown = page.locator("#tour-numbers tr[data-key=composite] td")
    gain = float(f"{after:.2f}") - float(f"{before:.2f}")
    assert gain > 0
    expect(shown).to_have_text([f"{before:.2f}", f"{after:.2f}", f"+{gain:.2f}"])
    expect(page.locator("#tour-guess")).to_contain_text("You said Fairness")
    expect(page.locator("#tour-note")).to_have_text(f"Watch: {stop['contrast']}")
    for frame in ("#own-frame", "#twin-frame"):
        expect(page.locator(f"{frame} .caption")).to_contain_text(f"Round {49 + stop['compared']} ")
    same_values(page)
    own, twin = (
        page.locator(f"{frame} svg").bounding_box() for frame in ("#own-frame", "#twin-frame")
    )
    assert own is not None and twin is not None
    assert (own["y"], own["width"], own["height"]) == (twin["y"], twin["width"], twin["height"])
    page.click("#tour-next")


def same_values(page: Page) -> None:
    """Both arenas show bidders of the same values, as high as their scales say."""
    own, twin = (
        page.locator(f"{frame} .value").evaluate_all(
            "all => all.map((each) => each.height.baseVal.value)"
        )[:8]
        for frame in ("#own-frame", "#twin-frame")
    )
    assert max(own) > 0
    assert [each / max(own) for each in own] == pytest.approx([each / max(twin) for each in twin])
