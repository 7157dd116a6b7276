"""The state of a batch of markets: how it is forked and put back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.market.states import played_classic


def test_fork_seeds_are_copied():
    seeds = np.arange(4, dtype=np.uint64)
    _, state, _, _ = played_classic(batch=4)
    fork = state.fork(np.arange(4), seeds)
    seeds[:] = 99
    assert_array_equal(fork.seeds, np.arange(4))


def test_fork_refuses_another_number_of_seeds():
    _, state, _, _ = played_classic(batch=4)
    with pytest.raises(ValueError, match="seeds"):
        state.fork(np.arange(4), np.arange(3, dtype=np.uint64))
