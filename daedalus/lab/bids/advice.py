"""The verdict in four answers: what to set, what it brings, how sure that is, what may be wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from daedalus.lab.bids.assumptions import SINGLE_SALES
from daedalus.lab.bids.estimator import MONEY
from daedalus.lab.bids.findings import Findings, amount, reserve_words, typical
from daedalus.lab.bids.text_table import DOUBT
from daedalus.lab.bids.verdict import INDIFFERENT, MULTIPLES

_OFF = "The prices of the estimate are off by more than this gain. "
_BOUNDED = (
    "Bids tell bounds of values alone, so the ranges reach over the lowest, the middle and the "
    "highest values that bids allow; what lies between these may lead further. "
)
_NOTHING = 0.005
"""Losses, in percent, that are called none."""
_CLOSE = 0.005
"""Share of the prices up to which the estimate is said to have them."""
_SECRECY = {"": "", "True": " (told to bidders)", "False": " (kept secret)"}
_MOVED = 0.1
"""Share by which the best reserve moves if a sale is left out, from which it is a doubt."""


def what_to_set(findings: Findings) -> str:
    """Return what to set, in the seller's money, and why not something else."""
    verdict = findings.verdict
    if not verdict.change:
        now = verdict.in_force.multiple
        kept = f"keep {_words(findings, now)}" if now else "go on without a reserve"
        return f"**Change nothing: {kept}.** {_why_not(findings)}"
    told = _words(findings, verdict.policy.multiple) + _other_fields(findings)
    if findings.is_small:
        return (
            f"**Try {told} in some sales first, chosen by lot.** The gain is smaller than the "
            "error of the estimate, so only a trial can show it. In `reserves.csv` such sales take "
            "`best_estimated`, and all others stay as they are."
        )
    each = "" if findings.base == MONEY else " `reserves.csv` has the amount for each sale."
    today = _words(findings, verdict.in_force.multiple)
    due = " Today's rules break the brief." if verdict.required else ""
    return f"**Set {told}** instead of {today}.{due}{each}"


def what_it_brings(findings: Findings) -> str:
    """Return the gain on the mechanism in force."""
    verdict = findings.verdict
    unit = "" if findings.in_money else f" in {findings.reward}"
    share = f", or {100 * abs(findings.gain):.2f} %" if findings.gain else ""
    if findings.is_unchanged:
        now = amount(verdict.reward)
        return (
            f"By the estimate a sale brings {now}{unit} on average, and no other reserve"
            f"{_allowed(findings)} brings more.{_in_log(findings)}"
        )
    then, now = amount(verdict.reward + verdict.gain), amount(verdict.reward)
    best = _words(findings, verdict.policy.multiple)
    condition = "With it" if verdict.change else f"With the best one found, {best},"
    if then == now:
        return (
            f"{condition} a sale would bring {now}{unit} on average by the estimate, as it does "
            f"now. The difference is too small to matter.{_in_log(findings)}"
        )
    return (
        f"{condition} a sale would bring {then}{unit} on average by the estimate, and {now} as it "
        f"is now. That is {amount(abs(verdict.gain))} "
        f"{'more' if verdict.gain >= 0 else 'less'}{share}.{_in_log(findings)}"
    )


def _allowed(findings: Findings) -> str:
    """Return what limits the reserves that were compared: a brief, or nothing."""
    return "" if findings.brief is None else " that the brief allows"


def _in_log(findings: Findings) -> str:
    """Return what sales of the log brought, if the estimate is of the same sales."""
    if not findings.in_money or findings.estimate.potential:
        return ""
    return f" The sales of the log brought {amount(float(findings.estimator.log.paid.mean()))}."


