"""The last step round by round, for people who watch: bids, winners, types and false names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.rubric import scores
from daedalus.service.sessions.messages import Arena, ArenaRound, Bidder, Reveal


def arena(environment: DaedalusEnvironment) -> Arena:
    """Return the rounds of the last step.

    Raises:
        EpisodeError: No episode has begun, or the session has been closed.
    """
    step = int(environment.episode().steps[0])
    return Arena(step=step, rounds=_replay(environment).rounds)


def reveal(environment: DaedalusEnvironment) -> Reveal:
    """Return the bidders' types, and the bidders behind the false names of the last step.

    Raises:
        EpisodeError: No episode has begun, or the session has been closed.
    """
    env = environment.episode()
    bidders = [
        Bidder(type=each.type, menu=list(each.habits)) for each in env.market.unmask(env.state)
    ]
    return Reveal(bidders=bidders, false_names=_replay(environment).owners)


@dataclass(frozen=True)
class _Replay:
    """The rounds of a step, and in each the seats that bid under false names."""

    rounds: list[ArenaRound]
    owners: list[list[int]]


def _replay(environment: DaedalusEnvironment) -> _Replay:
    """Play the last step again, from a copy of its beginning, and record every round.

    Draws are keyed by round, so the copy repeats the step exactly.
    """
    before, mechanisms = environment.before_step(), environment.episode().mechanisms
    if before is None or before.done[0]:
        return _Replay([], [])
    rounds, owners = [], []
    for _ in range(before.settings.rounds_per_step):
        present = slice(before.state.sizes[0])
        wins = before.state.wins[0, present].copy()
        outcome = before.market.play(before.state, mechanisms, 1)
        false_bids = [each.false_bid for each in before.market.unmask(before.state)]
        owners.append(np.flatnonzero(false_bids).tolist())
        delivered = before.state.wins[0, present] - wins
        rounds.append(_round(before, mechanisms, outcome, delivered.tolist(), false_bids))
    return _Replay(rounds, owners)


def _round(
    env: DesignEnv,
    mechanisms: Mechanisms,
    outcome: Outcome,
    delivered: list[int],
    false_bids: list[float],
) -> ArenaRound:
    bids = env.state.bids[0, : env.state.sizes[0]]
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
