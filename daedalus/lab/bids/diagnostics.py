"""Checks of the assumptions behind an estimate: what the log says for and against each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from daedalus.lab.bids.estimator import PER_DEVIATION, Estimate, Estimator
from daedalus.lab.bids.potential import BELOW, binds
from daedalus.lab.bids.rounding import COARSE, relative_step, step_of
from daedalus.lab.bids.screens import (
    OFTEN,
    TOGETHER,
    Pair,
    Residuals,
    Screen,
    alike_within_sales,
    bidder_means,
    closest_pair,
    independent_parts,
    slope_on_bidders,
)
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE
from daedalus.lab.theory.distributions import Integers, Numbers

FAMILY = 0.05
"""Share of logs without a fault in which some check fails by chance, at most (Holm 1979)."""

_TIED = 0.05  # share of sales with equal bids, from which they are no chance
_JUMPS = 0.05  # share of ascending sales that end above the second bid by more than a step
_CLEAR = 0.1  # p of the correlation up to which sales have something in common
_INNER = slice(20, 81)
_LEAST = 1e-12

_RING = (
    "If bidders collude, high values are higher than estimated, and so is the best reserve. Bids "
    "that a ring makes for show can make low values come out too high."
)


@dataclass(frozen=True)
class Check:
    """What the log says of an assumption.

    Attributes:
        check: The assumption, in plain words.
        what: What was measured, in plain words.
        statistic: The statistic; nan if nothing could be measured.
        p: How often chance alone leads as far, from 0 to 1; nan if it has none.
        changes: What the answer becomes if the assumption fails.
        fails: Whether it fails.
        descriptive: Whether the statistic is told alone, and cannot fail.
    """

    check: str
    what: str
    statistic: float = np.nan
    p: float = np.nan
    changes: str = ""
    fails: bool = False
    descriptive: bool = False

    @property
    def result(self) -> str:
        """Return one of ``fails``, ``passes``, ``told`` and ``not tested``."""
        if self.fails:
            return "fails"
        if self.descriptive:
            return "told"
        return "not tested" if np.isnan(self.statistic) else "passes"


def diagnose(
    estimator: Estimator, estimate: Estimate, samples: Sequence[Estimate], rng: np.random.Generator
) -> pd.DataFrame:
    """Return what the log says of each assumption.

    Checks with a p fail together in at most ``FAMILY`` of the logs without a fault (Holm 1979).
    Others fail at thresholds that their rows name. ``screens.py`` has the sources.

    Returns:
        A row for each assumption: ``check``, in plain words; ``what`` was measured; ``statistic``;
        ``p``, nan if there is none; ``fails``; ``result``, one of ``fails``, ``passes``, ``told``
        and ``not tested``; and ``changes``, what the answer becomes if it fails.
    """
    log, settings = estimator.log, estimator.settings
    residuals = Residuals.of(log, estimator.regression.design)
    rise = None
    if settings.format == FIRST_PRICE and len(residuals.rows) > 1:
        rise = slope_on_bidders(residuals)
    rounding = relative_step(log.bids), step_of(log.bids)
    checks = [
        *_within_sales(estimator, residuals, rng),
        *_bidders(settings.format, bidder_means(residuals, rng), closest_pair(residuals, rng)),
        *_numbers_of_bidders(settings.format, estimate, samples, rise),
        *_money(estimator, residuals, rounding),
        *_untested(estimator),
    ]
    rows = [vars(each) | {"result": each.result} for each in _judged(checks)]
    names = ["check", "what", "statistic", "p", "fails", "result", "changes"]
    return pd.DataFrame(rows)[names]


def failed(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of ``diagnose`` that fail."""
    return checks[checks["fails"].astype(bool)]


def _judged(checks: Sequence[Check]) -> list[Check]:
    """Return the checks, of which those with a p fail by Holm's rule (1979)."""
    tested = sorted(
        (row for row, each in enumerate(checks) if each.p == each.p), key=lambda row: checks[row].p
    )
    judged = list(checks)
    for rank, row in enumerate(tested):
        if checks[row].p > FAMILY / (len(tested) - rank):
            break
        judged[row] = replace(checks[row], fails=True)
    return judged