def how_sure(findings: Findings) -> str:
    """Return the intervals of the gain and of the best reserve."""
    percent = 100.0 * findings.confidence
    low, high = map(amount, findings.verdict.interval)
    gain = "" if findings.is_unchanged else f"the gain lies between {low} and {high} a sale, and "
    chosen = "The reserve was chosen on this log, so its gain is somewhat too high. "
    bounds = _BOUNDED if findings.estimate.has_bounds else ""
    return (
        f"If all that is assumed holds, with {percent:g} % confidence {gain}the best reserve"
        f"{_allowed(findings)} {_range_of_best(findings)}. {_at_ends(findings)}{_as_good(findings)}"
        "Other sales could by chance have led to another result in these "
        f"ranges ({_samples(findings)}). {bounds}{chosen if gain else ''}"
        f"{_OFF if findings.is_small and not findings.is_unchanged else ''}"
        "Not counted are wrong assumptions, and what the estimate decided once from the whole log: "
        f"which sales are errors, whether bids of a sale share something,{_regression(findings)} "
        "and how many bidders could have come."
    )


def _regression(findings: Findings) -> str:
    """Return what else samples take from the whole log: the regression before a common part."""
    estimator = findings.estimator
    fixed = estimator.parts is not None and estimator.regression.names
    return " how much of a bid is due to what was sold," if fixed else ""


def _samples(findings: Findings) -> str:
    """Return how many samples are behind the intervals, and what is rough about them."""
    count = findings.verdict.samples
    told = f"{count} samples of the sales"
    if count == findings.estimator.settings.resamples:
        return told
    return f"{told}, in which mechanisms were played for one episode, so the ranges are rough"


def _at_ends(findings: Findings) -> str:
    """Return what the ends of the range of best reserves bring: not all of them gain."""
    verdict = findings.verdict
    low, high = map(amount, verdict.at_best)
    if verdict.best[0] == verdict.best[1]:
        return ""
    if min(verdict.at_best) >= verdict.reward + verdict.gain - INDIFFERENT * abs(verdict.reward):
        return "By the estimate a sale brings nearly the same at both ends. "
    return f"By the estimate a sale brings {low} at the lower end, and {high} at the upper one. "


def _as_good(findings: Findings) -> str:
    """Return which reserves bring as much, if they are more than the interval of the best."""
    low, high = findings.verdict.as_good
    least, most = findings.verdict.best
    if low >= least and high <= most:
        return ""
    near, far = (_words(findings, each).removeprefix("a reserve of ") for each in (low, high))
    which = f"any reserve from {near} to {far}" if low else f"no reserve, or any up to {far},"
    return f"By the estimate, {which} brings as much, within {100 * INDIFFERENT:g} %. "


def _range_of_best(findings: Findings) -> str:
    estimator, estimate = findings.estimator, findings.estimate
    low, high = findings.verdict.best
    near, far = (amount(typical(each, estimator, estimate)) for each in (low, high))
    where = "" if findings.base == MONEY else " in a typical sale"
    if low == high:
        return f"of those tried is {near if low else 'none'}{where}, in nearly all samples"
    return f"lies between {near} and {far}{where}"


def doubts(findings: Findings) -> list[str]:
    """Return what speaks against the verdict, the most serious first; none if nothing does."""
    notes = [each.text for each in findings.estimator.log.notes if each.kind == DOUBT]
    return [*notes, *_of_the_estimate(findings), *_of_assumptions(findings)]


def _words(findings: Findings, multiple: float) -> str:
    return reserve_words(multiple, findings.estimator, findings.estimate)


def _other_fields(findings: Findings) -> str:
    fields = findings.other_fields
    secret = _SECRECY[str(fields.pop("reveal_reserve", ""))]
    changed = [f"{name} {value}" for name, value in fields.items()]
    return f"{secret}, and {', '.join(changed)}" if changed else secret


