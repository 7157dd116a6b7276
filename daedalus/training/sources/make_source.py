"""Market states as prompts, with rewards from their futures, as the settings describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from datasets import Dataset

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import Designer
from daedalus.design.language.prompt import prompts
from daedalus.design.search.lookahead import ContinuationPolicy
from daedalus.design.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.runs.processes import once
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.run import TrainingRun
from daedalus.training.sources.market_reward import MarketReward
from daedalus.training.writing import Writing

_PURPOSE = "grpo"  # keys the draws of the states, for every algorithm that learns in them


@dataclass(frozen=True)
class Source:
    """Prompts, and the rewards of their completions.

    Attributes:
        prompts: Rows with a chat in ``prompt``.
        reward: A reward function for TRL.
        writing: Returns what a model may answer, if answers are constrained; None if they are
            mechanisms.
    """

    prompts: Dataset
    reward: Callable[..., list[float]]
    writing: Callable[[LanguageModel], Writing] | None = None


def make_source(language_model: LanguageModel, run: TrainingRun, name: str) -> Source:
    """Return the prompts and rewards of an algorithm.

    With ``training.objectives`` each state has a goal of its own, and so has its group. Of several
    processes, the main one plays up to the states and hands them over. The model in training plays
    if ``own_states`` is set.
    """
    settings = run.settings.reinforcement[name]
    player = _state_player(language_model, run, settings)
    continuation = _continuation(run, settings)
    count, horizon = settings.states, settings.horizon
    goals = run.goals(count, _PURPOSE)
    states = once(mid_episode_states)(run.env, count, run.seed, _PURPOSE, horizon, player, goals)
    reward = MarketReward(states, settings.futures, horizon, run.seed, continuation)
    rows = {
        "prompt": prompts(states.observe(), run.settings.prompt),
        "state": list(range(count)),
    }
    rewarded = reward.as_reward_function(settings.group_size, settings.neighbours_of_group)
    return Source(Dataset.from_dict(rows), rewarded)


def _continuation(run: TrainingRun, settings: ReinforcementSettings) -> ContinuationPolicy | None:
    """Return the teacher of SFT as a continuation policy, if there are commitment steps."""
    if settings.commitment_steps is None:
        return None
    teacher = run.teacher()
    return ContinuationPolicy(teacher, settings.commitment_steps) if teacher else None


def _state_player(
    language_model: LanguageModel, run: TrainingRun, settings: ReinforcementSettings
) -> Designer:
    """Return the designer that plays up to the states: the model itself, or a random walk."""
    if not settings.own_states:
        return RandomWalkDesigner(run.portfolio)
    tokens = settings.max_completion_tokens
    generate = make_generate(language_model, settings.temperature, tokens, settings.constrained)
    return LanguageModelDesigner(generate, run.settings.prompt, strict=True)