def _within_sales(
    estimator: Estimator, residuals: Residuals, rng: np.random.Generator
) -> Iterator[Check]:
    """Yield checks of how the bids of a sale lie together; permutations are drawn."""
    settings = estimator.settings
    if settings.format == ASCENDING:
        yield Check(
            "Bidders do not collude, and decide alone.",
            "Not testable: in ascending sales the last bids depend on each other by the format.",
            changes=_RING,
        )
        yield _common_in_ascending(settings.removes_common_part)
        return
    correlation, spread, lead = alike_within_sales(residuals, rng)
    alone, apart = independent_parts(residuals)
    yield _correlation(correlation, estimator.parts is not None, estimator.can_separate)
    yield _independence(alone)
    shared = correlation.p < _CLEAR and correlation.statistic > correlation.usual
    yield _spread(apart if shared else spread, shared)
    yield _lead(lead, shared)


def _common_in_ascending(removed: bool) -> Check:
    if removed:
        return Check(
            "The format gives bids of a sale nothing in common.",
            "Not testable. What they have in common is taken out, as bid_log.common_part asks for.",
            changes="But a winner stops where the second-highest bidder does, which makes bids "
            "alike. Then values come out too close to each other, and the best reserve too low.",
        )
    return Check(
        "Bidders know no more of a sale than the log shows.",
        "Not testable. What bids of a sale have in common stays in them, because the format causes "
        "a part of it: a winner stops where the second-highest bidder does.",
        changes="Values within a sale differ less than estimated.",
    )


def _correlation(found: Screen, removed: bool, removable: bool) -> Check:
    """Return whether bids of a sale are alike, which the estimate takes out, or at least could."""
    what = (
        f"Ranks of two bids of a sale correlate by {found.statistic:z.2f} beyond what was sold; by "
        f"chance {found.usual:z.2f}."
    )
    name = "Bids of a sale differ by chance."
    if found.statistic < found.usual:
        changes = (
            "Bids of a sale differ more than those of different sales: some bidders are stronger, "
            f"or they collude. {_RING}"
        )
        return Check(name, what, found.statistic, found.p, changes)
    if not removed:
        changes = (
            "Bidders knew something that the log does not show, or collude. Values are then less "
            "spread than estimated"
            f"{'; bid_log.common_part=true takes what they knew out.' if removable else '.'}"
        )
        return Check(name, what, found.statistic, found.p, changes)
    told = f"{what} The estimate takes this out of bids, as something that all bidders knew."
    changes = f"It may be collusion instead. {_RING}"
    return Check(name, told, found.statistic, changes=changes, descriptive=True)


def _independence(found: Screen | None) -> Check:
    name = "Bidders decide alone, apart from what all of them know."
    changes = (
        "Bidders collude, values depend on each other, their spread differs between sales, or a "
        f"reserve cuts bids off; the log does not tell which. {_RING}"
    )
    if found is None:
        return Check(name, "Not testable: it takes sales with three bids.", changes=changes)
    what = (
        "Differences between three and four bids of a sale are as far from those of independent "
        f"bidders as a z statistic of {found.statistic:.1f}."
    )
    return Check(name, what, found.statistic, found.p, changes)


def _spread(found: Screen | None, shared: bool) -> Check:
    name = "Bids lie equally far apart in all sales (variance screen)."
    changes = (
        "Values lie further apart in some sales than in others, or bidders collude in some: no one "
        "multiple is best for all sales."
    )
    if found is None or np.isnan(found.statistic):
        few = "four bids, since sales share something" if shared else "three bids"
        return Check(name, f"Not testable: it takes sales with {few}.", changes=changes)
    what = (
        f"The gap between two bids says how far apart two others are: score {found.statistic:.1f}."
        if shared
        else f"The log spread of a sale's bids deviates by {found.statistic:.2f} between sales; by "
        f"chance {found.usual:.2f}."
    )
    return Check(name, what, found.statistic, found.p, changes)


