"""Market states as prompts, with rewards from their futures."""

from __future__ import annotations

from datasets import Dataset

from daedalus.design.env import Designer
from daedalus.design.language.prompt import prompts
from daedalus.design.search.lookahead import ContinuationPolicy
from daedalus.design.search.states import mid_episode_states
from daedalus.runs.processes import once
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.run import TrainingRun
from daedalus.training.sources.market_reward import MarketReward
from daedalus.training.sources.source import PURPOSE, Source


def state_source(
    run: TrainingRun,
    settings: ReinforcementSettings,
    player: Designer,
    continuation: ContinuationPolicy | None = None,
) -> Source:
    """Return prompts of states up to which a designer plays, with rewards from their futures.

    With ``training.objectives`` each state has a goal of its own, and so has its group.
    """
    count, horizon = settings.states, settings.horizon
    goals = run.goals(count, PURPOSE)
    states = once(mid_episode_states)(run.env, count, run.seed, PURPOSE, horizon, player, goals)
    reward = MarketReward(states, settings.futures, horizon, run.seed, continuation)
    chats = prompts(states.observe(), run.settings.prompt)
    rewarded = reward.as_reward_function(settings.group_size, settings.neighbours_of_group)
    rows = {"prompt": chats, "state": list(range(count))}
    return Source(Dataset.from_dict(rows), rewarded)
