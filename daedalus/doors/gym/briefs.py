"""The benchmark of briefs as a Gymnasium environment: read, then set one mechanism."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Dict, Text
from numpy.typing import ArrayLike

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.brief import Brief, BriefError
from daedalus.design.briefs.clauses import both_allow
from daedalus.design.search.features import FEATURES, observed_features
from daedalus.design.search.space import GRID, Places
from daedalus.doors.briefs import benchmark
from daedalus.doors.gym.single import drawn_seed
from daedalus.doors.gym.spaces import (
    Actions,
    action_space,
    mechanisms_of,
    observation_space,
    require_options,
)
from daedalus.market.seeds import episode_seed

_LONGEST = 2000  # characters, so that all frozen briefs have one space

Words = dict[str, Any]
"""An observation: ``brief``, the words, and ``numbers``, those of ``FEATURES``."""


class BriefsEnv(gymnasium.Env[Words, Actions]):
    """A brief in each episode, of one step: the action is a mechanism for a whole episode.

    The reward is the brief's score: 0 if a rule is broken, 1 for a search that knows the true
    parts; or the objective if the score's ends were not measured. It is measured in the frozen
    futures, so the same action always earns the same under a brief. An action has settings of
    ``GRID``, which are finer than ``LEVELS`` since rules may name an exact reserve.

    ``reset(seed=s)`` draws the brief and its first records by the seed;
    ``options={"id": "wordings-0003"}`` chooses the brief. ``info`` has ``seed`` and ``id``, and
    after the step ``id``, ``broken`` (in words), ``objective`` and ``score`` (NaN without ends).
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]  # none changes it

    def __init__(self, asked: Benchmark) -> None:
        self.asked = asked
        self.observation_space = Dict(
            {"brief": _text_space(asked.briefs), "numbers": observation_space()}
        )
        self.action_space = action_space(GRID)
        self._levels = Places(GRID)
        self._named = {each.id: each for each in asked.briefs}
        self._brief: Brief | None = None
        self._words, self._numbers = "", np.zeros(len(FEATURES), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Words, dict[str, Any]]:
        """Show a brief, and the first records of the bidders that a designer expects.

        Args:
            seed: 0 to 2**53 - 1; None draws one.
            options: ``id`` names a brief.

        Raises:
            ValueError: The seed is no such integer, or there is no such brief or option.
        """
        chosen = require_options(options, ["id"])
        named = None if seed is None else episode_seed(seed)
        super().reset(seed=named)
        drawn = drawn_seed(self.np_random) if named is None else named
        self._brief = self._of(chosen["id"]) if "id" in chosen else self.asked.drawn(drawn)
        numbers = observed_features(self.asked.observe(self._brief, drawn))[0]
        self._words, self._numbers = self._brief.text, numbers.astype(np.float32)
        return self._shown(), {"seed": drawn, "id": self._brief.id}

    def step(self, action: ArrayLike) -> tuple[Words, float, bool, bool, dict[str, Any]]:
        """Answer the brief, which ends the episode; what is seen stays.

        Raises:
            RuntimeError: There is no brief to answer.
            ValueError: The action is not in the space.
        """
        if self._brief is None:
            raise RuntimeError("there is no brief to answer; call reset")
        verdict = self.asked.judge(self._brief, mechanisms_of(self._levels, action)[0])
        told: dict[str, Any] = {"id": self._brief.id, "broken": "; ".join(verdict.broken)}
        told |= {"objective": verdict.objective, "score": verdict.score}
        self._brief = None
        return self._shown(), verdict.reward, True, False, told

    def _shown(self) -> Words:
        return {"brief": self._words, "numbers": self._numbers.copy()}

    def _of(self, name: object) -> Brief:
        if not isinstance(name, str) or name not in self._named:
            raise ValueError(
                f"options: no brief {name!r}; one of them is {next(iter(self._named))}"
            )
        return self._named[name]


def _text_space(briefs: Sequence[Brief]) -> Text:
    longest = max(_LONGEST, *(len(each.text) for each in briefs))
    others = {sign for each in briefs for sign in each.text} - set(string.printable)
    return Text(longest, min_length=1, charset=string.printable + "".join(sorted(others)))


def make_briefs(briefs: str = "wordings", render_mode: None = None) -> BriefsEnv:
    """Return the environment for ``gymnasium.make``.

    Args:
        briefs: A frozen split, such as ``wordings`` or ``training``, or a JSON-lines file.
        render_mode: None: there is nothing to render.

    Raises:
        BriefError: There is no such split or file, a line of the file is no brief, or no action
            keeps a rule of it.
    """
    asked = benchmark(briefs)
    for each in asked.briefs:
        _require_action(each)
    return BriefsEnv(asked)


def _require_action(brief: Brief) -> None:
    for name, allowed in brief.allowed.items():
        if both_allow(allowed, GRID[name]) is None:
            raise BriefError(
                f"brief {brief.id}: no action sets {name} as its rule asks; actions have "
                f"{GRID[name][0]}, {GRID[name][1]}, {GRID[name][2]} and so on"
            )
