"""What is found in a log of bids: all that a report tells, and its reserves in money."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from daedalus.lab.bids.brief_rules import BriefFindings
from daedalus.lab.bids.estimator import LEVEL, RESERVE, Estimate, Estimator, money_at, over_classes
from daedalus.lab.bids.value_quantiles import LEVELS
from daedalus.lab.bids.verdict import Judgement, Verdict, ends_of, place_of
from daedalus.lab.theory.distributions import Numbers

_TYPICAL = 0.5


@dataclass(frozen=True)
class Findings:
    """What a report tells.

    Attributes:
        estimator: The log.
        estimate: Its estimate.
        samples: Estimates of bootstrap samples.
        verdict: What to set.
        judgement: Results of the mechanisms under the estimate.
        judgements: The same in the samples; in few of them, if mechanisms have to be played.
        designers: Rows of designers: ``designer``, ``sets``, and a reward with its gain.
        fit: The frame of ``fit_by_size``.
        sensitivity: The frame of ``sensitivity``.
        reward: Name of the objective.
        in_money: Whether it is in the money of the log.
        confidence: Confidence of the intervals.
        checks: The frame of ``diagnose``.
        brief: What a brief rules, and what that costs; None without a brief.
    """

    estimator: Estimator
    estimate: Estimate
    samples: list[Estimate]
    verdict: Verdict
    judgement: Judgement
    judgements: list[Judgement]
    designers: pd.DataFrame
    fit: pd.DataFrame
    sensitivity: pd.DataFrame
    reward: str
    in_money: bool
    confidence: float
    checks: pd.DataFrame
    brief: BriefFindings | None = None

    @property
    def base(self) -> str:
        """Return what reserves are multiples of."""
        return self.estimator.base

    @property
    def misses(self) -> pd.Series[float]:
        """Return how far the estimate's prices are from those of the log, as shares of these.

        There is one for each number of bidders.
        """
        return self.fit["explained"] / self.fit["paid"] - 1.0

    @property
    def miss(self) -> float:
        """Return the mean distance of the estimate's prices from those of the log, as a share.

        Ascending sales have one mean price. It is nan where a reserve kept bidders away and the
        estimate counts them: sales that the log lacks are then a part of its prices.
        """
        if self.estimate.potential:
            return np.nan
        if not len(self.fit):
            in_force = np.array([self.verdict.in_force.multiple])
            explained = float(money_at(self.estimate, in_force)[0])
            return abs(explained / float(self.estimator.log.paid.mean()) - 1.0)
        paid = self.fit["sales"] * self.fit["paid"]
        return float((paid * self.misses.abs()).sum() / paid.sum())

    @property
    def gain(self) -> float:
        """Return the gain of the designed policy, as a share of the reward in force."""
        return self.verdict.gain / self.verdict.reward if self.verdict.reward > 0 else 0.0

    @property
    def is_unchanged(self) -> bool:
        """Return whether the designed policy is the one in force."""
        return (
            self.verdict.policy.multiple == self.verdict.in_force.multiple and not self.other_fields
        )

    @property
    def other_fields(self) -> dict[str, object]:
        """Return what the designed mechanism sets otherwise, but for its reserve.

        Whether a reserve is told does not count where there is none.
        """
        policy = self.verdict.policy
        old, new = self.verdict.in_force.mechanism.to_dict(), policy.mechanism.to_dict()
        apart = {"reserve_price"} if policy.multiple else {"reserve_price", "reveal_reserve"}
        return {name: new[name] for name in new if name not in apart and new[name] != old[name]}

    @property
    def failing(self) -> float:
        """Return the share of sales that fail by the estimate under the reserve in force."""
        of, multiples = self.estimate, np.array([self.verdict.in_force.multiple])
        nobody = np.asarray(sum(share * LEVELS**size for size, share in of.shares.items()))
        return float(
            over_classes(of.bases, np.ones(len(of.worth)), multiples, of.values, nobody)[0]
        )

    @property
    def is_small(self) -> bool:
        """Return whether the gain is smaller than what the estimate's prices are off.

        It does not matter where the change is due anyway.
        """
        return self.in_money and not self.verdict.required and self.gain < self.miss


def amount(value: float) -> str:
    """Return an amount with four digits, or with three decimals if it is small."""
    if value == 0 or abs(value) >= 100:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def money_of(multiple: float, estimator: Estimator, estimate: Estimate) -> Numbers:
    """Return the reserve of each sale in the money of the log, shape (A,)."""
    return multiple * estimator.bases(estimate.levels)


def typical(multiple: float, estimator: Estimator, estimate: Estimate) -> float:
    """Return the reserve of a typical sale, the median of all, in the money of the log."""
    return float(np.quantile(money_of(multiple, estimator, estimate), _TYPICAL))


def reserve_words(multiple: float, estimator: Estimator, estimate: Estimate) -> str:
    """Return a reserve in words, with an amount of money."""
    if multiple == 0:
        return "no reserve"
    money = amount(typical(multiple, estimator, estimate))
    if estimator.base == RESERVE:
        if multiple == 1:
            return "today's reserve"
        return f"a reserve of {multiple:.2f} times today's ({money} in a typical sale)"
    if estimator.base == LEVEL:
        return f"a reserve of {multiple:.2f} times the usual bid ({money} in a typical sale)"
    return f"a reserve of {money}"


def designers_table(
    sets: dict[str, str],
    judgement: Judgement,
    samples: list[Judgement],
    verdict: Verdict,
    confidence: float,
) -> pd.DataFrame:
    """Return a row for each designer: what it sets, what that brings, and its gain.

    Args:
        sets: What each designer sets, in words, by name.
        judgement: Results under the estimate.
        samples: Results under the estimates of bootstrap samples.
        verdict: The designed policy, and the one in force.
        confidence: Confidence of the intervals.
    """
    at, now = place_of(verdict.policy.multiple), place_of(verdict.in_force.multiple)
    names = ["in force", "designed", *judgement.others]

    def results_of(each: Judgement) -> Numbers:
        others = [each.others[name] for name in judgement.others]
        return np.array([each.in_force[now], each.designed[at], *others])

    results = results_of(judgement)
    low, high = ends_of(samples, lambda each: results_of(each) - each.in_force[now], confidence)
    table = {"designer": names, "sets": [sets[name] for name in names], "result": results}
    gains = {"gain": results - results[0], "gain_low": low, "gain_high": high}
    return pd.DataFrame(table | gains)


def reserves_table(findings: Findings) -> pd.DataFrame:
    """Return the reserve of each sale in the money of the log.

    Returns:
        A row for each sale of the estimate, by name: ``auction``; ``bidders``; ``usual_bid``, what
        such a sale leads to expect; ``in_force``, today's reserve; ``set``, the reserve that the
        verdict says for all sales, so that it is today's where a change is to be tried first; and
        ``best_estimated``, the best one by the estimate alone, which sales of such a trial take.
    """
    estimator, estimate, verdict = findings.estimator, findings.estimate, findings.verdict
    now, then = (
        money_of(each.multiple, estimator, estimate) for each in (verdict.in_force, verdict.policy)
    )
    table = estimator.log.sales[["auction", "bidders"]].assign(
        usual_bid=estimate.levels.observable,
        in_force=now,
        set=then if verdict.change and not findings.is_small else now,
        best_estimated=then,
    )
    return table.sort_values("auction", kind="stable")


def rules_table(brief: BriefFindings) -> pd.DataFrame:
    """Return a row for each sentence of a brief that asks for something.

    Returns:
        ``sentence``; ``understood``, what it rules; ``today``, whether the rules in force keep it;
        ``costs`` a sale, with its interval; and ``not_used``, why it rules nothing here.
    """
    columns = ["sentence", "understood", "today", "costs", "costs_low", "costs_high", "not_used"]
    used = [
        (each.sentence, each.says, each.today, each.cost, each.low, each.high, "")
        for each in brief.costs
    ]
    others = [
        (sentence, "", "", np.nan, np.nan, np.nan, reason) for sentence, reason in brief.unused
    ]
    return pd.DataFrame([*used, *others], columns=columns)
