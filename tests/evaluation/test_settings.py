"""Settings of an evaluation and of the adversary are checked."""

from __future__ import annotations

import pytest

from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("episodes", 1, "episodes: 1; give an integer from 2 up"),
        ("resamples", 99, "resamples: 99; give an integer from 100 up"),
        ("shards", 0, "shards: 0; give a finite number from 1 up"),
        ("shard", 1, "shard: 1; give an integer from 0 to 0"),
        ("shard", -1, "shard: -1; give an integer from 0 to 0"),
        ("confidence", 1.0, "confidence: 1.0; give a number between 0 and 1"),
        ("confidence", 0.0, "confidence: 0.0; give a number between 0 and 1"),
    ],
)
def test_settings_out_of_range_are_refused(name: str, value: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        EvaluationSettings(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("candidates", 0, "candidates: 0"),
        ("keep", 1, "keep: 1"),
        ("concentration", 0.0, "concentration: 0.0; give a finite number above 0"),
        ("discretion", [0.5], r"discretion: \[0.5\]; give the least and the greatest"),
        ("discretion", [0.8, 0.2], "discretion: .*the least and the greatest"),
        ("discretion", [0.0, 1.5], "discretion: 1.5"),
    ],
)
def test_an_adversary_out_of_range_is_refused(name: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        AdversarySettings(**{name: value})
