"""Designers that are made for a session's market, bidders and objective, such as a search."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.env import DesignEnv, Designer
from daedalus.service.sessions.shared_answers import SharedAnswers
from daedalus.service.sessions.worker import Worker

Make = Callable[[DesignEnv], Designer]
"""Makes a designer for an environment, whose reward it maximises. It can be pickled."""


def made_for(settings: DesignerSettings, seed: int, env: DesignEnv) -> Designer:
    """Return the designer that settings make for an environment, with the seed of the server."""
    return settings.build(DesignerContext(env, seed))


class MadeDesigners:
    """Makes designers in a process of their own, one at a time, and keeps them.

    Args:
        makers: What makes each, by name.
        seconds: Longest time of making one.
        timeout: Longest time that a request waits for one, in seconds.
        queue: Largest number that wait to be made.
    """

    def __init__(
        self, makers: Mapping[str, Make], seconds: float, timeout: float, queue: int
    ) -> None:
        self._makers = makers
        self._timeout = timeout
        self._worker = Worker(seconds)
        self._made: SharedAnswers[Designer] = SharedAnswers("making", queue)

    @property
    def names(self) -> Collection[str]:
        """Return the names of the designers that can be made."""
        return self._makers.keys()

    async def of(
        self, name: str, env: DesignEnv, visitor: str, left: asyncio.Future[None] | None = None
    ) -> tuple[Designer | None, str | None]:
        """Return the designer of an environment, or why there is none yet, in words.

        Args:
            name: One of ``names``.
            env: The market, its bidders, the shape of its episodes, and the objective.
            visitor: Who asks. Each has one designer made at a time.
            left: Is done when the client has left.
        """
        question = (
            f"{name}: {env.settings} {env.market.population} {env.reward} {env.goal.allowed or ''}"
        )
        if not self._made.claim(visitor, question):
            return None, "another designer is being made for your address; ask again later"
        make, run = self._makers[name], self._worker.run
        return await self._made.ask_in_words(
            f"the designer {name}", question, lambda: run(make, env), self._timeout, left
        )

    def close(self) -> None:
        """End the work under way; a second call changes nothing."""
        self._made.close()
        self._worker.close()
