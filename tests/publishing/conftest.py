"""What a run says about its model, for all tests of publishing."""

from __future__ import annotations

import pytest

from daedalus.publishing.evidence import Evidence, read_evidence
from daedalus.runs.folder import RunFolder


@pytest.fixture(scope="session")
def evidence(trained_run: RunFolder) -> Evidence:
    return read_evidence(str(trained_run.model))
