"""The curriculum: training leaves a stage when its mean reward reaches a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from datasets import Dataset
from numpy.typing import NDArray

from daedalus.env import DesignEnv, Episodes
from daedalus.language.prompt import PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.seeds import generator
from daedalus.runs.processes import gathered
from daedalus.search.best_fixed import best_fixed
from daedalus.search.budgets import SearchBudget
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.objective import EpisodeObjective
from daedalus.search.space import random_mechanisms
from daedalus.training.settings import CurriculumSettings
from daedalus.training.sources.reward import MarketReward

_BEFORE = 1 << 40  # a step that training does not reach
_SEARCH = SearchBudget(candidates=256, sweeps=1, sweep_episodes=128)


def stage_table(
    envs: Mapping[str, DesignEnv],
    rewards: Sequence[MarketReward],
    settings: CurriculumSettings,
    seed: int,
) -> pd.DataFrame:
    """Compute the threshold of each stage, between random mechanisms and the best fixed one.

    Both are rewarded like completions, in the states of the prompts.

    Args:
        envs: Environments of the stages, in order. The search maximises
            their reward.
        rewards: The rewards of training in the states of each stage.
        settings: Share and window of each stage.
        seed: Seed of the search and of the random mechanisms.

    Returns:
        A row for each stage: ``stage`` (its name), mean reward of ``random`` mechanisms and of the
        best fixed one (``search``), ``threshold`` (infinite for the last stage) and ``window`` in
        prompts.
    """
    table = []
    for (name, env), reward in zip(envs.items(), rewards, strict=True):
        rng = generator(seed, f"curriculum/{name}")
        score = EpisodeObjective([env], seed, f"curriculum/{name}")
        best, _ = best_fixed(_SEARCH, score, rng)
        low = reward.of_mechanisms(random_mechanisms(len(reward), rng), _BEFORE)
        high = reward.of_mechanisms(Mechanisms.repeat(best, len(reward)), _BEFORE)
        stage = settings.stages[name]
        row = {"stage": name, "random": low, "search": high, "window": stage.window}
        table.append(row | {"threshold": low + stage.promotion * (high - low)})
    table[-1]["threshold"] = np.inf
    return pd.DataFrame(table)


class Curriculum:
    """Moves to the next stage when the moving mean of rewards reaches the stage's threshold.

    Args:
        thresholds: Mean reward at which training leaves each stage.
        windows: Training steps in the moving mean of each stage.
    """

    def __init__(self, thresholds: Sequence[float], windows: Sequence[int]) -> None:
        self._thresholds = thresholds
        self._windows = windows
        self._recent: list[float] = []
        self.stage = 0

    def note(self, reward: float, stage: int) -> None:
        """Note the mean reward of a training step; rewards of earlier stages are ignored."""
        if stage != self.stage:
            return
        self._recent.append(reward)
        window = self._recent[-self._windows[stage] :]
        if len(window) == self._windows[stage] and np.mean(window) >= self._thresholds[stage]:
            self.stage += 1
            self._recent = []


def make_curriculum(
    stages: pd.DataFrame, prompts_per_step: int, history: Sequence[Mapping[str, float]]
) -> Curriculum:
    """Return the curriculum of a ``stage_table`` after the training that was logged so far."""
    windows = [-(-int(each) // prompts_per_step) for each in stages["window"]]
    curriculum = Curriculum(list(stages["threshold"]), windows)
    for record in history:
        curriculum.note(record["reward"], int(record["stage"]))
    return curriculum


class CurriculumReward(MarketReward):
    """Rewards completions in the stage of their state, and reports rewards to the curriculum.

    The curriculum hears of the rewards of all processes, so that all are in the same stage.

    Args:
        states: States of each stage, the same number for all. Rows count through all stages.
        curriculum: Receives the mean rewards.
        futures: Number of futures K of each state.
        horizon: Steps of each future.
        seed: Seed of the futures.
        continuation: Acts after the commitment steps; None keeps the completion's mechanism.
    """

    def __init__(
        self,
        states: Sequence[Episodes],
        curriculum: Curriculum,
        futures: int,
        horizon: int,
        seed: int,
        continuation: ContinuationPolicy | None = None,
    ) -> None:
        super().__init__(states[0], futures, horizon, seed, continuation)
        self._stages = [MarketReward(each, futures, horizon, seed, continuation) for each in states]
        self._count = len(states[0])
        self._curriculum = curriculum

    def __len__(self) -> int:
        """Return the number of states of all stages."""
        return len(self._stages) * self._count

    def score(
        self, texts: Sequence[str], rows: Sequence[int], step: int
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return the total reward and the terms of B completions, each of shape (B,)."""
        totals, terms = super().score(texts, rows, step)
        stages = np.asarray(rows) // self._count
        terms["stage"] = stages.astype(np.float64)
        everywhere = gathered(list(zip(totals.tolist(), stages.tolist(), strict=True)))
        rewards, stages_of_all = zip(*everywhere, strict=True)
        self._curriculum.note(float(np.mean(rewards)), max(stages_of_all))
        return totals, terms

    def _play(
        self, mechanisms: Mechanisms, rows: Sequence[int], step: int, purpose: str = "futures"
    ) -> Outcome:
        stages, within = np.divmod(np.asarray(rows, np.int64), self._count)
        if not len(stages):
            return super()._play(mechanisms, rows, step, purpose)
        order = np.argsort(stages, kind="stable")
        played = []
        for stage in np.unique(stages):
            mine = order[stages[order] == stage]
            each = self._stages[stage]._play(mechanisms.take(mine), within[mine], step, purpose)
            played.append(each.records)
        records = np.concatenate(played)
        blocks = records.reshape(len(order), -1, *records.shape[1:])
        return Outcome(blocks[np.argsort(order)].reshape(records.shape))


def staged_prompts(
    states: Sequence[Episodes], prompt: PromptSettings, curriculum: Curriculum
) -> Dataset:
    """Return rows of prompts. A row that is read has a prompt of the stage at that time.

    Args:
        states: States of each stage, the same number for all.
        prompt: Contents of the prompts.
        curriculum: Gives the stage.
    """
    chats = [prompts(each.observe(), prompt) for each in states]
    count = len(chats[0])

    def at_stage(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        stage, rows = curriculum.stage, batch["state"]
        return {
            "prompt": [chats[stage][row] for row in rows],
            "state": [stage * count + row for row in rows],
        }

    rows = Dataset.from_dict({"prompt": chats[0], "state": list(range(count))})
    return rows.with_transform(at_stage)
