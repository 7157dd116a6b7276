"""A step round by round, for people who watch: who bid what, who won, and who they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.service.models import Arena, ArenaRound, Bidder, Reveal
from daedalus.service.rubric import scores


@dataclass(frozen=True)
class Watched:
    """The rounds of a step, and who bid under false names in each, by seat."""

    rounds: list[ArenaRound]
    owners: list[list[int]]


def watch(before: DesignEnv, mechanisms: Mechanisms) -> Watched:
    """Play a step once more, from a copy of where it began, and look at every round.

    Draws are keyed by round, so that the copy lives through the same.

    Args:
        before: One episode as the step found it; changed.
        mechanisms: The rules of the step.
    """
    if before.done[0]:
        return Watched([], [])
    rounds, owners = [], []
    for _ in range(before.settings.rounds_per_step):
        wins = before.state.wins[0].copy()
        outcome = before.market.play(before.state, mechanisms, 1)
        false_bids = [each.false_bid for each in before.market.unmask(before.state)]
        owners.append(np.flatnonzero(false_bids).tolist())
        delivered = before.state.wins[0] - wins
        rounds.append(_round(before, mechanisms, outcome, delivered.tolist(), false_bids))
    return Watched(rounds, owners)


def arena(step: int, watched: Watched) -> Arena:
    """Return what everybody may watch of a step."""
    return Arena(step=step, rounds=watched.rounds)


def reveal(env: DesignEnv, watched: Watched) -> Reveal:
    """Return who the bidders are, and which false names were theirs."""
    bidders = [
        Bidder(type=each.type, menu=list(each.habits)) for each in env.market.unmask(env.state)
    ]
    return Reveal(bidders=bidders, false_names=watched.owners)


def _round(
    env: DesignEnv,
    mechanisms: Mechanisms,
    outcome: Outcome,
    delivered: list[int],
    false_bids: list[float],
) -> ArenaRound:
    bids = env.state.bids[0]
    return ArenaRound(
        number=int(env.state.rounds[0]),
        bids=bids.tolist(),
        present=(bids > 0.0).tolist(),
        delivered=delivered,
        false_bids=[each for each in false_bids if each > 0.0],
        price=float(outcome.field("clearing_price")[0, 0]),
        reserve=float(mechanisms.reserve_price[0]),
        revenue=float(outcome.field("revenue")[0, 0]),
        scores=scores(outcome),
    )
