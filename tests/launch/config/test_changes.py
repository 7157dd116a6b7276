"""Overrides are read as Hydra reads them: where they change the configuration, and by what."""

from __future__ import annotations

import pytest

from daedalus.launch.config.changes import changes


@pytest.mark.parametrize(
    ("override", "key", "value", "off"),
    [
        ("++training.grpo.steps=3", "training.grpo.steps", 3, False),
        ("population='stage3'", "population", "stage3", False),
        ("training/sft=mine", "training.sft", "mine", False),
        ("+designer@evaluation.baselines.a=fixed", "evaluation.baselines.a", "fixed", False),
        ("tuning=none", "tuning", "none", True),
        ("~evaluation.baselines.random", "evaluation.baselines.random", "", True),
        ("population.strategic.ranges.units=null", "population.strategic.ranges.units", None, True),
    ],
)
def test_a_change_has_its_place(override: str, key: str, value: object, off: bool) -> None:
    (change,) = changes([override])
    assert (change.text, change.key, change.off) == (override, key, off)
    assert override.startswith("~") or change.value == value


def test_the_experiment_and_hydra_are_no_changes() -> None:
    assert changes(["+experiment=smoke", "hydra.run.dir=x", "hydra/launcher=local"]) == []
