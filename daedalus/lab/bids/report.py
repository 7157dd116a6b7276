"""The report on a log of bids: what to set, what it gains, how sure that is, what was checked."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from markdown_it import MarkdownIt

from daedalus.lab.bids.advice import doubts, how_sure, what_it_brings, what_to_set
from daedalus.lab.bids.diagnostics import FAMILY, failed
from daedalus.lab.bids.estimator import LEVEL, RESERVE
from daedalus.lab.bids.findings import Findings, amount, reserve_words
from daedalus.lab.bids.levels import first_words
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE
from daedalus.lab.bids.text_table import KINDS

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 50rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; }
body { overflow-wrap: break-word; -webkit-text-size-adjust: 100%; }
h1 { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; margin: 1rem 0; }
@media (max-width: 600px) {
  html body { margin: 1rem auto; }
  body h1 { font-size: 1.6rem; }
  body ul { padding-left: 1.2rem; }
  body blockquote { padding: 0.4rem 0.8rem; font-size: 1rem; }
  .wide table, .wide img { min-width: 38rem; }
}
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { border-bottom: 1px solid #ddd; padding: 0.3rem 0.7rem; text-align: left; }
th { border-bottom-color: #888; }
blockquote { margin: 1rem 0; padding: 0.6rem 1.1rem; background: #eef6f2;
  border-left: 4px solid #009e73; font-size: 1.08rem; }
h1 + blockquote { background: #fdecea; border-left-color: #c62828; color: #8e1414; }
"""
"""What follows the title in a quote is the warning, which is red."""


_WIDE = '<div class="wide" tabindex="0" role="group" aria-label="{}, which may scroll">{}</div>'
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_FIGURE = re.compile(r'<p>(<img src="figures/[^>]*>)</p>')
_BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")
_TERMS = {
    "usual bid": "The usual bid is what bidders bid on average for such goods.",
    "typical sale": "A typical sale is the middle one of all.",
}
_FEWER = (
    "Sales with one bid or none are no part of it. A reserve earns most where one bidder comes, so "
    "if there are such sales, the best one may be higher."
)
_EQUAL = (
    " If bidders are alike, all formats bring the same in equilibrium, so what *search* gains "
    "comes from knowing the level."
)
_LITTLE = 0.1
_FORMATS = {
    FIRST_PRICE: "sealed first-price sales, where the winner pays its bid",
    SECOND_PRICE: "sealed second-price sales, where the winner pays the second-highest bid",
    ASCENDING: "ascending sales, where bids rise until one bidder is left",
}


def markdown(findings: Findings, figures: Mapping[str, str], further: str) -> str:
    """Return the report.

    Args:
        findings: What it tells.
        figures: Paths of the figures, relative to the report, by name: ``values``, ``densities``,
            ``reserve`` and ``sensitivity``.
        further: What a reader can go on with, such as ``go_on``.
    """
    log = findings.estimator.log
    parts = [
        f"# What to set: {plain(log.name)}",
        *warnings(findings.checks),
        _reading(findings),
        _verdict(findings),
        *_brief(findings),
        "## Beside other designs",
        f"![Result against reserve]({figures['reserve']})",
        _table(_readable_designers(findings.designers)),
        _compared(findings),
        "## If an assumption fails",
        _assumptions(findings),
        f"![Sensitivity]({figures['sensitivity']})",
        "## What the log says of its bidders",
        _bidders(findings),
        *([f"![Values behind bids]({figures['values']})"] if "values" in figures else []),
        f"![Densities]({figures['densities']})",
        *([_table(_readable_fit(findings.fit))] if len(findings.fit) else []),
        "## Checks of the assumptions",
        _checked(findings.checks),
        "## Go on with it",
        further,
    ]
    return "\n\n".join(parts) + "\n"


def warnings(checks: pd.DataFrame) -> list[str]:
    """Return a warning in one line if some checks fail, and else nothing."""
    bad = failed(checks)
    if not len(bad):
        return []
    by_change = bad.groupby("changes", sort=False)["check"].agg(" ".join)
    told = [f"**{plain(what)}** {plain(str(then))}" for then, what in by_change.items()]
    return [
        f"> **Warning: the log speaks against what was assumed, so what follows may "
        f"be wrong.** These fail: {' '.join(told)}"
    ]


def _reading(findings: Findings) -> str:
    """Return what became of the file: a line for each kind of notes that there are."""
    log, lines = findings.estimator.log, []
    for kind in KINDS[:-1]:
        notes = [plain(note.text) for note in log.notes if note.kind == kind]
        if notes:
            lines.append(f"- **{kind.capitalize()}**: {' '.join(notes)}")
    fewest, most = int(log.bidders.min()), int(log.bidders.max())
    number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    size = f"{len(log.bids):,} bids in {len(log.sales):,} sales of {number} bids each"
    told = f"They count as {_FORMATS[log.format]}. If they are not, choose another format"
    lacks = f", and lacks {log.dropped:,} that were dropped" if log.dropped else ""
    lines.append(
        f"- **The estimate is from** {size}. {told} (bid\\_log.format). `reserves.csv` has these "
        f"sales{lacks}."
    )
    return "\n".join(lines) + ("" if findings.estimate.potential else f" {_FEWER}")


