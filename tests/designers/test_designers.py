"""Designers: random, fixed, heuristic, search and a language model, and the prompt it is shown."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.heuristic import HeuristicDesigner
from daedalus.designers.language_model import LanguageModelDesigner, LanguageModelSettings
from daedalus.designers.prompt import REQUEST, SYSTEM, PromptSettings, prompts
from daedalus.designers.random import RandomDesigner
from daedalus.designers.search import SearchDesigner, successive_halving, sweep
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms
from daedalus.market.outcome import HISTORY_LENGTH, PROXIES, ROUND_FIELDS, Observation
from daedalus.market.parsing import format_mechanism
from daedalus.search.space import random_mechanisms
from tests.populations import draw_mechanism


def observe(
    batch: int = 1,
    known: int = HISTORY_LENGTH,
    rules: Mechanism | None = None,
    stage: int = 3,
    **values: float,
) -> Observation:
    """Return what a designer might see: constant records and proxies, 0 unless given."""
    recent = np.full((batch, HISTORY_LENGTH, len(ROUND_FIELDS)), np.nan)
    recent[:, HISTORY_LENGTH - known :] = 0.0
    proxies = np.zeros((batch, len(PROXIES)))
    for name, value in values.items():
        if name in PROXIES:
            proxies[:, PROXIES.index(name)] = value
        else:
            recent[:, HISTORY_LENGTH - known :, ROUND_FIELDS.index(name)] = value
    mechanisms = Mechanisms.repeat(rules or Mechanism(), batch)
    return Observation(mechanisms, recent, proxies, np.full(batch, 3), 10, stage)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------- random and fixed


@pytest.mark.parametrize(("sampling", "high"), [("uniform", 0.9), ("card", 0.5)])
def test_random_covers_the_space_evenly(sampling, high):
    count = 20_000
    drawn = RandomDesigner(sampling=sampling).propose(observe(count), rng())
    assert len(drawn) == count
    assert not drawn.malformed.any()
    for name, words in CHOICES.items():
        shares = np.bincount(getattr(drawn, name), minlength=len(words)) / count
        np.testing.assert_allclose(shares, 1 / len(words), atol=0.015)
    for name in FLAGS:
        assert getattr(drawn, name).mean() == pytest.approx(0.5, abs=0.015)
    for name, (low, end) in RANGES.items():
        top = high if name == "reserve_price" else end
        deciles = np.histogram(getattr(drawn, name), bins=10, range=(low, top))[0] / count
        assert getattr(drawn, name).max() <= top
        np.testing.assert_allclose(deciles, 0.1, atol=0.01, err_msg=name)


def test_random_draws_fields_independently():
    drawn = random_mechanisms(20_000, rng())
    columns = [getattr(drawn, name).astype(float) for name in (*CHOICES, *RANGES, *FLAGS)]
    assert np.abs(np.corrcoef(columns) - np.eye(11)).max() < 0.035


def test_random_depends_on_its_generator_alone():
    first, again, other = (random_mechanisms(5, rng(seed)) for seed in (0, 0, 1))
    assert [first[i] for i in range(5)] == [again[i] for i in range(5)]
    assert first[0] != other[0]


def test_random_refuses_an_unknown_sampling():
    with pytest.raises(ValueError, match="'normal'"):
        RandomDesigner(sampling="normal")


def test_fixed_proposes_its_mechanism_whatever_happens():
    mechanism = draw_mechanism(rng(7))
    drawn = FixedDesigner(mechanism).propose(observe(4, collusion_signal=1.0), rng())
    assert [drawn[i] for i in range(4)] == [mechanism] * 4


# ------------------------------------------------------------------------------- heuristic

BASE = Mechanism(reserve_price=0.10, coalition_policy="penalize_suspected")
RING = dataclasses.replace(BASE, auction_type="first_price", collusion_penalty=1.5)
HIGH_RESERVE = Mechanism(reserve_price=0.8)


def heuristic(observations: Observation, **settings: float) -> Mechanism:
    proposal = HeuristicDesigner(**settings).propose(observations, rng())
    assert not proposal.malformed.any()
    return proposal[0]


def test_heuristic_in_quiet_times_is_a_second_price_auction_that_reveals_its_price():
    assert heuristic(observe()) == BASE
    assert BASE.auction_type == "second_price"
    assert BASE.reveal_clearing_price


@pytest.mark.parametrize(("signal", "expected"), [(0.64, BASE), (0.66, RING), (1.0, RING)])
def test_heuristic_fights_a_ring_above_the_alarm(signal, expected):
    assert heuristic(observe(collusion_signal=signal)) == expected


def test_heuristic_alarm_can_be_set():
    assert heuristic(observe(collusion_signal=0.4), collusion_alarm=0.3) == RING
    assert heuristic(observe(collusion_signal=0.9), collusion_alarm=0.95) == BASE


@pytest.mark.parametrize(
    ("loud", "signal", "expected"), [(4, 1.0, RING), (4, 0.8, BASE), (3, 1.0, BASE)]
)
def test_heuristic_looks_back_five_rounds(loud, signal, expected):
    """The newest rounds are loud and those before silent: the mean of five is a part of it."""
    seen = observe()
    seen.recent[:, HISTORY_LENGTH - loud :, ROUND_FIELDS.index("collusion_signal")] = signal
    assert heuristic(seen) == expected


def test_heuristic_sees_a_ring_in_fewer_rounds_than_five():
    """Rounds before the first are unknown, not quiet."""
    assert heuristic(observe(known=3, collusion_signal=0.8)) == RING


def test_heuristic_before_the_first_round_is_quiet():
    assert heuristic(observe(known=0)) == BASE


@pytest.mark.parametrize(("trend", "sliding"), [(-0.009, False), (-0.011, True), (0.5, False)])
def test_heuristic_hides_a_sliding_price(trend, sliding):
    expected = dataclasses.replace(BASE, reveal_clearing_price=not sliding)
    assert heuristic(observe(clearing_price_trend=trend)) == expected


def test_heuristic_hides_a_rings_sliding_price_too():
    expected = dataclasses.replace(RING, reveal_clearing_price=False)
    assert heuristic(observe(collusion_signal=0.9, clearing_price_trend=-0.1)) == expected


@pytest.mark.parametrize(
    ("reserve", "expected"), [(0.8, 0.4), (0.2, 0.1), (0.1, 0.05), (0.06, 0.05), (0.02, 0.02)]
)
def test_heuristic_halves_the_reserve_in_force_when_bidders_leave(reserve, expected):
    rules = Mechanism(reserve_price=reserve)
    proposal = heuristic(observe(rules=rules, dropout_rate=0.125))
    assert proposal == dataclasses.replace(BASE, reserve_price=expected)
    assert heuristic(observe(rules=rules, dropout_rate=0.1)) == BASE
    assert rules.reserve_price == reserve


def test_heuristic_answers_each_market_for_itself():
    seen = observe(4, rules=HIGH_RESERVE)
    seen.recent[1, :, ROUND_FIELDS.index("collusion_signal")] = 0.9
    seen.proxies[2, PROXIES.index("clearing_price_trend")] = -0.1
    seen.proxies[3, PROXIES.index("dropout_rate")] = 0.5
    proposal = HeuristicDesigner().propose(seen, rng())
    hidden = dataclasses.replace(BASE, reveal_clearing_price=False)
    lower = dataclasses.replace(BASE, reserve_price=0.4)
    assert [proposal[i] for i in range(4)] == [BASE, RING, hidden, lower]
    assert_array_equal(seen.mechanisms.reserve_price, 0.8)


# --------------------------------------------------------------------------------- search

PLANTED = Mechanism("first_price", 0.35, collusion_penalty=2.0, reveal_winner_identity=True)


def closeness(mechanisms: Mechanisms) -> np.ndarray:
    """Score 1 at the planted mechanism in the fields that matter, less elsewhere."""
    score = 1 - np.abs(mechanisms.reserve_price - PLANTED.reserve_price)
    score -= 0.2 * np.abs(mechanisms.collusion_penalty - PLANTED.collusion_penalty)
    score -= 0.5 * (mechanisms.auction_type != 0)
    return score - 0.5 * ~mechanisms.reveal_winner_identity


def test_search_finds_the_best_of_its_candidates():
    winner, rungs = successive_halving(SearchDesigner(), lambda m, _: closeness(m), rng())
    candidates = random_mechanisms(1024, rng())
    assert winner == candidates[int(np.argmax(closeness(candidates)))]
    assert [len(rung.mechanisms) for rung in rungs] == [1024, 256, 64, 16, 4, 1]
    assert [rung.episodes for rung in rungs] == [8, 32, 128, 512, 2048, 8192]


def test_search_finds_a_planted_optimum_through_noise():
    noise = rng(1)

    def score(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
        return closeness(mechanisms) + noise.normal(0, 0.5 / episodes**0.5, len(mechanisms))

    winner, _ = successive_halving(
        SearchDesigner(candidates=2048, episodes=8, keep=4), score, rng()
    )
    assert winner.auction_type == PLANTED.auction_type
    assert winner.reveal_winner_identity
    assert winner.reserve_price == pytest.approx(PLANTED.reserve_price, abs=0.12)
    assert winner.collusion_penalty == pytest.approx(PLANTED.collusion_penalty, abs=0.6)


def test_search_ranks_every_rung_and_keeps_its_best():
    noise = rng(2)
    _, rungs = successive_halving(
        SearchDesigner(candidates=50, episodes=3, keep=2), lambda m, _: noise.random(len(m)), rng()
    )
    assert [len(rung.mechanisms) for rung in rungs] == [50, 25, 12, 6, 3, 1]
    assert [rung.episodes for rung in rungs] == [3, 6, 12, 24, 48, 96]
    for rung, following in itertools.pairwise(rungs):
        assert (np.diff(rung.scores) <= 0).all()
        best = [rung.mechanisms[i] for i in range(len(following.mechanisms))]
        later = [following.mechanisms[i] for i in range(len(following.mechanisms))]
        assert sorted(map(repr, best)) == sorted(map(repr, later))


def test_search_scores_a_single_candidate_too():
    winner, rungs = successive_halving(
        SearchDesigner(candidates=1), lambda m, _: closeness(m), rng()
    )
    assert winner == random_mechanisms(1, rng())[0]
    assert len(rungs) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("candidates", 0), ("episodes", 0), ("keep", 1), ("keep", 0)]
)
def test_search_refuses_an_empty_budget(name, value):
    with pytest.raises(ValueError, match=f"{name}: {value}"):
        SearchDesigner(**{name: value})


# ------------------------------------------------------------------------- language model


def varied() -> Observation:
    """Return one market whose last rounds differ, two of three rounds known."""
    seen = observe(known=2)
    for name, values in {"welfare": (0.9, 1.0), "gini": (0.25, 0.5), "dropouts": (0, 2)}.items():
        seen.recent[0, -2:, ROUND_FIELDS.index(name)] = values
    seen.recent[0, -2:, ROUND_FIELDS.index("participation")] = (1.0, 0.875)
    seen.proxies[0, PROXIES.index("bid_mean")] = 0.456
    return seen


def user_text(seen: Observation, settings: PromptSettings | None = None) -> str:
    (chat,) = prompts(seen, settings or PromptSettings())
    assert [message["role"] for message in chat] == ["system", "user"]
    assert chat[0]["content"] == SYSTEM
    return chat[1]["content"]


def test_the_prompt_has_the_published_shape():
    assert user_text(varied()).split("\n") == [
        "round_number: 3 / 10",
        "recent_outcomes: [{welfare:0.90,fairness:0.75,participation:1.00},"
        "{welfare:1.00,fairness:0.50,participation:0.88}]",
        REQUEST,
    ]
    assert "JSON" in REQUEST
    assert SYSTEM.count(".") <= 2


@pytest.mark.parametrize(("rounds", "shown"), [(1, 1), (3, 3), (20, 20), (50, 20)])
def test_the_prompt_lists_the_last_rounds_oldest_first(rounds, shown):
    seen = observe()
    seen.recent[0, :, 0] = np.arange(20) / 20
    settings = PromptSettings(rounds=rounds, outcomes=["welfare"])
    values = [f"{{welfare:{(20 - back) / 20:.2f}}}" for back in range(shown, 0, -1)]
    assert f"recent_outcomes: [{','.join(values)}]" in user_text(seen, settings)


def test_a_compact_prompt_tells_short_numbers_in_the_order_asked_for():
    seen = observe(rules=Mechanism("vcg", 0.25, True, shill_penalty=2.5))
    seen.recent[0, :, ROUND_FIELDS.index("welfare")] = np.arange(20) / 25
    seen.recent[0, :, ROUND_FIELDS.index("gini")] = 0.25
    seen.proxies[0, PROXIES.index("bid_mean")] = 0.057
    seen.proxies[0, PROXIES.index("bid_correlation")] = -0.31
    seen.proxies[0, PROXIES.index("active_count")] = 1.996
    settings = PromptSettings(
        rounds=0,
        averages=["welfare", "fairness"],
        proxies=["bid_correlation", "bid_mean", "active_count", "rotation_entropy"],
        rules=True,
        compact=True,
    )
    seen.proxies[0, PROXIES.index("rotation_entropy")] = -0.001
    rules = "rules: vcg 0.25 True False False True False 2.5 0.00 0.00 allow"
    lines = [
        "round_number: 3 / 10",
        rules,
        "averages: 0.38 0.75",
        "population: -0.31 0.06 2.0 0.00",
    ]
    assert prompts(seen, settings) == [[{"role": "user", "content": "\n".join(lines)}]]


def test_the_prompt_before_the_first_round():
    assert "averages" not in user_text(observe(known=0), PromptSettings(averages=["welfare"]))
    assert "recent_outcomes: []\n" in user_text(observe(known=0))


def test_the_stage_is_told_only_when_asked():
    texts = {user_text(observe(stage=stage)) for stage in range(5)}
    assert len(texts) == 1
    assert "stage" not in texts.pop()
    asked = user_text(observe(stage=4), PromptSettings(stage=True))
    assert "stage: 4" in asked.split("\n")


def test_proxies_are_shown_only_when_asked():
    assert "0.46" not in user_text(varied())
    asked = user_text(varied(), PromptSettings(proxies=["bid_mean", "dropout_rate"]))
    assert "population: {bid_mean:0.46,dropout_rate:0.00}" in asked.split("\n")


@pytest.mark.parametrize(
    ("name", "value"),
    [("outcomes", ["welfare", "values"]), ("proxies", ["budgets"]), ("rounds", -1), ("version", 0)],
)
def test_the_prompt_refuses_what_nobody_can_see(name, value):
    with pytest.raises(ValueError, match=name):
        PromptSettings(**{name: value})


def test_the_model_is_asked_once_for_all_markets_and_answers_in_order():
    asked = []
    answers = [draw_mechanism(rng(i)) for i in range(3)]
    source = rng()

    def generate(chats, generator):
        asked.append((chats, generator))
        return [format_mechanism(answer) for answer in answers]

    seen = observe(3, welfare=0.5)
    proposal = LanguageModelDesigner(generate, PromptSettings(rounds=1)).propose(seen, source)
    assert [proposal[i] for i in range(3)] == answers
    assert not proposal.malformed.any()
    assert asked == [(prompts(seen, PromptSettings(rounds=1)), source)]


def test_an_answer_that_does_not_parse_is_malformed():
    good = format_mechanism(PLANTED)
    texts = [good, "", "I would like", good + "}", json.dumps({"reserve_price": 0.1}), "[" * 30_000]
    designer = LanguageModelDesigner(lambda chats, _: texts[: len(chats)], PromptSettings())
    proposal = designer.propose(observe(6), rng())
    assert_array_equal(proposal.malformed, [False, True, True, True, True, True])
    assert proposal[0] == PLANTED


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("max_new_tokens", 0),
        ("max_new_tokens", -1),
    ],
)
def test_sampling_settings_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name}: {value}"):
        LanguageModelSettings(**{"checkpoint": "owner/name", name: value})


def test_a_sweep_finds_every_field_s_best_level_and_stops() -> None:
    calls = []

    def score(mechanisms: Mechanisms, episodes: int) -> np.ndarray:
        calls.append(episodes)
        return -np.abs(mechanisms.reserve_price - 0.3) - 1.0 * mechanisms.reveal_reserve

    start = Mechanism(reserve_price=0.77, reveal_reserve=True, shill_penalty=1.234)
    best = sweep(start, score, sweeps=5, episodes=7)
    assert (best.reserve_price, best.reveal_reserve) == (0.3, False)
    assert best.shill_penalty == 1.234  # no level is better than what it was
    assert len(calls) == 2 * len(FIELDS) and set(calls) == {7}
    assert sweep(start, score, sweeps=0, episodes=7) == start
