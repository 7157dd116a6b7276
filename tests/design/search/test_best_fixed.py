"""The best fixed mechanism, on scores whose best mechanism is known."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.search.best_fixed import best_fixed, best_of_candidates
from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.design.search.test_sweep import only_together

PLANTED = Mechanism("first_price", 0.35, collusion_penalty=2.0, reveal_winner_identity=True)
HALVING = SearchBudget(sweeps=0)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def closeness(mechanisms: Mechanisms, episodes: int = 0) -> np.ndarray:
    """Score 1 at the planted mechanism in the fields that matter, less elsewhere."""
    score = 1 - np.abs(mechanisms.reserve_price - PLANTED.reserve_price)
    score -= 0.2 * np.abs(mechanisms.collusion_penalty - PLANTED.collusion_penalty)
    score -= 0.5 * (mechanisms.auction_type != 0)
    return score - 0.5 * ~mechanisms.reveal_winner_identity


def test_halving_finds_the_best_of_the_candidates() -> None:
    winner, rungs = best_fixed(HALVING, closeness, rng())
    candidates = random_mechanisms(1024, rng())
    assert winner == candidates[int(np.argmax(closeness(candidates)))]
    assert [len(rung.candidates) for rung in rungs] == [1024, 256, 64, 16, 4, 1]
    assert [rung.episodes for rung in rungs] == [8, 32, 128, 512, 2048, 8192]


def test_sweeps_improve_on_the_halving() -> None:
    budget = SearchBudget(candidates=64, sweeps=2, sweep_episodes=5)
    halved, _ = best_fixed(SearchBudget(candidates=64, sweeps=0), closeness, rng())
    swept, rungs = best_fixed(budget, closeness, rng())
    before, after = closeness(Mechanisms.stack([halved, swept]))
    assert after > before
    assert swept.collusion_penalty == PLANTED.collusion_penalty
    assert len(rungs) == 4


def test_sweeps_begin_at_every_auction_type() -> None:
    budget = SearchBudget(candidates=16, sweeps=2, sweep_episodes=1)
    best, _ = best_fixed(budget, only_together, rng())
    assert (best.auction_type, best.shill_penalty) == ("vcg", 3.0)


def test_the_last_comparison_has_eight_times_the_episodes_of_a_sweep() -> None:
    asked = []

    def score(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
        asked.append(episodes)
        return closeness(mechanisms)

    best_fixed(SearchBudget(candidates=4, sweeps=1, sweep_episodes=5), score, rng())
    assert asked[:2] == [8, 32] and asked[-1] == 40 and set(asked[2:-1]) == {5}


def test_candidates_are_swept_from_the_best_of_each_type() -> None:
    candidates = [
        Mechanism("first_price", 0.9),
        Mechanism("vcg", 0.1),
        Mechanism("first_price", 0.8),
    ]
    best = best_of_candidates(candidates, closeness, 2, 3)
    assert (best.auction_type, best.reserve_price) == ("first_price", pytest.approx(0.3, abs=0.11))
    assert best.collusion_penalty == 2.0 and best.reveal_winner_identity
