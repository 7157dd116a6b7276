"""The classic market: fresh states, forks, and what it refuses."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from daedalus.market.classic import ClassicMarket, ClassicState
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.market.states import played_classic
from tests.populations import seat_plan


def test_a_fresh_episode_is_before_its_first_round():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(np.arange(3, dtype=np.uint64))
    assert isinstance(state, ClassicState)
    assert len(state) == 3
    assert state.active.all()
    assert not state.rounds.any()
    assert not state.wins.any()
    assert np.isnan(state.history.rounds()).all()
    assert_array_equal(state.bidders["budget"], np.tile([2.0, 0, 0, 0, 0, 0, 0, 2.5], (3, 1)))
    assert_array_equal(np.flatnonzero(state.bidders["turn"][0]), [5])


def test_forks_on_other_seeds_face_other_values():
    market, state, _, _ = played_classic(batch=1, stage=0)
    fork = state.fork(np.zeros(3, np.int64), np.array([1, 2, 3], np.uint64))
    market.play(fork, Mechanisms.repeat(Mechanism(), 3), 1)
    assert len(np.unique(fork.bidders["value"])) == fork.bidders["value"].size
