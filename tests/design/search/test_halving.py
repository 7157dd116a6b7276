"""Successive halving, on scores that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from daedalus.design.search.halving import successive_halving, survivors


def test_every_rung_is_ranked_and_its_best_candidates_survive() -> None:
    noise = np.random.default_rng(2)
    rungs = list(successive_halving(50, lambda alive, _: noise.random(len(alive)), 3, 2))
    assert [len(rung.candidates) for rung in rungs] == [50, 25, 12, 6, 3, 1]
    assert [rung.episodes for rung in rungs] == [3, 6, 12, 24, 48, 96]
    for rung, following in itertools.pairwise(rungs):
        assert (np.diff(rung.scores) <= 0).all()
        best = rung.candidates[: len(following.candidates)]
        assert sorted(best) == sorted(following.candidates)


def test_the_best_candidate_wins_and_every_rung_costs_the_same() -> None:
    truth = np.random.default_rng(0).permutation(64).astype(float)
    spent = []

    def score(alive: np.ndarray, episodes: int) -> np.ndarray:
        spent.append(len(alive) * episodes)
        return truth[alive]

    *_, last = successive_halving(64, score, 4, 4)
    assert last.candidates.tolist() == [truth.argmax()]
    assert last.scores.tolist() == [63.0]
    assert spent == [256] * 4


def test_equal_candidates_keep_their_order() -> None:
    first, *_ = successive_halving(5, lambda alive, _: np.zeros(len(alive)), 1, 2)
    assert first.candidates.tolist() == [0, 1, 2, 3, 4]


def test_a_single_candidate_is_scored_too() -> None:
    (rung,) = successive_halving(1, lambda alive, _: alive + 7.0, 8, 4)
    assert (rung.candidates.tolist(), rung.scores.tolist(), rung.episodes) == ([0], [7.0], 8)


@pytest.mark.parametrize(("count", "keep", "left"), [(16, 4, 4), (15, 4, 3), (3, 4, 1), (1, 2, 1)])
def test_one_of_keep_candidates_survives_and_never_none(count: int, keep: int, left: int) -> None:
    assert survivors(count, keep) == left
