"""The report on a log of bids: what to set, what it gains, how sure that is, what was assumed."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from markdown_it import MarkdownIt

from daedalus.bids.design import Verdict
from daedalus.bids.estimates import LEVEL, RESERVE, Estimate, Estimator
from daedalus.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE
from daedalus.market.mechanism import FIELDS
from daedalus.runs.files import written_whole

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 50rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 1rem 0; }
th, td { border-bottom: 1px solid #ddd; padding: 0.3rem 0.7rem; text-align: left; }
th { border-bottom-color: #888; }
blockquote { margin: 1rem 0; padding: 0.6rem 1.1rem; background: #eef6f2;
  border-left: 4px solid #009e73; font-size: 1.08rem; }
"""


LAST = "## Go on with it"
"""Heading of the last part, which names files of the run."""

_LITTLE = 0.1
_NOTHING = 0.005
"""Gains, in percent, that are shown as 0.00 and called none."""
_FORMATS = {FIRST_PRICE: "first-price", SECOND_PRICE: "second-price", ASCENDING: "ascending"}


@dataclass(frozen=True)
class Findings:
    """What a report tells.

    Attributes:
        estimator: The log.
        estimate: Its estimate.
        verdict: What to set.
        designers: Rows of designers: ``designer``, ``sets``, and a reward with its gain.
        fit: The frame of ``fit_by_size``.
        sensitivity: The frame of ``sensitivity``.
        played: Result of the mechanism in force as played in the market.
        reward: Name of the objective.
        in_money: Whether it is in the money of the log.
        confidence: Confidence of the intervals.
        population: Name of the population's file.
    """

    estimator: Estimator
    estimate: Estimate
    verdict: Verdict
    designers: pd.DataFrame
    fit: pd.DataFrame
    sensitivity: pd.DataFrame
    played: float
    reward: str
    in_money: bool
    confidence: float
    population: str

    @property
    def base(self) -> str:
        """Return what reserves are multiples of."""
        return self.estimator.base


def amount(value: float) -> str:
    """Return an amount with four digits, or with three decimals if it is small."""
    if value == 0 or abs(value) >= 100:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def reserve_words(multiple: float, estimator: Estimator) -> str:
    """Return a reserve in words."""
    if multiple == 0:
        return "no reserve"
    if estimator.base == RESERVE:
        return f"{multiple:.2f} times the reserve in force" if multiple != 1 else "today's reserve"
    if estimator.base == LEVEL:
        return f"a reserve of {multiple:.2f} times the level of the sale"
    return f"a reserve of {amount(multiple * estimator.unit)}"


def verdict_row(verdict: Verdict, estimator: Estimator) -> pd.DataFrame:
    """Return the verdict as a table with one row.

    Returns:
        ``change``, whether it is recommended; ``reserve``, that was designed, as a multiple of
        ``base`` or, if this is money, in money, with its interval; ``gain`` with its interval; and
        the other fields of the mechanism.
    """
    fields = verdict.policy.mechanism.to_dict()
    del fields["reserve_price"]
    low, high = (estimator.unit * each for each in verdict.best)
    row = {"change": verdict.change, "base": estimator.base}
    row |= {"reserve": estimator.unit * verdict.policy.multiple}
    row |= {"reserve_low": low, "reserve_high": high, "gain": verdict.gain}
    row |= {"gain_low": verdict.interval[0], "gain_high": verdict.interval[1]}
    return pd.DataFrame([row | fields])


def markdown(findings: Findings, figures: Mapping[str, str]) -> str:
    """Return the report.

    Args:
        findings: What it tells.
        figures: Paths of the figures, relative to the report, by name: ``values``, ``densities``,
            ``reserve`` and ``sensitivity``.
    """
    log = findings.estimator.log
    parts = [
        f"# What to set: {log.name}",
        "> " + _recommendation(findings),
        "## What it gains",
        _gain(findings),
        f"![Result against reserve]({figures['reserve']})",
        _table(_readable_designers(findings.designers)),
        _compared(findings),
        "## How sure this is",
        *_certainty(findings),
        f"![Sensitivity]({figures['sensitivity']})",
        "## What the log says of its bidders",
        *_bidders(findings),
        *([f"![Values behind bids]({figures['values']})"] if "values" in figures else []),
        f"![Densities]({figures['densities']})",
        *([_table(_readable_fit(findings.fit))] if len(findings.fit) else []),
        "## What was assumed",
        _assumed(findings),
        LAST,
        _further(findings),
    ]
    return "\n\n".join(parts) + "\n"