def _lead(found: Screen, shared: bool) -> Check:
    name = "Winners lead by as much as chance lets them (lead over range, after Imhof)."
    if np.isnan(found.statistic):
        return Check(name, "Not testable: it takes sales with three bids.", changes=_RING)
    what = (
        f"The highest bid leads the second by {found.statistic:.2f} of the range of a sale's bids"
    )
    if shared:
        why = "Sales share something, so chance is not known, and this is told alone."
        return Check(name, f"{what}. {why}", found.statistic, changes=_RING, descriptive=True)
    return Check(name, f"{what}; by chance {found.usual:.2f}.", found.statistic, found.p, _RING)


def _bidders(kind: str, means: Screen | None, closest: Pair | None) -> Iterator[Check]:
    """Yield checks that need names of bidders, in sales of a format."""
    alike, pair = "Bidders are alike.", "No two bidders bid together."
    stronger = "The best reserve is higher for stronger bidders, and values are not those of one."
    if means is None:
        why = f"Not testable: it takes names of two bidders with {OFTEN} bids or more."
        yield Check(alike, why, changes=stronger)
    else:
        what = (
            f"Means of bidders deviate by {means.statistic:.2f} deviations of a bid; by chance 0."
        )
        yield Check(alike, what, means.statistic, means.p, stronger)
    if closest is None or kind == ASCENDING:
        why = f"Not testable: it takes names of bidders in sealed sales who met {TOGETHER} times."
        yield Check(pair, f"{why} Who stays away for a ring leaves no bid.", changes=_RING)
        return
    what = (
        f"{' and '.join(closest.names)}, who met in {closest.sales:,} sales, move together the "
        f"most: score {closest.screen.statistic:.1f}; by chance {closest.screen.usual:.1f}."
    )
    changes = f"They collude, or vary less than the others, if bidders are not alike. {_RING}"
    yield Check(pair, what, closest.screen.statistic, closest.screen.p, changes)


def _numbers_of_bidders(
    kind: str,
    estimate: Estimate,
    samples: Sequence[Estimate],
    rise: tuple[float, float] | None,
) -> Iterator[Check]:
    """Yield checks by number of bidders (Haile, Hong & Shum 2003).

    Args:
        kind: The format.
        estimate: The estimate.
        samples: Estimates of bootstrap samples.
        rise: How log bids rise with each bidder more, and its error; None if nothing tells.
    """
    private = "Values do not depend on who comes."
    lower = "Bidders learn from others, or collude where many come: values are not private."
    if len(estimate.by_size) < 2:
        why = "all sales have one number" if kind != ASCENDING else "ascending bids give bounds"
        why = "all potential bidders count in each sale" if estimate.potential else why
        yield Check(private, f"Not testable by numbers of bidders: {why}.", changes=lower)
        if estimate.potential and rise:
            yield _who_came(*rise)
        return
    slope, error = _slope_of_values(estimate, samples)
    p = 2.0 * float(stats.t.sf(abs(slope) / error, len(samples) - 1))
    change = f"{100 * slope:.1f} % with each bidder more (± {100 * error:.1f}, a standard error)"
    what = f"Estimated values change by {change}."
    better = (
        "More bidders come where goods are better: values differ by their number. This does not "
        "speak against private values."
    )
    yield Check(private, what, slope, p, lower if slope < 0 else better)
    if rise:
        slope, error = rise
        change = f"{100 * slope:.1f} % with each bidder more (± {100 * error:.1f})"
        what = f"Bids change by {change}."
        falls = float(stats.norm.cdf(slope / error))
        yield Check("Bids rise with the number of bidders.", what, slope, falls, lower)


def _who_came(slope: float, error: float) -> Check:
    """Return whether bids are those of bidders who do not see how many others came."""
    change = f"{100 * slope:.1f} % with each bidder more (± {100 * error:.1f})"
    saw = (
        "They knew their rivals, who are fewer than are counted: values are higher than estimated. "
        "Or more bidders come where goods are better."
    )
    other = (
        "The reserve is high for some sales and low for others, or bidders collude where many come."
    )
    p = 2.0 * float(stats.norm.sf(abs(slope) / error))
    name, what = "Bidders do not know who came.", f"Bids change by {change}."
    return Check(name, what, slope, p, saw if slope > 0 else other)


