"""A browser, a service for it, and visitors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize, expect, sync_playwright

from tests.programs import BROWSER
from tests.service.conftest import serving
from tests.service.page.static.visitor import DESIGNERS, WAIT, Visit, Visitor
from tests.service.sessions.test_background_designer import ANSWER, saying

expect.set_options(timeout=WAIT)
WIDE = ViewportSize(width=1280, height=800)
REFUSED = re.compile(r"Failed to load resource: .* status of (404|409|429|503)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that open the page if there is no browser, before a service starts."""
    for each in items:
        if "browser" in getattr(each, "fixturenames", ()):
            each.add_marker(BROWSER.needed)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=BROWSER.path, args=["--no-sandbox"])


@pytest.fixture(scope="package")
def site(catalogue) -> Iterator[str]:
    """Answer with room for many, and a model that always says the same."""
    with serving(catalogue, saying(ANSWER), DESIGNERS, http_sessions=256) as found:
        yield found


@pytest.fixture(scope="package")
def toured(shipped) -> Iterator[str]:
    """Answer with what is shipped: all markets and populations, so the tour has all its stops."""
    with serving(shipped, http_sessions=256) as found:
        yield found


@pytest.fixture(scope="package")
def screen(browser: Browser) -> Iterator[Callable[[bool], BrowserContext]]:
    """Return the context of all visitors with or without touch; they may keep nothing in it.

    An empty tab stays open in it. Without that each visitor pays new processes, about a second.
    """
    contexts: dict[bool, BrowserContext] = {}

    def build(touch: bool) -> BrowserContext:
        if touch not in contexts:
            contexts[touch] = browser.new_context(has_touch=touch)
            contexts[touch].new_page()
        return contexts[touch]

    yield build
    for each in contexts.values():
        assert each.storage_state(indexed_db=True) == {"cookies": [], "origins": []}


@pytest.fixture
def visit(screen: Callable[[bool], BrowserContext], site: str) -> Iterator[Visit]:
    """Open the page in a tab of its own; at the end nothing may have gone wrong in it."""
    visitors: list[Visitor] = []

    def build(
        address: str = site, viewport: ViewportSize = WIDE, has_touch: bool = False, **media: Any
    ) -> Visitor:
        page = screen(has_touch).new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(**media)
        visitor = Visitor(page, address)
        page.on("console", lambda said: note(visitor, said.type, said.text))
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.on("request", lambda request: visitor.requested.append(request.url))
        visitors.append(visitor)
        return visitor

    yield build
    for visitor in visitors:
        visitor.page.close()
        assert visitor.complaints == []
        foreign = [url for url in visitor.requested if not url.startswith(visitor.address)]
        assert visitor.requested and foreign == []


def note(visitor: Visitor, kind: str, text: str) -> None:
    if kind in ("error", "warning") and not REFUSED.match(text):
        visitor.complaints.append(text)
