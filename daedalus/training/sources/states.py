"""Sources of GRPO: prompts, and the rewards of their completions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from datasets import Dataset

from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.env import DesignEnv, Designer, Episodes
from daedalus.language.prompt import PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.runs.files import read_table, write_table
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import once
from daedalus.search.distillation import distil
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.search.trees import TreeDesigner
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.settings import GrpoSettings, TrainingSettings
from daedalus.training.sources.curriculum import (
    Curriculum,
    CurriculumReward,
    make_curriculum,
    stage_table,
    staged_prompts,
)
from daedalus.training.sources.episodes import EpisodeRollouts, numbered_prompts
from daedalus.training.sources.regret import states_of_regret
from daedalus.training.sources.reward import MarketReward, return_reward
from daedalus.training.sources.siblings import SiblingRollouts

_PURPOSE = "grpo"
_REGRET_FUTURES = 4


@dataclass(frozen=True)
class Source:
    """Prompts and rewards of GRPO.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: A reward function for TRL.
        rollouts: A rollout function for TRL; with None, TRL completes the prompts.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
    rollouts: EpisodeRollouts | SiblingRollouts | None = None


def make_source(
    language_model: LanguageModel,
    env: DesignEnv,
    portfolio: Mechanisms | None,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    run: RunFolder,
    seed: int,
) -> Source:
    """Return the source that the settings describe: states, a curriculum, or whole episodes.

    Of several processes, the main one plays up to the states and hands them over.

    Args:
        language_model: The model in training. It plays up to the states if ``own_states`` is set.
        env: Environment of training, unless there is a curriculum.
        portfolio: Mechanisms that are otherwise played up to the states, see
            ``RandomWalkDesigner``.
        training: Settings of training.
        history: Records of the training so far, if it resumes.
        run: The run folder, for the distillation data and the thresholds of a curriculum.
        seed: Seed of the run.
    """
    settings, prompt = training.grpo, training.prompt
    if settings.rollouts == "episode":
        return episode_source(env, prompt, settings, seed)
    player = _state_player(language_model, prompt, settings, portfolio)
    continuation = _continuation(env, portfolio, training, run, seed)
    if training.curriculum.stages:
        return _from_curriculum(env, player, continuation, training, history, run, seed)
    return state_source(env, player, continuation, prompt, settings, seed, portfolio)


def _continuation(
    env: DesignEnv,
    portfolio: Mechanisms | None,
    training: TrainingSettings,
    run: RunFolder,
    seed: int,
) -> ContinuationPolicy | None:
    """Return the teacher of SFT as a continuation policy, if there are commitment steps."""
    steps, budget = training.grpo.commitment_steps, training.sft.teacher
    if steps is None or budget is None or portfolio is None:
        return None
    teacher = once(lambda: distil(env, portfolio, budget, seed, run.distillation_data))
    return ContinuationPolicy(teacher, steps)


def _from_curriculum(
    env: DesignEnv,
    player: Designer,
    continuation: ContinuationPolicy | None,
    training: TrainingSettings,
    history: Sequence[Mapping[str, float]],
    run: RunFolder,
    seed: int,
) -> Source:
    """Measure the threshold of each stage and return the source of the curriculum."""
    settings, stages = training.grpo, training.curriculum.stages
    envs = {
        name: env.with_population(stage.population.in_market(env.settings.name))
        for name, stage in stages.items()
    }

    def played() -> list[Episodes]:
        return [
            mid_episode_states(
                each, settings.states, seed, f"{_PURPOSE}/{name}", settings.horizon, player
            )
            for name, each in envs.items()
        ]

    states = once(played)

    def measured() -> pd.DataFrame:
        rewards = [
            MarketReward(each, settings.futures, settings.horizon, seed, continuation)
            for each in states
        ]
        if not run.curriculum.exists():
            table = stage_table(envs, rewards, training.curriculum, seed)
            write_table(table, run.curriculum)
        return read_table(run.curriculum, "stage")

    curriculum = make_curriculum(once(measured), settings.prompts_per_step, history)
    return curriculum_source(states, curriculum, continuation, training.prompt, settings, seed)


def state_source(
    env: DesignEnv,
    player: Designer,
    continuation: ContinuationPolicy | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
    portfolio: Mechanisms | None = None,
) -> Source:
    """Return prompts of states up to which a designer plays, with rewards from their futures.

    If groups have siblings, these come from the portfolio. Regret counts the teacher's candidates.
    """
    states = once(lambda: _states(env, player, continuation, settings, seed, portfolio))
    reward = MarketReward(states, settings.futures, settings.horizon, seed, continuation)
    chats, rewarded = (
        prompts(states.observe(), prompt),
        reward.as_reward_function(settings.group_size),
    )
    numbers = list(range(len(chats)))
    if settings.siblings and portfolio is not None:
        rows = numbered_prompts(len(chats)).add_column("state", numbers)
        return Source(rows, rewarded, SiblingRollouts(reward, chats, portfolio, settings))
    return Source(Dataset.from_dict({"prompt": chats, "state": numbers}), rewarded)


def _states(
    env: DesignEnv,
    player: Designer,
    continuation: ContinuationPolicy | None,
    settings: GrpoSettings,
    seed: int,
    portfolio: Mechanisms | None,
) -> Episodes:
    """Play up to the states of training; take those with much regret from a larger pool."""
    states = mid_episode_states(
        env, settings.states * settings.regret_pool, seed, _PURPOSE, settings.horizon, player
    )
    if settings.regret_pool == 1 or portfolio is None:
        return states
    trial = MarketReward(states, _REGRET_FUTURES, settings.horizon, seed, continuation)
    known = _known(portfolio, continuation)
    return states_of_regret(states, trial, player, known, settings.states, seed)


def _known(portfolio: Mechanisms, continuation: ContinuationPolicy | None) -> Mechanisms:
    """Return the teacher's candidates, which are few, or else the portfolio."""
    designer = continuation.designer if continuation else None
    return designer.candidates if isinstance(designer, TreeDesigner) else portfolio


def curriculum_source(
    states: Sequence[Episodes],
    curriculum: Curriculum,
    continuation: ContinuationPolicy | None,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
) -> Source:
    """Return prompts of the stages' states, one stage at a time, with rewards from futures."""
    reward = CurriculumReward(
        states, curriculum, settings.futures, settings.horizon, seed, continuation
    )
    rows = staged_prompts(states, prompt, curriculum)
    return Source(rows, reward.as_reward_function(settings.group_size))


def episode_source(
    env: DesignEnv, prompt: PromptSettings, settings: GrpoSettings, seed: int
) -> Source:
    """Return episodes that the model plays, with rewards from their later steps."""
    tokens = settings.max_completion_tokens
    rollouts = EpisodeRollouts(env, prompt, settings.temperature, tokens, seed)
    return Source(numbered_prompts(settings.states), return_reward(settings.group_size), rollouts)


def _state_player(
    language_model: LanguageModel,
    prompt: PromptSettings,
    settings: GrpoSettings,
    portfolio: Mechanisms | None,
) -> Designer:
    """Return the designer that plays up to the states: the model itself, or a random walk."""
    if not settings.own_states:
        return RandomWalkDesigner(portfolio)
    tokens = settings.max_completion_tokens
    return LanguageModelDesigner(
        make_generate(language_model, settings.temperature, tokens), prompt, strict=True
    )
