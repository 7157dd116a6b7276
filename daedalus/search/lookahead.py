"""Look-ahead: what mechanisms earn in futures of a market, played in forks of its true state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.env import DesignEnv, Designer
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import COLLUSION_SIGNAL, GINI, ROUND_FIELDS, Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.stack import RewardStack

_PATIENCE = 5.0  # seconds before a progress bar is shown
_CHUNK = 32_768  # futures played at once, about a quarter of a gigabyte
_UNPLAYED = np.isin(np.arange(len(ROUND_FIELDS)), (GINI, COLLUSION_SIGNAL)).astype(float)


@dataclass(frozen=True)
class ContinuationPolicy:
    """Acts in a future after the commitment steps of a mechanism.

    Attributes:
        designer: The designer that then sets the mechanisms.
        commitment_steps: Steps for which the mechanism stays in force, at least 1.
    """

    designer: Designer
    commitment_steps: int


def play_futures(
    states: DesignEnv,
    rows: NDArray[np.int64],
    mechanisms: Mechanisms,
    seeds: NDArray[np.uint64],
    horizon: int,
    continuation: ContinuationPolicy | None = None,
) -> Outcome:
    """Play every mechanism in K futures of its state.

    Args:
        states: Paused episodes, which stay as they are.
        rows: The state of each mechanism, shape (B,).
        mechanisms: B mechanisms.
        seeds: Seeds of their futures, uint64, shape (B, K). The draws of a continuation policy
            depend on them.
        horizon: Steps of each future.
        continuation: Acts after the commitment steps. None: each mechanism stays in force.

    Returns:
        The scored rounds, records of shape (B * K, horizon * scored rounds, fields). Every reward
        term of a step that was not played is 0.
    """
    copies = np.repeat(np.arange(len(rows)), seeds.shape[1])
    futures = states.fork(np.asarray(rows, np.int64)[copies], seeds.ravel())
    rng = np.random.default_rng(seeds.ravel()[:1])
    steps = _steps(futures, mechanisms.take(copies), horizon, continuation, rng)
    records = [np.where(played[:, None, None], each.records, _UNPLAYED) for each, played in steps]
    return Outcome(np.concatenate(records, axis=1))


def _steps(
    episodes: DesignEnv,
    mechanisms: Mechanisms,
    count: int,
    continuation: ContinuationPolicy | None,
    rng: np.random.Generator,
) -> Iterator[tuple[Outcome, NDArray[np.bool_]]]:
    """Play ``count`` steps; yield the scored rounds of each, and which episodes were played."""
    for step in range(count):
        if continuation and step >= continuation.commitment_steps:
            mechanisms = continuation.designer.propose(episodes.observe(), rng)
        played = ~episodes.done & ~mechanisms.malformed
        yield episodes.scored(episodes.advance(mechanisms)), played


@dataclass(frozen=True)
class LookAhead:
    """Compares mechanisms in futures of given states.

    Attributes:
        stack: The reward.
        futures: Futures K of each state. All mechanisms of a state share them.
        seed: Seed of the futures.
    """

    stack: RewardStack
    futures: int
    seed: int

    def future_seeds(self, states: int, purpose: str) -> NDArray[np.uint64]:
        """Return seeds of K futures for each state, shape (states, K)."""
        count = states * self.futures
        return market_seeds(self.seed, f"{purpose}/futures", count).reshape(states, self.futures)

    def expected_rewards(
        self,
        states: DesignEnv,
        rows: NDArray[np.int64],
        mechanisms: Mechanisms,
        seeds: NDArray[np.uint64],
        horizon: int,
    ) -> NDArray[np.float64]:
        """Return each mechanism's mean reward over its futures, shape (B,); see ``play_futures``.

        The number of futures is that of ``seeds``.
        """

        def score(part: NDArray[np.intp]) -> NDArray[np.float64]:
            outcome = play_futures(states, rows[part], mechanisms.take(part), seeds[part], horizon)
            return self.stack.of_mechanisms(outcome)

        return _means_over_futures(score, np.arange(len(rows)), seeds.shape[1])

    def compare(
        self, states: DesignEnv, candidates: Mechanisms, horizon: int, purpose: str
    ) -> NDArray[np.float64]:
        """Return the mean reward of each of M candidates in each of B states, shape (B, M).

        Args:
            states: Paused episodes, which stay as they are.
            candidates: M mechanisms.
            horizon: Steps of each future. Every episode must have them left.
            purpose: Keys the futures; another purpose gives other futures.
        """
        rows, choices = _pairs(states, candidates)
        seeds = self.future_seeds(len(states.steps), purpose)[rows]
        rewards = self.expected_rewards(states, rows, candidates.take(choices), seeds, horizon)
        return rewards.reshape(-1, len(candidates))

    def compare_continued(
        self,
        states: DesignEnv,
        candidates: Mechanisms,
        continuation: ContinuationPolicy,
        purpose: str,
    ) -> NDArray[np.float64]:
        """Return the worth of candidates if a continuation policy acts after them, shape (B, M).

        A candidate is in force for the commitment steps. Then the continuation policy acts until
        the episode ends (the cost-to-go of AggreVaTe: Ross & Bagnell 2014). So lasting effects of a
        candidate count, and so does the chance to replace it.

        Args:
            states: Paused episodes with at least one step left, which stay as they are.
            candidates: M mechanisms.
            continuation: Acts after the commitment steps.
            purpose: Keys the futures; another purpose gives other futures.

        Returns:
            Sums of the rewards of all remaining steps, means over futures.
        """
        rows, choices = _pairs(states, candidates)
        seeds = self.future_seeds(len(states.steps), purpose)
        rng = generator(self.seed, f"{purpose}/designer")

        def score(part: NDArray[np.intp]) -> NDArray[np.float64]:
            where = np.repeat(rows[part], self.futures)
            episodes = states.fork(where, seeds[rows[part]].ravel())
            mechanisms = candidates.take(np.repeat(choices[part], self.futures))
            left = states.settings.episode_length - int(episodes.steps.min())
            steps = _steps(episodes, mechanisms, left, continuation, rng)
            rewards = [
                np.where(played, self.stack.of_mechanisms(outcome), 0.0)
                for outcome, played in steps
            ]
            return np.asarray(np.sum(rewards, axis=0))

        # Episodes that are played together should end together.
        order = np.argsort(states.steps[rows], kind="stable")
        return _means_over_futures(score, order, self.futures).reshape(-1, len(candidates))


def _pairs(
    states: DesignEnv, candidates: Mechanisms
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return state and candidate of every pair, each of shape (B * M,)."""
    return np.divmod(np.arange(len(states.steps) * len(candidates)), len(candidates))


def _means_over_futures(
    score: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    order: NDArray[np.intp],
    futures: int,
) -> NDArray[np.float64]:
    """Return means over futures of ``score``, which takes parts of ``order``."""
    means = np.empty(len(order))
    size = max(1, _CHUNK // futures)
    starts = range(0, len(order), size)
    for start in tqdm(starts, "looking ahead", leave=False, delay=_PATIENCE, disable=None):
        part = order[start : start + size]
        means[part] = score(part).reshape(len(part), futures).mean(axis=1)
    return means
