"""How often the intervals of a report on bids hold the truth, in simulated logs.

Each log is read, estimated and judged as ``from_bids`` does, with the intervals of its report: the
percentiles over bootstrap samples of the sales. Where the format gives bounds, the interval of a
quartile reaches from the low percentile of the lower bound to the high one of the upper bound. The
search for other formats is left out: the reserve alone is designed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.statistics import share_interval
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.findings import money_of, typical
from daedalus.lab.bids.log import bid_log
from daedalus.lab.bids.verdict import (
    INDIFFERENT,
    EstimatedMarkets,
    Judgement,
    Verdict,
    interval_of,
    policy_in_force,
)
from daedalus.lab.studies.bid_logs import KINDS, Truth, sizes_of
from daedalus.market.interface import MarketSettings
from daedalus.market.seeds import generator

QUARTILES = {"first quartile": 25, "median": 50, "third quartile": 75}
"""Quartiles by name, with their places in tables of quantiles."""

RESERVE, GAIN = "best reserve", "gain"
QUANTITIES = (*QUARTILES, RESERVE, GAIN)
"""What an interval is about, in this order."""

_ROUNDING = 1e-9  # of money


@dataclass(frozen=True)
class Job:
    """A log that is to be simulated and estimated.

    Attributes:
        kind: Its kind, one of ``KINDS``.
        sales: Number of its sales.
        number: Its number, from 0.
        resamples: Bootstrap samples of its sales.
        seed: Seed of the run.
        confidence: Confidence of the intervals.
        market: The market, whose rules tell what theory can.
        reward: Revenue.
    """

    kind: str
    sales: int
    number: int
    resamples: int
    seed: int
    confidence: float
    market: MarketSettings
    reward: RewardStack


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval, and the truth, which is an interval or a number.

    Attributes:
        quantity: One of ``QUANTITIES``.
        found: The estimate.
        low: The lower end of its interval.
        high: The upper end of its interval.
        true_low: The lowest number that is true.
        true_high: The highest number that is true.
        slack: How far the interval may be from the truth and still hold it.
    """

    quantity: str
    found: float = np.nan
    low: float = np.nan
    high: float = np.nan
    true_low: float = np.nan
    true_high: float = np.nan
    slack: float = _ROUNDING


def intervals_of(job: Job) -> list[dict[str, object]]:
    """Simulate a log, and return its estimates with their intervals and the truth.

    Returns:
        A row for each of ``QUANTITIES``: ``kind``, ``sales``, ``log``, the fields of ``Interval``,
        ``refused``, whether the log cannot be used, so that the others are nan; and ``diagnosed``,
        1 if a check of the report fails and else 0.
    """
    kind = KINDS[job.kind]
    settings = kind.settings(job.resamples)
    table = kind.draw(job.sales, generator(job.seed, f"coverage/{job.kind}", job.sales, job.number))
    try:
        estimator = Estimator.of(bid_log(table, settings, job.kind), settings)
    except CannotRunError:
        return _rows(job, [Interval(name) for name in QUANTITIES], True, np.nan)
    rng = generator(job.seed, "coverage/bootstrap", job.number)
    estimate, samples = estimator.estimate(), list(estimator.bootstrap(rng))
    truth = kind.truth()
    found = [
        *_quartiles(estimate, samples, truth, job.confidence),
        *_design(job, estimator, estimate, samples, truth),
    ]
    checks = diagnose(estimator, estimate, samples, rng)
    return _rows(job, found, False, float(checks["fails"].any()))


def _rows(
    job: Job, found: Sequence[Interval], refused: bool, fired: float
) -> list[dict[str, object]]:
    place = {"kind": job.kind, "sales": job.sales, "log": job.number}
    return [place | vars(each) | {"refused": refused, "diagnosed": fired} for each in found]


def _quartiles(
    estimate: Estimate, samples: Sequence[Estimate], truth: Truth, confidence: float
) -> Iterator[Interval]:
    """Yield the quartiles of values in the typical sale, in money."""
    lowest = [each.of_bidders(each.low) * _unit(each) for each in samples]
    highest = [each.of_bidders(each.high) * _unit(each) for each in samples]
    middle = estimate.of_bidders(estimate.values) * _unit(estimate)
    for true, (name, place) in zip(truth.quartiles.tolist(), QUARTILES.items(), strict=True):
        low, _ = interval_of([each[place] for each in lowest], confidence)
        _, high = interval_of([each[place] for each in highest], confidence)
        yield Interval(name, float(middle[place]), low, high, true, true)


