"""The verdict says once what to set, what it brings, how sure that is and what may be wrong."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from daedalus.lab.bids.advice import doubts, how_sure, what_it_brings, what_to_set
from daedalus.lab.bids.assumptions import SINGLE_SALES, fit_by_size
from daedalus.lab.bids.brief_rules import BriefFindings
from daedalus.lab.bids.findings import Findings, amount
from daedalus.lab.bids.potential import Potential
from daedalus.lab.bids.report import go_on, markdown
from daedalus.lab.bids.text_table import DOUBT, Note
from daedalus.lab.bids.verdict import Policy
from daedalus.market.mechanism import Mechanism
from tests.lab.bids.conftest import FIGURES
from tests.lab.bids.simulated import clock_bids, estimator_of_table, table_of


def with_prices_off(findings: Findings, share: float) -> Findings:
    """Return findings whose estimate misses the prices of the log by a share."""
    fit = findings.fit.assign(explained=findings.fit["paid"] * (1.0 + share))
    return replace(findings, fit=fit)


def test_a_gain_that_is_smaller_than_the_error_is_to_be_tried(findings: Findings) -> None:
    """The headline does not contradict what the report says of the estimate's prices."""
    near, far = with_prices_off(findings, 0.001), with_prices_off(findings, -0.9)
    assert what_to_set(near).startswith("**Set a reserve of ")
    said = what_to_set(far)
    assert said.startswith("**Try a reserve of ") and "smaller than the error" in said
    assert "90.0 % apart in the mean" in " ".join(doubts(far))
    assert not with_prices_off(replace(findings, in_money=False), -0.9).is_small


def test_each_range_stands_once(findings: Findings) -> None:
    text = markdown(findings, FIGURES, go_on(findings))
    ranges = re.findall(r"between [\d.,]+ and [\d.,]+", text)
    assert len(ranges) == 2 and "gain lies" in text and "best reserve lies between" in text
    assert text.count("confidence") == 1


def test_what_the_ends_of_the_range_of_best_reserves_bring_is_said(findings: Findings) -> None:
    verdict = findings.verdict
    assert min(verdict.at_best) < verdict.reward + verdict.gain
    assert f"brings {amount(verdict.at_best[0])} at the lower end" in how_sure(findings)
    flat = replace(verdict, at_best=(verdict.reward + verdict.gain,) * 2)
    assert "nearly the same at both ends" in how_sure(replace(findings, verdict=flat))


def test_the_samples_in_which_mechanisms_were_judged_are_told(findings: Findings) -> None:
    """The report said 200 where mechanisms had been played in 20."""
    assert "(20 samples of the sales)" in how_sure(findings)
    played = replace(findings, verdict=replace(findings.verdict, samples=7))
    assert "(7 samples of the sales, in which mechanisms were played" in how_sure(played)


def test_ranges_over_bounds_say_so(findings: Findings) -> None:
    assert "bounds" not in how_sure(findings)
    values = findings.estimate.values
    bounds = replace(findings, estimate=replace(findings.estimate, low=0.9 * values))
    assert "Bids tell bounds of values alone, so the ranges reach over" in how_sure(bounds)


def test_reserves_that_bring_as_much_are_told_if_they_are_more_than_the_interval(
    findings: Findings,
) -> None:
    verdict = findings.verdict
    low, high = verdict.best
    assert verdict.as_good[0] <= verdict.policy.multiple <= verdict.as_good[1]
    wide = replace(findings, verdict=replace(verdict, as_good=(0.0, high)))
    assert "no reserve, or any up to " in how_sure(wide)
    narrow = replace(findings, verdict=replace(verdict, as_good=(low, high)))
    assert "as much, within" not in how_sure(narrow)


def test_the_estimate_stands_beside_what_the_log_brought(findings: Findings) -> None:
    paid = amount(float(findings.estimator.log.paid.mean()))
    assert f"The sales of the log brought {paid}." in what_it_brings(findings)
    assert "brought" not in what_it_brings(replace(findings, in_money=False, reward="welfare"))


def test_sales_that_fail_are_those_in_which_nobody_reaches_the_reserve(findings: Findings) -> None:
    assert findings.failing == 0.0  # without a reserve
    above = Policy(Mechanism(), 1000.0)
    higher = replace(findings, verdict=replace(findings.verdict, in_force=above))
    assert higher.failing == pytest.approx(1.0)
    values, shares = findings.estimate.values, findings.estimate.shares
    median = replace(findings, estimate=replace(findings.estimate, bases=np.full(100, values[50])))
    median = replace(median, verdict=replace(findings.verdict, in_force=Policy(Mechanism(), 1.0)))
    alone = sum(share * 0.5**size for size, share in shares.items())
    assert median.failing == pytest.approx(alone, abs=1e-9)


def test_the_gain_is_in_money_and_in_percent(findings: Findings) -> None:
    said = what_it_brings(findings)
    verdict = findings.verdict
    assert f"{100 * verdict.gain / verdict.reward:.2f} %." in said and " more" in said
    assert "in welfare" in what_it_brings(replace(findings, in_money=False, reward="welfare"))
    kept = replace(
        findings, verdict=replace(verdict, policy=verdict.in_force, gain=0.0, change=False)
    )
    assert "no other reserve brings more" in what_it_brings(kept)
    assert "gain" not in how_sure(kept) and "best reserve lies between" in how_sure(kept)
    assert "best one, by the estimate" in what_to_set(kept)


