"""The session store: places run out, and idle sessions give theirs away."""

from __future__ import annotations

import pytest

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.sessions.store import CapacityError, SessionStore, UnknownSessionError


def test_idle_sessions_give_their_place_away(catalogue) -> None:
    now = [0.0]
    store = SessionStore(lambda: DaedalusEnvironment(catalogue), 2, 10.0, 10.0, lambda: now[0])
    store.reset("old", {})
    now[0] = 6.0
    store.reset("young", {})
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
    now = [0.0]
    store = SessionStore(lambda: DaedalusEnvironment(catalogue), 2, 100.0, 10.0, lambda: now[0])
    store.reset("left", {})
    now[0] = 50.0
    store.get("left")  # nobody wants its place
    store.reset("used", {})
    now[0] = 59.0
    store.get("used")
    with pytest.raises(CapacityError) as caught:
        store.reset("third", {})
    assert caught.value.retry_after == pytest.approx(1.0)
    now[0] = 60.5
    store.reset("third", {})
    store.get("used")
    with pytest.raises(UnknownSessionError, match="10 if others wait"):
        store.get("left")
    assert len(store) == 2
