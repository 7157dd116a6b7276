"""Look-ahead: what mechanisms earn in futures of a market, played in forks of its true state.

So it gives exact credit for one decision of an episode, see ``fork_rewards``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.design.env import Designer, Episodes, StepResult
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.workers import share_out

Piece = TypeVar("Piece")

_PATIENCE = 5.0  # seconds before a progress bar is shown
_CHUNK = 32_768  # futures played at once, about a quarter of a gigabyte


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
    states: Episodes,
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
        The scored rounds, records of shape (B * K, horizon * scored rounds, fields); NaN where no
        round was played.
    """
    copies = np.repeat(np.arange(len(rows)), seeds.shape[1])
    futures = states.fork(np.asarray(rows, np.int64)[copies], seeds.ravel())
    rng = np.random.default_rng(seeds.ravel()[:1])
    steps = _steps(futures, mechanisms.take(copies), horizon, continuation, rng)
    records = np.concatenate([each.scored.records for each in steps], axis=1)
    return Outcome(records, futures.state.units)


def _steps(
    episodes: Episodes,
    mechanisms: Mechanisms,
    count: int,
    continuation: ContinuationPolicy | None,
    rng: np.random.Generator,
) -> Iterator[StepResult]:
    """Play ``count`` steps; yield the result of each."""
    for step in range(count):
        if continuation and step >= continuation.commitment_steps:
            mechanisms = continuation.designer.propose(episodes.observe(), rng)
        yield episodes.step(mechanisms)


@dataclass(frozen=True)
class LookAhead:
    """Compares mechanisms in futures of given states, by the reward of their environment.

    Attributes:
        futures: Futures K of each state. All mechanisms of a state share them.
        seed: Seed of the futures.
    """

    futures: int
    seed: int

    def future_seeds(self, states: int, purpose: str) -> NDArray[np.uint64]:
        """Return seeds of K futures for each state, shape (states, K)."""
        count = states * self.futures
        return market_seeds(self.seed, f"{purpose}/futures", count).reshape(states, self.futures)

    def expected_rewards(
        self,
        states: Episodes,
        rows: NDArray[np.int64],
        mechanisms: Mechanisms,
        seeds: NDArray[np.uint64],
        horizon: int,
    ) -> NDArray[np.float64]:
        """Return each mechanism's mean reward over its futures, shape (B,); see ``play_futures``.

        The number of futures is that of ``seeds``.
        """
        parts = _in_parts(np.arange(len(rows)), seeds.shape[1])
        pieces = (
            _Piece.of(states, rows[part], mechanisms.take(part), seeds[part]) for part in parts
        )
        return _gathered(parts, partial(_held, horizon), pieces)

    def compare(
        self, states: Episodes, candidates: Mechanisms, horizon: int, purpose: str
    ) -> NDArray[np.float64]:
        """Return the mean reward of each of M candidates in each of B states, shape (B, M).

        Args:
            states: Paused episodes, which stay as they are.
            candidates: M mechanisms.
            horizon: Steps of each future. Every episode must have them left.
            purpose: Keys the futures; another purpose gives other futures.
        """
        rows, choices = _pairs(states, candidates)
        seeds = self.future_seeds(len(states), purpose)[rows]
        rewards = self.expected_rewards(states, rows, candidates.take(choices), seeds, horizon)
        return rewards.reshape(-1, len(candidates))

    def compare_continued(
        self,
        states: Episodes,
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
        seeds = self.future_seeds(len(states), purpose)
        # Episodes that are played together should end together.
        parts = _in_parts(np.argsort(states.steps[rows], kind="stable"), self.futures)
        pieces = (
            (
                f"{purpose}/designer/{number}",
                _Piece.of(states, rows[part], candidates.take(choices[part]), seeds[rows[part]]),
            )
            for number, part in enumerate(parts)
        )
        function = partial(_continued, continuation, self.seed)
        return _gathered(parts, function, pieces).reshape(-1, len(candidates))


@dataclass(frozen=True)
class _Piece:
    """Mechanisms and the states in which they are compared, apart from all others.

    Attributes:
        states: Paused episodes.
        rows: The state of each mechanism, shape (B,).
        mechanisms: B mechanisms.
        seeds: Seeds of their futures, shape (B, K).
    """

    states: Episodes
    rows: NDArray[np.int64]
    mechanisms: Mechanisms
    seeds: NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        states: Episodes,
        rows: NDArray[np.int64],
        mechanisms: Mechanisms,
        seeds: NDArray[np.uint64],
    ) -> Self:
        """Copy the states that rows name, so that no other state goes along."""
        named, within = np.unique(rows, return_inverse=True)
        return cls(states.fork(named), within.astype(np.int64), mechanisms, seeds)


