"""The trained designer in the background, with the heuristic designer as its fallback."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from daedalus.design.designers.heuristic import HeuristicDesigner
from daedalus.design.designers.purpose import Purpose
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import Generate, PromptSettings, prompts
from daedalus.design.language.reasoning import answered_mechanism
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import Observation
from daedalus.market.seeds import generator
from daedalus.service.openenv.errors import bounded
from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.sessions.session_messages import DesignAnswer, DesignerState, DesignerStatus
from daedalus.service.sessions.shared_answers import SharedAnswers

MAX_QUOTED = 4000
"""Most characters of a model's text that an answer repeats. A mechanism takes 350."""

_LOG = logging.getLogger(__name__)

Load = Callable[[], tuple[Generate[str], PromptSettings]]
"""Loads a model: returns its generate function, and the prompt that it was trained on."""


class BackgroundDesigner:
    """Asks a model on a thread of its own, so other requests do not wait.

    Args:
        load: Loads the model; None if there is none.
        timeout: Longest time that a request waits for the model, in seconds.
        queue: Largest number of different questions that wait.
        trained_for: What the model was trained for; None if it is not known.
        advice: What to do about a model that was trained for something else.
    """

    def __init__(
        self,
        load: Load | None,
        timeout: float,
        queue: int,
        trained_for: Purpose | None = None,
        advice: str = "",
    ) -> None:
        self._timeout = timeout
        self._advice = advice
        self._trained_for = trained_for
        self._answers: SharedAnswers[str] = SharedAnswers("designer", queue)
        self._loaded = None if load is None else self._answers.thread.submit(load)
        if self._loaded is not None:
            self._loaded.add_done_callback(_log_failure)

    def close(self) -> None:
        """Take no more questions."""
        self._answers.close()

    @property
    def status(self) -> DesignerStatus:
        """Return ``none``, ``loading``, ``ready`` or ``failed``."""
        if self._loaded is None:
            return "none"
        if not self._loaded.done():
            return "loading"
        failed = self._loaded.cancelled() or self._loaded.exception()
        return "failed" if failed else "ready"

    def state(self) -> DesignerState:
        """Return whether the designer is ready, and if not, why."""
        return DesignerState(
            status=self.status, error=self._unready(), waiting=self._answers.waiting
        )

    async def design(
        self,
        observation: Observation,
        left: asyncio.Future[None] | None = None,
        env: DesignEnv | None = None,
        population: str | None = None,
    ) -> DesignAnswer:
        """Return the model's mechanism for one market, or the heuristic one and the reason.

        Args:
            observation: What the designer sees.
            left: Is done when the client has left; then nobody waits for the model.
            env: What the model is asked for; None is what it was trained for.
            population: Name of the bidders of ``env``.
        """
        began, goal = time.perf_counter(), self._goal(env)
        observation = replace(observation, goals=np.full(1, goal))
        text, error = None, self._unready() or self._untold(observation, goal)
        if error is None:
            text, error = await self._ask(observation, left)
        parsed = answered_mechanism(text, goal=goal) if text is not None else None
        if parsed is not None and parsed.mechanism is None:
            error = f"the model's answer is no valid mechanism: {parsed.reason}"
        mechanism = parsed.mechanism if parsed is not None else None
        more = {
            "error": error,
            "text": None if text is None else bounded(text, MAX_QUOTED),
            "note": self._note(env, population) if mechanism else None,
        }
        return design_answer(mechanism, "ai", observation, self.status, began, **more)

    def _goal(self, env: DesignEnv | None) -> Goal:
        """Return what the model is asked for: by an environment, or in its training if known."""
        if env is not None:
            return env.goal
        reward = self._trained_for.reward if self._trained_for is not None else None
        return Goal(reward.active) if reward else Goal()

    async def _ask(
        self, observation: Observation, left: asyncio.Future[None] | None
    ) -> tuple[str | None, str | None]:
        """Return the model's text, or why there is none."""
        assert self._loaded is not None
        generate, prompt = self._loaded.result()
        chats, goal = prompts(observation, prompt), observation.goal(0)
        question = json.dumps([chats, repr(goal.restrictions)])
        # Equal questions get equal answers, because each gets the same random numbers.
        return await self._answers.ask_in_words(
            "the model",
            question,
            lambda: generate(chats, generator(0, "service design"), [goal])[0],
            self._timeout,
            left,
        )

    def _unready(self) -> str | None:
        return {
            "none": "no designer has been trained here",
            "loading": "the model is being loaded; ask again in a moment",
            "failed": "the model could not be loaded; the server's log says why",
            "ready": None,
        }[self.status]

    def _untold(self, observation: Observation, goal: Goal) -> str | None:
        """Return why the model cannot be asked, or None if it can."""
        assert self._loaded is not None
        prompt = self._loaded.result()[1]
        if goal.brief and prompt.compact and not prompt.explained:
            return "the model reads no briefs, and the episode has one"
        weights = goal.weights
        if prompt.weights and not weights:
            return "the model reads the weights of an objective; send a session_id"
        others = [name for name in weights if name not in prompt.weights]
        if prompt.weights and others:
            known, asked = ", ".join(prompt.weights), ", ".join(others)
            return f"the model was trained for weights of {known}, and not for {asked}"
        missing = missing_names(observation, prompt)
        if not missing:
            return None
        names = ", ".join(missing)
        return f"the model was trained to see {names}; send them, or send a session_id"

    def _note(self, env: DesignEnv | None, population: str | None) -> str | None:
        """Return for what else the model was trained; None if it does what it is asked for."""
        purpose = self._trained_for
        told = purpose.instead(env, population) if purpose and env else ""
        return f"{told}{self._advice}" if told else None


def missing_names(observation: Observation, prompt: PromptSettings) -> list[str]:
    """Return the numbers that the prompt shows and the observation does not have, sorted."""
    known = np.isfinite(observation.recent[0]).any(axis=1)
    told = {"welfare", *prompt.averages, *(prompt.outcomes if prompt.rounds else [])}
    columns = {name: "gini" if name == "fairness" else name for name in told}
    missing = {
        name
        for name, column in columns.items()
        if np.isnan(observation.field(column)[0, known]).any()
    }
    if prompt.mechanism and observation.mechanisms.malformed[0]:
        missing.add("mechanism")
    missing |= {name for name in prompt.proxies if np.isnan(observation.proxy(name)[0])}
    return sorted(missing)


def design_answer(
    mechanism: Mechanism | None,
    source: Literal["ai", "rule"],
    observation: Observation,
    status: DesignerStatus,
    began: float,
    **more: Any,
) -> DesignAnswer:
    """Return an answer; the heuristic designer stands in for a mechanism that is not there.

    That designer does not react to unknown numbers.
    """
    fallback = mechanism is None
    if mechanism is None:
        mechanism = HeuristicDesigner().propose(observation, generator(0, "unused"))[0]
    return DesignAnswer(
        mechanism=WireMechanism(**mechanism.to_dict()),
        source="fallback" if fallback else source,
        status=status,
        latency=time.perf_counter() - began,
        **more,
    )


def _log_failure(loaded: Future[tuple[Generate[str], PromptSettings]]) -> None:
    if not loaded.cancelled() and loaded.exception():
        _LOG.error("the designer could not be loaded", exc_info=loaded.exception())
