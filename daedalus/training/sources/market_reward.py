"""Rewards of completions: each mechanism is played in the market that its prompt describes.

Answers to briefs have another reward, ``BriefReward`` in ``brief_source.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import Episodes
from daedalus.design.language.prompt import Message
from daedalus.design.rewards.objectives import Objectives
from daedalus.design.rewards.stack import VALID
from daedalus.design.search.lookahead import ContinuationPolicy, play_futures
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.parsing import ParsedMechanism, parse_mechanism
from daedalus.market.seeds import market_seeds

_NO_SPREAD = 1e-8
RESERVE = "reserve_price"
"""Metric of the median reserve of the answers."""

RESERVE_ENDS = (f"{RESERVE}_low", f"{RESERVE}_high")
"""Metrics of its first and last decile."""

LogMetric = Callable[[str, float], None]
Scores = tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]
"""Total rewards of B completions, shape (B,), and what they are made of, by name: arrays of any
length, whose means are logged."""


class Scorer(Protocol):
    """Says what completions earn."""

    def score(self, texts: Sequence[str], rows: Sequence[int], training_step: int) -> Scores:
        """Return the scores of B texts; the rows are the numbers of their prompts."""
        ...


@dataclass(frozen=True)
class MarketReward:
    """Scores completions in forks of the states that their prompts describe.

    All completions of a prompt are played in the same K futures (common random numbers). So their
    rewards differ by the mechanisms and not by the draws. Each training step has its own futures.

    Attributes:
        states: Paused episodes, one for each prompt. Completions earn what their goals ask for.
        futures: Number of futures K of each state.
        horizon: Steps of each future.
        seed: Seed of the futures.
        continuation: Acts after the commitment steps; None keeps the completion's mechanism.
    """

    states: Episodes
    futures: int
    horizon: int
    seed: int
    continuation: ContinuationPolicy | None = None

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.states)

    def score(self, texts: Sequence[str], rows: Sequence[int], training_step: int) -> Scores:
        """Return the total reward and the terms of B completions, each of shape (B,).

        Beside the terms stand ``validity`` and ``reserve_price``, which is NaN if there is none.

        Args:
            texts: The completions.
            rows: Number of the state of each completion's prompt.
            training_step: It selects the futures.
        """
        goals = self.states.goal_of_each[np.asarray(rows, np.int64)]
        parsed = [parse_mechanism(text, goal=each) for text, each in zip(texts, goals, strict=True)]
        valid = [index for index, each in enumerate(parsed) if each.valid]
        mechanisms = Mechanisms.stack([parsed[index].mechanism for index in valid])
        outcome = self._play(mechanisms, [rows[index] for index in valid], training_step)
        totals, terms = self._earned(parsed, outcome, rows)
        terms["validity"] = np.array([float(each.valid) for each in parsed])
        terms[RESERVE] = np.full(len(parsed), np.nan)
        terms[RESERVE][valid] = mechanisms.reserve_price
        return totals, terms

    def score_mechanisms(
        self, mechanisms: Mechanisms, rows: Sequence[int], training_step: int
    ) -> NDArray[np.float64]:
        """Return the total reward of B mechanisms, shape (B,): that of their texts, see ``score``.

        None of them is malformed.
        """
        outcome = self._play(mechanisms, rows, training_step)
        return self._earned([VALID] * len(mechanisms), outcome, rows)[0]

    def _earned(
        self, parsed: Sequence[ParsedMechanism], outcome: Outcome, rows: Sequence[int]
    ) -> Scores:
        """Return the total reward of B completions and its terms, each of shape (B,)."""
        if self.states.goals is None:
            reward = self.states.env.reward
            terms = reward.terms(parsed, outcome)
            return reward.total(terms), terms
        objectives = Objectives.of(self.states.goals)
        terms = objectives.stack.terms(parsed, outcome)
        return objectives.total(terms, rows), terms

    def _play(self, mechanisms: Mechanisms, rows: Sequence[int], training_step: int) -> Outcome:
        """Return the scored rounds of each mechanism in its futures, (B * K, rounds, fields)."""
        seeds = np.zeros((len(rows), self.futures), np.uint64)
        for index, row in enumerate(rows):
            seeds[index] = market_seeds(self.seed, "futures", self.futures, training_step, row)
        where = np.asarray(rows, np.int64)
        return play_futures(self.states, where, mechanisms, seeds, self.horizon, self.continuation)

    def as_reward_function(self, group_size: int, neighbours: int = 0) -> RewardFunction:
        """Return the function that TRL's GRPOTrainer calls. It also logs each term."""
        return RewardFunction(self, group_size, neighbours)


@dataclass(frozen=True)
class RewardFunction:
    """Scores completions for TRL's GRPOTrainer and for other engines. It can be pickled.

    Attributes:
        scorer: Says what completions earn: a ``MarketReward`` or a ``BriefReward``.
        group_size: Completions of each prompt, which stand side by side.
        neighbours: The first of them, which are not sampled.
    """

    scorer: Scorer
    group_size: int
    neighbours: int = 0

    def __call__(
        self,
        completions: Sequence[str | list[Message]],
        state: Sequence[int],
        trainer_state: Any = None,
        log_metric: LogMetric | None = None,
        **columns: Any,
    ) -> list[float]:
        """Return the total reward of each completion.

        Args:
            completions: Texts, or chats with one message each, as TRL hands them over.
            state: Number of the state or the brief of each completion's prompt.
            trainer_state: TRL's state. Its training step selects the futures; None is step 0.
            log_metric: Takes the name and the value of each metric; None logs nothing.
            **columns: Other columns of the rows, which are not read.
        """
        began = time.perf_counter()
        texts = [each if isinstance(each, str) else each[0]["content"] for each in completions]
        step = getattr(trainer_state, "global_step", 0)
        totals, terms = self.scorer.score(texts, state, step)
        if log_metric is not None:
            reserves = terms.pop(RESERVE, np.empty(0))
            for name, values in terms.items():
                label = name if name == "validity" else f"term/{name}"
                log_metric(label, float(values.mean()))
            _log_reserves(reserves, log_metric)
            self._log_groups(totals, log_metric)
            log_metric("reward_seconds", time.perf_counter() - began)
        return [float(total) for total in totals]

    def _log_groups(self, rewards: NDArray[np.float64], log_metric: LogMetric) -> None:
        """Log the spread of rewards within groups, and their means by origin if any differ."""
        if self.neighbours:
            near = np.arange(len(rewards)) % self.group_size < self.neighbours
            log_metric("reward_sampled", float(rewards[~near].mean()))
            log_metric("reward_neighbours", float(rewards[near].mean()))
        spreads = rewards.reshape(-1, self.group_size).std(axis=1, ddof=1)
        log_metric("group_reward_std", float(spreads.mean()))
        log_metric("groups_without_spread", float((spreads < _NO_SPREAD).mean()))


def _log_reserves(reserves: NDArray[np.float64], log_metric: LogMetric) -> None:
    values = reserves[~np.isnan(reserves)]
    if len(values):
        for name, level in zip((RESERVE, *RESERVE_ENDS), (0.5, 0.1, 0.9), strict=True):
            log_metric(name, float(np.quantile(values, level)))
