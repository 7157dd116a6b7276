"""Names of the benchmark's test splits. This module is light, so that composing is quick."""

from __future__ import annotations

PAIRS = "pairs"
SPLITS = (
    "same",
    "wordings",
    "compositions",
    "kinds",
    "distractors",
    "contradictions",
    PAIRS,
)
