"""The last step round by round, for people who watch: bids, winners, types and false names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from daedalus.design.env import Episodes
from daedalus.market.interface import Unmasked
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Outcome
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.rubric import scores
from daedalus.service.sessions.session_messages import Arena, ArenaRound, Bidder, Reveal

PLAYED = "language_model"
"""In the place of the strategies of bidders that a model plays."""


def arena(environment: DaedalusEnvironment) -> Arena:
    """Return the rounds of the last step."""
    episode = environment.episode()
    scored, rounds = episode.env.settings.scored_rounds, _replay(environment).rounds
    return Arena(step=int(episode.steps[0]), scored=scored, rounds=rounds)


def reveal(environment: DaedalusEnvironment) -> Reveal:
    """Return the bidders' types, and the bidders behind the false names of the last step."""
    episodes = environment.episode()
    market = episodes.env.market
    bidders = [
        Bidder(type=each.type, menu=[PLAYED] if each.type in market.players else list(each.habits))
        for each in market.unmask(episodes.state)
    ]
    replay = _replay(environment)
    return Reveal(bidders=bidders, false_names=replay.owners, values=replay.values)


@dataclass(frozen=True)
class _Replay:
    """The rounds of a step, and in each the seats that bid under false names, and the values."""

    rounds: list[ArenaRound] = field(default_factory=list)
    owners: list[list[int]] = field(default_factory=list)
    values: list[list[float]] = field(default_factory=list)


def _replay(environment: DaedalusEnvironment) -> _Replay:
    """Play the last step again, from a copy of its beginning, and record every round.

    Draws are keyed by round, so the copy repeats the step exactly.
    """
    before, mechanisms = environment.before_step(), environment.episode().mechanisms
    replay = _Replay()
    if before is None or before.done[0]:
        return replay
    market = before.env.market
    bidders = market.unmask(before.state)
    for _ in range(before.env.settings.rounds_per_step):
        present = slice(before.state.sizes[0])
        wins = before.state.wins[0, present].copy()
        outcome = market.play(before.state, mechanisms, 1)
        former, bidders = bidders, market.unmask(before.state)
        delivered = before.state.wins[0, present] - wins
        at_price = [units * float(outcome.field("clearing_price")[0, 0]) for units in delivered]
        paid = _paid(former, bidders, at_price)
        replay.owners.append([seat for seat, each in enumerate(bidders) if each.false_bid])
        replay.values.append([each.value for each in bidders])
        replay.rounds.append(_round(before, mechanisms, outcome, delivered.tolist(), paid, bidders))
    return replay


def _paid(former: list[Unmasked], bidders: list[Unmasked], at_price: list[float]) -> list[float]:
    """Return each bidder's payment in a round; ``at_price`` is used where none are recorded."""
    spent = np.array([each.spent for each in bidders]) - [each.spent for each in former]
    paid: list[float] = np.where(np.isnan(spent), at_price, spent).tolist()
    return paid


def _round(
    episodes: Episodes,
    mechanisms: Mechanisms,
    outcome: Outcome,
    delivered: list[int],
    paid: list[float],
    bidders: list[Unmasked],
) -> ArenaRound:
    bids = episodes.state.bids[0, : episodes.state.sizes[0]]
    return ArenaRound(
        number=int(episodes.state.rounds[0]),
        bids=bids.tolist(),
        present=(bids > 0.0).tolist(),
        delivered=delivered,
        false_bids=[each.false_bid for each in bidders if each.false_bid > 0.0],
        paid=paid,
        price=float(outcome.field("clearing_price")[0, 0]),
        reserve=float(mechanisms.reserve_price[0]),
        revenue=float(outcome.field("revenue")[0, 0]),
        scores=scores(outcome, episodes.env.reward),
    )
