"""Sessions: apart from each other, resumed, rebuilt, refused."""

from __future__ import annotations

import csv
import json
import re
import time
from urllib.parse import quote

import numpy as np
import pytest
import requests
from playwright.sync_api import expect

from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanism
from tests.service.conftest import serving
from tests.service.page.static.visitor import Visit, Visitor, at_own_site, by_hand

pytestmark = pytest.mark.slow


def test_a_reload_goes_on(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.set_field("shill_penalty", 1.0)
    visitor.step()
    before = visitor.state
    visitor.page.reload()
    visitor.at_step(2)
    assert visitor.state == before
    expect(visitor.page.locator("#rule-shill_penalty")).to_have_value("1.00")
    visitor.speed(4)
    visitor.step()


def test_a_link_opens_the_episode_where_it_was(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(population="stage4", seed=9, n_agents=10, episode_length=6)
    visitor.set_field("auction_type", "first_price")
    visitor.step()
    visitor.page.check("#who-designer")
    visitor.step()
    visitor.page.check("#who-you")
    visitor.set_field("reveal_reserve", True)
    visitor.set_field("reserve_price", 0.45)
    link = visitor.page.evaluate("document.getElementById('link').href")
    assert link == visitor.page.url
    other = visit()
    other.page.goto(link)
    other.at_step(3)
    theirs = other.state
    assert theirs == visitor.state | {"episode_id": theirs["episode_id"]}
    for name, value in (("auction_type", "first_price"), ("reserve_price", "0.45")):
        expect(other.page.locator(f"#rule-{name}")).to_have_value(value)
    expect(other.page.locator("#rule-reveal_reserve")).to_be_checked()
    expect(other.page.locator("#population")).to_have_value("stage4")
    expect(other.page.locator("#n_agents")).to_have_value("10")


def test_a_link_does_not_grow_for_ever(visit: Visit) -> None:
    visitor = visit()
    page = visitor.page
    page.goto(f"{visitor.address}/?seed=9&population=stage4&episode_length=28{linked_steps(15)}")
    visitor.at_step(15)
    visitor.speed(4)
    page.check("#who-designer")
    page.select_option("#designer", "random")
    page.click("#auto")
    visitor.at_step(28)
    expect(page.locator("#notices")).to_contain_text(re.compile(r"holds its first \d\d steps"))
    link = page.url
    assert 15 < link.count("&step=") < 28
    assert 5_000 < len(link) < 7_000
    page.reload()
    visitor.at_step(28)
    assert page.url == link
    other = visit()
    other.page.goto(link)
    other.at_step(link.count("&step="))


def linked_steps(count: int) -> str:
    """Return the end of a link to an episode of random mechanisms, as long as those of a designer.

    To play them takes the browser a third of a second each.
    """
    drawn = random_mechanisms(count, np.random.default_rng(0))
    played = [drawn[row].to_dict().items() for row in range(count)]
    texts = [",".join(f"{name}:{str(value).lower()}" for name, value in each) for each in played]
    return "".join(f"&step={quote(text, safe='')}" for text in texts)


def test_a_link_that_makes_no_sense_is_said_to_be_wrong(visit: Visit) -> None:
    visitor = visit()
    visitor.page.goto(f"{visitor.address}/?seed=1&population=nobody&step=reserve_price:7")
    expect(visitor.page.locator("#notices")).to_contain_text("population")
    visitor.at_step(1)
    assert visitor.state["population"] == "stage3"
    visitor.complaints.clear()  # the browser's own note of a 422


def test_an_episode_is_saved_as_a_table_and_as_json(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(population="stage4", seed=9)
    visitor.step()
    visitor.set_field("shill_penalty", 1.0)
    visitor.step()
    rewards = visitor.state["rewards"]
    rows = list(csv.DictReader(saved(visitor, "#save-table").splitlines()))
    assert [float(row["reward"]) for row in rows] == rewards
    assert [float(row["shill_penalty"]) for row in rows] == [0.0, 0.0, 1.0]
    told = json.loads(saved(visitor, "#save-json"))
    assert [each["reward"] for each in told["steps"]] == rewards
    assert told["options"]["seed"] == 9


def saved(visitor: Visitor, button: str) -> str:
    with visitor.page.expect_download() as waiting:
        visitor.page.click(button)
    assert waiting.value.suggested_filename.startswith("daedalus-stage4-9.")
    return waiting.value.path().read_text()


def test_a_lost_session_is_rebuilt_as_it_was(visit: Visit, catalogue) -> None:
    begin = {"seed": 9, "population": "stage4", "episode_length": 3}
    with at_own_site(visit, catalogue, 4, session_timeout=4.0, design_timeout=0.2) as visitor:
        visitor.begin(**begin)
        visitor.step()
        time.sleep(4.2)
        visitor.step()
        expect(visitor.page.locator("#notices")).to_contain_text("rebuilt")
        state = visitor.state
        default = Mechanism().to_dict()
        assert state["rewards"] == by_hand(visitor.address, "own", default, begin)


def test_two_tabs_under_one_name_part(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(seed=4)
    visitor.step()
    shared = visitor.session
    body = {"session_id": shared, "action": {"reserve_price": 0.9}}
    requests.post(f"{visitor.address}/step", json=body, timeout=10)
    visitor.step()
    assert visitor.session != shared
    assert len(visitor.state["rewards"]) == 3


def test_a_full_server_says_when_to_come_again(visit: Visit, catalogue) -> None:
    with serving(catalogue, http_sessions=1) as address:
        first = visit(address).open(speed=4)
        second = visit(address)
        second.page.goto(address)
        said = second.page.locator("#notices")
        expect(said).to_contain_text("all 1 sessions are taken", ignore_case=True)
        expect(said).to_contain_text(re.compile(r"Try again in 2 minutes, at \d\d:\d\d\."))
        second.page.click("#compare-run")
        expect(said).to_contain_text("Begin an episode first")
        first.page.click("#compare-run")
        expect(first.page.locator("#notices")).to_contain_text("sessions are taken")
        for visitor in (first, second):
            visitor.page.close()


def test_a_server_that_is_gone_is_said_to_be(visit: Visit, catalogue) -> None:
    with serving(catalogue) as address:
        visitor = visit(address).open()
    visitor.page.click("#step")
    expect(visitor.page.locator("#notices")).to_contain_text("does not answer")
    assert all("CONNECTION_REFUSED" in each for each in visitor.complaints)
    visitor.complaints.clear()


FULL = {"status": 503, "body": '{"error": "all sessions are taken"}'}


@pytest.mark.parametrize("linked", [True, False])
def test_a_step_begins_the_episode_that_could_not_begin(visit: Visit, linked: bool) -> None:
    visitor = visit()
    page = visitor.page
    page.route("**/reset", lambda route: route.fulfill(**FULL), times=1)
    page.goto(f"{visitor.address}/?seed=9&population=stage4" if linked else visitor.address)
    expect(page.locator("#notices")).to_contain_text("all sessions are taken", ignore_case=True)
    page.click("#reveal")
    visitor.speed(4)
    page.click("#step")
    visitor.at_step(1)
    population = "stage4" if linked else "stage3"
    assert visitor.state["population"] == population
    assert f"population={population}" in page.url and ("seed=9&" in page.url) == linked
    expect(page.locator("#seed")).not_to_have_value("")
    assert page.locator("#notices").inner_text() == ""


def test_a_step_resumes_the_episode_that_could_not_be_resumed(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.begin(population="stage4", seed=9)
    before = visitor.state["rewards"]
    page = visitor.page
    page.route("**/state?*", lambda route: route.fulfill(**FULL))
    page.reload()
    expect(page.locator("#notices")).to_contain_text("all sessions are taken", ignore_case=True)
    page.unroute("**/state?*")
    visitor.speed(4)
    page.click("#step")
    visitor.at_step(2)
    state = visitor.state
    assert state["population"] == "stage4" and state["rewards"][:1] == before
    assert "seed=9&" in page.url


def test_an_objective_is_the_score_of_the_episode(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page, tile = visitor.page, visitor.page.locator(".tile-objective")
    expect(tile).to_be_hidden()
    visitor.begin(objective="revenue", seed=5)
    assert visitor.state["objective"] == "revenue" and "objective=revenue" in page.url
    (reward,) = visitor.state["rewards"]
    expect(page.locator("#log-score")).to_have_text("revenue")
    expect(page.locator("#log-mean")).to_have_text(f"mean revenue {reward:.3f}")
    expect(tile.locator(".number")).to_have_text(f"{reward:.2f}")
    expect(tile.locator(".term")).to_have_text("Objective")  # revenue in all has a tile as well
    page.reload()
    visitor.at_step(1)
    expect(page.locator("#objective")).to_have_value("revenue")
    visitor.begin(objective="composite")
    expect(page.locator("#log-score")).to_have_text("R")
    expect(tile).to_be_hidden()


LATE_LOCKS = """
const request = navigator.locks.request.bind(navigator.locks);
navigator.locks.request = (...given) =>
  new Promise((resolve) => setTimeout(resolve, 700)).then(() => request(...given));
"""
SLOW_RESETS = """() => {
    const ask = window.fetch;
    window.fetch = async (path, ...more) => {
        const answer = await ask(path, ...more);
        if (path === "/reset") await new Promise((go) => setTimeout(go, 400));
        return answer;
    };
}"""


def test_a_step_waits_for_the_reset_before_it(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    page.evaluate(SLOW_RESETS)
    page.click("#reset")
    page.click("#step")
    visitor.at_step(2)
    assert len(visitor.state["rewards"]) == 2
    page.fill("#seed", "8")
    page.click("#reset")
    page.click("#auto")
    visitor.at_step(10)
    assert visitor.state["seed"] == 8
    expect(page.locator("#notices")).to_be_empty()  # nothing had to be rebuilt


def test_a_tab_holds_its_episode_though_its_browser_is_slow_to_say_so(visit: Visit) -> None:
    visitor = visit()
    visitor.page.add_init_script(LATE_LOCKS)
    visitor.open(speed=4)
    visitor.page.wait_for_timeout(1500)
    held = visitor.page.evaluate("async () => (await navigator.locks.query()).held")
    assert [each["name"] for each in held] == [f"daedalus.{visitor.session}"]


def test_a_tab_that_was_duplicated_plays_an_episode_of_its_own(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    visitor.step()
    before = visitor.state
    with visitor.page.expect_popup() as opened:
        visitor.page.evaluate("() => void window.open(location.href)")  # copies the tab's storage
    other = Visitor(opened.value, visitor.address)
    other.at_step(2)
    assert other.session != visitor.session
    assert other.state["rewards"] == before["rewards"]
    other.speed(4)
    other.begin(seed=before["seed"] + 1)
    assert visitor.state == before
    for each in (visitor, other):
        session = each.session
        each.page.reload()
        each.at_step(len(each.state["rewards"]))
        assert each.session == session  # it is still this tab's alone
    other.page.close()
