"""Training against a server: prompts from what it observes, rewards from its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from openenv.core.sync_client import SyncEnvClient

from daedalus.designers.prompt import Message, PromptSettings, prompts
from daedalus.market.parsing import parse_mechanism
from daedalus.service.openenv.messages import (
    DaedalusAction,
    DaedalusObservation,
    DaedalusState,
    PartialObservation,
)
from daedalus.service.openenv.observations import from_wire

Session = SyncEnvClient[DaedalusAction, DaedalusObservation, DaedalusState]


class RemoteMarket:
    """What a trainer takes from a server, over one OpenEnv session.

    A prompt shows the market of a seed as its episode begins. A completion earns the reward of that
    episode's first step under its mechanism: those of one prompt face the same draws and differ by
    their mechanisms alone. A text that is no mechanism is not sent and earns 0.

    Args:
        session: A client that is connected, ``DaedalusClient(base_url=...).sync()``.
        prompt: What the model is shown.
        **options: What every reset takes beside its seed, see ``DaedalusClient``.
    """

    def __init__(self, session: Session, prompt: PromptSettings, **options: Any) -> None:
        self._session = session
        self._prompt = prompt
        self._options = options

    def prompts(self, seeds: Iterable[int]) -> list[dict[str, Any]]:
        """Return rows of a data set: a chat in ``prompt``, its episode's seed in ``seed``."""
        return [{"prompt": self._chat(seed), "seed": seed} for seed in seeds]

    def reward(
        self, completions: Sequence[list[Message]], seed: Sequence[int], **columns: Any
    ) -> list[float]:
        """Return what each completion earns, in [0, 1]; TRL calls it with the columns of the rows.

        Raises:
            RuntimeError: The server refuses a reset, or has closed the session.
        """
        return [
            self._earned(chat[-1]["content"], each)
            for chat, each in zip(completions, seed, strict=True)
        ]

    def _chat(self, seed: int) -> list[Message]:
        observed = self._session.reset(seed=seed, **self._options).observation
        told = observed.model_dump(include=set(PartialObservation.model_fields))
        return prompts(from_wire(PartialObservation(**told)), self._prompt)[0]

    def _earned(self, text: str, seed: int) -> float:
        mechanism = parse_mechanism(text).mechanism
        if mechanism is None:
            return 0.0
        self._session.reset(seed=seed, **self._options)
        return float(self._session.step(DaedalusAction(**mechanism.to_dict())).reward or 0.0)
