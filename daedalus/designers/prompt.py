"""What a language model is shown: the published prompt's shape, kept short."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from daedalus.market.outcome import PROXIES, ROUND_FIELDS, Observation

SYSTEM = "You design auctions. Answer with one JSON mechanism and nothing else."
REQUEST = "Reply with JSON only."
OUTCOME_FIELDS = ("fairness", *ROUND_FIELDS)

Message = dict[str, str]


@dataclass
class PromptSettings:
    """What the prompt holds.

    Attributes:
        rounds: How many of the last rounds are listed, oldest first.
        outcomes: What is said of each round, of ``OUTCOME_FIELDS``.
        proxies: Which population statistics are added, of ``PROXIES``.
        stage: Whether the curriculum stage is told. The population is hidden from the designer,
            so this is off unless asked for.
    """

    rounds: int = 2
    outcomes: list[str] = field(default_factory=lambda: ["welfare", "fairness", "participation"])
    proxies: list[str] = field(default_factory=list)
    stage: bool = False

    def __post_init__(self) -> None:
        for key, known in (("outcomes", OUTCOME_FIELDS), ("proxies", PROXIES)):
            unknown = set(getattr(self, key)) - set(known)
            if unknown:
                raise ValueError(f"{key}: {sorted(unknown)}; choose from {', '.join(known)}")
        if self.rounds < 0:
            raise ValueError(f"rounds: {self.rounds}; give an integer from 0 up")


def prompts(observation: Observation, settings: PromptSettings) -> list[list[Message]]:
    """Return the chat messages (system, user) for each of the B observed markets."""
    return [
        [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": _user_text(observation, row, settings)},
        ]
        for row in range(len(observation))
    ]


def _user_text(observation: Observation, row: int, settings: PromptSettings) -> str:
    lines = [f"round_number: {observation.round_number[row]} / {observation.episode_length}"]
    if settings.stage:
        lines.append(f"stage: {observation.stage}")
    lines.append(f"recent_outcomes: [{_outcomes(observation, row, settings)}]")
    if settings.proxies:
        values = (f"{name}:{observation.proxy(name)[row]:.2f}" for name in settings.proxies)
        lines.append(f"population: {{{','.join(values)}}}")
    return "\n".join([*lines, REQUEST])


def _outcomes(observation: Observation, row: int, settings: PromptSettings) -> str:
    recent = observation.recent[row]
    known = recent[np.isfinite(recent[:, 0])]
    rounds = []
    for record in known[len(known) - min(settings.rounds, len(known)) :]:
        values = dict(zip(ROUND_FIELDS, record, strict=True))
        values["fairness"] = 1.0 - values["gini"]
        rounds.append(",".join(f"{name}:{values[name]:.2f}" for name in settings.outcomes))
    return ",".join(f"{{{each}}}" for each in rounds)
