"""What the answer becomes if an assumption behind it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from daedalus.lab.bids.estimator import Estimate, Estimator, money_at, money_with_stronger
from daedalus.lab.bids.log import BidLog
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE, BidLogSettings
from daedalus.lab.bids.value_quantiles import classes_of
from daedalus.lab.bids.verdict import MULTIPLES, Verdict, place_of
from daedalus.lab.theory.distributions import Numbers

SINGLE_SALES = "single sales"
"""Kind of the rows that leave one sale out."""

_RIVALS = (
    ("collusion", "bidders expected one rival fewer, as in a ring of two", -1),
    ("number of bidders", "bidders expected one rival more", 1),
)
"""Worlds in which bidders reckoned with other rivals than those who bid."""
_STRONGER = 1.2
_INNER = slice(5, 96)


def sensitivity(estimator: Estimator, estimate: Estimate, verdict: Verdict) -> pd.DataFrame:
    """Return the best reserve and the gain of the designed one under other assumptions.

    Returns:
        A row for each: ``assumption``; ``kind``; ``best``, the best multiple of the base; and
        ``gain`` of the designed reserve on that in force, in percent of revenue.
    """
    revenues = [
        (kind, name, money_at(world, MULTIPLES))
        for kind, name, world in _worlds(estimator, estimate)
    ]
    name = f"one bidder has {100 * (_STRONGER - 1):.0f} % higher values"
    revenues.append(("asymmetry", name, money_with_stronger(estimate, MULTIPLES, _STRONGER)))
    rows = []
    for kind, assumption, revenue in revenues:
        now, then = (
            revenue[place_of(verdict.in_force.multiple)],
            revenue[place_of(verdict.policy.multiple)],
        )
        best = float(MULTIPLES[np.argmax(revenue)])
        rows.append(
            {"assumption": assumption, "kind": kind, "best": best}
            | {"gain": 100.0 * float(then / now - 1.0)}
        )
    return pd.DataFrame(rows)


def _worlds(estimator: Estimator, estimate: Estimate) -> Iterator[tuple[str, str, Estimate]]:
    """Yield kinds of assumptions, what is assumed, and the estimate under it."""
    settings = estimator.settings
    changes, left_out = _changes(settings), _left_out(estimator.log, estimate.levels.observable)
    yield "as estimated", "as estimated", estimate
    for size, values in estimate.by_size.items():
        own = replace(estimate, values=values, shares={size: 1.0})
        yield "number of bidders", f"only sales with {size} bidders count", own
    for kind, name, change in changes:
        other = replace(estimator, settings=replace(settings, **change))
        yield kind, name, other.estimate()
    if settings.format == FIRST_PRICE:
        for kind, name, more in _RIVALS:
            yield kind, name, estimator.estimate(more_rivals=more)
    if estimate.has_bounds:
        for name, values in (("lowest", estimate.low), ("highest", estimate.high)):
            yield "format", f"values are the {name} that bids allow", estimate.with_values(values)
    for name, weights in left_out:
        yield SINGLE_SALES, name, estimator.estimate(weights)


def _changes(settings: BidLogSettings) -> list[tuple[str, str, dict[str, Any]]]:
    """Return other ways of estimating from the same bids: what each assumes, and its settings."""
    changes = list[tuple[str, str, dict[str, Any]]]()
    removed = settings.removes_common_part
    if removed or settings.format != ASCENDING:  # there, a part of it is due to the format
        knew = "bids of a sale have nothing in common" if removed else "bidders knew more"
        changes.append(("what bidders knew", knew, {"common_part": not removed}))
    if settings.format == FIRST_PRICE:
        half, twice = 0.5 * settings.bandwidth, 2.0 * settings.bandwidth
        changes += [
            ("boundary", "bids are smoothed half as much", {"bandwidth": half}),
            ("boundary", "bids are smoothed twice as much", {"bandwidth": twice}),
            ("format", "bidders bid all that the sale is worth to them", {"format": SECOND_PRICE}),
        ]
    return changes


def _left_out(log: BidLog, levels: Numbers) -> list[tuple[str, Numbers]]:
    """Return samples without the sale of the lowest bids, and without that of the highest.

    Args:
        log: The log.
        levels: What covariates lead to expect of each sale, shape (A,).

    Returns:
        What is assumed, and how often each sale counts, shape (A,).
    """
    relative = np.log(log.bids / levels[log.sale])
    means = np.bincount(log.sale, relative) / log.bidders
    samples = []
    for word, sale in (("lowest", np.argmin(means)), ("highest", np.argmax(means))):
        weights = np.ones(len(means))
        weights[sale] = 0.0
        name = f"sale {log.sales['auction'][sale]} is left out, whose bids are the {word}"
        samples.append((name, weights))
    return samples


def fit_by_size(estimator: Estimator, estimate: Estimate) -> pd.DataFrame:
    """Return how estimated values compare with bids, and how well they explain prices.

    Returns:
        A row for each number of ``bidders``: number of ``sales``; ``median_markup``, values over
        bids less 1, in percent; ``mean_markup``, the same of their sums without the lowest and
        highest twentieth; and the mean price in levels, as the log has it (``paid``) and as the
        estimate has it at the reserves in force (``explained``). Ascending sales have no rows, and
        neither has a log whose reserve kept bidders away, because prices of sales that the log
        lacks are part of the estimate.
    """
    log, levels = estimator.log, estimate.levels
    paid = log.paid / (levels.total * estimate.common.mean())
    sizes, rows = log.bidders, []
    for size, values in estimate.by_size.items():
        quantiles = estimate.bids[size]
        ratio = values[1:-1] / quantiles[1:-1]
        own = _in_levels(estimator, estimate, size)
        multiples = np.array([1.0 if estimator.base == "reserve" else 0.0])
        rows.append(
            {"bidders": size, "sales": int((sizes == size).sum())}
            | {"median_markup": 100.0 * (np.median(ratio) - 1.0)}
            | {"mean_markup": 100.0 * (values[_INNER].sum() / quantiles[_INNER].sum() - 1.0)}
            | {"paid": paid[sizes == size].mean()}
            | {"explained": float(money_at(own, multiples)[0])}
        )
    columns = ["bidders", "sales", "median_markup", "mean_markup", "paid", "explained"]
    return pd.DataFrame(rows, columns=columns)


def _in_levels(estimator: Estimator, estimate: Estimate, size: int) -> Estimate:
    """Return the estimate for the sales with one number of bidders, with prices in their levels."""
    levels, here = estimate.levels, estimator.log.bidders == size
    bases = (estimator.bases(levels) / levels.total)[here]
    common = np.tile(estimate.common / estimate.common.mean(), (len(bases), 1))
    relative = bases / estimate.common.mean()
    classes = classes_of(relative, common, np.ones(len(bases)))
    return replace(estimate, shares={size: 1.0}, bases=classes[0], worth=classes[1])
