"""Rules are checked exactly, floors by play, and scores lie between the measured ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.briefs.brief import Brief, BriefScale
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.scoring import TERMS, judge, mean_terms, objective, shortfall
from daedalus.design.briefs.search import Measured, search
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.allowed import Between
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.design.briefs.conftest import SMALL

BRIEF = Brief("a", "Sell.", "p", {"revenue": 1.0}, {"reserve_price": Between(0.3, 0.9)})


def test_the_objective_is_the_mean_reward_of_whole_episodes(env: DesignEnv) -> None:
    weights = {"revenue": 0.7, "fairness": 0.3}
    played = Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.5)])
    usual = EpisodeObjective([replace(env, reward=RewardStack(weights))], 3, "briefs")(played, 4)
    terms = mean_terms(env, played, 4, 3)
    assert np.allclose(objective(terms, weights), usual, rtol=0, atol=1e-12)


def test_a_broken_rule_scores_nothing_and_is_named(env: DesignEnv) -> None:
    scaled = replace(BRIEF, scale=BriefScale(0.1, 0.5, {}))
    verdict = judge(scaled, Mechanism(reserve_price=0.2), env)
    assert verdict.broken == ("reserve_price: 0.2",) and verdict.score == 0.0
    kept = judge(scaled, Mechanism(reserve_price=0.3), env)
    low = replace(BRIEF, scale=BriefScale(5.0, 6.0, {}))  # chance would do better
    assert judge(low, Mechanism(reserve_price=0.3), env).score == 0.0
    assert kept.keeps_rules and kept.score == pytest.approx((kept.objective - 0.1) / 0.4)


def test_floors_are_measured(env: DesignEnv) -> None:
    strict = replace(BRIEF, floors={"participation": 0.99})
    verdict = judge(strict, Mechanism(reserve_price=0.9), env)
    assert len(verdict.broken) == 1 and "under 0.99" in verdict.broken[0]
    assert np.isnan(judge(BRIEF, Mechanism(reserve_price=0.5), env).score)  # it has no ends


def test_a_shortfall_adds_up() -> None:
    terms = np.zeros((1, len(TERMS)))
    assert shortfall(terms, {"welfare": 0.5, "fairness": 0.2}, 0.1)[0] == pytest.approx(0.9)
    assert shortfall(terms + 1, {"welfare": 0.5})[0] == 0


def test_search_keeps_rules_and_reaches_floors(env: DesignEnv) -> None:
    understood = Understanding({"revenue": 1.0}, {"auction_type": ("first_price",)})
    assert search(understood, env, 0, SMALL).auction_type == "first_price"
    high = Understanding({"revenue": 1.0}, {}, {"consumer_surplus": 0.14})
    heavy = replace(high, reward={"revenue": 1000.0})
    found = [search(each, env, 0, SMALL) for each in (high, heavy, replace(high, floors={}))]
    played = mean_terms(env, Mechanisms.stack(found), 32, 0)[:, TERMS.index("consumer_surplus")]
    assert played[:2].min() > 0.13 > played[2]


@pytest.mark.slow
def test_ends_are_measured_or_the_brief_refused(env: DesignEnv) -> None:
    measured = Measured({"p": env})
    scaled = measured(BRIEF)
    assert scaled and scaled.scale and scaled.scale.ceiling > scaled.scale.floor + 0.03
    assert scaled.scale.mechanism["reserve_price"] >= 0.3
    assert not measured.why_none(BRIEF)
    high = replace(BRIEF, floors={"participation": 1.0})
    assert measured(high) is None and "breaks a floor (participation" in measured.why_none(high)
    one = {name: (value,) for name, value in Mechanism().to_dict().items()}
    same = replace(BRIEF, allowed=one)
    assert measured(same) is None and "hardly better than chance" in measured.why_none(same)
