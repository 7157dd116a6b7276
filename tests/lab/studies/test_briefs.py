"""Designers under briefs: minimal pairs one by one, and clauses by split."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.lab.studies.briefs import Proposal, by_clause, by_pair
from daedalus.lab.studies.briefs_figures import clause_map
from daedalus.market.mechanism import Mechanism

PAIR = frozen_briefs("pairs")[:2]
ALONE = frozen_briefs("wordings")[0]


def proposal(brief: Brief, understood: Understanding) -> Proposal:
    return Proposal("reader", brief, Mechanism(), understood)


def scored(kept: tuple[bool, ...]) -> pd.DataFrame:
    """Return rows as ``scores`` has them, of ``PAIR`` and then ``ALONE``."""
    rows = [
        {"designer": "reader", "split": each.id.partition("-")[0], "id": each.id}
        | {"rules_kept": keeps, "score": float(keeps), "mechanism": each.id}
        | {"understood": f"understood of {each.id}"}
        for each, keeps in zip((*PAIR, ALONE), kept, strict=True)
    ]
    return pd.DataFrame(rows)


def test_pairs_are_shown_one_by_one() -> None:
    given = [proposal(each, each.truth) for each in PAIR]
    (row,) = by_pair(given, scored((True, False, True))).to_dict("records")
    assert (row["a"], row["b"]) == ("reserve_most/x 0.15", "reserve_most/x 0.3")
    for letter, brief, kept in zip("ab", PAIR, (True, False), strict=True):
        assert row[f"{letter}_text"] == brief.text and row[f"{letter}_kept"] == kept
        assert row[f"{letter}_understood"] == f"understood of {brief.id}"
    assert row["differs"] and not row["both_kept"] and row["score"] == 0.5


def test_clauses_are_counted_in_each_split_and_drawn_over_all() -> None:
    alone = replace(ALONE, clauses=("reserve_most/x 0.2", "nothing/all"))
    read = [understand([Clause("reserve_most/x", amount)]) for amount in (0.15, 0.3)]
    given = [proposal(alone, Understanding()), *map(proposal, PAIR, read)]
    kinds = by_clause(given, scored((True, True, False)))
    assert kinds.to_dict("records") == [
        {"split": "pairs", "designer": "reader", "kind": "reserve_most", "clauses": 2}
        | {"read": 1.0, "score": 1.0},
        {"split": "wordings", "designer": "reader", "kind": "reserve_most", "clauses": 1}
        | {"read": 0.0, "score": 0.0},
    ]
    figure = clause_map(kinds)
    (cell,) = figure.axes[0].texts
    assert float(cell.get_text()) == pytest.approx(2 / 3, abs=0.005)
    assert any(each.get_text().endswith("briefs of pairs, wordings") for each in figure.texts)
