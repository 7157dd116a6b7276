"""What readers of briefs understand of another writer's sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from daedalus.design.briefs.clauses import Clause, Understanding
from daedalus.design.briefs.meanings import MEANINGS, OTHER, kind
from daedalus.design.briefs.named import BESIDE, can_be_used
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.terms import term_of
from daedalus.design.briefs.wordings import DATA, wordings
from daedalus.design.designers.brief_search import LEAST_CONFIDENCE
from daedalus.evaluation.figures import empty_panels, entitle, palette
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import mean_estimate

Demand = tuple[str, float | None]
"""A meaning and its amount, if it takes one."""

_SURE = (0.0, 0.25, 0.5, LEAST_CONFIDENCE, 0.85, 0.95, 1.0)
"""Ends of the ranges of ``sureness``."""

_COUNTS = ("demands", "right", "wrong", "lost")

_WRITERS = ("dev", "dev_2", "test", "test_2", "test_3", "bounds_dev", "bounds_test")
_ORDERS = ("orders_dev", "orders_test", "orders_test_2")
_SENTENCES = ("near_dev", "near_test", "near_test_2", "plain_dev", "plain_test", "plain_test_2")
_TYPED = ("typed_dev", "typed_test")
_MESSAGES = ("messages_test", "messages_test_2")
_SHORT = tuple(f"short_{each}" for each in _WRITERS)
SELLERS = (*_WRITERS, *_SHORT, *_SENTENCES, *_ORDERS, *_TYPED, *_MESSAGES)
"""Briefs as sellers write them, each file by a writer of its own. Short ones are notes; those of
bounds have amounts that are bounded from a side. Messages, of which four writers share one file,
are talk to a half. The others are single sentences: most near ones only sound like a demand, plain
ones ask for one thing in plain words, orders are of one to seven words ("Rings are fine"), and
typed ones are what sixty sellers would type, asked for or not."""


def reading(reader: Reader, benchmark: bool) -> pd.DataFrame:
    """Return a row for each sentence of the second writer: meaning, read as, how sure, right.

    With ``benchmark``, types that never train are left out.
    """
    given = [
        (text.replace("{x}", "0.5"), name)
        for name, texts in wordings("second").items()
        if not benchmark or MEANINGS[name].trained
        for text in texts
    ]
    return pd.DataFrame(_row(name, reader.clauses([text]), text) for text, name in given)


def _row(name: str, clauses: Sequence[Clause], sentence: str) -> dict[str, Any]:
    """Return what became of a sentence; parts that ask for nothing do not count beside others."""
    found = [each for each in clauses if not each.parts.is_nothing] or clauses[:1]
    names = dict.fromkeys(each.meaning for each in found)
    row: dict[str, Any] = {"kind": kind(name), "meaning": name, "read": ", ".join(names)}
    row |= {"sure": min(each.confidence for each in found), "right": list(names) == [name]}
    return row | {"sentence": sentence}


def sellers_read(understand: Callable[[str], Understanding], briefs: str) -> pd.DataFrame:
    """Return what becomes of the demands in briefs as sellers write them, several in a sentence.

    ``briefs`` is one of ``SELLERS``. Readers were chosen on files with ``dev`` in their names.

    Returns:
        A row for each brief: how many demands it has, without those that cannot be set; how many of
        these are ``right``, with their amount; how many rules are ``wrong``; and whether a demand
        is ``lost`` without a word: neither used, nor named as not used. A part that was not
        understood is a word for one demand, and a remark is one if it names a demand.
    """
    return pd.DataFrame(_demands(understand, *each) for each in seller_briefs(briefs))


def seller_briefs(name: str) -> list[tuple[str, list[Demand]]]:
    """Return the briefs of a file of ``SELLERS``, each with what it asks for."""
    lines = (DATA / "sellers" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    given = (json.loads(line) for line in lines)
    return [(each["brief"], [demand(*pair) for pair in each["meanings"]]) for each in given]


def found_in(understand: Callable[[str], Understanding], briefs: str) -> list[tuple[Clause, bool]]:
    """Return the clauses in a file of ``SELLERS`` that could be used, and whether each is right.

    Terms of the trade, which need no reader, are left out.
    """
    return [
        (each, demand(each.meaning, each.amount) in asked)
        for brief, asked in seller_briefs(briefs)
        for each in understand(brief).sentences
        if can_be_used(each) and each != term_of(each.sentence)
    ]


def sureness(understand: Callable[[str], Understanding]) -> pd.DataFrame:
    """Return how many clauses are right of those of which a reader is about equally sure.

    They are of the files that test. ``understand`` must not leave out what the reader doubts.
    """
    files = [each for each in SELLERS if "test" in each]
    found = [each for file in files for each in found_in(understand, file)]
    rows = pd.DataFrame([(clause.confidence, right) for clause, right in found])
    rows.columns = pd.Index(["sure", "right"])
    bins = pd.cut(rows["sure"], _SURE, include_lowest=True)
    table = rows.groupby(bins, observed=True).agg(
        number=("right", "size"), sure=("sure", "mean"), right=("right", "mean")
    )
    ends = pd.DataFrame([(each.left, each.right) for each in table.index], columns=["from", "to"])
    return pd.concat([ends.clip(lower=0.0), table.reset_index(drop=True)], axis=1)


def demand(meaning: str, amount: float | None) -> Demand:
    """Return a meaning with its amount to two digits: a third is written as 0.33, too."""
    return meaning, None if amount is None else round(amount, 2)


def _demands(
    understand: Callable[[str], Understanding], brief: str, meanings: Sequence[Demand]
) -> dict[str, Any]:
    found = understand(brief)
    asked = Counter(each for each in meanings if each[0] != OTHER)
    used = Counter(demand(each.meaning, each.amount) for each in found.clauses)
    right = (asked & used).total()
    missing = {name for name, _ in asked - used}
    named = [
        each
        for each, why in found.unread
        if not each.parts.is_nothing and (why != BESIDE or each.meaning in missing)
    ]
    told = len(named) + len(found.contradictions) - sum(name == OTHER for name, _ in meanings)
    missed = asked.total() - right
    row: dict[str, Any] = {"brief": brief, "demands": asked.total(), "right": right}
    return row | {"wrong": used.total() - right, "lost": missed > max(told, 0)}


def sellers_table(understand: Mapping[str, Callable[[str], Understanding]]) -> pd.DataFrame:
    """Return a row for each way to understand briefs and each writer: sums of ``sellers_read``.

    ``whole`` counts the briefs that are read wholly, without a wrong rule; ``idle`` those that have
    no demand, and ``mistaken`` those of them that are taken for one.
    """
    rows = []
    for name, each in understand.items():
        for briefs in SELLERS:
            table = sellers_read(each, briefs)
            whole = table["right"].eq(table["demands"]) & table["wrong"].eq(0)
            idle = table["demands"].eq(0)
            row = {"reader": name, "briefs": briefs, "number": len(table), "whole": whole.sum()}
            row |= {"idle": idle.sum(), "mistaken": (idle & table["wrong"].gt(0)).sum()}
            rows.append(row | {each: table[each].sum() for each in _COUNTS})
    return pd.DataFrame(rows)


def shares(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the share that is read right, with intervals over sentences.

    Args:
        table: Rows of ``reading``, with columns ``reader`` and ``wordings``.
        confidence: Coverage of the intervals.
    """
    groups = table.groupby(["reader", "wordings"], sort=False)
    return pd.DataFrame(
        {"reader": reader, "wordings": count}
        | mean_estimate("right", group["right"], confidence, "sentence")
        for (reader, count), group in groups
    )


def reading_curves(found: pd.DataFrame, confidence: float) -> Figure:
    """Draw the share that each reader reads right over the wordings of each meaning it learnt.

    Args:
        found: The frame of ``shares``.
        confidence: Coverage of its intervals.
    """
    readers = list(found["reader"].unique())
    figure, (axes,) = empty_panels(1, 1, (7.0, 4.2))
    for name, colour in palette(readers).items():
        rows = found[found["reader"] == name].sort_values("wordings")
        axes.plot(rows["wordings"], rows["right"], "o-", color=colour, label=readable(name))
        axes.fill_between(
            rows["wordings"], rows["right_low"], rows["right_high"], color=colour, alpha=0.12, lw=0
        )
    axes.set(ylim=(0, 1), xlabel="sentences of each meaning that it learnt", ylabel="read right")
    axes.set_xticks(sorted(found["wordings"].unique()))
    axes.legend(frameon=False, loc="lower right", ncols=3)
    reading = f"another writer's sentences; bands: {100 * confidence:g} % intervals over them"
    entitle(figure, "What readers understand", reading)
    return figure