def test_what_a_brief_forbids_is_not_said_to_bring_no_more(findings: Findings) -> None:
    """Only reserves that the brief allows are compared."""
    verdict = replace(findings.verdict, change=False)
    ruled = replace(findings, verdict=verdict, brief=BriefFindings([], []))
    kept = replace(ruled, verdict=replace(verdict, policy=verdict.in_force))
    assert "no other reserve that the brief allows brings more" in what_it_brings(kept)
    assert "best one that the brief allows" in what_to_set(kept)
    assert "No reserve that the brief allows surely brings more" in what_to_set(ruled)
    assert "the best reserve that the brief allows lies between" in how_sure(ruled)
    unseen = replace(ruled, verdict=replace(verdict, unseen=True))
    assert "The best reserve that the brief allows is" in what_to_set(unseen)


def test_doubts_of_the_log_come_first(findings: Findings) -> None:
    log = replace(findings.estimator.log, notes=(Note(DOUBT, "Names look alike."),))
    doubted = replace(findings, estimator=replace(findings.estimator, log=log))
    assert doubts(doubted)[0] == "Names look alike."


def test_a_sale_that_moves_the_result_is_named(findings: Findings) -> None:
    table = findings.sensitivity.copy()
    assert not any("single sale" in each for each in doubts(findings))
    table.loc[table["kind"] == SINGLE_SALES, "best"] *= 1.3
    moved = [each for each in doubts(replace(findings, sensitivity=table)) if "single sale" in each]
    assert len(moved) == 2 and "sale A0" in moved[0] and "is left out" in moved[0]


def test_assumptions_under_which_it_loses_are_named(findings: Findings) -> None:
    table = findings.sensitivity.assign(gain=1.0)
    assert not any("would lose" in each for each in doubts(replace(findings, sensitivity=table)))
    table.loc[table["kind"] == "collusion", "gain"] = -2.0
    (said,) = [each for each in doubts(replace(findings, sensitivity=table)) if "lose" in each]
    assert said.endswith("if: bidders expected one rival fewer, as in a ring of two (2.00 % lost).")


def test_assumptions_are_said_to_be_of_revenue_whatever_is_wanted(findings: Findings) -> None:
    """Losses of revenue stood below a reserve for welfare as if they were losses of it."""
    table = findings.sensitivity.assign(gain=-2.0)
    table.loc[table["kind"] == SINGLE_SALES, "best"] = 100.0
    other = replace(findings, sensitivity=table, in_money=False, reward="welfare")
    told = [each for each in doubts(other) if "lose" in each or "single sale" in each]
    assert len(told) == 3 and all("revenue" in each for each in told)
    note = "All of this part is of revenue, not of welfare."
    assert note in markdown(other, FIGURES, "") and note not in markdown(findings, FIGURES, "")


def test_prices_of_ascending_sales_are_checked_too(findings: Findings) -> None:
    """No price was off, as they have no rows by number of bidders; later the report failed."""
    bids = clock_bids(np.random.default_rng(0).uniform(1.0, 2.0, (80, 3)))
    small = replace(findings.verdict, gain=0.01 * findings.verdict.reward)
    for jump in (1.0, 3.0):
        bids[:, -1] *= jump
        estimator = estimator_of_table(table_of(bids), format="ascending")
        estimate = estimator.estimate()
        found = replace(
            findings, estimator=estimator, estimate=estimate, verdict=small,
            fit=fit_by_size(estimator, estimate),
        )  # fmt: skip
        told = [each for each in doubts(found) if "other prices than in the log: " in each]
        assert len(told) == found.is_small == (jump > 1.0)
    assert f"{100 * found.miss:.1f} % apart" in told[0] and found.miss > 0.05


def test_prices_that_were_not_checked_are_a_doubt(findings: Findings) -> None:
    """They were taken for right, so that a change was never to be tried first."""
    assert not any("was not checked" in each for each in doubts(findings))
    counted = replace(findings.estimate, potential=Potential(4, 0.5))
    binding = replace(findings, estimate=counted, fit=findings.fit.iloc[:0])
    assert np.isnan(binding.miss) and not binding.is_small
    assert any("prices of the log was not checked" in each for each in doubts(binding))


def test_that_samples_do_not_repeat_the_regression_is_told(findings: Findings) -> None:
    """With a common part, samples estimate anew what is left of bids by the whole log's slopes."""
    rng = np.random.default_rng(0)
    level = np.exp(0.5 * rng.normal(size=(80, 1)))
    bids, size = level * (1.0 + rng.random((80, 3))), list(1.0 + rng.random(80))
    told = []
    for columns in ({"size": size}, {}):
        estimator = estimator_of_table(table_of(bids, **columns))
        assert estimator.parts is not None
        sure = how_sure(replace(findings, estimator=estimator, estimate=estimator.estimate()))
        told.append("how much of a bid is due to what was sold" in sure)
    assert told == [True, False]
    assert "due to what was sold" not in how_sure(findings)
