"""Names of the benchmark's test splits. This module is light, so that composing is quick."""

from __future__ import annotations

TRAINING_BRIEFS = 5000
"""Number of briefs that train."""
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
