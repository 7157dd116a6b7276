"""What GRPO trains on: prompts, and what says how good a completion was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from datasets import Dataset

from daedalus.designers.base import Designer
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv
from daedalus.files import written_whole
from daedalus.market.mechanism import Mechanisms
from daedalus.planning.lessons import teacher
from daedalus.planning.lookahead import Successor
from daedalus.planning.states import Wanderer, mid_episode_states
from daedalus.rewards.stack import RewardStack
from daedalus.training.curriculum import (
    Curriculum,
    CurriculumReward,
    make_curriculum,
    stage_table,
    staged_prompts,
)
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.reward import MarketReward, return_reward
from daedalus.training.rollouts import EpisodeRollouts, episode_prompts
from daedalus.training.settings import GrpoSettings, TrainingSettings

_PURPOSE = "grpo"


@dataclass(frozen=True)
class Source:
    """What GRPO trains on.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: TRL's reward function.
        rollouts: TRL's rollout function, or None to complete the prompts as they are.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
    rollouts: EpisodeRollouts | None = None


def make_source(
    language_model: LanguageModel,
    env: DesignEnv,
    rules: Mechanisms | None,
    stack: RewardStack,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    out: Path,
    seed: int,
) -> Source:
    """Return what the settings ask for: states, those of a curriculum, or whole episodes.

    Args:
        language_model: What is trained, in case it leads to its own states.
        env: Where it is trained unless there is a curriculum.
        rules: Under which states are played otherwise, see ``Wanderer``.
        stack: How completions are rewarded.
        training: The settings.
        history: What training has logged so far, if it goes on.
        out: The run's folder; SFT keeps its lessons there, and a curriculum its thresholds.
        seed: Seed of the run.
    """
    settings, prompt = training.grpo, training.prompt
    if settings.rollouts == "episode":
        return episode_source(env, prompt, settings, seed)
    player = _state_player(language_model, prompt, settings, rules)
    successor = _successor(env, rules, training, out, seed)
    if training.curriculum.stages:
        return _from_curriculum(env, player, stack, successor, training, history, out, seed)
    return state_source(env, player, stack, successor, prompt, settings, seed)


def _successor(
    env: DesignEnv, rules: Mechanisms | None, training: TrainingSettings, out: Path, seed: int
) -> Successor | None:
    """Return the teacher of SFT, who goes on after a completion's rules, if anybody does."""
    kept, taught_by = training.grpo.kept, training.sft.teacher
    if kept is None or taught_by is None or rules is None:
        return None
    return Successor(teacher(env, rules, taught_by, out, seed), kept)


def _from_curriculum(
    env: DesignEnv,
    player: Designer,
    stack: RewardStack,
    successor: Successor | None,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    out: Path,
    seed: int,
) -> Source:
    """Return the stages' prompts, once what each is left at has been measured."""
    settings, stages = training.grpo, training.curriculum.stages
    envs = {
        name: DesignEnv.of(env.settings, stage.population.in_market(env.settings.name))
        for name, stage in stages.items()
    }
    states = [
        mid_episode_states(
            each, settings.states, seed, f"{_PURPOSE}/{name}", settings.horizon, player
        )
        for name, each in envs.items()
    ]
    path = out / "curriculum.csv"
    if not path.exists():
        rewards = [
            MarketReward(each, stack, settings.futures, settings.horizon, seed, successor)
            for each in states
        ]
        with written_whole(path) as aside:
            stage_table(envs, rewards, training.curriculum, seed).to_csv(aside, index=False)
    curriculum = make_curriculum(pd.read_csv(path), settings.prompts_per_step, history)
    return curriculum_source(states, curriculum, stack, successor, training.prompt, settings, seed)


def state_source(
    env: DesignEnv,
    player: Designer,
    stack: RewardStack,
    successor: Successor | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
) -> Source:
    """Return prompts of market states that a designer led to, rewarded in their futures."""
    states = mid_episode_states(env, settings.states, seed, _PURPOSE, settings.horizon, player)
    reward = MarketReward(states, stack, settings.futures, settings.horizon, seed, successor)
    chats = prompts(states.observe(), prompt)
    rows = Dataset.from_dict({"prompt": chats, "state": list(range(len(chats)))})
    return Source(rows, reward.as_reward_function(settings.group_size))


def curriculum_source(
    states: Sequence[DesignEnv],
    curriculum: Curriculum,
    stack: RewardStack,
    successor: Successor | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
) -> Source:
    """Return prompts of one stage's states after the other's, rewarded in their futures."""
    reward = CurriculumReward(
        states, curriculum, stack, settings.futures, settings.horizon, seed, successor
    )
    rows = staged_prompts(states, prompt, curriculum)
    return Source(rows, reward.as_reward_function(settings.group_size))


def episode_source(
    env: DesignEnv, prompt: PromptSettings, settings: GrpoSettings, seed: int
) -> Source:
    """Return episodes that the model plays itself, rewarded by what they return."""
    tokens = settings.max_completion_tokens
    rollouts = EpisodeRollouts(env, prompt, settings.temperature, tokens, seed)
    return Source(episode_prompts(settings.states), return_reward(settings.group_size), rollouts)


def _state_player(
    language_model: LanguageModel,
    prompt: PromptSettings,
    settings: GrpoSettings,
    rules: Mechanisms | None,
) -> Designer:
    """Return who leads to the states: the model itself, or rules drawn at random."""
    if not settings.own_states:
        return Wanderer(rules)
    tokens = settings.max_completion_tokens
    return LanguageModelDesigner(
        make_generate(language_model, settings.temperature, tokens), prompt
    )
