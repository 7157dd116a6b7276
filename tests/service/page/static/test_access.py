"""Access: keyboard, small screens, contrast, and no inline code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import requests
from numpy.typing import NDArray
from playwright.sync_api import Page, ViewportSize, expect

from tests.programs import NODE
from tests.service.conftest import serving
from tests.service.page.static.visitor import DESIGNERS, Visit

pytestmark = pytest.mark.slow


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
    visitor = visit().open(speed=4)
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
    visitor.at_step(2)
    expect(page.locator("#live")).to_contain_text("Step 2: R ")
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
    assert visitor.state["step_count"] == 2
    page.locator("#shortcuts").check()
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("a")
    visitor.at_step(10)
    page.keyboard.press("r")
    visitor.at_step(1)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_runs_out_of_the_screen(visit: Visit, width: int) -> None:
    screen = {"width": width, "height": 740}
    visitor = visit(viewport=screen, has_touch=True).open(speed=4)
    visitor.begin(population="stage4", n_agents=64)
    visitor.page.check("#who-designer")
    visitor.step()
    visitor.page.click("#reveal")
    expect(visitor.page.locator("#arena-types")).to_be_visible()
    visitor.page.click("#compare-run")
    expect(visitor.page.locator("#compare-said")).to_contain_text("Done")
    assert visitor.page.evaluate("() => document.documentElement.scrollWidth") <= width


AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason=NODE.absence or "axe-core is not installed; make check gets it"
)

AUDIT = """async (tag) => {
    const rules = axe.getRules(tag ? [tag] : []).filter(({ tags }) => !tags.includes('wcag2aaa'));
    const runOnly = { type: 'rule', values: rules.map(({ ruleId }) => ruleId) };
    const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}"""

WIDE, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)


def violations(page: Page) -> list[str]:
    """Return every finding of axe-core, also of rules that it usually leaves off.

    It audits a phone's screen, a wide one and, for colours alone, a dark one, which differs in
    nothing else. The page ends as a wide and light one.
    """
    page.evaluate(AXE.read_text())
    found: list[str] = []
    for screen, dark in ((PHONE, False), (WIDE, True), (WIDE, False)):
        page.set_viewport_size(screen)
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += page.evaluate(AUDIT, "cat.color" if dark else None)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"runs out of a screen of {screen['width']} pixels")
    return found


@needs_axe
def test_axe_finds_nothing_in_free_play(visit: Visit) -> None:
    visitor = visit(reduced_motion="reduce").open()
    page = visitor.page
    assert violations(page) == []
    visitor.speed(4)
    visitor.step()
    page.click("#reveal")
    page.check("#who-designer")
    visitor.step()
    page.click("#compare-run")
    expect(page.locator("#compare-said")).to_contain_text("Done")
    page.select_option("#population", "stage0")
    expect(page.locator("#setup-pending")).to_be_visible()
    assert violations(page) == []


@needs_axe
def test_axe_finds_nothing_on_the_tour(visit: Visit, toured: str) -> None:
    visitor = visit(toured, reduced_motion="reduce").open(speed=4)
    page = visitor.page
    page.click("#tour-start")
    page.locator("#tour-dots button").last.click()
    expect(page.locator("#tour-number")).to_have_text("Stop 6 of 6")
    page.click("#tour-hurt")
    visitor.at_step(5)
    assert violations(page) == []
    page.locator("#tour-choices input").first.check()
    page.click("#tour-fix")
    visitor.at_step(10)
    expect(page.locator("#tour-guess")).to_be_visible()
    assert violations(page) == []
    page.click("#tour-next")
    expect(page.locator("#tour-end")).to_be_visible()
    assert violations(page) == []


@needs_axe
def test_axe_finds_nothing_in_the_article(visit: Visit) -> None:
    page = visit().open().page
    page.get_by_role("link", name="Blog post").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert violations(page) == []


COLOUR = """(name) => {
    const probe = document.createElement('i');
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const shade = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    return shade;
}"""


@pytest.mark.parametrize(("scheme", "least"), [("light", 130), ("dark", 90)])
def test_no_type_looks_like_a_winner(visit: Visit, scheme: str, least: int) -> None:
    page = visit(color_scheme=scheme).open().page
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 384) == (scheme == "light")
    winner = page.evaluate(COLOUR, "act")
    for type_number in range(6):
        colour = page.evaluate(COLOUR, f"type-{type_number}")
        difference = sum(abs(one - other) for one, other in zip(winner, colour, strict=True))
        assert difference > least, (type_number, winner, colour)
    expect(page.locator(".legend .faded")).to_be_visible()


SWATCHES = """() => [...document.querySelectorAll('#compare-table .swatch')]
    .map((each) => getComputedStyle(each).color.match(/\\d+/g).map(Number))"""

SIGHT = {
    "usual": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
"""What a person sees of red, green and blue: Machado, Oliveira and Fernandes (2009)."""


def differences(colours: list[list[int]], sight: Any) -> NDArray[np.float64]:
    """Return the distances between colours in CIELAB, as a kind of sight has them."""
    shares = np.array(colours) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(sight), 0, 1)
    to_xyz = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]]
    x, y, z = np.cbrt(seen @ np.transpose(to_xyz)).T
    lab = np.stack([116 * y, 500 * (x - y), 200 * (y - z)])
    apart = np.linalg.norm(lab[:, :, None] - lab[:, None], axis=0)
    return apart[np.triu_indices(len(colours), 1)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_who_are_compared_can_be_told_apart(visit: Visit, catalogue, scheme: str) -> None:
    many = DESIGNERS | dict.fromkeys(["search", "planner"], DESIGNERS["random"])
    with serving(catalogue, designers=many) as address:
        page = visit(address, color_scheme=scheme).open().page
        for each in page.locator("#compare-who input").all():
            each.check()
        page.click("#compare-run")
        expect(page.locator("#compare-table .swatch")).to_have_count(7)
        colours = page.evaluate(SWATCHES)
        for sight in SIGHT.values():
            assert differences(colours, sight).min() > 18
        page.click("#compare-cancel")
        expect(page.locator("#compare-said")).to_contain_text("Cancelled")
        page.close()


def test_the_page_needs_no_leave_for_inline_code_and_its_links_lead_somewhere(site: str) -> None:
    answer = requests.get(site, timeout=10)
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\bsrc=)", answer.text)
    for path in re.findall(r'(?:href|src)="(/[^"#]*)"', answer.text):
        assert requests.get(site + path, timeout=10).status_code == 200
