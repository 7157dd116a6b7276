"""The best fixed mechanism: halving and sweeps, on scores whose best is known, and evolution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from daedalus.design.search.best_fixed import (
    best_fixed,
    best_of_candidates,
    successive_halving,
    survivors,
    sweep,
    sweep_each_type,
)
from daedalus.design.search.budgets import EvolutionBudget, SearchBudget
from daedalus.design.search.evolution import evolve
from daedalus.design.search.objective import EpisodeObjective
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import AUCTION_TYPES, FIELDS, Mechanism, Mechanisms
from daedalus.market.seeds import generator
from tests.design.search.markets import mixed_env

PLANTED = Mechanism("first_price", 0.35, collusion_penalty=2.0, reveal_winner_identity=True)
HALVING = SearchBudget(sweeps=0)
VCG, FIRST_PRICE = AUCTION_TYPES.index("vcg"), AUCTION_TYPES.index("first_price")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def closeness(mechanisms: Mechanisms, episodes: int = 0) -> np.ndarray:
    """Score 1 at the planted mechanism in the fields that matter, less elsewhere."""
    score = 1 - np.abs(mechanisms.reserve_price - PLANTED.reserve_price)
    score -= 0.2 * np.abs(mechanisms.collusion_penalty - PLANTED.collusion_penalty)
    score -= 0.5 * (mechanisms.auction_type != 0)
    return score - 0.5 * ~mechanisms.reveal_winner_identity


def only_together(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
    """Score VCG highest, but only with the greatest fine; a change of one field never pays."""
    vcg, fined = mechanisms.auction_type == VCG, mechanisms.shill_penalty == 3.0
    first = mechanisms.auction_type == FIRST_PRICE
    return np.select([vcg & fined, (first | vcg) & ~fined], [2.0, 1.0], default=0.0)


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


def test_every_rung_is_ranked_and_its_best_candidates_survive() -> None:
    noise = np.random.default_rng(2)
    rungs = list(successive_halving(50, lambda alive, _: noise.random(len(alive)), 3, 2))
    assert [len(rung.candidates) for rung in rungs] == [50, 25, 12, 6, 3, 1]
    assert [rung.episodes for rung in rungs] == [3, 6, 12, 24, 48, 96]
    for rung, following in itertools.pairwise(rungs):
        assert (np.diff(rung.scores) <= 0).all()
        best = rung.candidates[: len(following.candidates)]
        assert sorted(best) == sorted(following.candidates)


def test_equal_candidates_keep_their_order() -> None:
    first, *_ = successive_halving(5, lambda alive, _: np.zeros(len(alive)), 1, 2)
    assert first.candidates.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("count", "keep", "left"), [(16, 4, 4), (15, 4, 3), (3, 4, 1), (1, 2, 1)])
def test_one_of_keep_candidates_survives_and_never_none(count: int, keep: int, left: int) -> None:
    assert survivors(count, keep) == left


def test_a_sweep_finds_the_best_level_of_every_field_and_stops() -> None:
    calls = []

    def score(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
        calls.append(episodes)
        return -np.abs(mechanisms.reserve_price - 0.3) - 1.0 * mechanisms.reveal_reserve

    start = Mechanism(reserve_price=0.77, reveal_reserve=True, shill_penalty=1.234)
    best = sweep(start, score, sweeps=5, episodes=7)
    assert (best.reserve_price, best.reveal_reserve) == (0.3, False)
    assert best.shill_penalty == 1.234  # no level is better than its first value
    assert len(calls) == 2 * len(FIELDS) and set(calls) == {7}
    assert sweep(start, score, sweeps=0, episodes=7) == start


def test_one_sweep_starts_from_each_auction_type() -> None:
    first, vcg = Mechanism("first_price", shill_penalty=0.0), Mechanism("vcg", shill_penalty=0.0)
    assert sweep(first, only_together, 3, 1) == first
    found = sweep_each_type([Mechanisms.stack([first, vcg])], only_together, 3, 1)
    assert [each.auction_type for each in found] == ["first_price", "vcg"]
    assert found[1].shill_penalty == 3.0


def test_the_first_pool_that_has_a_type_supplies_its_start() -> None:
    better, good, bad = (Mechanism("vcg", reserve) for reserve in (0.25, 0.15, 0.35))
    pools = [[Mechanism("first_price")], [better, good], [bad]]
    stacked = [Mechanisms.stack(each) for each in pools]
    found = sweep_each_type(stacked, lambda each, _: np.zeros(len(each)), 1, 1)
    assert found == [Mechanism("first_price"), better]


@pytest.mark.slow
def test_evolution_beats_nearly_all_random_mechanisms() -> None:
    env, budget = mixed_env(), EvolutionBudget(population=2, generations=8, episodes=8)
    found = evolve(env, budget, seed=0)
    check = EpisodeObjective([env], 0, "check")
    others = check(random_mechanisms(200, generator(1, "r")), 200)
    assert (others < check(Mechanisms.stack([found]), 200)).mean() > 0.95