def _slope_of_values(estimate: Estimate, samples: Sequence[Estimate]) -> tuple[float, float]:
    """Return how the middle of log values changes with each bidder more, and its error.

    The middle is the mean of the quantiles from 20 to 80 %, in which the slope of bids enters by
    its integral alone, so that it hardly depends on smoothing.
    """

    def slope(of: Estimate) -> float:
        sizes = np.array(list(of.by_size), dtype=np.float64)
        middles = np.log([table[_INNER].mean() for table in of.by_size.values()])
        weights = np.array([of.shares[size] for size in of.by_size])
        away = sizes - weights @ sizes / weights.sum()
        return float(weights @ (away * middles) / (weights @ away**2))

    drawn = [slope(each) for each in samples if len(each.by_size) > 1]
    return slope(estimate), max(float(np.std(drawn, ddof=1)), _LEAST)


def _money(
    estimator: Estimator, residuals: Residuals, rounding: tuple[float, float | None]
) -> Iterator[Check]:
    """Yield checks of the amounts: rounding, equal bids, the reserve, and steps of a clock.

    Args:
        estimator: The log.
        residuals: Its residuals.
        rounding: The typical step of bids as a share of them, and their step if they have one.
    """
    log, settings = estimator.log, estimator.settings
    low, high = np.quantile(residuals.left, [0.25, 0.75])
    deviation = max(float(high - low) / PER_DEVIATION, _LEAST)
    yield _rounding(*rounding, deviation)
    if settings.format == ASCENDING:
        yield _jumps(estimator, residuals)
    else:
        yield _ties(log.bids, residuals)
    if log.reserves is not None and (log.reserves > 0).all():
        yield _reserve(estimator, deviation)


def _reserve(estimator: Estimator, deviation: float) -> Check:
    """Return whether all who could have come are counted (Guerre, Perrigne & Vuong 2000)."""
    log = estimator.log
    assert log.reserves is not None
    above = np.log(log.bids / log.reserves[log.sale])
    near = float(np.quantile(above, 0.05) / deviation)
    what = f"The lowest twentieth of bids ends {near:.2f} deviations above the reserve."
    name = "All who could have come are counted as rivals."
    changes = (
        "The reserve kept bidders away, and how many differs between sales. If bidders knew who "
        "came, values above the reserve are right. If not, low ones are too low, and high ones "
        "with few bidders too high. If you know how many could come, set "
        "bid_log.potential_bidders."
    )
    if estimator.lacks_rivals and estimator.parts:
        changes = f"{changes} What bids share is taken out, though the reserve cuts it off."
    if estimator.potential:
        what = f"{what} {estimator.potential.bidders} bidders are counted for each sale."
    return Check(name, what, near, changes=changes, fails=estimator.lacks_rivals)


def _rounding(relative: float, step: float | None, deviation: float) -> Check:
    name, coarse = "Bids are not rounded.", relative / deviation
    changes = "Values and the best reserve may be off by as much as a step."
    if not coarse:
        return Check(name, "Bids have no common step.", 0.0, np.nan, changes)
    told = "Bids are rounded to few digits" if step is None else f"Bids are multiples of {step:g}"
    what = f"{told}: a typical step is {coarse:.2g} deviations of bids (from {COARSE} it matters)."
    return Check(name, what, coarse, np.nan, changes, coarse >= COARSE)


def _ties(bids: Numbers, residuals: Residuals) -> Check:
    equal = _share(residuals, lambda rows: (np.diff(np.sort(bids[rows], axis=1)) == 0).any(axis=1))
    what = (
        f"In {100 * equal:.1f} % of the sales two bids are equal (from {100 * _TIED:.0f} % it "
        "matters)."
    )
    changes = (
        "Bids are rounded, or made by one hand: values may be off, and higher if they collude."
    )
    return Check("No two bids of a sale are equal.", what, equal, np.nan, changes, equal > _TIED)


