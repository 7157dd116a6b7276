"""Sessions over HTTP: a bounded number of environments by name, which expire."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusObservation


class UnknownSessionError(LookupError):
    """There is no such session, or not any more."""


class CapacityError(RuntimeError):
    """Every place is taken."""

    def __init__(self, message: str, retry_after: float) -> None:
        """Keep when to try again, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class SessionStore:
    """Environments by session, the least recently used first.

    Args:
        make: Builds an environment.
        capacity: Sessions that live at once.
        timeout: How long a session may be idle before it ends, in seconds.
        grace: How long at least before it gives way to another when every place is taken, so that
            nobody holds them all by opening sessions and leaving them.
        clock: What time it is, in seconds.
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
        """Return how many sessions live."""
        self._expire()
        return len(self._sessions)

    def reset(
        self, session_id: str | None, options: dict[str, Any]
    ) -> tuple[str, DaedalusObservation]:
        """Begin an episode in a session that lives, or else in a new one.

        A reset that fails opens no session and leaves one that lives as it was.

        Returns:
            The session's name, drawn if none was given, and its first observation.

        Raises:
            CapacityError: Every place is taken, and used.
            FieldError: The market cannot seat the population.
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
        """Return a session's environment, which counts as using it.

        Raises:
            UnknownSessionError: There is no such session, or not any more.
        """
        self._expire()
        if session_id not in self._sessions:
            raise UnknownSessionError(
                f"session_id: no session {session_id!r}, or it was idle for more than "
                f"{self._timeout:g} seconds, {self._grace:g} if others wait; POST /reset opens one"
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
        """Return how long the least recently used session has been idle."""
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