def _verdict(findings: Findings) -> str:
    against = doubts(findings) or ["The log gave no further reason to doubt."]
    answers = [
        what_to_set(findings),
        f"**What it brings.** {what_it_brings(findings)}",
        f"**How sure.** {how_sure(findings)}",
    ]
    doubted = "\n".join(f"- {plain(each)}" for each in against)
    last = ["**What could be wrong.** The checks of the assumptions, near the end; and:", doubted]
    lines = "\n\n".join([*_with_terms(answers), *last]).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _brief(findings: Findings) -> list[str]:
    """Return what a brief rules and costs; nothing without a brief."""
    brief = findings.brief
    if brief is None:
        return []
    unit = "" if findings.in_money else f" in {findings.reward}"
    told = (
        "What is set above keeps these rules. A reserve is a share of the top value, which is the "
        "highest value of the estimate in a typical sale. A cost is what the best rules without "
        f"this one would bring more in a sale{unit}. Costs overlap, so they do not add up; their "
        "intervals are over samples of the sales."
    )
    rules = pd.DataFrame(
        [
            (each.sentence, each.says, each.today, _with_interval(each.cost, each.low, each.high))
            for each in brief.costs
        ],
        columns=["the brief says", "understood", "today", "costs"],
    )
    used = [told, _table(rules)] if len(rules) else ["None of its sentences rules these sales."]
    unused = [f"- Not used: “{plain(each)}”: {plain(why)}." for each, why in brief.unused]
    heeds = "The parts that follow but *designed* and *search* do not heed the brief."
    return ["## What the brief asks for", *used, *(["\n".join(unused)] if unused else []), heeds]


def _with_interval(number: float, low: float, high: float) -> str:
    told = amount(number)
    return f"{told} ({amount(low)} to {amount(high)})" if low < high else told


def _with_terms(answers: list[str]) -> list[str]:
    """Return the answers; the first that uses a term says what it means."""
    explained = list(answers)
    for term, meaning in _TERMS.items():
        users = [row for row, each in enumerate(answers) if term in each]
        if users:
            explained[users[0]] += f" ({meaning})"
    return explained


def go_on(findings: Findings) -> str:
    """Return what a reader can do with the files of a run."""
    told = (
        f"`population/{findings.estimator.log.population}.yaml` has these bidders as a population "
        "of the market. You can read and edit it. Its first lines say how to use it. "
        "`reserves.csv` has the reserve of each sale of the estimate, in the money of the log."
    )
    if findings.base != LEVEL:
        return told
    verdict, words = findings.verdict, _of_words(findings)
    times = f"{verdict.policy.multiple:.2f}"
    chosen = "If the lot chooses it for the trial, its" if findings.is_small else "Its"
    multiple = f" {chosen} reserve is {times} times that." if verdict.change else ""
    return (
        f"{told} The usual bid of a new sale follows from `levels.csv`: multiply each coefficient "
        "with the sale's number in that column (its natural logarithm where the column's name "
        "begins with log; 1 or 0 for a word), add all and the constant, and take exp of the sum."
        f"{words}{multiple}"
    )


def _of_words(findings: Findings) -> str:
    """Return how words count that have no column in the table of levels."""
    first = first_words(findings.estimator.log)
    if not first:
        return ""
    named = ", ".join(f"{plain(word)} of {plain(name)}" for name, word in first.items())
    return (
        f" Without a 1 in the columns of its name, a sale counts as one with the first word: "
        f"{named}. So for a new year take the last one that has a column, and for another new word "
        "the one that is most like it."
    )


def _compared(findings: Findings) -> str:
    trained = set(findings.designers["designer"]) - {"in force", "designed", "search"}
    others = " and a trained model" if trained else ""
    model = " A trained model can lose much if it has not met such bidders before."
    return (
        f"*designed* sets one rule for all sales. *search*{others} may choose other rules, for a "
        "seller who knows all that the bidders of a sale know in common, as an expert would who "
        "appraises each sale beforehand. The level of a sale is what bidders bid on average where "
        f"that is known.{_EQUAL if findings.in_money else ''}{model if trained else ''}"
    )


def _assumptions(findings: Findings) -> str:
    table = findings.sensitivity
    others = table[table["kind"] != "as estimated"]
    rising = others.sort_values("best", kind="stable")
    first, last = rising.iloc[0], rising.iloc[-1]
    words = [
        reserve_words(float(each["best"]), findings.estimator, findings.estimate)
        for each in (first, last)
    ]
    revenue = f"All of this part is of revenue, not of {findings.reward}. "
    return (
        f"{'' if findings.in_money else revenue}"
        f"Below its first row the figure has {len(others)} others. Each changes one assumption, or "
        f"takes a part of the sales. The best reserve then lies between {words[0]}, if "
        f"{plain(first['assumption'])}, and {words[1]}, if {plain(last['assumption'])}. This range "
        "is about assumptions; the one above is about chance."
    )


