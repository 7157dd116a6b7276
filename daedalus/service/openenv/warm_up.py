"""Compile the markets before the first visitor arrives."""

from __future__ import annotations

import gc
from contextlib import suppress

from daedalus.market.factory import play_on_one_thread
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import UnansweredError, UnrecordedError
from daedalus.service.openenv.messages import DaedalusAction


def warm_up(catalogue: Catalogue) -> None:
    """Play a step of every market on offer, which compiles its kernels for up to a minute.

    Otherwise the first visitor to choose a market would hold up all others. Call this on the thread
    that serves; that thread plays alone from then on.

    What is loaded by then is exempt from garbage collection, which would otherwise pause the
    service for a quarter of a second now and then.
    """
    play_on_one_thread()
    environment = DaedalusEnvironment(catalogue)
    allowed = Goal(allowed=catalogue.allowed).nearest(Mechanisms.stack([Mechanism()]))[0]
    for market in catalogue.markets:
        for population in catalogue.playable(market)[:1]:
            environment.reset(0, population=population, market=market)
            with suppress(UnansweredError, UnrecordedError):  # no model is asked
                environment.step(DaedalusAction(**allowed.to_dict()))
    gc.collect()
    gc.freeze()
