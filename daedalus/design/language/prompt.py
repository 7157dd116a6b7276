"""The prompt of a language model: a short form of the published prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from daedalus.checks import CannotRunError, Checked, at_least
from daedalus.design.language.explanation import explanation, restrictions
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.parsing import format_mechanism

SYSTEM = "You design auctions. Answer with one JSON mechanism and nothing else."
REQUEST = "Reply with JSON only."
OUTCOME_FIELDS = ("fairness", *ROUND_FIELDS)

Message = dict[str, str]
Said = TypeVar("Said")


class Generate(Protocol[Said]):
    """Completes chats, in texts or in replies."""

    def __call__(
        self,
        chats: Sequence[list[Message]],
        rng: np.random.Generator,
        goals: Sequence[Goal] = (),
        /,
    ) -> list[Said]:
        """Return one completion for each chat.

        Args:
            chats: B chats.
            rng: Source of the draws.
            goals: The goal of each chat; none if nobody said. One that can write only what a goal
                allows does so.
        """
        ...


VERSION = 2
"""Version of the prompts. Raise it with every change, because a model knows only its own."""


@dataclass
class PromptSettings(Checked):
    """Contents of the prompt.

    Attributes:
        rounds: Number of last rounds that are listed, oldest first.
        outcomes: Fields of each listed round, from ``OUTCOME_FIELDS``.
        proxies: Population statistics, from ``PROXIES``.
        stage: Whether the prompt holds the curriculum stage. It is off by default, because the
            population is hidden from the designer.
        averages: Fields that are averaged over the remembered rounds, from ``OUTCOME_FIELDS``.
        mechanism: Whether the prompt holds the mechanism in force.
        compact: Whether values come without names, in the order of the lists and of the mechanism's
            fields. Numbers have two decimals below 2, one below 10 and none above. Each up to 64 is
            one token of the embedded model. Text that is the same in every prompt is left out.
        explained: Whether the prompt first explains the task, the goal, the fields and the names,
            for models that were not trained on it.
        weights: Reward terms whose weights in the goal the prompt shows, for models of many
            objectives; see ``training.objectives``.
        version: The ``VERSION`` with which a model was trained.

    Raises:
        ValueError: A field is unknown or out of range, or prompts have changed since training.
    """

    rounds: int = at_least(0, 2, "an integer")
    outcomes: list[str] = field(default_factory=lambda: ["welfare", "fairness", "participation"])
    proxies: list[str] = field(default_factory=list)
    stage: bool = False
    averages: list[str] = field(default_factory=list)
    mechanism: bool = False
    compact: bool = False
    explained: bool = False
    weights: list[str] = field(default_factory=list)
    version: int = VERSION

    def __post_init__(self) -> None:
        super().__post_init__()
        lists = {"outcomes": OUTCOME_FIELDS, "proxies": PROXIES, "averages": OUTCOME_FIELDS}
        for key, known in lists.items():
            unknown = set(getattr(self, key)) - set(known)
            if unknown:
                raise ValueError(f"{key}: {sorted(unknown)}; choose from {', '.join(known)}")
        if self.version != VERSION:
            raise ValueError(
                f"version: {self.version}; prompts have changed since ({VERSION}): "
                "train the model again, or take the commit that it was trained with"
            )

    def require_shown(self, terms: Iterable[str]) -> None:
        """Refuse a goal whose weights the prompts do not show, if they show any.

        Raises:
            CannotRunError: The prompts do not show the weight of one of these terms.
        """
        others = [name for name in terms if name not in self.weights]
        if self.weights and others:
            raise CannotRunError(
                f"reward.weights: {', '.join(others)}; prompts show weights of "
                f"{', '.join(self.weights)} alone, so choose a reward of these terms, as in "
                "reward=revenue, or train with more in training.objectives"
            )


def prompts(observation: Observation, settings: PromptSettings) -> list[list[Message]]:
    """Return the chat messages (system, user) for each of the B observed markets.

    A compact prompt is the user's message alone, unless it is explained.

    Raises:
        CannotRunError: Prompts show weights, and a goal has none, or one of another term.
    """
    request = "" if settings.compact else f"\n{REQUEST}"
    texts = observation_texts(observation, settings)
    return [
        [*_system(settings, observation.goal(row)), {"role": "user", "content": text + request}]
        for row, text in enumerate(texts)
    ]


def _system(settings: PromptSettings, goal: Goal) -> list[Message]:
    if settings.explained:
        return [{"role": "system", "content": explained(settings, goal)}]
    if settings.compact and goal.brief:
        raise CannotRunError(
            "the brief: compact prompts do not show it, so this model cannot answer it; choose "
            "designer=brief_search, or a model whose prompts are explained"
        )
    told = SYSTEM + restrictions(goal)
    return [] if settings.compact else [{"role": "system", "content": told}]


def explained(settings: PromptSettings, goal: Goal, function: str = "") -> str:
    """Return the ``explanation`` of a goal and of what a prompt of these settings shows."""
    outcomes = settings.outcomes if settings.rounds else []
    shown = [*outcomes, *settings.averages, *settings.proxies]
    return explanation(shown, goal, function)


def observation_texts(observation: Observation, settings: PromptSettings) -> list[str]:
    """Return what the designer is told of each of the B observed markets, and no request."""
    observation = replace(observation, mechanisms=observation.mechanisms.rounded())
    return [_text(observation, row, settings) for row in range(len(observation))]


def _text(observation: Observation, row: int, settings: PromptSettings) -> str:
    lines = [f"round_number: {observation.round_number[row]} / {observation.episode_length}"]
    if settings.stage:
        lines.append(f"stage: {observation.stage}")
    if settings.mechanism:
        lines.append(f"rules: {_mechanism(observation.mechanisms[row], settings.compact)}")
    rounds = _rounds(observation, row)
    if settings.rounds:
        last = rounds[len(rounds) - min(settings.rounds, len(rounds)) :]
        told = (_numbers(settings.outcomes, each, settings.compact) for each in last)
        lines.append(f"recent_outcomes: [{','.join(told)}]")
    if settings.averages and rounds:
        means = {name: float(np.mean([each[name] for each in rounds])) for name in rounds[0]}
        lines.append(f"averages: {_numbers(settings.averages, means, settings.compact)}")
    if settings.proxies:
        proxies = dict(zip(PROXIES, observation.proxies[row], strict=True))
        lines.append(f"population: {_numbers(settings.proxies, proxies, settings.compact)}")
    if settings.weights:
        lines.append(f"objective: {_objective(settings, observation.goal(row))}")
    return "\n".join(lines)


def _objective(settings: PromptSettings, goal: Goal) -> str:
    """Return the weights of a goal, which sum to 1."""
    settings.require_shown(goal.weights)
    total = sum(goal.weights.values())
    if not total:
        raise CannotRunError("the goal has no weights, and prompts show them; choose a reward")
    weights = {name: goal.weights.get(name, 0.0) / total for name in settings.weights}
    return _numbers(settings.weights, weights, settings.compact)


def _mechanism(mechanism: Mechanism, compact: bool) -> str:
    if not compact:
        return format_mechanism(mechanism)
    values = (getattr(mechanism, name) for name in FIELDS)
    return " ".join(_short(each) if isinstance(each, float) else str(each) for each in values)


def _rounds(observation: Observation, row: int) -> list[dict[str, float]]:
    """Return the remembered rounds, oldest first."""
    recent = observation.recent[row]
    rounds = []
    for record in recent[np.isfinite(recent[:, 0])]:
        values = dict(zip(ROUND_FIELDS, record, strict=True))
        rounds.append(values | {"fairness": 1.0 - values["gini"]})
    return rounds


def _numbers(names: Sequence[str], values: Mapping[str, float], compact: bool) -> str:
    if compact:
        return " ".join(_short(values[name]) for name in names)
    return "{" + ",".join(f"{name}:{values[name]:.2f}" for name in names) + "}"


def _short(value: float) -> str:
    value = round(value, 2) + 0.0  # no negative zero
    if abs(value) < 2:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"
