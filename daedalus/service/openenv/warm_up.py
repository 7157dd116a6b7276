"""Compile the market before the first visitor arrives."""

from __future__ import annotations

import gc

from daedalus.market.interface import MARKET_RULES, play_on_one_thread
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction


def warm_up(catalogue: Catalogue) -> None:
    """Play a step by all rules on offer: the first compiles their kernels for a minute or two.

    Whoever came later and chose others would have everybody wait. To be called on the thread that
    serves, which then plays alone.

    What has been loaded until then stays: looking through it for garbage would hold up everybody
    for a quarter of a second every now and then.
    """
    play_on_one_thread()
    environment = DaedalusEnvironment(catalogue)
    for rules in MARKET_RULES:
        for population in catalogue.playable(rules)[:1]:
            environment.reset(0, population=population, market=rules)
            environment.step(DaedalusAction())
    gc.collect()
    gc.freeze()