def _why_not(findings: Findings) -> str:
    verdict = findings.verdict
    if findings.is_unchanged:
        return f"It is the best one{_allowed(findings)}, by the estimate."
    if not verdict.unseen:
        return f"No reserve{_allowed(findings)} surely brings more."
    change, low, high = (100.0 * each / verdict.reward for each in verdict.raised)
    return (
        f"The best reserve{_allowed(findings)} is by the estimate {verdict.policy.multiple:.2f} "
        "times today's. But the log has hardly any bids from below today's reserve, so it cannot "
        "tell what bidders with lower values would do. A reserve that is a fifth higher would "
        f"{'lose' if change < 0 else 'gain'} {abs(change):.1f} % (a change of "
        f"{low:+.1f} to {high:+.1f} %)."
    )


def _of_the_estimate(findings: Findings) -> Iterator[str]:
    verdict = findings.verdict
    yield from _of_the_prices(findings)
    if verdict.policy.multiple == MULTIPLES[-1]:
        yield "The designed reserve is the highest that was tried. A higher one may be better."
    yield from _of_the_reserve(findings)
    if verdict.in_force.multiple and verdict.unseen:
        yield (
            "All numbers for a reserve below today's extend the estimate to bidders who could not "
            "bid. The gain comes from sales that fail today by the estimate, "
            f"{100 * findings.failing:.1f} % of all; they are no part of the log. Those who did "
            "bid would not pay more. Only a trial can tell: lower the reserve in some sales, "
            "chosen by lot."
        )
    table = findings.sensitivity
    best = float(table.loc[table["kind"] == "as estimated", "best"].iloc[0])
    single = table[table["kind"] == SINGLE_SALES]
    for_revenue = "" if findings.in_money else " for revenue"
    for assumption, other in zip(single["assumption"], single["best"], strict=True):
        if abs(other - best) > _MOVED * best:
            then = _words(findings, float(other))
            yield f"A single sale moves the result: {assumption}, the best{for_revenue} is {then}."


def _of_the_prices(findings: Findings) -> Iterator[str]:
    """Yield how far the prices of the estimate are from those of the log."""
    if np.isnan(findings.miss):
        yield (
            "Whether the estimate explains the prices of the log was not checked, since sales that "
            "the log lacks are a part of it. So the gain may be smaller than its error."
        )
    if not findings.miss > _CLOSE:
        return
    by_size = [
        f"{100 * miss:+.1f} % with {bidders}"
        for bidders, miss in zip(findings.fit["bidders"], findings.misses, strict=True)
    ]
    each = f"{', '.join(by_size)} bidders, and " if by_size else ""
    yield (
        f"By the estimate, sales would have brought other prices than in the log: {each}"
        f"{100 * findings.miss:.1f} % apart in the mean. So a gain or a loss below that may be an "
        "error of the estimate."
    )


def _of_the_reserve(findings: Findings) -> Iterator[str]:
    """Yield what is not known of bidders whom the reserve kept away."""
    potential, estimator = findings.estimate.potential, findings.estimator
    if potential:
        given = estimator.settings.potential_bidders is not None
        source = "as was set" if given else "the most bids that a sale has"
        yield (
            f"The reserve keeps bidders away. {potential.bidders} bidders are taken to be "
            f"interested in each sale ({source}), and {100 * potential.excluded:.0f} % of them "
            "find it worth less than the reserve. Results count sales without a bid, too, which "
            "the log does not have."
        )
        if estimator.is_uneven:
            yield (
                "The reserve is high for some sales and low for others. The estimate takes it to "
                "exclude the same share of values in all of them."
            )


def _of_assumptions(findings: Findings) -> Iterator[str]:
    table = findings.sensitivity
    others = table[~table["kind"].isin(["as estimated", SINGLE_SALES])]
    losses = others[others["gain"] < -_NOTHING]
    pairs = zip(losses["assumption"], losses["gain"], strict=True)
    named = "; ".join(f"{assumption} ({-gain:.2f} % lost)" for assumption, gain in pairs)
    if named:
        which = "This reserve" if findings.verdict.change else "The best reserve found"
        lost = "lose" if findings.in_money else "lose revenue"
        yield f"{which} would {lost} if: {named}."
