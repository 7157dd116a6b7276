"""Plays the strategic kernels and the plain reference side by side; not a test."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.proxies import observe
from daedalus.market.strategic import StrategicMarket
from tests.market.reference_strategic import ReferenceEpisode
from tests.market.states import play_references, table
from tests.populations import draw_mechanisms

LEARNED = (
    "won_last", "expected_surplus", "learning_rate", "rivals_seen", "rivals_distance",
    "reduction_gain", "shill_gain", "spent", "pacing", "surplus", "units_won",
)  # fmt: skip
"""What changes in the record of a bidder."""


def play_reference(who, parameters, kinds, seeds, phases):
    """Play every episode through all (mechanisms, rounds) phases in the plain reference."""
    types = list(who.types.values())
    episodes = []
    for kind, seed in zip(kinds, seeds, strict=True):
        episodes.append(ReferenceEpisode([types[k] for k in kind], who.units, parameters, seed))
        episodes[-1].form_rings(types)
    return play_references(episodes, phases), episodes


def assert_kernel_is_reference(
    who: Population, batch: int, rng: np.random.Generator, parameters=None
) -> Counter:
    parameters = parameters or StrategicParameters()
    seeds = rng.integers(2**64, size=batch, dtype=np.uint64)
    phases = [(Mechanisms.repeat(Mechanism(), batch), 3)]
    phases += [(draw_mechanisms(batch, rng), 9) for _ in range(3)]

    market = StrategicMarket(who, parameters)
    state = market.reset(seeds)
    kinds = state.bidders["kind"]
    records = [market.play(state, mechanisms, rounds).records for mechanisms, rounds in phases]

    expected, episodes = play_reference(who, parameters, kinds, seeds, phases)
    assert_near(np.concatenate(records, axis=1), expected, "records")
    accounts = table([episode.accounts for episode in episodes])
    assert_near(observe(state).history.rounds(), accounts[:, -HISTORY_LENGTH:], "history")
    for name in LEARNED:
        theirs = [[getattr(b, name) for b in e.bidders] for e in episodes]
        assert_near(state.bidders[name], theirs, name)
    longest = state.tables.shape[2]
    tables = [[b.table + [0.0] * (longest - len(b.table)) for b in e.bidders] for e in episodes]
    assert_near(state.tables, tables, "tables")
    for name in state.rings.dtype.names:
        theirs = [[getattr(ring, name) for ring in e.rings] for e in episodes]
        if any(episode.rings for episode in episodes):
            assert_near(state.rings[name], theirs, name)
    bids = np.array([[pair[0] for pair in e.bids] for e in episodes])
    assert_near(state.bids, bids, "bids")
    assert_array_equal(state.active, bids > 0)
    before = [[pair[0] for pair in e.bids_before] for e in episodes]
    assert_near(state.previous_bids, before, "previous_bids")
    assert_near(state.alias_bids, [[b.alias for b in e.bidders] for e in episodes], "aliases")
    assert_array_equal(state.wins, [[b.wins for b in e.bidders] for e in episodes])
    assert_near(state.expected_price, [e.price_expected for e in episodes], "expected_price")
    sightings = np.array([e.sightings for e in episodes])
    assert_near(state.sightings, sightings, "sightings", atol=1e-7)  # roots of rounding errors
    return sum((Counter(episode.events) for episode in episodes), Counter())


def assert_near(ours, theirs, name: str, atol: float = 1e-9) -> None:
    assert_allclose(ours, np.array(theirs, np.float64), rtol=0, atol=atol, err_msg=name)