def _further(findings: Findings) -> str:
    told = (
        f"`population/{findings.population}.yaml` has these bidders as a population of the market. "
        "You can read and edit it. Its first lines say how to use it."
    )
    if findings.base != LEVEL:
        return told
    return (
        f"{told} The level of a sale that is not in the log follows from `levels.csv`: it is "
        "exp(constant + the sum of coefficients times columns)."
    )


def _recommendation(findings: Findings) -> str:
    verdict, percent = findings.verdict, 100.0 * findings.confidence
    estimator, unit = findings.estimator, findings.estimator.unit
    if verdict.change:
        low, high = verdict.best
        others = _other_fields(verdict)
        return (
            f"**Set {reserve_words(verdict.policy.multiple, estimator)}{others}.** The best "
            f"reserve lies between {amount(unit * low)} and {amount(unit * high)} with "
            f"{percent:g} % confidence."
        )
    shown = f"keep {reserve_words(verdict.held.multiple, estimator)}"
    if verdict.unseen:
        change, *ends = (100.0 * each / verdict.reward for each in verdict.raised)
        near, far = sorted(abs(each) for each in ends)
        why = (
            f"The estimate has its best reserve at {verdict.policy.multiple:.2f} times the one in "
            "force. The log has hardly any bids from below it, so it cannot tell what "
            "bidders with lower values would do. A reserve that is a fifth higher would "
            f"{'lose' if change < 0 else 'gain'} {abs(change):.1f} % ({near:.1f} to {far:.1f} %)."
        )
    else:
        why = "No other reserve gains enough to be sure of it."
    return f"**No change recommended: {shown}.** {why}"


def _other_fields(verdict: Verdict) -> str:
    old, new = verdict.held.mechanism, verdict.policy.mechanism
    changed = [
        f"{name} {getattr(new, name)}"
        for name in FIELDS
        if name != "reserve_price" and getattr(new, name) != getattr(old, name)
    ]
    return f", and {', '.join(changed)}" if changed else ""


def _gain(findings: Findings) -> str:
    verdict, percent = findings.verdict, 100.0 * findings.confidence
    (low, high), reward = verdict.interval, verdict.reward
    unit = "in the money of the log" if findings.in_money else f"in {findings.reward}"
    return (
        f"Under the mechanism in force a sale brings {amount(reward)} on average, {unit}. With "
        f"{reserve_words(verdict.policy.multiple, findings.estimator)} it would bring "
        f"{amount(reward + verdict.gain)}. The difference is {amount(verdict.gain)}, or "
        f"{100.0 * verdict.gain / reward:.2f} %. Its {percent:g} % interval goes from "
        f"{amount(low)} to {amount(high)}, or {100.0 * low / reward:.2f} to "
        f"{100.0 * high / reward:.2f} %. It covers the chance by which the log has these sales and "
        f"not others (all was estimated anew from {findings.estimator.settings.resamples} samples "
        "of them), but no wrong assumption."
    )


def _compared(findings: Findings) -> str:
    return (
        "*search* and any trained model choose for a seller who knows all that the bidders of a "
        "sale know in common. What search gains is the worth of such an appraisal. A trained "
        "model can lose much if it has not met such bidders before. A simulation of the "
        f"mechanism in force brings {amount(findings.played)}."
    )


def _certainty(findings: Findings) -> list[str]:
    table, verdict = findings.sensitivity, findings.verdict
    others = table[table["kind"] != "as estimated"]
    small = others["gain"].abs() < _NOTHING
    gains, losses = others[~small & (others["gain"] > 0)], others[~small & (others["gain"] < 0)]
    against = f" ({'; '.join(losses['assumption'])})" if len(losses) else ""
    unit = findings.estimator.unit
    low, high = unit * float(others["best"].min()), unit * float(others["best"].max())
    sentences = [
        f"There are {len(others)} checks: other assumptions, or sales of one size alone. The "
        f"designed reserve of {amount(unit * verdict.policy.multiple)} gains in {len(gains)}, "
        f"changes nothing in {int(small.sum())}, and loses in {len(losses)}{against}. The best "
        f"reserve lies between {amount(low)} and {amount(high)}. The figure has a row for each."
    ]
    if verdict.held.multiple and verdict.unseen:
        sentences.append(
            "All numbers for a reserve below the one in force extend the estimate to bidders who "
            "could not bid. Only a trial can tell: lower the reserve in some sales, chosen by lot."
        )
    if len(findings.fit):
        off = 100.0 * (findings.fit["explained"] / findings.fit["paid"] - 1.0)
        sentences.append(
            "The estimate was asked for the prices that the log has. It misses them by "
            f"{off.min():.0f} to {off.max():.0f} %, depending on the number of bidders. So do not "
            "rely on a smaller gain."
        )
    return sentences


