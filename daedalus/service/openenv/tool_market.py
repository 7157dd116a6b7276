"""The market as a tool: an environment of TRL for models that call functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature, cleandoc
from typing import Any, Literal

from daedalus.design.language.explanation import values_in_words
from daedalus.design.language.prompt import PromptSettings, explained, observation_texts
from daedalus.market.goal import Goal
from daedalus.market.mechanism import CHOICES, EFFECTS, RANGES
from daedalus.market.mechanism_schema import mechanism_schema
from daedalus.service.openenv.messages import DaedalusAction, MechanismFields
from daedalus.service.openenv.observations import as_a_client_sees
from daedalus.service.openenv.remote import Session

ENDED = "The episode has ended."


def _of_the_mechanism(play: Callable[..., str]) -> Callable[..., str]:
    """Give a tool the eleven fields as arguments, with types, meanings and defaults."""
    meanings = [
        f"    {name}: {EFFECTS[name]}" + (f"; {values_in_words(field)}" if name in RANGES else "")
        for name, field in mechanism_schema()["properties"].items()
    ]
    types: dict[str, Any] = {
        name: Literal[*CHOICES[name]] if name in CHOICES else float if name in RANGES else bool
        for name in MechanismFields.model_fields
    }
    arguments = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[name])
        for name, field in MechanismFields.model_fields.items()
    ]
    receiver = Parameter("self", Parameter.POSITIONAL_ONLY)
    play.__doc__ = "\n".join([cleandoc(play.__doc__ or ""), "", "Args:", *meanings])
    play.__annotations__ = types | {"return": str}
    play.__signature__ = Signature([receiver, *arguments])  # type: ignore[attr-defined]
    return play


class ToolMarket:
    """An episode that a model plays by calling ``set_rules``.

    TRL's ``environment_factory`` makes one for each completion. To it, each public method is a tool
    of the model, except ``reset`` and ``get_reward``.

    Args:
        session: A connected client of its own, ``DaedalusClient(base_url=...).sync()``.
        prompt: Settings of the text that the model sees of a market.
        goal: What the text asks for, which should be the session's objective; None is R.
        **options: Options of every reset beside its seed, see ``DaedalusClient``.
    """

    def __init__(
        self, session: Session, prompt: PromptSettings, goal: Goal | None = None, **options: Any
    ) -> None:
        self._session = session
        self._prompt = prompt
        self._goal = goal
        self._options = options
        self._rewards: list[float] = []
        self._length = 1

    def reset(self, seed: int, **columns: Any) -> str:
        """Begin the episode of a row's seed, and return what the model is told of its market."""
        observed = self._session.reset(seed=seed, **self._options).observation
        self._rewards, self._length = [], observed.episode_length
        return self._told(observed)

    def get_reward(self) -> float:
        """Return the mean reward of the episode's steps, 0 to 1; a step not played earns 0."""
        return sum(self._rewards) / self._length

    @_of_the_mechanism
    def set_rules(self, **rules: Any) -> str:
        """Set the rules of the next rounds, and see what happens under them."""
        if len(self._rewards) == self._length:
            return ENDED
        result = self._session.step(DaedalusAction(**rules))
        self._rewards.append(float(result.reward or 0.0))
        return ENDED if result.done else self._told(result.observation)

    def _told(self, observed: Any) -> str:
        return observation_texts(as_a_client_sees(observed, self._goal), self._prompt)[0]


def tool_prompts(
    seeds: Iterable[int], prompt: PromptSettings, goal: Goal | None = None
) -> list[dict[str, Any]]:
    """Return rows of a data set: the explained task in ``prompt``, the episode's seed in ``seed``.

    TRL appends the first observation to the last message. Without a goal R is asked for.
    """
    task = explained(prompt, goal or Goal(), ToolMarket.set_rules.__name__)
    system = {"role": "system", "content": task}
    chat = [system, {"role": "user", "content": ""}]
    return [{"prompt": chat, "seed": seed} for seed in seeds]
