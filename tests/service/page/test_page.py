"""The page in a browser: every control does what it says, to whoever uses it, and how."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect, sync_playwright

from daedalus.designers.base import Designer
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.heuristic import HeuristicDesigner
from daedalus.designers.random import RandomDesigner
from daedalus.market.mechanism import Mechanism
from daedalus.service.openenv.warm_up import warm_up
from experiments.serve import make_catalogue
from tests.service.conftest import serving
from tests.service.http.test_page_routes import leave_run
from tests.service.sessions.test_background_designer import ANSWER, saying
from tests.test_configs import composed

pytestmark = pytest.mark.slow

RULES: dict[str, Designer] = {
    "random": RandomDesigner(),
    "heuristic": HeuristicDesigner(),
    "informed_greedy": FixedDesigner(mechanism=Mechanism(auction_type="vcg", reserve_price=0.3)),
}
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
REFUSED = re.compile(r"Failed to load resource: .* status of (404|409|503)")
WAIT = 30_000  # milliseconds, on a busy machine

expect.set_options(timeout=WAIT)


@dataclass
class Visitor:
    """Somebody with a tab of their own."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def open(self) -> Visitor:
        self.page.goto(self.address)
        expect(self.page.locator("#progress")).to_contain_text("Step 0 of 10")
        return self

    @property
    def session(self) -> str:
        kept = "() => JSON.parse(sessionStorage.getItem('daedalus.episode')).id"
        return self.page.evaluate(kept)

    def told(self, path: str) -> dict[str, Any]:
        answer = requests.get(self.address + path, params={"session_id": self.session}, timeout=10)
        return answer.json()

    @property
    def state(self) -> dict[str, Any]:
        return self.told("/state")

    def speed(self, stop: int) -> None:
        slider = self.page.locator("#speed")
        slider.press("Home")
        for _ in range(stop):
            slider.press("ArrowRight")

    def begin(self, **options: Any) -> None:
        for name, value in options.items():
            control = self.page.locator(f"#{name}")
            if name in ("population", "market"):
                control.select_option(value)
            else:
                control.fill(str(value))
        self.page.click("#reset")
        self.at_step(0)

    def step(self) -> None:
        steps = int(re.findall(r"\d+", self.page.inner_text("#progress"))[0])
        self.page.click("#step")
        self.at_step(steps + 1)

    def at_step(self, number: int) -> None:
        """Wait until so many steps have been played and shown."""
        expect(self.page.locator("#progress")).to_contain_text(f"Step {number} of")
        expect(self.page.locator("#log tr")).to_have_count(number)

    def set_rule(self, name: str, value: Any) -> None:
        control = self.page.locator(f"#rule-{name}")
        if isinstance(value, str):
            control.select_option(value)
        elif isinstance(value, bool):
            control.click()
        else:
            control.fill(str(value))
            control.press("Tab")


Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("chromium is not installed: apt-get update && apt-get install -y chromium")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def site(catalogue) -> Iterator[str]:
    """Answer with room for many, and a model that always says the same."""
    compiling = threading.Thread(target=warm_up, args=(catalogue,))  # which then plays alone
    compiling.start()
    compiling.join()
    with serving(catalogue, saying(ANSWER), RULES, http_sessions=64) as found:
        yield found


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """Open the page in a context of its own; at the end nothing may have gone wrong in it."""
    visitors: list[Visitor] = []

    def build(address: str = site, **context: Any) -> Visitor:
        options = {"viewport": {"width": 1280, "height": 800}} | context
        page = browser.new_context(**options).new_page()
        visitor = Visitor(page, address)
        page.on("console", lambda said: note(visitor, said.type, said.text))
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.on("request", lambda request: visitor.requested.append(request.url))
        visitors.append(visitor)
        return visitor

    yield build
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.complaints == []
        foreign = [url for url in visitor.requested if not url.startswith(visitor.address)]
        assert visitor.requested and foreign == []


def note(visitor: Visitor, kind: str, text: str) -> None:
    if kind in ("error", "warning") and not REFUSED.match(text):
        visitor.complaints.append(text)


