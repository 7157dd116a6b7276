"""The reward as a tree of OpenEnv rubrics: the composite R, with W, F, P and S as children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openenv.core.rubrics import Rubric

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.rewards.terms import mean_over_rounds
from daedalus.market.outcome import Outcome

TERMS = ("welfare", "fairness", "participation", "stability")
COMPOSITE = "composite"
OBJECTIVE = "objective"


class ScoreRubric(Rubric):
    """One score of a step, read from the observation's ``metadata``; 0 if it is not there.

    R, the reward, is the mean over rounds of the product of the terms. The terms are its children,
    so each keeps its last score. R cannot be computed from their means.
    """

    def __init__(self, name: str, terms: Sequence[str] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # OpenEnv leaves it untyped
        self.name = name
        for term in terms:
            setattr(self, term, ScoreRubric(term))

    def forward(self, action: Any, observation: Any) -> float:
        """Score the children, and return the score, in [0, 1]."""
        for child in self.children():
            child(action, observation)
        return float(observation.metadata.get("scores", {}).get(self.name, 0.0))

    def reset(self) -> None:
        """Forget the last score, and those of the children."""
        self.last_score = None
        for child in self.children():
            child.reset()

    def scores(self) -> dict[str, float]:
        """Return the last scores by name; none before a step."""
        named = {self.name: self, **dict(self.named_rubrics())}
        return {
            name: each.last_score for name, each in named.items() if each.last_score is not None
        }


def scores(outcome: Outcome, reward: RewardStack) -> dict[str, float]:
    """Return the scores that the rubrics read: every term of a step's scored rounds, by name.

    If the episode rewards something else than R, this is ``OBJECTIVE``.
    """
    found = {name: float(mean_over_rounds(name, outcome)[0]) for name in (*TERMS, COMPOSITE)}
    if reward.is_composite:
        return found
    return found | {OBJECTIVE: float(reward.of_mechanisms(outcome)[0])}