def _jumps(estimator: Estimator, residuals: Residuals) -> Check:
    bids, increment = estimator.log.bids, estimator.settings.increment

    def jumped(rows: Integers) -> NDArray[np.bool_]:
        last = np.sort(bids[rows], axis=1)[:, -2:]
        return np.asarray(last[:, 1] > last[:, 0] * (1.0 + increment) * (1.0 + 1e-9))

    share = _share(residuals, jumped)
    what = (
        f"In {100 * share:.1f} % of the sales the winner's bid is above the second by more than "
        f"the step of {100 * increment:g} % (from {100 * _JUMPS:.0f} % it matters)."
    )
    changes = (
        "Bidders jump, or the step is larger: set bid_log.increment. Values lie in wide bounds."
    )
    name = "Winners stop one step above the second bid."
    return Check(name, what, share, np.nan, changes, share > _JUMPS)


def _share(residuals: Residuals, of_sales: Callable[[Integers], NDArray[np.bool_]]) -> float:
    found = [of_sales(rows) for rows in residuals.rows.values()]
    return float(np.concatenate(found).mean())


def _untested(estimator: Estimator) -> Iterator[Check]:
    """Yield what no log of bids can tell."""
    never = "Not testable from bids."
    if estimator.settings.format == ASCENDING:
        yield Check(
            "Nobody bids above its value, or lets another win at a price that it would beat by "
            f"the increment, here {100 * estimator.settings.increment:g} % of the bid.",
            f"{never} Bidders may raise by more than they need.",
            changes="If the increment is larger, values are higher than their bounds.",
        )
    if estimator.settings.format == FIRST_PRICE:
        many = "could come" if estimator.potential else "they are"
        yield Check(
            f"Bidders know how many {many}, and bid what is best against such rivals.",
            never, changes="If they expected fewer rivals, values are higher than estimated.",
        )  # fmt: skip
        averse = "If they avoid risk, values are nearer to bids, and first price brings more."
        yield Check("Bidders are risk-neutral.", never, changes=averse)
    if estimator.settings.format == SECOND_PRICE:
        averse = "If they avoid risk, bids stay values here, but first price would bring more."
        yield Check("Bidders are risk-neutral.", never, changes=averse)
    if estimator.parts:
        yield Check(
            "What bids of a sale share is log-normal, and independent of private values.", never,
            changes="A reserve that binds breaks this, and values are off.",
        )  # fmt: skip
    yield Check(
        "As many bidders come at another reserve.", never,
        changes="If a higher one keeps some away, it gains less; a lower one may draw more.",
    )  # fmt: skip
    yield Check(
        "A sale that fails brings nothing.", never,
        changes="If the goods can be sold later, a higher reserve costs less than shown, and a "
        "lower one gains less.",
    )  # fmt: skip
    if estimator.base == "reserve":
        yield Check(
            "The reserve tells bidders nothing of what the goods are worth.", never,
            changes="If it does, bids move with it, and another one has another effect.",
        )  # fmt: skip
        yield _told(estimator)


def _told(estimator: Estimator) -> Check:
    """Return whether bidders of first-price sales heed the reserve, as if it is told to them."""
    log = estimator.log
    assert log.reserves is not None
    name = "The reserve is told before the sale, and is the same rule for all sales."
    changes = "If it is not told, bids do not depend on it as estimated."
    if log.format != FIRST_PRICE:
        return Check(name, "Not testable from bids.", changes=changes)
    reserves = log.reserves[log.sale]
    below, secret = float((log.bids < reserves).mean()), not binds(log.bids, reserves)
    what = (
        f"{100 * below:.1f} % of bids are below the reserve of their sale (from {100 * BELOW:.0f} "
        "% it matters). The rule itself is not testable from bids."
    )
    if secret:
        changes = (
            "The reserve seems to be secret. Then it acts as a further rival: values are lower "
            "than estimated, and bids would change if it was told, so no result of a reserve holds."
        )
    return Check(name, what, below, changes=changes, fails=secret, descriptive=not secret)
