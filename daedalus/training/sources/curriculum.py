"""The curriculum: training leaves a stage when its mean reward reaches a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from datasets import Dataset
from numpy.typing import NDArray

from daedalus.env import DesignEnv, Designer, Episodes
from daedalus.language.prompt import PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator
from daedalus.runs.files import read_table, write_table
from daedalus.runs.processes import gathered, once
from daedalus.search.best_fixed import best_fixed
from daedalus.search.budgets import SearchBudget
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.objective import EpisodeObjective
from daedalus.search.space import random_mechanisms
from daedalus.search.states import mid_episode_states
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.checkpoints import completed_steps
from daedalus.training.run import TrainingRun
from daedalus.training.settings import CurriculumSettings
from daedalus.training.sources.reward import MarketReward, RewardFunction, Terms
from daedalus.training.sources.source import PURPOSE, Source

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


class CurriculumReward:
    """Rewards completions in the stage of their state, and reports rewards to the curriculum.

    The curriculum hears of the rewards of all processes, so that all are in the same stage.

    Args:
        stages: The reward in the states of each stage, the same number for all. Rows count through
            all stages.
        curriculum: Receives the mean rewards.
    """

    def __init__(self, stages: Sequence[MarketReward], curriculum: Curriculum) -> None:
        self._stages = stages
        self._count = len(stages[0])
        self._curriculum = curriculum

    def score(
        self, texts: Sequence[str], rows: Sequence[int], step: int
    ) -> tuple[NDArray[np.float64], Terms]:
        """Return the total reward and the terms of B completions, each of shape (B,)."""
        stages, within = np.divmod(np.asarray(rows, np.int64), self._count)
        totals, terms = np.zeros(len(stages)), Terms()
        for stage in np.unique(stages):
            mine = np.flatnonzero(stages == stage)
            told = [texts[index] for index in mine]
            totals[mine], parts = self._stages[stage].score(told, within[mine].tolist(), step)
            for name, values in parts.items():
                terms.setdefault(name, np.zeros(len(stages)))[mine] = values
        terms["stage"] = stages.astype(np.float64)
        everywhere = gathered(list(zip(totals.tolist(), stages.tolist(), strict=True)))
        rewards, stages_of_all = zip(*everywhere, strict=True)
        self._curriculum.note(float(np.mean(rewards)), max(stages_of_all))
        return totals, terms


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


def curriculum_source(
    run: TrainingRun, name: str, player: Designer, continuation: ContinuationPolicy | None
) -> Source:
    """Return prompts of the stages' states, one stage at a time, with rewards from futures.

    Args:
        run: The run, whose log tells the stage at which an interrupted phase goes on.
        name: Name of the algorithm.
        player: Plays up to the states.
        continuation: Acts after the commitment steps.
    """
    settings = run.settings.reinforcement[name]
    stages = run.settings.curriculum.stages
    envs = {stage: run.env_of(each.population) for stage, each in stages.items()}
    states = once(lambda: _states(run, settings, player, envs))
    rewards = [
        MarketReward(each, settings.futures, settings.horizon, run.seed, continuation)
        for each in states
    ]
    table, logged = once(lambda: (_kept_table(run, envs, rewards), _logged(run, name)))
    curriculum = make_curriculum(table, settings.prompts_per_step, logged)
    score = CurriculumReward(rewards, curriculum).score
    reward = RewardFunction(score, settings.group_size, settings.neighbours_of_group)
    return Source(staged_prompts(states, run.settings.prompt, curriculum), reward)


def _states(
    run: TrainingRun,
    settings: ReinforcementSettings,
    player: Designer,
    envs: Mapping[str, DesignEnv],
) -> list[Episodes]:
    """Play up to the states of each stage."""
    count, horizon = settings.states, settings.horizon
    return [
        mid_episode_states(each, count, run.seed, f"{PURPOSE}/{name}", horizon, player)
        for name, each in envs.items()
    ]


def _kept_table(
    run: TrainingRun, envs: Mapping[str, DesignEnv], rewards: Sequence[MarketReward]
) -> pd.DataFrame:
    """Return the thresholds of the stages. They are measured once, and kept in the run folder."""
    path = run.folder.curriculum
    if not path.exists():
        write_table(stage_table(envs, rewards, run.settings.curriculum, run.seed), path)
    return read_table(path, "stage")


def _logged(run: TrainingRun, phase: str) -> list[dict[str, float]]:
    """Return the log of a phase up to its last checkpoint."""
    return run.tracker.history(phase)[: completed_steps(run.folder.checkpoints(phase))]
