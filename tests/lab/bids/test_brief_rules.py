"""A brief over a log of bids: what it rules there, what that costs, and what a log cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.briefs.clauses import Clause, understand
from daedalus.design.briefs.named import BESIDE
from daedalus.design.search.budgets import SearchBudget
from daedalus.lab.bids.advice import what_to_set
from daedalus.lab.bids.analysis import Plan, analyse
from daedalus.lab.bids.brief_rules import BriefRules
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.findings import Findings, rules_table
from daedalus.lab.bids.report import _brief
from daedalus.lab.bids.verdict import MULTIPLES, EstimatedMarkets, policy_in_force
from tests.lab.bids.conftest import REVENUE, STATIC, make_estimator

BUDGET = SearchBudget(candidates=8, episodes=1, keep=4, sweeps=1, sweep_episodes=1)
FLOOR = Clause("reserve_least/x", 0.8, "Not below four fifths.")
FORMAT = Clause("payment/first_price", None, "Own bids.")
MONEY = Clause("aim/revenue", None, "Money.")
SECRET = Clause("reserve_told/no", None, "Keep it secret.")
OTHERS = {
    "A ring.": (Clause("fact/ring", None, "A ring."), "the log itself says who bids"),
    "Alike.": (Clause("floor/fairness", 0.5, "Alike."), "a log does not show this mean"),
    "Names.": (Clause("winner_told/no", None, "Names."), "bids of single sales do not tell"),
    "Welfare.": (Clause("aim/welfare", None, "Welfare."), "choose reward=welfare for it"),
}


def analysed(estimator: Estimator, *clauses: Clause) -> Findings:
    plan = Plan(STATIC, REVENUE, BUDGET, 1, 0.95, 0, understand(clauses))
    return analyse(estimator, plan)


@pytest.fixture(scope="module")
def ruled(estimator: Estimator) -> Findings:
    return analysed(estimator, FORMAT, FLOOR, MONEY)


def test_a_reserve_is_a_share_of_the_top_value_in_a_typical_sale(
    markets: EstimatedMarkets,
) -> None:
    rules = BriefRules(understand([FLOOR]), REVENUE.active)
    shares = MULTIPLES * np.median(markets.estimate.bases) / markets.scale
    np.testing.assert_array_equal(rules.permitted(markets), (shares > 0.8 - 1e-9) & (shares < 0.9))
    exact = BriefRules(understand([Clause("reserve_exact/x", 0.3, "Exact.")]), REVENUE.active)
    (place,) = np.flatnonzero(exact.permitted(markets))  # the nearest of those that are compared
    assert shares[place] == pytest.approx(0.3, abs=0.02)
    assert BriefRules(understand([FORMAT]), {}).permitted(markets).all()


@pytest.mark.slow
def test_rules_are_kept_and_cost_what_is_said(ruled: Findings, estimator: Estimator) -> None:
    verdict, brief = ruled.verdict, ruled.brief
    scale = float(ruled.estimate.values[-1])
    assert verdict.policy.multiple * np.median(ruled.estimate.bases) / scale >= 0.8 - 1e-9
    assert verdict.policy.mechanism.auction_type == "first_price"
    assert verdict.required and verdict.change and brief is not None
    format_, floor = brief.costs
    assert (format_.sentence, format_.today) == ("Own bids.", "kept")
    assert (floor.says, floor.today) == ("reserve_price: 0.8 to 0.9", "broken")
    free = analysed(estimator, FORMAT).verdict
    lost = free.reward + free.gain - verdict.reward - verdict.gain
    assert floor.cost == pytest.approx(lost) and floor.low < floor.cost < floor.high
    assert lost > 0.05 * free.reward
    told = what_to_set(ruled)
    assert told.startswith("**Set a reserve of") and "Today's rules break the brief" in told
    assert brief.unused == []  # money is what counts in any case


@pytest.fixture(scope="module")
def with_reserve() -> Estimator:
    """Return the estimator of sales with a reserve in force, which is told."""
    return make_estimator(20.0)


def test_a_secret_reserve_costs_nothing_where_nobody_pays_its_own_bid(
    with_reserve: Estimator,
) -> None:
    found = analysed(with_reserve, SECRET)
    set_, brief = found.verdict.policy, found.brief
    assert set_.mechanism.auction_type == "second_price" and set_.multiple > 1
    assert not set_.mechanism.reveal_reserve and found.verdict.required and brief is not None
    (cost,) = brief.costs
    assert (cost.says, cost.today, cost.cost) == ("reveal_reserve: false", "broken", 0)
    told = what_to_set(found)
    assert " (kept secret), and" in told and "Today's rules break the brief" in told
    assert "| Keep it secret. | reveal\\_reserve: false | broken | 0 |" in _brief(found)[2]
    assert brief.unused == []


@pytest.mark.slow
def test_without_a_reserve_there_is_none_to_keep_secret(estimator: Estimator) -> None:
    none = Clause("reserve_most/x", 0.0, "No reserve.")
    found = analysed(estimator, SECRET, none)
    assert not found.verdict.in_force.multiple and not found.verdict.policy.multiple
    assert found.brief is not None and [each.today for each in found.brief.costs] == ["kept"] * 2
    assert not found.verdict.required and "reveal_reserve" not in found.other_fields
    assert "go on without a reserve" in what_to_set(found)

    free = analysed(estimator, SECRET)
    assert not free.verdict.required  # the log has no reserve that could be told


@pytest.mark.slow
def test_a_secret_reserve_beside_own_bids_is_played_and_costs(with_reserve: Estimator) -> None:
    found = analysed(with_reserve, SECRET, FORMAT)
    set_, brief = found.verdict.policy.mechanism, found.brief
    assert set_.auction_type == "first_price" and not set_.reveal_reserve and brief is not None
    secret, format_ = brief.costs
    assert (secret.today, format_.today) == ("broken", "kept")
    assert 0 < secret.low < secret.cost < secret.high
    assert found.verdict.gain < 0 and found.verdict.change  # it is due, whatever it brings


def test_what_a_log_cannot_tell_is_named(ruled: Findings) -> None:
    clauses = [each for each, _ in OTHERS.values()]
    rules = BriefRules(understand([FLOOR, *clauses]), REVENUE.active)
    assert [each.sentence for each in rules.clauses] == [FLOOR.sentence]
    assert list(rules.goal.allowed) == ["reserve_price"]
    unused = dict(rules.unused)
    assert list(unused) == list(OTHERS)
    assert all(reason in unused[name] for name, (_, reason) in OTHERS.items())
    other = Clause("payment/vcg", None, "Displaced.")
    vague = Clause("reserve_least/x", None, "High.")
    more = dict(BriefRules(understand([FORMAT, other, vague]), REVENUE.active).unused)
    assert more == {
        "High.": "it names no amount",
        "Displaced.": "it contradicts “Own bids.”",
    }


def test_what_is_named_beside_is_told_only_if_it_could_rule() -> None:
    beside = [Clause(name, None, name, 0.0, BESIDE) for name in ("aim/revenue", "payment/vcg")]
    rules = BriefRules(understand([FORMAT, *beside]), REVENUE.active)
    assert rules.unused == [("payment/vcg", BESIDE)]


def test_the_report_has_a_section_of_the_brief(ruled: Findings) -> None:
    title, told, table, *_ = _brief(ruled)
    assert title == "## What the brief asks for" and "do not add up" in told
    assert "| Not below four fifths. | reserve\\_price: 0.8 to 0.9 | broken |" in table
    brief = ruled.brief
    assert brief is not None and list(rules_table(brief)["today"]) == ["kept", "broken"]


def test_without_a_brief_nothing_is_ruled(estimator: Estimator, markets: EstimatedMarkets) -> None:
    plan = Plan(STATIC, REVENUE, BUDGET, 1, 0.95, 0)
    found = analyse(estimator, plan)
    assert found.brief is None and _brief(found) == [] and not found.verdict.required
    assert not plan.rules.goal.allowed and plan.rules.permitted(markets).all()
    assert policy_in_force(estimator) == found.verdict.in_force
