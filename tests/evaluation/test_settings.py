"""Settings of an evaluation and of the adversary are checked."""

from __future__ import annotations

import pytest

from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings


@pytest.mark.parametrize(
    ("settings", "name", "value", "message"),
    [
        (EvaluationSettings, "shard", 1, "shard: 1; give an integer from 0 to 0"),
        (EvaluationSettings, "shard", -1, "shard: -1; give an integer from 0 to 0"),
        (AdversarySettings, "discretion", [0.5], r"discretion: \[0.5\]; .*least and the greatest"),
        (AdversarySettings, "discretion", [0.8, 0.2], "discretion: .*the least and the greatest"),
        (AdversarySettings, "discretion", [0.0, 1.5], "discretion: 1.5; give a number from 0 to 1"),
    ],
)
def test_settings_out_of_range_are_refused(
    settings: type, name: str, value: object, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        settings(**{name: value})
