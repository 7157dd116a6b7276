"""Small markets, budgets and rewards for the tests of the searches; a helper, not a test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.market.population import BidderType, Population
from tests.populations import TYPES

COMPOSITE = RewardStack()
PUBLISHED = RewardStack({"format": 1.0, "welfare": 1.0, "fairness": 1.0, "composite": 1.0})
AGAINST_WELFARE = RewardStack({"welfare": -1.0})
"""The opposite of R in most markets, so that a search for R finds another mechanism."""

SETTINGS = MarketSettings(episode_length=4)
SHILL_BIDDERS = BidderType(1, ["shill"], value_high=0.6)
DROPOUTS = BidderType(1, ["withdraw"], value_low=0.4, outside_option=0.2)

HIGH, LOW = Mechanism(reserve_price=0.9), Mechanism(reserve_price=0.0)
HIGH_AND_LOW = Mechanisms.stack([HIGH, LOW])
"""The first mechanism sells hardly anything."""


def mixed_env(**changes: object) -> DesignEnv:
    """Return a market with every type of bidder."""
    return DesignEnv.of(SETTINGS, Population(types=TYPES, **changes))


def env_of(reward: RewardStack = COMPOSITE, **types: BidderType) -> DesignEnv:
    """Return a market of the given types, by default truthful bidders alone."""
    bidders = types or {"truthful": BidderType()}
    return DesignEnv.of(SETTINGS, Population(types=bidders, units=2, concentration=0.05), reward)


def published_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Return what ``PUBLISHED`` pays for valid texts, term by term, shape (B,)."""
    parts = (outcome.field("welfare"), outcome.field("fairness"), outcome.field("composite"))
    return np.asarray(1.0 + sum(each.mean(axis=1) for each in parts))


def rewarded(states: Episodes, stack: RewardStack) -> Episodes:
    """Return the same episodes, under another reward."""
    return replace(states, env=replace(states.env, reward=stack))


def play_steps(episodes: Episodes, mechanism: Mechanism, count: int) -> list[Outcome]:
    """Play a mechanism in all episodes; return the scored rounds of each step."""
    mechanisms = Mechanisms.repeat(mechanism, len(episodes))
    return [episodes.step(mechanisms).scored for _ in range(count)]
