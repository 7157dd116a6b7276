"""Settings of the study of coverage."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.lab.studies.coverage_settings import CoverageSettings
from daedalus.launch.config import compose_config


def test_the_file_has_the_defaults() -> None:
    assert compose_config("+experiment=coverage").coverage == CoverageSettings()


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"kinds": ["clean", "rings"]}, r"coverage.kinds: \['rings'\]; choose some of clean"),
        ({"kinds": []}, "coverage.kinds"),
        ({"sales": [400, 40]}, "coverage.sales.*give integers from 50 up"),
        ({"sales": []}, "coverage.sales"),
        ({"logs": 0}, "logs: 0; give an integer from 1 up"),
        ({"resamples": 5}, "resamples: 5; give an integer from 20 up"),
    ],
)
def test_what_cannot_be_simulated_is_refused(changes: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        CoverageSettings(**changes)
