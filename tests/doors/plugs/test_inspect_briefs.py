"""The task of briefs in Inspect, answered by its mock model in the real library."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="tested elsewhere: make test-plugs")

from daedalus.design.briefs.brief import BriefError
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.doors.briefs import benchmark
from daedalus.doors.plugs.inspect_briefs import briefs
from daedalus.market.parsing import format_mechanism
from tests.doors.plugs.own_briefs import OTHER, OWN, rewards, write
from tests.doors.plugs.test_inspect_market import evaluated


def test_a_model_answers_briefs_of_a_file_and_is_scored(tmp_path: Path) -> None:
    path = write(tmp_path)
    for mechanism, kept in ((OWN, [1.0, 1.0]), (OTHER, [0.0, 1.0])):
        log = evaluated(briefs(path), [format_mechanism(mechanism)])
        scores = {each.id: each.scores["scores"] for each in log.samples}
        values = [scores[name].value for name in ("own", "money")]
        expected = rewards(benchmark(path), mechanism)
        assert [each["score"] for each in values] == pytest.approx(expected, abs=1e-12)
        assert [each["rules_kept"] for each in values] == kept
        means = {score.name: score.metrics["mean"].value for score in log.results.scores}
        assert means["score"] == pytest.approx(sum(expected) / 2)
    assert scores["own"].explanation == "auction_type: vcg"


def test_a_model_answers_frozen_briefs() -> None:
    log = evaluated(briefs("wordings"), ["a fine market"], limit=2)
    assert len(log.samples) == 2
    for sample, brief in zip(log.samples, frozen_briefs("wordings"), strict=False):
        assert sample.id == brief.id and brief.text in sample.messages[0].text
        assert [each.role for each in sample.messages] == ["system", "user", "assistant"]
        assert sample.scores["scores"].value["valid"] == 0.0


def test_a_mistake_says_what_to_write() -> None:
    with pytest.raises(BriefError, match="choose from same, wordings"):
        briefs("hidden")