def _bidders(findings: Findings) -> str:
    log, estimate = findings.estimator.log, findings.estimate
    levels, fit = estimate.levels, findings.fit
    sentences = [
        "The usual bid of a sale is what bidders bid on average for such goods, in a typical sale "
        f"{amount(float(np.median(levels.observable)))}. In the figures a bid of 1.2 is 20 % above "
        "it. "
        f"{_regressors(findings)} explain "
        f"{100 * levels.explained:.0f} % of the differences between bids. Of the rest, "
        f"{100 * levels.common:.0f} % is common to all bids of a sale{_of_common(findings)} (Both "
        "are shares of the variance of logarithms.)"
    ]
    if len(fit) and findings.estimator.settings.format == FIRST_PRICE:
        most = fit.sort_values("sales").iloc[-1]
        sentences.append(
            "In a first-price sale a bidder bids less than the sale is worth to it. With "
            f"{most['bidders']:.0f} bidders the value is typically {most['median_markup']:.0f} % "
            "above the bid. More bidders leave less room. The mean leaves out the lowest and the "
            "highest twentieth."
        )
    if log.format == ASCENDING:
        sentences.append(
            "In an ascending sale bids give bounds of values. The design is for their middle, "
            "intervals reach over both bounds, and these are among the assumptions above."
        )
    return " ".join(sentences)


def _of_common(findings: Findings) -> str:
    """Return the end of the sentence that tells what bids of a sale have in common."""
    if findings.estimate.levels.common <= _LITTLE:
        return ", which is little."
    if findings.estimator.log.format == ASCENDING:
        return ": at least a part of it comes from the format."
    return (
        ": the estimate takes it as known to all bidders. Values that depend on each other, or "
        "collusion, look the same."
    )


def _regressors(findings: Findings) -> str:
    told = "what is sold and the number of bidders"
    return f"Today's reserve, {told}" if findings.base == RESERVE else told.capitalize()


def _readable_fit(fit: pd.DataFrame) -> pd.DataFrame:
    names = {
        "bidders": "bidders", "sales": "sales", "median_markup": "value above bid, median %",
        "mean_markup": "mean %", "paid": "price paid, in usual bids",
        "explained": "price by the estimate",
    }  # fmt: skip
    return fit.round({"median_markup": 1, "mean_markup": 1}).round(2).rename(columns=names)


def _checked(checks: pd.DataFrame) -> str:
    """Return the checks as a table: what was assumed, what the log says, and what would change."""
    chances = ["" if np.isnan(p) else f", p = {p:.2g}" for p in checks["p"]]
    results = [f"{word}{chance}" for word, chance in zip(checks["result"], chances, strict=True)]
    table = pd.DataFrame(
        {"assumed": checks["check"], "result": results, "what the log says": checks["what"]}
        | {"if it fails": checks["changes"]}
    )
    return (
        f"{_table(table)}\n\np is how often chance alone leads as far. If all assumptions hold, "
        f"some check with a p still fails in about {100 * FAMILY:.0f} % of logs. *told* is a "
        "number without a verdict."
    )


def _table(frame: pd.DataFrame) -> str:
    head = [str(name).replace("_", " ") for name in frame.columns]
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _readable_designers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with gains and their intervals in one column."""
    numbers = table[["gain", "gain_low", "gain_high"]].to_numpy(np.float64)
    gains = [_with_interval(*row) for row in numbers.tolist()]
    return table[["designer", "sets", "result"]].assign(**{"gain, with its interval": gains})


def _cell(value: object) -> str:
    return amount(value) if isinstance(value, float) else plain(str(value))


def plain(text: str) -> str:
    """Return text of a log on one line, with nothing in it that Markdown would take as its own."""
    return re.sub(r"([\\`*_{}\[\]<>#|!~&])", r"\\\1", " ".join(text.split()))


def page(text: str, title: str, folder: Path) -> str:
    """Return the report as one HTML page with its figures inside.

    On a phone tables and figures keep a readable width and scroll, but the page does not.

    Args:
        text: The report in Markdown.
        title: Title of the page.
        folder: Folder in which the figures' paths start.
    """
    text = _BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", text)
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    body = _TABLE.sub(lambda each: _WIDE.format("Table", each[0]), body)
    body = _FIGURE.sub(lambda each: _WIDE.format("Figure", each[1]), body)
    for path in sorted(folder.glob("figures/*.png")):
        data = base64.b64encode(path.read_bytes()).decode()
        body = body.replace(f'src="figures/{path.name}"', f'src="data:image/png;base64,{data}"')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>\n{body}</body></html>\n"
    )
