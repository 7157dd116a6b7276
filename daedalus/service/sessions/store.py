"""The sessions over HTTP: a bounded number of environments, which expire."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusObservation


class UnknownSessionError(LookupError):
    """No session has this name, or it has ended."""


class CapacityError(RuntimeError):
    """All places for sessions are taken."""

    def __init__(self, message: str, retry_after: float) -> None:
        """Keep the time after which to try again, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class SessionStore:
    """Environments by session name, the least recently used first.

    Args:
        make: Builds an environment.
        capacity: Largest number of live sessions.
        timeout: Idle time after which a session ends, in seconds.
        grace: Idle time after which a session ends if all places are taken and a client wants one.
            So nobody can hold all places by opening sessions and leaving them.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self,
        make: Callable[[], DaedalusEnvironment],
        capacity: int,
        timeout: float,
        grace: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make
        self._capacity = capacity
        self._timeout = timeout
        self._grace = min(grace, timeout)
        self._clock = clock
        self._sessions: OrderedDict[str, tuple[float, DaedalusEnvironment]] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of live sessions."""
        self._expire()
        return len(self._sessions)

    def reset(
        self, session_id: str | None, options: dict[str, Any]
    ) -> tuple[str, DaedalusObservation]:
        """Begin an episode in a live session, or in a new one.

        A reset that fails opens no session and does not change a live one.

        Returns:
            The session's name, drawn at random if there was none, and the first observation.

        Raises:
            CapacityError: All places are taken by sessions in use.
            FieldError: The market cannot play the population.
        """
        self._expire()
        name = session_id or uuid.uuid4().hex
        if name in self._sessions:
            environment = self._sessions[name][1]
        else:
            self._make_room()
            environment = self._make()
        observation = environment.reset(**options)
        self._touch(name, environment)
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
                f"{self._timeout:g} idle seconds, or {self._grace:g} if others wait; "
                "POST /reset opens one"
            )
        environment = self._sessions[session_id][1]
        self._touch(session_id, environment)
        return environment

    def close(self) -> None:
        """End every session."""
        while self._sessions:
            self._sessions.popitem()[1][1].close()

    def _touch(self, name: str, environment: DaedalusEnvironment) -> None:
        self._sessions[name] = (self._clock(), environment)
        self._sessions.move_to_end(name)

    def _idle(self) -> float:
        """Return the idle time of the least recently used session, in seconds."""
        return self._clock() - next(iter(self._sessions.values()))[0]

    def _expire(self) -> None:
        while self._sessions and self._idle() > self._timeout:
            self._end_oldest()

    def _make_room(self) -> None:
        if len(self._sessions) < self._capacity:
            return
        wait = self._grace - self._idle()
        if wait >= 0.0:
            raise CapacityError(f"all {self._capacity} sessions are taken; try again later", wait)
        self._end_oldest()

    def _end_oldest(self) -> None:
        self._sessions.popitem(last=False)[1][1].close()
