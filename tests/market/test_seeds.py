"""Seeds keyed by purpose: reproducible, distinct, and sharing their start."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.seeds import generator, market_seeds

KEYS = [
    (seed, purpose, *indices)
    for seed in (0, 1, 2**32, 2**64)
    for purpose in ("training", "evaluation", "evaluatio")
    for indices in ((), (0,), (1,), (0, 1), (1, 0))
]


def seeds(key: tuple, count: int = 8) -> np.ndarray:
    seed, purpose, *indices = key
    return market_seeds(seed, purpose, count, *indices)


def stream(key: tuple) -> np.ndarray:
    return generator(*key).integers(2**63, size=8)


def test_seeds_have_the_type_that_markets_take():
    assert seeds((0, "x"), 5).dtype == np.uint64
    assert seeds((0, "x"), 5).shape == (5,)
    assert seeds((0, "x"), 0).shape == (0,)


def test_seeds_are_known_from_one_machine_to_the_next():
    """Golden values: a change of these changes every published result."""
    assert market_seeds(0, "golden", 2).tolist() == [
        2839059133202375305,
        6230220295428073839,
    ]
    assert generator(0, "golden", 3).integers(10**9) == 566608727


@pytest.mark.parametrize("draws", [seeds, stream])
def test_any_other_argument_gives_others(draws):
    for left, right in itertools.combinations(KEYS, 2):
        if left[:2] == right[:2] and (*left[2:], 0) == right[2:]:
            continue  # the test below has these
        assert not np.intersect1d(draws(left), draws(right)).size, (left, right)


@pytest.mark.parametrize("indices", [(), (1,), (0,)])
def test_a_further_index_of_zero_gives_others(indices):
    """SeedSequence pads short entropy with zeros, so (x,) and (x, 0) are one unless told apart."""
    assert not np.intersect1d(seeds((0, "x", *indices)), seeds((0, "x", *indices, 0))).size


def test_seeds_of_one_call_are_distinct():
    many = market_seeds(0, "many", 100_000)
    assert len(np.unique(many)) == len(many)


@pytest.mark.parametrize("count", [0, 1, 7, 99])
def test_runs_of_different_size_share_their_start(count):
    assert_array_equal(market_seeds(3, "x", 100)[:count], market_seeds(3, "x", count))


@pytest.mark.parametrize("call", [lambda: market_seeds(-1, "x", 3), lambda: generator(-1, "x")])
def test_a_negative_seed_is_refused(call):
    with pytest.raises(ValueError, match="seed"):
        call()
