"""The session store: places run out, and idle sessions give theirs away."""

from __future__ import annotations

from functools import partial

import pytest

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import CapacityError
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.sessions.store import SessionStore, UnknownSessionError


def opened(catalogue, capacity: int, timeout: float = 100.0, **more) -> tuple:
    """Return a store whose sessions give way after ten idle seconds, and its clock."""
    now = [0.0]
    make = partial(DaedalusEnvironment, catalogue)
    return SessionStore(make, capacity, timeout, 10.0, clock=lambda: now[0], **more), now


def begin(store: SessionStore, name: str, visitor: str = "") -> None:
    """Open a session and play a step."""
    store.reset(name, {}, visitor)
    store.get(name).step(DaedalusAction())


def test_idle_sessions_give_their_place_away(catalogue) -> None:
    store, now = opened(catalogue, 2, timeout=10.0)
    begin(store, "old")
    now[0] = 6.0
    begin(store, "young")
    with pytest.raises(CapacityError) as caught:
        store.reset("third", {})
    assert caught.value.retry_after == pytest.approx(4.0)
    now[0] = 10.5
    store.reset("third", {})
    assert len(store) == 2
    with pytest.raises(UnknownSessionError, match="10 idle seconds"):
        store.get("old")
    now[0] = 15.0
    store.get("young")  # using it keeps it
    now[0] = 24.0
    store.get("young")


def test_a_session_that_was_left_gives_way_when_every_place_is_taken(catalogue) -> None:
    store, now = opened(catalogue, 2)
    begin(store, "left")
    now[0] = 50.0
    store.get("left")  # nobody wants its place
    begin(store, "used")
    now[0] = 59.0
    store.get("used")
    with pytest.raises(CapacityError) as caught:
        store.reset("third", {})
    assert caught.value.retry_after == pytest.approx(1.0)
    now[0] = 60.5
    store.reset("third", {})
    store.get("used")
    with pytest.raises(UnknownSessionError, match="If others wait, it ends after 10,"):
        store.get("left")
    assert len(store) == 2


def test_sessions_without_a_step_give_way_first_and_at_once(catalogue) -> None:
    store, _ = opened(catalogue, 3)
    begin(store, "played")
    store.reset("played", {})  # it is no stranger
    store.reset("first", {})
    store.reset("second", {})
    store.reset("third", {})
    store.get("played"), store.get("second"), store.get("third")
    with pytest.raises(UnknownSessionError, match="at once if it has played no step"):
        store.get("first")
    for name in ("second", "third"):
        store.get(name).step(DaedalusAction())
    with pytest.raises(CapacityError, match="all 3 sessions are taken"):
        store.reset("fourth", {})


def test_a_reset_that_fails_ends_no_session(catalogue) -> None:
    store, _ = opened(catalogue, 1)
    store.reset("first", {})
    with pytest.raises(ValueError):
        store.reset("second", {"n_agents": 1})
    store.get("first")
    assert len(store) == 1


def test_a_visitor_holds_only_its_own_places(catalogue) -> None:
    store, now = opened(catalogue, 4, per_visitor=2)
    begin(store, "d", "other")  # the oldest, and not the next visitor's
    for name in ("a", "b"):
        begin(store, name, "greedy")
    with pytest.raises(CapacityError, match="all 2 sessions of your address"):
        store.reset("c", {}, "greedy")
    begin(store, "a", "greedy")  # a live session needs no new place
    now[0] = 11.0
    store.get("a")
    store.reset("c", {}, "greedy")
    store.get("a"), store.get("c"), store.get("d")
    with pytest.raises(UnknownSessionError):
        store.get("b")