def test_every_rule_is_a_control_that_the_next_step_obeys(visit: Visit) -> None:
    visitor = visit().open()
    visitor.begin(episode_length=20)
    visitor.speed(4)
    expected = Mechanism().to_dict()
    assert set(CHANGES) == set(expected)
    for name, value in CHANGES.items():
        visitor.set_rule(name, value)
        expect(visitor.page.locator("#pending")).to_have_text("1 rule changes with the next step")
        visitor.step()
        expected[name] = value
        assert visitor.state["mechanism"] == expected
    rows = visitor.page.locator("#log tr")
    expect(rows.nth(0)).to_contain_text("Coalition policy: allow → penalize suspected")
    rewards = [f"{each:.3f}" for each in reversed(visitor.state["rewards"])]
    assert [row.split()[-1] for row in rows.all_inner_texts()] == rewards
    visitor.page.click("#defaults")
    visitor.step()
    assert visitor.state["mechanism"] == Mechanism().to_dict()


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
    visitor.at_step(0)
    visitor.begin(seed="")
    expect(drawn).not_to_have_value("")
    assert visitor.state["seed"] == int(drawn.input_value())


def test_auto_plays_on_and_pause_stops(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    visitor.speed(3)
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
    visitor.at_step(0)
    assert visitor.state["rewards"] == [] and page.locator("#step").is_enabled()


def test_speed_is_how_long_a_round_takes_and_another_step_cuts_it_short(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    visitor.speed(0)
    page.click("#step")
    expect(page.locator("#arena-caption")).to_contain_text("Round 4")
    page.wait_for_timeout(600)
    assert page.locator("#log tr").count() == 0 and visitor.state["step_count"] == 1
    page.click("#step")
    expect(page.locator("#log tr")).to_have_count(1)
    began = time.perf_counter()
    visitor.speed(4)
    visitor.at_step(2)
    assert time.perf_counter() - began < 4.0  # at half speed five rounds take eleven seconds


def bar_heights(page: Page) -> list[float]:
    return page.locator("#arena .bid").evaluate_all(
        "bars => bars.map((bar) => Number(bar.getAttribute('height')))"
    )


def test_the_arena_shows_what_the_api_tells(visit: Visit) -> None:
    visitor = visit().open()
    visitor.begin(population="stage4", seed=3)
    visitor.speed(4)
    visitor.set_rule("reveal_competing_bids", True)
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


def test_less_motion_is_no_motion(visit: Visit) -> None:
    visitor = visit(reduced_motion="reduce").open()
    visitor.speed(0)
    visitor.page.click("#step")
    expect(visitor.page.locator("#arena-caption")).to_contain_text("came")
    first = bar_heights(visitor.page)
    visitor.page.wait_for_timeout(200)
    assert bar_heights(visitor.page) == first and max(first) > 0
    visitor.speed(4)
    visitor.at_step(1)


def test_types_are_hidden_until_they_are_revealed(visit: Visit) -> None:
    visitor = visit().open()
    visitor.speed(4)
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
    visitor.at_step(0)
    expect(page.locator("#reveal")).to_have_attribute("aria-pressed", "false")
    page.click("#reveal")
    expect(types).to_be_visible()
    page.click("#reveal")
    expect(types).to_be_hidden()
    assert "truthful" not in page.locator("body").inner_html().split('id="setup-meaning"')[0]


def test_the_trained_designer_plays_and_is_quoted(visit: Visit) -> None:
    visitor = visit().open()
    visitor.speed(4)
    page = visitor.page
    page.check("#who-designer")
    expect(page.locator("#rule-auction_type")).to_be_disabled()
    expect(page.locator("#designer-status")).to_contain_text("ready")
    visitor.step()
    expect(page.locator("#design-source")).to_have_text("AI")
    expect(page.locator("#design-text")).to_have_text(ANSWER)
    expect(page.locator("#design-summary")).to_contain_text(re.compile(r"in \d.*s$"))
    set_by_model = Mechanism(auction_type="vcg", reserve_price=0.33).to_dict()
    assert visitor.state["mechanism"] == set_by_model
    page.select_option("#designer", "random")
    visitor.step()
    expect(page.locator("#design-source")).to_have_text("Rule")
    assert visitor.state["mechanism"] != set_by_model
    page.check("#who-you")
    visitor.set_rule("reserve_price", 0.61)
    visitor.step()
    assert visitor.state["mechanism"]["reserve_price"] == 0.61
    sources = page.locator("#log tr td:nth-child(2)").all_inner_texts()
    assert sources == ["you", "Random", "Trained (AI)"]


def test_written_rules_stand_in_and_say_why(visit: Visit, catalogue) -> None:
    with serving(catalogue) as address:
        visitor = visit(address).open()
        visitor.speed(4)
        visitor.page.check("#who-designer")
        visitor.step()
        expect(visitor.page.locator("#design-source")).to_have_text("Fallback")
        expect(visitor.page.locator("#design-why")).to_contain_text("No designer has been trained")
        expect(visitor.page.locator("#training-none")).to_be_visible()
        visitor.page.context.close()


INKED = """(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    .data.some((value) => value > 0)"""


def test_the_newest_run_is_drawn(visit: Visit, catalogue, tmp_path: Path) -> None:
    run = leave_run(tmp_path, "grpo/new", 1_000)
    rows = [{"step": step, "reward": step / 8, "validity": 1.0} for step in range(4)]
    (run / "training_history.json").write_text(json.dumps(rows))
    with serving(catalogue, outputs=str(tmp_path)) as address:
        page = visit(address).open().page
        expect(page.locator("#training-run")).to_have_text("Run grpo/new, 4 logged steps.")
        expect(page.locator("#training-none")).to_be_hidden()
        charts = page.locator("#training-charts .chart")
        expect(charts).to_have_count(2)
        reward = re.compile("reward over training: from 0.000 to 0.375", re.IGNORECASE)
        expect(charts.first).to_have_attribute("aria-label", reward)
        expect(charts.locator("canvas")).to_have_count(2)
        for canvas in charts.locator("canvas").all():
            page.wait_for_function(INKED, arg=canvas.element_handle())
        page.context.close()


def by_hand(address: str, name: str, mechanism: dict[str, Any], begin: dict) -> list[float]:
    """Play an episode over the API and return its rewards."""
    body = {"session_id": f"hand-{name}"}
    requests.post(f"{address}/reset", json=body | begin, timeout=10)
    rewards = []
    for _ in range(begin["episode_length"]):
        action = mechanism
        if name != "own":
            ask = body | {"designer": name}
            design = requests.post(f"{address}/api/design", json=ask, timeout=10)
            action = design.json()["mechanism"]
        step = requests.post(f"{address}/step", json=body | {"action": action}, timeout=10)
        rewards.append(step.json()["reward"])
    return rewards


def test_comparing_is_playing_the_same_seed_by_hand(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    begin = {"population": "stage4", "seed": 11, "episode_length": 4}
    visitor.begin(**begin)
    visitor.set_rule("reserve_price", 0.25)
    page.get_by_label("Heuristic").check()
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done: 5 episodes on seed 11")
    assert page.locator("#compare-progress").evaluate("bar => bar.value === bar.max")
    mine = Mechanism(reserve_price=0.25).to_dict()
    for name in (*RULES, "trained", "own"):
        rewards = by_hand(visitor.address, name, mine, begin)
        shown = page.locator(f"#compare-table tr[data-name={name}] td[data-key=reward]")
        expect(shown).to_have_text(f"{sum(rewards) / 4:.3f}")
    assert visitor.state["step_count"] == 0  # the visitor's own episode is left alone


def test_comparing_can_be_cancelled(visit: Visit) -> None:
    visitor = visit().open()
    visitor.begin(episode_length=50)
    visitor.page.click("#compare-run")
    visitor.page.click("#compare-cancel")
    expect(visitor.page.locator("#compare-said")).to_contain_text("Cancelled")
    expect(visitor.page.locator("#compare-run")).to_be_enabled()
    assert visitor.page.locator("#compare-progress").evaluate("bar => bar.value < bar.max")


def test_visitors_do_not_disturb_each_other(visit: Visit) -> None:
    one, other = visit().open(), visit().open()
    for visitor in (one, other):
        visitor.speed(4)
    one.begin(seed=1, population="stage0")
    other.begin(seed=2, population="stage4")
    one.set_rule("reserve_price", 0.4)
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
    visitor.set_rule("shill_penalty", 1.0)
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
        second = visit(address)
        second.page.goto(address)
        said = second.page.locator("#notices")
        expect(said).to_contain_text("all 1 sessions are taken", ignore_case=True)
        expect(said).to_contain_text(re.compile(r"in 2 minutes, at \d\d:\d\d"))
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


def test_what_is_wrong_is_said_in_words(visit: Visit) -> None:
    visitor = visit().open()
    visitor.page.fill("#n_agents", "3")
    visitor.page.click("#reset")
    assert visitor.page.locator("#n_agents").evaluate("field => !field.validity.valid")
    assert visitor.state["n_agents"] == 8


REACHABLE = """() => [...document.querySelectorAll(
    'a[href], button, input, select, summary, [tabindex="0"]'
)].filter((each) => each.checkVisibility() && !each.disabled && !each.closest('fieldset:disabled')
    && !(each.type === 'radio' && !each.checked) && each.tabIndex >= 0).length"""
FOCUSED = """() => {
    const each = document.activeElement;
    if (each === document.body) return null;
    const outlined = each.type === 'radio' ? each.nextElementSibling : each;
    const name = each.labels?.length || each.textContent.trim() || each.ariaLabel;
    window.visited ??= new Map();
    if (!window.visited.has(each)) window.visited.set(each, window.visited.size);
    const lacks = [];
    if (getComputedStyle(outlined).outlineStyle === 'none') lacks.push('no outline');
    if (!name) lacks.push('no name');
    return [window.visited.get(each), lacks.length ? `${each.outerHTML}: ${lacks}` : null];
}"""


def test_everything_is_reached_by_tab_and_seen_and_named(visit: Visit) -> None:
    visitor = visit().open()
    visitor.speed(4)
    visitor.step()
    page = visitor.page
    page.locator(".mark").focus()
    page.keyboard.press("Shift+Tab")
    wanted = page.evaluate(REACHABLE)
    seen = []
    while (now := page.evaluate(FOCUSED)) is not None and len(seen) < wanted + 5:
        seen.append(now)
        page.keyboard.press("Tab")
    assert wanted > 40 and len({each[0] for each in seen}) == wanted
    assert [lacking for _, lacking in seen if lacking] == []


def test_an_episode_is_played_from_the_keyboard(visit: Visit) -> None:
    visitor = visit().open()
    page = visitor.page
    page.locator("#speed").focus()
    page.keyboard.press("End")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Space")
    visitor.at_step(1)
    expect(page.locator("#live")).to_contain_text("Step 1: R ")
    page.keyboard.press("t")
    expect(page.locator("#arena-types")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#who-designer")).to_be_checked()
    page.keyboard.press("d")
    page.locator("#seed").focus()
    page.keyboard.press("a")
    page.locator("#shortcuts").uncheck()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("Space")
    page.wait_for_timeout(300)
    assert visitor.state["step_count"] == 1
    page.locator("#shortcuts").check()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("a")
    visitor.at_step(10)
    page.keyboard.press("r")
    visitor.at_step(0)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_runs_out_of_the_screen(visit: Visit, width: int) -> None:
    screen = {"width": width, "height": 740}
    visitor = visit(viewport=screen, has_touch=True).open()
    visitor.speed(4)
    visitor.begin(population="stage4", n_agents=64)
    visitor.page.check("#who-designer")
    visitor.step()
    visitor.page.click("#reveal")
    expect(visitor.page.locator("#arena-types")).to_be_visible()
    visitor.page.click("#compare-run")
    expect(visitor.page.locator("#compare-said")).to_contain_text("Done")
    assert visitor.page.evaluate("() => document.documentElement.scrollWidth") <= width


CONTRAST = """() => {
    const shade = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (each) => {
        for (let at = each; at; at = at.parentElement) {
            const colour = shade(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
    };
    const poor = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const each = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || !each.checkVisibility()) continue;
        if (each.closest(':disabled, .unseen, .skip, option, svg')) continue;
        const [a, b] = [shade(getComputedStyle(each).color), behind(each)].map(light);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.push(`${walk.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
    }
    return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit: Visit, scheme: str) -> None:
    visitor = visit(color_scheme=scheme, reduced_motion="reduce").open()
    visitor.speed(4)
    visitor.page.check("#who-designer")
    visitor.step()
    visitor.page.click("#reveal")
    expect(visitor.page.locator("#arena-types")).to_be_visible()
    visitor.page.mouse.move(0, 0)
    ground = visitor.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 384) == (scheme == "light")
    assert visitor.page.evaluate(CONTRAST) == []


def test_the_page_needs_no_leave_for_inline_code(site: str) -> None:
    answer = requests.get(site, timeout=10)
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\bsrc=)", answer.text)
    for path in re.findall(r'(?:href|src)="(/page/[^"]+)"', answer.text):
        assert requests.get(site + path, timeout=10).status_code == 200


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
