"""A browser, a service for it, and visitors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.programs import BROWSER
from tests.service.conftest import serving
from tests.service.page.static.visitor import DESIGNERS, WAIT, Visit, Visitor
from tests.service.sessions.test_background_designer import ANSWER, saying

expect.set_options(timeout=WAIT)
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
