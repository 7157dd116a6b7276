"""Training against a server: prompts from its observations, rewards from its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from openenv.core.sync_client import SyncEnvClient

from daedalus.design.language.prompt import Message, PromptSettings, prompts
from daedalus.market.allowed import read_allowed, written_allowed
from daedalus.market.goal import Goal
from daedalus.market.parsing import parse_mechanism
from daedalus.service.openenv.messages import DaedalusAction, DaedalusObservation, DaedalusState
from daedalus.service.openenv.observations import as_a_client_sees

Session = SyncEnvClient[DaedalusAction, DaedalusObservation, DaedalusState]


def asked_of(goal: Goal | None, options: dict[str, Any]) -> tuple[Goal, dict[str, Any]]:
    """Return the goal of a session and the options of its resets, which allow the same.

    Args:
        goal: What is asked for; None is R.
        options: Options of a reset. Their ``allowed`` counts unless the goal restricts.

    Raises:
        ValueError: ``allowed`` is no restriction.
    """
    goal = goal or Goal()
    allowed = goal.allowed or read_allowed(options.get("allowed", {}))
    if not allowed:
        return goal, options
    return replace(goal, allowed=allowed), options | {"allowed": written_allowed(allowed)}


def told_by(goal: Goal, observed: DaedalusObservation) -> Goal:
    """Return a goal with what an episode allows, and with its brief if the goal has none."""
    goal = replace(goal, allowed=read_allowed(observed.metadata.get("allowed", {})))
    if not observed.brief or goal.brief:
        return goal
    return replace(goal, weights={}, brief=observed.brief)


class RemoteMarket:
    """Prompts and rewards for a trainer, over one OpenEnv session.

    A prompt shows the market of a seed at the beginning of its episode. A completion earns the
    reward of that episode's first step under its mechanism. The completions of one prompt face the
    same draws, so only their mechanisms differ. A text that is no mechanism, or one that the server
    does not allow, is not sent; it earns 0.

    Args:
        session: A connected client, ``DaedalusClient(base_url=...).sync()``.
        prompt: Settings of the prompt that the model sees.
        goal: What the prompt asks for, which should be the session's objective; None is R. Every
            reset asks for what it allows. A prompt also has the brief of its episode, and what the
            server allows.
        **options: Options of every reset beside its seed, see ``DaedalusClient``.
    """

    def __init__(
        self, session: Session, prompt: PromptSettings, goal: Goal | None = None, **options: Any
    ) -> None:
        self._session = session
        self._prompt = prompt
        self._goal, self._options = asked_of(goal, options)

    def prompts(self, seeds: Iterable[int]) -> list[dict[str, Any]]:
        """Return rows of a data set: a chat in ``prompt``, the episode's seed in ``seed``."""
        return [{"prompt": self._chat(seed), "seed": seed} for seed in seeds]

    def reward(
        self, completions: Sequence[list[Message]], seed: Sequence[int], **columns: Any
    ) -> list[float]:
        """Return the reward of each completion, in [0, 1]; TRL calls this with the rows' columns.

        Raises:
            RuntimeError: The server refused a reset, or closed the session.
        """
        return [
            self._earned(chat[-1]["content"], each)
            for chat, each in zip(completions, seed, strict=True)
        ]

    def _chat(self, seed: int) -> list[Message]:
        observed = self._session.reset(seed=seed, **self._options).observation
        goal = told_by(self._goal, observed)
        return prompts(as_a_client_sees(observed, goal), self._prompt)[0]

    def _earned(self, text: str, seed: int) -> float:
        mechanism = parse_mechanism(text, goal=self._goal).mechanism
        if mechanism is None:
            return 0.0
        observed = self._session.reset(seed=seed, **self._options).observation
        if not told_by(self._goal, observed).admits(mechanism):
            return 0.0
        return float(self._session.step(DaedalusAction(**mechanism.to_dict())).reward or 0.0)
