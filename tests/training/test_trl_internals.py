"""The private methods of TRL and transformers that we use."""

from __future__ import annotations

from importlib.metadata import version
from types import SimpleNamespace

import pytest

from daedalus.training.trl_internals import WRITTEN_FOR, finish_checkpoints_together


def test_these_methods_were_read_in_the_versions_that_are_installed() -> None:
    assert {name: version(name) for name in WRITTEN_FOR} == WRITTEN_FOR


def test_a_checkpoint_waits_for_the_random_state_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    trainer = SimpleNamespace(_save_rng_state=order.append)
    monkeypatch.setattr("daedalus.training.trl_internals.gathered", lambda _: order.append("all"))
    finish_checkpoints_together(trainer)  # type: ignore[arg-type]
    trainer._save_rng_state("mine")
    assert order == ["mine", "all"]
