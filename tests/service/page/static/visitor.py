"""A visitor with a browser tab, and other helpers for the tests of the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import requests
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as TooLate

from daedalus.design.designers.base import Designer
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.heuristic import HeuristicDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.market.mechanism import Mechanism
from daedalus.service.openenv.catalogue import Catalogue
from tests.service.conftest import serving

DESIGNERS: dict[str, Designer] = {
    "random": RandomDesigner(),
    "heuristic": HeuristicDesigner(),
    "informed_greedy": FixedDesigner(mechanism=Mechanism(auction_type="vcg", reserve_price=0.3)),
}


WAIT = 30_000  # milliseconds, on a busy machine

PROGRESS = """([text, logged]) =>
    document.getElementById("progress")?.textContent.includes(text)
    && [null, document.querySelectorAll("#log tr").length].includes(logged)"""


@dataclass
class Visitor:
    """Somebody with a tab of their own."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def open(self, speed: int | None = None) -> Visitor:
        self.page.goto(self.address)
        self.told_progress("Step 1 of 10")
        if speed is not None:
            self.speed(speed)
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
        self.page.locator("#speed").fill(str(stop))

    def begin(self, **options: Any) -> None:
        for name, value in options.items():
            control = self.page.locator(f"#{name}")
            if name in ("population", "market", "objective"):
                control.select_option(value)
            else:
                control.fill(str(value))
        with self.page.expect_request("**/api/truth*"):  # of the new episode
            self.page.click("#reset")
        self.at_step(1)  # the page plays the first step

    def step(self) -> None:
        steps = int(re.findall(r"\d+", self.page.inner_text("#progress"))[0])
        self.page.click("#step")
        self.at_step(steps + 1)

    def at_step(self, number: int) -> None:
        """Wait until so many steps have been played and shown."""
        self.told_progress(f"Step {number} of", number)
        expect(self.page.locator("#log tr")).to_have_count(number)

    def told_progress(self, text: str, logged: int | None = None) -> None:
        """Wait until the page says so, and so many steps are in the log, if that is asked.

        ``expect`` looks twice a second, and describes what it sees each time it looks in vain.
        A tab that has just opened holds no page yet.
        """
        with suppress(TooLate):
            self.page.wait_for_function(PROGRESS, arg=[text, logged], polling=50, timeout=WAIT)
        expect(self.page.locator("#progress")).to_contain_text(text)

    def set_field(self, name: str, value: Any) -> None:
        control = self.page.locator(f"#rule-{name}")
        if isinstance(value, str):
            control.select_option(value)
        elif isinstance(value, bool):
            control.click()
        else:
            control.fill(str(value))
            control.press("Tab")


Visit = Callable[..., Visitor]


@contextmanager
def at_own_site(
    visit: Visit, catalogue: Catalogue, speed: int | None = None, **changes: Any
) -> Iterator[Visitor]:
    """Open the page of a server that no other test uses."""
    with serving(catalogue, **changes) as address:
        visitor = visit(address).open(speed)
        yield visitor
        visitor.page.close()  # or the server would wait for it


def bar_heights(page: Page) -> list[float]:
    return page.locator("#arena .bid").evaluate_all(
        "bars => bars.map((bar) => Number(bar.getAttribute('height')))"
    )


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
