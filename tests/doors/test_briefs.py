"""Briefs by name: a split or a file, in the market in which the benchmark was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from daedalus.design.briefs.brief import BriefError
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.doors.briefs import benchmark
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import mechanism_from_mapping

ROW = {"id": "one", "brief": "Money.", "population": "stage1", "told_population": "stage2"}


def test_the_truth_of_a_frozen_brief_scores_1() -> None:
    asked = benchmark("contradictions")
    brief = asked.briefs[0]
    assert asked.briefs == frozen_briefs("contradictions") and brief.scale is not None
    assert asked.market(brief.population).settings == MarketSettings()
    best = mechanism_from_mapping(dict(brief.scale.mechanism))
    assert asked.judge(brief, best).reward == pytest.approx(1.0, abs=1e-4)


def test_a_file_has_briefs_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(ROW))
    (brief,) = benchmark(str(path)).briefs
    assert brief.text == "Money."


@pytest.mark.parametrize("name", ["population", "told_population"])
def test_unknown_bidders_are_named_with_their_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(ROW | {name: "nowhere"}))
    with pytest.raises(BriefError, match=r"mine\.jsonl, line 1: population: no option nowhere"):
        benchmark(str(path))


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(BriefError, match="split: 'hidden'; choose from same"):
        benchmark("hidden")
