"""What a run says about its model, for all tests of publishing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from daedalus.runs.folder import RunFolder
from daedalus.training.publishing.evidence import Evidence, read_evidence
from tests.training.publishing.fake_hub import FakeHub, serving


@pytest.fixture(scope="session")
def evidence(trained_run: RunFolder) -> Evidence:
    return read_evidence(str(trained_run.model))


def with_model(evidence: Evidence, **changes: object) -> Evidence:
    """Return the evidence of a run with other settings of the model."""
    model = evidence.config["model"] | changes
    return replace(evidence, config=evidence.config | {"model": model})


def with_training(evidence: Evidence, phase: str, **changes: object) -> Evidence:
    """Return the evidence of a run with other settings of a phase."""
    training = evidence.config["training"]
    changed = training | {phase: training[phase] | changes}
    return replace(evidence, config=evidence.config | {"training": changed})


def with_teacher(evidence: Evidence, data: str = "") -> Evidence:
    """Return the evidence of a run with a teacher, practice and corrections."""
    teacher = {"refinements": 7, "data": data, "name": "teacher"}
    more = {"rounds": 2, "examples": 48000, "steps": 1500, "learning_rate": 7e-4}
    practice = {"stage4": {"name": "stage4"}, "crowd": {"name": "crowd"}}
    return with_training(evidence, "sft", teacher=teacher, practice=practice, corrections=more)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """Serve an empty hub, to which the client has a token."""
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_test")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with serving() as served:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", served.address)
        yield served