def _bidders(findings: Findings) -> list[str]:
    log, estimate = findings.estimator.log, findings.estimate
    levels, fit = estimate.levels, findings.fit
    sentences = [
        f"There are {len(log.bids):,} bids in {len(log.sales):,} {_FORMATS[log.format]} sales. "
        "A level of 1 is the usual bid for such a sale, and 1.2 is 20 % above. "
        f"What is sold and the number of bidders explain {100 * levels.explained:.0f} % of the "
        "differences between bids (of the variance of their logarithms). Of the rest, "
        f"{100 * levels.common:.0f} % is common to all bids of a sale"
        + (
            ": bidders knew something that the log does not show."
            if levels.common > _LITTLE
            else ", which is little."
        )
    ]
    if len(fit) and findings.estimator.settings.format == FIRST_PRICE:
        most = fit.sort_values("sales").iloc[-1]
        sentences.append(
            "In a first-price sale a bidder bids less than the sale is worth to it. With "
            f"{most['bidders']:.0f} bidders the value is typically {most['median_markup']:.0f} % "
            "above the bid. More bidders leave less room. The mean leaves out the lowest and the "
            "highest twentieth."
        )
    if findings.estimator.settings.format == ASCENDING:
        sentences.append(
            "In an ascending sale bids give bounds of values. The design is for their middle, and "
            "both bounds are among the assumptions above."
        )
    return [" ".join(sentences), *(note for note in log.notes)]


def _readable_fit(fit: pd.DataFrame) -> pd.DataFrame:
    names = {
        "bidders": "bidders", "sales": "sales", "median_markup": "value above bid, median %",
        "mean_markup": "mean %", "paid": "price, levels", "explained": "the estimate's price",
    }  # fmt: skip
    return fit.round({"median_markup": 1, "mean_markup": 1}).round(2).rename(columns=names)


def _assumed(findings: Findings) -> str:
    first = findings.estimator.settings.format == FIRST_PRICE
    lines = [
        "Each bidder knows what the sale is worth to it, and learns nothing of that from others.",
        "Values of bidders are drawn alike, apart from what all bidders of a sale know. If some "
        "are stronger, the best reserve is higher for them.",
        "Bidders do not collude. If they do, values are higher than estimated, and so is the best "
        "reserve.",
        "As many bidders come at another reserve. If a higher one keeps some away, it gains less.",
        "A sale that fails brings nothing. If the goods can be sold later, a higher reserve costs "
        "less than shown.",
    ]
    if first:
        lines.insert(3, "Bidders know how many they are, and bid what is best against such rivals.")
    if findings.base == RESERVE:
        lines.append("The reserve is told before the sale, and is the same rule for all sales.")
    return "\n".join(f"- {line}" for line in lines)


def _table(frame: pd.DataFrame) -> str:
    head = [str(name).replace("_", " ") for name in frame.columns]
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _readable_designers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with gains and their intervals in one column."""
    numbers = table[["gain", "gain_low", "gain_high"]].to_numpy(np.float64)
    gains = [
        f"{amount(gain)} ({amount(low)} to {amount(high)})" if low < high else amount(gain)
        for gain, low, high in numbers.tolist()
    ]
    return table[["designer", "sets", "result"]].assign(**{"gain, with its interval": gains})


def _cell(value: object) -> str:
    return amount(value) if isinstance(value, float) else str(value)


def page(text: str, title: str, folder: Path) -> str:
    """Return the report as one HTML page with its figures inside.

    Args:
        text: The report in Markdown.
        title: Title of the page.
        folder: Folder in which the figures' paths start.
    """
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    for path in sorted(folder.glob("figures/*.png")):
        data = base64.b64encode(path.read_bytes()).decode()
        body = body.replace(f'src="figures/{path.name}"', f'src="data:image/png;base64,{data}"')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>\n{body}</body></html>\n"
    )


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    with written_whole(path) as aside:
        aside.write_text(text)
