"""Market states as prompts, with rewards from their futures."""

from __future__ import annotations

from datasets import Dataset

from daedalus.env import Designer, Episodes
from daedalus.language.prompt import prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.runs.processes import once
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.states import mid_episode_states
from daedalus.search.trees import TreeDesigner
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.run import TrainingRun
from daedalus.training.sources.regret import states_of_regret
from daedalus.training.sources.reward import MarketReward
from daedalus.training.sources.siblings import SiblingRollouts
from daedalus.training.sources.source import PURPOSE, Source, numbered_prompts

_REGRET_FUTURES = 4


def state_source(
    run: TrainingRun,
    settings: ReinforcementSettings,
    player: Designer,
    continuation: ContinuationPolicy | None = None,
) -> Source:
    """Return prompts of states up to which a designer plays, with rewards from their futures.

    With ``training.objectives`` each state has an objective of its own, and so has its group.

    If groups have siblings, these come from the portfolio. Regret counts the teacher's candidates.
    """
    states = once(lambda: _states(run, settings, player, continuation))
    asked = run.objectives(len(states), PURPOSE)
    reward = MarketReward(states, settings.futures, settings.horizon, run.seed, continuation, asked)
    chats = prompts(states.observe(), run.settings.prompt, asked)
    rewarded = reward.as_reward_function(settings.group_size, settings.neighbours_of_group)
    numbers = list(range(len(chats)))
    if settings.siblings and run.portfolio is not None:
        rows = numbered_prompts(len(chats)).add_column("state", numbers)
        return Source(rows, rewarded, SiblingRollouts(reward, chats, run.portfolio, settings))
    return Source(Dataset.from_dict({"prompt": chats, "state": numbers}), rewarded)


def _states(
    run: TrainingRun,
    settings: ReinforcementSettings,
    player: Designer,
    continuation: ContinuationPolicy | None,
) -> Episodes:
    """Play up to the states of training; take those with much regret from a larger pool."""
    count, horizon, seed = settings.states, settings.horizon, run.seed
    states = mid_episode_states(
        run.env, count * settings.regret_pool, seed, PURPOSE, horizon, player
    )
    if settings.regret_pool == 1 or run.portfolio is None:
        return states
    trial = MarketReward(states, _REGRET_FUTURES, horizon, seed, continuation)
    known = _known(run.portfolio, continuation)
    return states_of_regret(states, trial, player, known, count, seed)


def _known(portfolio: Mechanisms, continuation: ContinuationPolicy | None) -> Mechanisms:
    """Return the teacher's candidates, which are few, or else the portfolio."""
    designer = continuation.designer if continuation else None
    return designer.candidates if isinstance(designer, TreeDesigner) else portfolio
