"""Sessions: apart from each other, resumed, rebuilt, refused."""

from __future__ import annotations

import re
import time

import pytest
import requests
from playwright.sync_api import expect

from daedalus.market.mechanism import Mechanism
from tests.service.conftest import serving
from tests.service.page.static.visitor import Visit, by_hand

pytestmark = pytest.mark.slow


def test_visitors_do_not_disturb_each_other(visit: Visit) -> None:
    one, other = visit().open(), visit().open()
    for visitor in (one, other):
        visitor.speed(4)
    one.begin(seed=1, population="stage0")
    other.begin(seed=2, population="stage4")
    one.set_field("reserve_price", 0.4)
    one.step()
    other.step()
    one.step()
    assert one.session != other.session
    first, second = one.state, other.state
    assert (first["step_count"], first["population"]) == (2, "stage0")
    assert (second["step_count"], second["population"]) == (1, "stage4")
    assert second["mechanism"]["reserve_price"] == 0.1


def test_a_reload_goes_on(visit: Visit) -> None:
    visitor = visit().open()
    visitor.speed(4)
    visitor.set_field("shill_penalty", 1.0)
    visitor.step()
    before = visitor.state
    visitor.page.reload()
    visitor.at_step(1)
    assert visitor.state == before
    expect(visitor.page.locator("#rule-shill_penalty")).to_have_value("1.00")
    visitor.speed(4)
    visitor.step()


def test_a_lost_session_is_rebuilt_as_it_was(visit: Visit, catalogue) -> None:
    begin = {"seed": 9, "population": "stage4", "episode_length": 3}
    with serving(catalogue, session_timeout=1.0, design_timeout=0.2) as address:
        visitor = visit(address).open()
        visitor.speed(4)
        visitor.begin(**begin)
        visitor.step()
        time.sleep(1.2)
        visitor.step()
        expect(visitor.page.locator("#notices")).to_contain_text("rebuilt")
        state = visitor.state
        visitor.page.context.close()
        default = Mechanism().to_dict()
        assert state["rewards"] == by_hand(address, "own", default, begin)[:2]


def test_two_tabs_under_one_name_part(visit: Visit) -> None:
    visitor = visit().open()
    visitor.speed(4)
    visitor.begin(seed=4)
    visitor.step()
    shared = visitor.session
    body = {"session_id": shared, "action": {"reserve_price": 0.9}}
    requests.post(f"{visitor.address}/step", json=body, timeout=10)
    visitor.step()
    assert visitor.session != shared
    assert len(visitor.state["rewards"]) == 2


def test_a_full_server_says_when_to_come_again(visit: Visit, catalogue) -> None:
    with serving(catalogue, http_sessions=1) as address:
        first = visit(address).open()
        first.speed(4)
        first.step()  # or its session would give way at once
        second = visit(address)
        second.page.goto(address)
        said = second.page.locator("#notices")
        expect(said).to_contain_text("all 1 sessions are taken", ignore_case=True)
        expect(said).to_contain_text(re.compile(r"in 2 minutes, at \d\d:\d\d"))
        second.page.click("#compare-run")
        expect(said).to_contain_text("Begin an episode first")
        first.page.click("#compare-run")
        expect(first.page.locator("#notices")).to_contain_text("sessions are taken")
        for visitor in (first, second):
            visitor.page.context.close()


def test_a_server_that_is_gone_is_said_to_be(visit: Visit, catalogue) -> None:
    with serving(catalogue) as address:
        visitor = visit(address).open()
    visitor.page.click("#step")
    expect(visitor.page.locator("#notices")).to_contain_text("does not answer")
    assert all("CONNECTION_REFUSED" in each for each in visitor.complaints)
    visitor.complaints.clear()
