"""Environments by the names of ``conf/``, for programs that are no runs."""

from __future__ import annotations

from daedalus.config.compose import compose_config, quoted
from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.rewards.stack import RewardStack


def environment(
    population: str | Population | SeatPlan = "stage3",
    *overrides: str,
    market: str | MarketSettings = "strategic",
    reward: str | RewardStack = "composite",
) -> DesignEnv:
    """Return an environment.

    Args:
        population: The bidders: the name of a file in ``conf/population/``, or their settings.
        *overrides: Changes as on the command line, such as ``market.episode_length=20``.
        market: The name of a file in ``conf/market/``, or settings.
        reward: The name of a file in ``conf/reward/``, or a stack.

    Raises:
        ConfigError: A name or a change is wrong. The message says what to write instead.
        ValueError: The market cannot play the bidders.
    """
    chosen = {"population": population, "reward": reward}
    chosen["market"] = market if isinstance(market, str) else market.name
    named = [f"{key}={quoted(each)}" for key, each in chosen.items() if isinstance(each, str)]
    config = compose_config("task=compare", *named, *overrides)
    settings = config.market if isinstance(market, str) else market
    bidders = (
        config.population.in_market(settings.name) if isinstance(population, str) else population
    )
    stack = config.reward if isinstance(reward, str) else reward
    return DesignEnv.of(settings, bidders, stack)
