"""The designers: their proposals, the training of one, and a comparison of all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from scipy import stats

from daedalus.market.mechanism import Mechanism
from tests.service.conftest import serving
from tests.service.page.static.visitor import DESIGNERS, Visit, at_own_site, by_hand
from tests.service.page.test_newest_run import leave_run
from tests.service.sessions.test_background_designer import ANSWER, saying

pytestmark = pytest.mark.slow


def test_the_trained_designer_plays_and_is_quoted(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    page.check("#who-designer")
    expect(page.locator("#rule-auction_type")).to_be_disabled()
    expect(page.locator("#designer-status")).to_contain_text("ready")
    visitor.step()
    expect(page.locator("#design-source")).to_have_text("AI")
    expect(page.locator("#design-text")).to_have_text(ANSWER)
    expect(page.locator("#design-applied")).to_contain_text("Reserve price: 0.33")
    expect(page.locator("#design-summary")).to_contain_text(re.compile(r"in \d.*s$"))
    set_by_model = Mechanism(auction_type="vcg", reserve_price=0.33).to_dict()
    assert visitor.state["mechanism"] == set_by_model
    page.select_option("#designer", "random")
    expect(page.locator("#designer-meaning")).to_contain_text("random mechanism at every step")
    expect(page.locator("#design")).to_be_hidden()  # another designer has not answered yet
    visitor.step()
    expect(page.locator("#design-source")).to_have_text("Rule")
    expect(page.locator("#design-answer")).to_be_hidden()
    assert visitor.state["mechanism"] != set_by_model
    page.check("#who-you")
    visitor.set_field("reserve_price", 0.61)
    visitor.step()
    assert visitor.state["mechanism"]["reserve_price"] == 0.61
    sources = page.locator("#log tr td:nth-child(2)").all_inner_texts()
    assert sources == ["you", "Random", "Trained (AI)", "the page"]
    page.check("#who-designer")
    visitor.step()
    expect(page.locator("#design")).to_be_visible()
    visitor.begin(seed=7)
    expect(page.locator("#design")).to_be_hidden()  # it answered in another episode


def test_without_a_model_the_heuristic_stands_in_and_says_why(visit: Visit, catalogue) -> None:
    with at_own_site(visit, catalogue, 4, designers=DESIGNERS) as visitor:
        page = visitor.page
        visitor.step()
        names = page.locator("#par-list dt")
        expect(names).to_have_text(["This episode", "Random", "Informed greedy"])
        page.check("#who-designer")
        visitor.step()
        expect(page.locator("#design-source")).to_have_text("Fallback")
        expect(page.locator("#design-why")).to_contain_text("No designer has been trained")
        expect(page.locator("#training-none")).to_be_visible()


REFUSED = (
    'I set <b onclick="alert(1)">first price</b> and {"reserve_price": 1.4, "auction_type": "vcg"}'
)


def test_an_invalid_answer_is_quoted_as_it_is_with_its_reason(visit: Visit, catalogue) -> None:
    with at_own_site(visit, catalogue, 4, load=saying(REFUSED)) as visitor:
        visitor.page.check("#who-designer")
        visitor.step()
        expect(visitor.page.locator("#design-source")).to_have_text("Fallback")
        why = visitor.page.locator("#design-why")
        expect(why).to_contain_text("reserve_price: 1.4 is not allowed; give a number from 0.0 to")
        wrote = visitor.page.locator("#design-wrote")
        expect(wrote).to_have_text("It wrote")
        expect(visitor.page.locator("#design-text")).to_have_text(REFUSED)
        assert not visitor.page.locator("#design b").count()
        applied = visitor.page.locator("#design-applied")  # beside it, what the heuristic set
        reserve = visitor.state["mechanism"]["reserve_price"]
        expect(applied).to_contain_text(f"Reserve price: {reserve:.2f}")
        places = [each.bounding_box() for each in (wrote, visitor.page.locator("#design-took"))]
        assert places[0]["y"] == places[1]["y"]


INKED = """(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    .data.some((value) => value > 0)"""


def test_the_newest_run_is_drawn(visit: Visit, catalogue, tmp_path: Path) -> None:
    run = leave_run(tmp_path, "grpo/new", 1_000)
    rows = [{"step": step, "reward": step / 8, "validity": 1.0} for step in range(4)]
    (run / "training_history.json").write_text(json.dumps(rows))
    table = "designer,mean,mean_low,mean_high\nrandom,0.19,0.18,0.2\ntrained,0.44,0.42,0.46\n"
    (run / "summary.csv").write_text(table)
    with serving(catalogue, outputs=str(tmp_path)) as address:
        page = visit(address).open().page
        rows = page.locator("#training-table tr")
        expect(rows).to_have_text(["Trained0.440[0.420, 0.460]", "Random0.190[0.180, 0.200]"])
        expect(page.locator("#training-run")).to_have_text("Run grpo/new, 4 logged steps.")
        expect(page.locator("#training-none")).to_be_hidden()
        charts = page.locator("#training-charts .chart")
        expect(charts).to_have_count(2)
        reward = re.compile("reward over training: from 0.000 to 0.375", re.IGNORECASE)
        expect(charts.first).to_have_attribute("aria-label", reward)
        expect(charts.locator("canvas")).to_have_count(2)
        for canvas in charts.locator("canvas").all():
            page.wait_for_function(INKED, arg=canvas.element_handle())
        page.close()


def test_comparing_is_playing_the_same_seeds_by_hand_and_shows_intervals(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    begin = {"population": "stage4", "seed": 11, "episode_length": 3}
    visitor.begin(**begin)
    page.get_by_label("Heuristic").check()
    page.fill("#compare-seeds", "21")
    page.click("#compare-run")
    expect(page.locator("#compare-result")).to_be_hidden()  # 20 is the most
    page.fill("#compare-seeds", "4")
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done: 20 episodes on seeds 11 to 14.")
    assert page.locator("#compare-progress").evaluate("bar => bar.value === bar.max")
    default = Mechanism().to_dict()
    for name in (*DESIGNERS, "trained", "own"):
        means = [
            np.mean(by_hand(visitor.address, name, default, begin | {"seed": seed}))
            for seed in range(11, 15)
        ]
        low, high = stats.t.interval(0.95, 3, np.mean(means), stats.sem(means))
        shown = page.locator(f"#compare-table tr[data-name={name}] td[data-key=reward]")
        expect(shown).to_have_text(f"{np.mean(means):.3f}[{low:.3f}, {high:.3f}]")
    assert visitor.state["step_count"] == 1  # the visitor's own episode is left alone


def test_the_par_line_is_what_others_score_on_the_same_seed(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    begin = {"population": "stage4", "seed": 11, "episode_length": 4}
    visitor.begin(**begin)
    expect(page.locator("#par")).to_be_hidden()
    for steps in (2, 3):
        visitor.step()
        own = visitor.state["rewards"]
        shown = {"This episode": own}
        for name in ("random", "informed_greedy", "trained"):
            title = name.replace("_", " ").capitalize()
            shown[title] = by_hand(visitor.address, name, {}, begin)[:steps]
        entries = page.locator("#par-list div")
        expect(entries).to_have_count(4)
        for title, rewards in shown.items():
            entry = entries.filter(has_text=title)
            expect(entry.locator("output")).to_have_text(f"{sum(rewards) / steps:.2f}")
    assert visitor.state["step_count"] == 3


def test_the_par_line_is_tried_again_after_a_failure(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    page.route("**/api/designer/status", lambda route: route.fulfill(status=503, body="{}"))
    visitor.step()
    expect(page.locator("#par-of")).to_contain_text("No comparison")
    page.unroute("**/api/designer/status")
    visitor.step()
    expect(page.locator("#par-list output")).to_contain_text([re.compile(r"\d")] * 4)
    expect(page.locator("#par-of")).to_contain_text("Mean R over the first 3 steps")


def test_the_visitors_rules_come_back_from_a_designer(visit: Visit) -> None:
    visitor = visit().open(speed=4)
    page = visitor.page
    visitor.begin(population="stage4", seed=11, episode_length=4)
    visitor.set_field("reserve_price", 0.25)
    page.check("#who-designer")
    visitor.step()
    expect(page.locator("#rule-reserve_price")).to_have_value("0.33")
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done")
    begin = {"population": "stage4", "seed": 11, "episode_length": 4}
    mine = by_hand(visitor.address, "own", Mechanism(reserve_price=0.25).to_dict(), begin)
    shown = page.locator("#compare-table tr[data-name=own] td[data-key=reward]")
    expect(shown).to_have_text(f"{sum(mine) / 4:.3f}")
    page.check("#who-you")
    expect(page.locator("#rule-reserve_price")).to_have_value("0.25")
    expect(page.locator("#rule-auction_type")).to_have_value("second_price")
    page.check("#who-designer")
    visitor.step()
    page.reload()
    visitor.at_step(3)
    expect(page.locator("#rule-reserve_price")).to_have_value("0.25")


def test_comparing_can_be_cancelled(visit: Visit) -> None:
    visitor = visit().open()
    visitor.begin(episode_length=50)
    visitor.page.click("#compare-run")
    visitor.page.click("#compare-cancel")
    expect(visitor.page.locator("#compare-said")).to_contain_text("Cancelled")
    expect(visitor.page.locator("#compare-run")).to_be_enabled()
    assert visitor.page.locator("#compare-progress").evaluate("bar => bar.value < bar.max")
    visitor.page.click("#compare-run")
    expect(visitor.page.locator("#compare-said")).to_be_empty()


TOO_MANY = {"status": 429, "headers": {"Retry-After": "1"}, "body": '{"error": "too many"}'}


def test_comparing_waits_for_a_proxy_and_goes_on(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    visitor.begin(episode_length=2)
    page.route("**/step", lambda route: route.fulfill(**TOO_MANY), times=2)
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done")
    page.route("**/reset", lambda route: route.fulfill(**TOO_MANY))
    page.click("#compare-run")
    expect(page.locator("#notices")).to_contain_text("Too many")  # it does not wait for ever
    with page.expect_response("**/reset"):
        page.click("#compare-run")
    page.click("#compare-cancel")
    expect(page.locator("#compare-said")).to_contain_text("Cancelled")


def test_cancelling_while_an_answer_arrives_is_no_answer(visit: Visit) -> None:
    broken_off = """async () => {
        const { api } = await import("/page/api.js");
        const answer = new Response("{}");
        answer.text = answer.json = async () => { throw new DOMException("", "AbortError"); };
        window.fetch = async () => answer;
        return api.tour().then(() => "answered", (error) => error.name);
    }"""
    assert visit().open().page.evaluate(broken_off) == "AbortError"


def test_a_comparison_needs_a_designer(visit: Visit) -> None:
    page = visit().open().page
    for box in page.locator("#compare-who input").all():
        box.uncheck()
    page.click("#compare-run")
    expect(page.locator("#notices")).to_contain_text("Choose at least one designer")
