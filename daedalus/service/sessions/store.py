"""The sessions over HTTP: a bounded number of environments, which expire."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import CapacityError
from daedalus.service.openenv.messages import DaedalusObservation


class UnknownSessionError(LookupError):
    """No session has this name, or it has ended."""


@dataclass
class _Session:
    """A live session: its environment, the visitor who opened it, and when it was last used."""

    environment: DaedalusEnvironment
    visitor: str
    used: float = 0.0


class SessionStore:
    """Environments by session name, the least recently used first.

    If a client wants a place and all are taken, a session without any step gives way at once, and
    another one after ``grace``. So nobody can hold all places by opening sessions and leaving them.

    Args:
        make: Builds an environment.
        capacity: Largest number of live sessions.
        timeout: Idle time after which a session ends, in seconds.
        grace: Idle time after which a session that has played gives way, in seconds.
        per_visitor: Largest number of live sessions of one visitor; None for no such bound.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self,
        make: Callable[[], DaedalusEnvironment],
        capacity: int,
        timeout: float,
        grace: float,
        per_visitor: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make
        self._capacity = capacity
        self._timeout = timeout
        self._grace = min(grace, timeout)
        self._per_visitor = per_visitor
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of live sessions."""
        self._expire()
        return len(self._sessions)

    def reset(
        self, session_id: str | None, options: dict[str, Any], visitor: str = ""
    ) -> tuple[str, DaedalusObservation]:
        """Begin an episode in a live session, or in a new one.

        A reset that fails opens no session and does not change a live one. The session's name is
        drawn at random if none is given; it is returned with the first observation.

        Raises:
            CapacityError: All places, or all of this visitor, are taken by sessions in use.
            FieldError: The market cannot play the population.
        """
        self._expire()
        name = session_id or uuid.uuid4().hex
        session, leaver = self._sessions.get(name), None
        if session is None:
            leaver = self._giving_way(visitor)
            session = _Session(self._make(), visitor)
        observation = session.environment.reset(**options)
        if leaver is not None:
            self._end(leaver)
        self._touch(name, session)
        return name, observation

    def get(self, session_id: str) -> DaedalusEnvironment:
        """Return a session's environment, and count this as use of the session.

        Raises:
            UnknownSessionError: No session has this name, or it has ended.
        """
        self._expire()
        if session_id not in self._sessions:
            raise UnknownSessionError(
                f"session_id: there is no session {session_id!r}. A session ends after "
                f"{self._timeout:g} idle seconds. If others wait, it ends after {self._grace:g}, "
                "or at once if it has played no step. POST /reset opens one"
            )
        session = self._sessions[session_id]
        self._touch(session_id, session)
        return session.environment

    def close(self) -> None:
        """End every session."""
        for name in list(self._sessions):
            self._end(name)

    def _touch(self, name: str, session: _Session) -> None:
        session.used = self._clock()
        self._sessions[name] = session
        self._sessions.move_to_end(name)

    def _idle(self, name: str) -> float:
        return self._clock() - self._sessions[name].used

    def _expire(self) -> None:
        while self._sessions and self._idle(oldest := next(iter(self._sessions))) > self._timeout:
            self._end(oldest)

    def _giving_way(self, visitor: str) -> str | None:
        """Return the session that ends for a new one of this visitor; None if there is room."""
        own = [name for name, each in self._sessions.items() if each.visitor == visitor]
        if self._per_visitor is not None and len(own) >= self._per_visitor:
            return self._first_of(own, f"all {len(own)} sessions of your address are taken")
        if len(self._sessions) >= self._capacity:
            return self._first_of(list(self._sessions), f"all {self._capacity} sessions are taken")
        return None

    def _first_of(self, names: list[str], full: str) -> str:
        """Return the first session to give way, of names with the least recently used first."""
        for name in names:
            if not self._sessions[name].environment.has_played:
                return name
        wait = self._grace - self._idle(names[0])
        if wait >= 0.0:
            raise CapacityError(f"{full}; try again later", wait)
        return names[0]

    def _end(self, name: str) -> None:
        self._sessions.pop(name).environment.close()