def _unit(estimate: Estimate) -> float:
    """Return the level of the typical sale, in money: the geometric mean of what is shown."""
    return float(np.exp(np.log(estimate.levels.observable).mean()))


def _design(
    job: Job, estimator: Estimator, estimate: Estimate, samples: Sequence[Estimate], truth: Truth
) -> Iterator[Interval]:
    """Yield the best reserve in money, and the gain of the one that is set.

    A thousandth of the revenue is no gain in the report, so that much is no error of it here.
    """
    verdict = _verdict(job, estimator, estimate, samples)
    multiple = verdict.policy.multiple
    reserve, low, high = (typical(each, estimator, estimate) for each in (multiple, *verdict.best))
    yield Interval(RESERVE, reserve, low, high, *truth.best)
    sizes = sizes_of(estimator.log.covariates)
    gain = truth.gain(money_of(multiple, estimator, estimate), sizes)
    yield Interval(GAIN, verdict.gain, *verdict.interval, gain, gain, INDIFFERENT * verdict.reward)


def _verdict(
    job: Job, estimator: Estimator, estimate: Estimate, samples: Sequence[Estimate]
) -> Verdict:
    """Return the verdict of the report if the search keeps the format."""
    in_force = policy_in_force(estimator)
    kept = in_force.mechanism
    judgement, *others = (
        Judgement.of(
            EstimatedMarkets(each, job.market, job.reward, job.seed), kept, kept, {}, 1, ""
        )
        for each in (estimate, *samples)
    )
    return Verdict.of(in_force, kept, judgement, others, estimator, job.confidence)


def coverage_table(rows: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return how far estimates are off, and how often their intervals hold the truth.

    Args:
        rows: Rows of ``intervals_of``.
        confidence: Confidence of the intervals of the shares.

    Returns:
        A row for each kind, number of sales and quantity: ``logs`` that were used; ``refused``, the
        share of those that cannot be; ``truth``, in the mean, and of an interval its middle;
        ``bias``, the mean distance from the truth; ``sd`` of the estimate; ``coverage`` with
        Wilson's interval; and ``diagnosed``, the share of logs in which a check fails. Money
        is that of the log, see ``daedalus.lab.studies.bid_logs``.
    """
    order = ["kind", "sales", "quantity"]
    return pd.DataFrame(
        dict(zip(order, map(str, keys), strict=True)) | _summary(group, confidence)
        for keys, group in rows.groupby(order, sort=False)
    ).astype({"sales": int})


def _summary(group: pd.DataFrame, confidence: float) -> dict[str, float]:
    used = group[~group["refused"].astype(bool)]
    off = used["found"] - used["found"].clip(used["true_low"], used["true_high"])
    row = {"logs": len(used), "refused": 1.0 - len(used) / len(group)}
    row |= {"truth": (used["true_low"] + used["true_high"]).mean() / 2.0, "bias": off.mean()}
    row |= {"sd": used["found"].std()}
    below, above = used["true_high"] + used["slack"], used["true_low"] - used["slack"]
    inside = (used["low"] <= below) & (used["high"] >= above)
    low, high = share_interval(inside.mean(), len(used), confidence)
    row |= {"coverage": inside.mean(), "coverage_low": low, "coverage_high": high}
    return row | {"diagnosed": used["diagnosed"].mean()}


def overview(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table for readers, from that of ``coverage_table``.

    Returns:
        A row for each kind and number of sales: ``log``, the kind in words; ``sales``; ``logs``
        that were used; for each quantity its bias and coverage in one cell; and ``diagnosed``.
    """
    rows = []
    for (kind, sales), group in table.groupby(["kind", "sales"], sort=False):
        first = group.iloc[0]
        row = {"log": KINDS[str(kind)].words, "sales": f"{sales:,}", "logs": f"{first['logs']:g}"}
        row |= {each["quantity"]: _cell(each) for each in group.to_dict("records")}
        rows.append(row | {"diagnosed": _percent(first["diagnosed"])})
    return pd.DataFrame(rows)


def _cell(row: dict[Hashable, Any]) -> str:
    if not row["logs"]:
        return "refused"
    bias = f"{round(row['bias'], 3) + 0.0:.3f}".replace("-", "\N{MINUS SIGN}")
    return f"{bias}, {_percent(row['coverage'])}"


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.0f} %"


def as_markdown(frame: pd.DataFrame) -> str:
    """Return a table of texts in Markdown."""
    lines = [list(frame.columns), ["---"] * len(frame.columns), *frame.to_numpy().tolist()]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