def _held(horizon: int, piece: _Piece) -> NDArray[np.float64]:
    """Return each mechanism's mean reward over its futures, in which it stays in force."""
    outcome = play_futures(piece.states, piece.rows, piece.mechanisms, piece.seeds, horizon)
    return _means(piece.states.env.reward.of_mechanisms(outcome), piece)


def _continued(
    continuation: ContinuationPolicy, seed: int, keyed: tuple[str, _Piece]
) -> NDArray[np.float64]:
    """Return what each mechanism earns until the episode ends, a mean over its futures."""
    key, piece = keyed
    copies = np.repeat(np.arange(len(piece.rows)), piece.seeds.shape[1])
    episodes = piece.states.fork(piece.rows[copies], piece.seeds.ravel())
    left = episodes.env.settings.episode_length - int(episodes.steps.min())
    rng = generator(seed, key)
    steps = _steps(episodes, piece.mechanisms.take(copies), left, continuation, rng)
    return _means(np.asarray(np.sum([each.reward for each in steps], axis=0)), piece)


def _means(rewards: NDArray[np.float64], piece: _Piece) -> NDArray[np.float64]:
    return np.asarray(rewards.reshape(piece.seeds.shape).mean(axis=1))


def _pairs(states: Episodes, candidates: Mechanisms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return state and candidate of every pair, each of shape (B * M,)."""
    return np.divmod(np.arange(len(states) * len(candidates)), len(candidates))


def _in_parts(order: NDArray[np.intp], futures: int) -> list[NDArray[np.intp]]:
    """Return pairs in parts that are played at once, whatever processes there are."""
    size = max(1, _CHUNK // futures)
    return [order[start : start + size] for start in range(0, len(order), size)]


def _gathered(
    parts: Sequence[NDArray[np.intp]],
    function: Callable[[Piece], NDArray[np.float64]],
    pieces: Iterable[Piece],
) -> NDArray[np.float64]:
    """Return the results of all pieces, in the places of their parts."""
    results = np.empty(sum(len(part) for part in parts))
    progress = tqdm(parts, "looking ahead", leave=False, delay=_PATIENCE, disable=None)
    found = share_out(function, pieces, len(parts))
    for part, result in zip(progress, found, strict=True):
        results[part] = result
    return results


def fork_rewards(
    episode: Episodes, mechanisms: Mechanisms, futures: int = 8, horizon: int = 1, seed: int = 0
) -> NDArray[np.float64]:
    """Play every mechanism in futures of one episode, which stays as it is.

    All mechanisms share the futures, so their rewards differ by the mechanisms and not by the
    draws.

    Args:
        episode: One paused episode.
        mechanisms: K mechanisms. Each stays in force; a malformed one earns 0.
        futures: Number of futures. With 0 there is one: the future that the episode itself has, so
            that a horizon of 1 tells the reward of the next step.
        horizon: Steps of each future, which the episode must have left.
        seed: Seed of the futures, 0 or more.

    Returns:
        Mean reward over the steps and the futures, shape (K,).

    Raises:
        ValueError: There are several episodes, or a number is out of range.
    """
    _check_fork(episode, mechanisms, futures, horizon)
    if futures:
        return LookAhead(futures, seed).compare(episode, mechanisms, horizon, "fork").ravel()
    copies = episode.fork(np.zeros(len(mechanisms), np.int64))
    played = [copies.step(mechanisms).scored.records for _ in range(horizon)]
    outcome = Outcome(np.concatenate(played, axis=1), copies.state.units)
    return episode.env.reward.of_mechanisms(outcome)


def _check_fork(episode: Episodes, mechanisms: Mechanisms, futures: int, horizon: int) -> None:
    """Refuse what cannot be played."""
    if len(episode) != 1:
        raise ValueError(f"episode: {len(episode)} episodes; give one")
    if not len(mechanisms):
        raise ValueError("mechanisms: none; give at least one")
    if futures < 0:
        raise ValueError(f"futures: {futures}; give 0 for the episode's own future, or more")
    left = steps_left(episode)
    if not left:
        raise ValueError(f"horizon: {horizon}; the episode has ended, so reset first")
    if not 1 <= horizon <= left:
        raise ValueError(f"horizon: {horizon}; give 1 to {left}, the steps that are left")


def steps_left(episode: Episodes) -> int:
    """Return the number of steps that one episode has left, 0 if it has ended."""
    if episode.done[0]:
        return 0
    return int(episode.env.settings.episode_length - episode.steps[0])
