"""What GRPO trains on: prompts, and what says how good a completion was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from datasets import Dataset

from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv, Designer
from daedalus.files import written_whole
from daedalus.market.mechanism import Mechanisms
from daedalus.rewards.stack import RewardStack
from daedalus.run_folder import RunFolder
from daedalus.search.distillation import distil
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.states import RandomWalkDesigner, mid_episode_states
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
    portfolio: Mechanisms | None,
    stack: RewardStack,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    run: RunFolder,
    seed: int,
) -> Source:
    """Return what the settings ask for: states, those of a curriculum, or whole episodes.

    Args:
        language_model: The model in training, which may lead to its own states.
        env: Where it is trained, unless there is a curriculum.
        portfolio: Mechanisms that lead to the states otherwise, see ``RandomWalkDesigner``.
        stack: How completions are rewarded.
        training: The settings.
        history: Records that training has logged so far, if it resumes.
        run: The run's folder. It keeps the distillation data and a curriculum's thresholds.
        seed: Seed of the run.
    """
    settings, prompt = training.grpo, training.prompt
    if settings.rollouts == "episode":
        return episode_source(env, stack, prompt, settings, seed)
    player = _state_player(language_model, prompt, settings, portfolio)
    continuation = _continuation(env, portfolio, stack, training, run, seed)
    if training.curriculum.stages:
        return _from_curriculum(env, player, stack, continuation, training, history, run, seed)
    return state_source(env, player, stack, continuation, prompt, settings, seed)


def _continuation(
    env: DesignEnv,
    portfolio: Mechanisms | None,
    stack: RewardStack,
    training: TrainingSettings,
    run: RunFolder,
    seed: int,
) -> ContinuationPolicy | None:
    """Return the teacher of SFT as continuation policy, if there are commitment steps."""
    steps, budget = training.grpo.commitment_steps, training.sft.teacher
    if steps is None or budget is None or portfolio is None:
        return None
    teacher = distil(env, portfolio, stack, budget, seed, run.distillation_data)
    return ContinuationPolicy(teacher, steps)


def _from_curriculum(
    env: DesignEnv,
    player: Designer,
    stack: RewardStack,
    continuation: ContinuationPolicy | None,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    run: RunFolder,
    seed: int,
) -> Source:
    """Return the stages' prompts, after measuring the threshold of each stage."""
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
    path = run.curriculum
    if not path.exists():
        rewards = [
            MarketReward(each, stack, settings.futures, settings.horizon, seed, continuation)
            for each in states
        ]
        with written_whole(path) as aside:
            stage_table(envs, stack, rewards, training.curriculum, seed).to_csv(aside, index=False)
    curriculum = make_curriculum(pd.read_csv(path), settings.prompts_per_step, history)
    return curriculum_source(
        states, curriculum, stack, continuation, training.prompt, settings, seed
    )


def state_source(
    env: DesignEnv,
    player: Designer,
    stack: RewardStack,
    continuation: ContinuationPolicy | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
) -> Source:
    """Return prompts of market states that a designer led to, rewarded in their futures."""
    states = mid_episode_states(env, settings.states, seed, _PURPOSE, settings.horizon, player)
    reward = MarketReward(states, stack, settings.futures, settings.horizon, seed, continuation)
    chats = prompts(states.observe(), prompt)
    rows = Dataset.from_dict({"prompt": chats, "state": list(range(len(chats)))})
    return Source(rows, reward.as_reward_function(settings.group_size))


def curriculum_source(
    states: Sequence[DesignEnv],
    curriculum: Curriculum,
    stack: RewardStack,
    continuation: ContinuationPolicy | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
) -> Source:
    """Return prompts of one stage's states after the other's, rewarded in their futures."""
    reward = CurriculumReward(
        states, curriculum, stack, settings.futures, settings.horizon, seed, continuation
    )
    rows = staged_prompts(states, prompt, curriculum)
    return Source(rows, reward.as_reward_function(settings.group_size))


def episode_source(
    env: DesignEnv, stack: RewardStack, prompt: PromptSettings, settings: GrpoSettings, seed: int
) -> Source:
    """Return episodes that the model plays itself, rewarded by their returns."""
    tokens = settings.max_completion_tokens
    rollouts = EpisodeRollouts(env, stack, prompt, settings.temperature, tokens, seed)
    return Source(episode_prompts(settings.states), return_reward(settings.group_size), rollouts)


def _state_player(
    language_model: LanguageModel,
    prompt: PromptSettings,
    settings: GrpoSettings,
    portfolio: Mechanisms | None,
) -> Designer:
    """Return the designer that leads to the states: the model itself, or a random walk."""
    if not settings.own_states:
        return RandomWalkDesigner(portfolio)
    tokens = settings.max_completion_tokens
    return LanguageModelDesigner(
        make_generate(language_model, settings.temperature, tokens), prompt
    )
