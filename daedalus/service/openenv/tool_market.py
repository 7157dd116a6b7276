"""The market as a tool: an environment of TRL for models that call functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature, cleandoc
from types import MethodType
from typing import Any, Literal

from daedalus.design.language.explanation import BRIEF, values_in_words
from daedalus.design.language.prompt import PromptSettings, explained, observation_texts
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import (
    CHOICES,
    EFFECTS,
    FIELDS,
    RANGES,
    Mechanism,
    Mechanisms,
)
from daedalus.market.mechanism_schema import mechanism_schema
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.openenv.observations import as_a_client_sees
from daedalus.service.openenv.remote import Session, asked_of, told_by

ENDED = "The episode has ended."
BRIEF_OF_EPISODE = Goal(brief="it stands above the first market that you are shown.")
"""A goal for ``tool_prompts`` where each episode has a brief of its own."""


def _of_the_mechanism(play: Callable[..., str], goal: Goal = ANYTHING) -> Callable[..., str]:
    """Give a tool the eleven fields as arguments; their types and defaults follow the goal."""
    told = (*RANGES, *goal.allowed)  # choices stand in the type
    meanings = [
        f"    {name}: {EFFECTS[name]}" + (f"; {values_in_words(field)}" if name in told else "")
        for name, field in mechanism_schema(goal.allowed)["properties"].items()
    ]
    types: dict[str, Any] = {
        name: Literal[*goal.values(name)] if name in CHOICES else float if name in RANGES else bool
        for name in FIELDS
    }
    arguments = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value, annotation=types[name])
        for name, value in _defaults(goal).items()
    ]
    receiver = Parameter("self", Parameter.POSITIONAL_ONLY)
    play.__doc__ = "\n".join([cleandoc(play.__doc__ or ""), "", "Args:", *meanings])
    play.__annotations__ = types | {"return": str}
    play.__signature__ = Signature([receiver, *arguments])  # type: ignore[attr-defined]
    return play


def _defaults(goal: Goal) -> dict[str, Any]:
    """Return the fields of the default mechanism, or of the nearest that is allowed."""
    return goal.nearest(Mechanisms.stack([Mechanism()]))[0].to_dict()


class ToolMarket:
    """An episode that a model plays by calling ``set_rules``.

    TRL's ``environment_factory`` makes one for each completion. To it, each public method is a tool
    of the model, except ``reset`` and ``get_reward``.

    Args:
        session: A connected client of its own, ``DaedalusClient(base_url=...).sync()``.
        prompt: Settings of the text that the model sees of a market.
        goal: What the text asks for, which should be the session's objective; None is R. The tool's
            arguments are what it allows, and every reset asks for that.
        **options: Options of every reset beside its seed, see ``DaedalusClient``, such as
            ``briefs="training"``, where an episode is one call that earns a brief's score.
    """

    def __init__(
        self, session: Session, prompt: PromptSettings, goal: Goal | None = None, **options: Any
    ) -> None:
        self._session = session
        self._prompt = prompt
        self._goal, self._options = asked_of(goal, options)
        if self._goal.allowed:
            self.set_rules = MethodType(self._restricted(), self)  # type: ignore[method-assign]
        self._rewards: list[float] = []
        self._length = 1
        self._offered = self._goal
        self._failure: Exception | None = None

    def reset(self, seed: int, **columns: Any) -> str:
        """Begin the episode of a row's seed, and return what the model is told of its market.

        The words of its brief stand first, if it has one and the goal has none.
        """
        observed = self._session.reset(seed=seed, **self._options).observation
        self._rewards, self._length, self._failure = [], observed.episode_length, None
        self._offered = told_by(self._goal, observed)
        asked = [] if self._goal.brief else [BRIEF.format(brief=observed.brief).strip()]
        return "\n\n".join([*asked * bool(observed.brief), self._told(observed)])

    def get_reward(self) -> float:
        """Return the mean reward of the episode's steps, 0 to 1; a step not played earns 0.

        Raises:
            RuntimeError: The server failed in this episode. TRL tells the model what a tool raises,
                and goes on; this ends its run.
        """
        if self._failure is not None:
            told = f"{type(self._failure).__name__}: {self._failure}"
            raise RuntimeError(
                f"the server failed in an episode, which has no reward; start it and the training "
                f"again ({told})"
            ) from self._failure
        return sum(self._rewards) / self._length

    @_of_the_mechanism
    def set_rules(self, **rules: Any) -> str:
        """Set the rules of the next rounds, and see what happens under them."""
        if self._failure is not None:
            raise self._failure
        if len(self._rewards) == self._length:
            return ENDED
        action = DaedalusAction(**_defaults(self._goal) | rules)
        self._offered.require(action.to_mechanism())
        try:
            result = self._session.step(action)
        except Exception as error:  # all that could be wrong with the mechanism was checked
            self._failure = error
            raise
        self._rewards.append(float(result.reward or 0.0))
        return ENDED if result.done else self._told(result.observation)

    def _restricted(self) -> Callable[..., str]:
        """Return the tool of this market, whose arguments are what its goal allows."""
        play = type(self).set_rules

        def set_rules(market: ToolMarket, /, **rules: Any) -> str:
            return play(market, **rules)

        set_rules.__doc__ = (play.__doc__ or "").partition("\n\nArgs:")[0]
        return _of_the_mechanism(set_rules, self._goal)

    def _told(self, observed: Any) -> str:
        return observation_texts(as_a_client_sees(observed, self._goal), self._prompt)[0]


def tool_prompts(
    seeds: Iterable[int], prompt: PromptSettings, goal: Goal | None = None
) -> list[dict[str, Any]]:
    """Return rows of a data set: the explained task in ``prompt``, the episode's seed in ``seed``.

    TRL appends the first observation to the last message. Without a goal R is asked for; with
    ``BRIEF_OF_EPISODE`` what the brief of each episode says.
    """
    task = explained(prompt, goal or Goal(), ToolMarket.set_rules.__name__)
    system = {"role": "system", "content": task}
    chat = [system, {"role": "user", "content": ""}]
    return [{"prompt": chat, "seed": seed} for seed in seeds]
