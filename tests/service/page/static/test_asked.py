"""Bidders that a language model plays: who bids, recorded rules, and a model that is slow."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from daedalus.service.openenv.catalogue import ASKED_POPULATION
from tests.design.designers.chat_double import Reply
from tests.service.page.static.visitor import Visit, at_own_site
from tests.service.sessions.test_asked_bidders import asked, live, rational

pytestmark = pytest.mark.slow


def test_recorded_bidders_say_which_rules_they_know(
    visit: Visit, catalogue, tmp_path: Path
) -> None:
    with (
        asked(catalogue, tmp_path, "bidder=recorded") as found,
        at_own_site(visit, found, 4) as visitor,
    ):
        page = visitor.page
        expect(page.locator("#asked")).to_be_hidden()
        visitor.begin(population=ASKED_POPULATION)
        meaning = page.locator("#setup-meaning")
        expect(meaning).to_contain_text("SmolLM2, a language model, bids. Its answers are recorded")
        expect(page.locator("#n_agents")).to_be_disabled()
        assert visitor.state["mechanism"]["auction_type"] == "first_price"
        page.get_by_role("button", name="VCG", exact=True).click()
        visitor.step()
        assert visitor.state["mechanism"]["auction_type"] == "vcg"
        expect(page.locator("#par")).to_be_hidden()
        visitor.set_field("reserve_price", 0.37)
        page.click("#step")
        expect(page.locator("#notices")).to_contain_text("recorded, and not for these rules")
        assert visitor.state["step_count"] == 2
        visitor.complaints = [each for each in visitor.complaints if "422" not in each]


def test_a_visitor_sees_that_the_model_is_asked(visit: Visit, catalogue, tmp_path: Path) -> None:
    may_answer = threading.Event()

    def held(count: int, body: dict[str, Any]) -> Reply:
        may_answer.wait(60)
        return rational(count, body)

    with live(catalogue, tmp_path, held, seconds=60.0) as (_, address):
        visitor = visit(address).open(4)
        page = visitor.page
        page.select_option("#population", ASKED_POPULATION)
        page.click("#reset")
        expect(page.locator("#asking")).to_have_text("Asking m for its bids …")
        may_answer.set()
        visitor.at_step(1)
        expect(page.locator("#asking")).to_be_hidden()
        page.close()
