"""Mechanisms, right and wrong, and JSON for the tests of the service."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from daedalus.market.mechanism import CHOICES, FIELDS, RANGES, Mechanism


def seeded(examples: int) -> settings:
    """Return the settings of examples that are the same in every run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def valid(name: str) -> st.SearchStrategy[Any]:
    if name in CHOICES:
        return st.sampled_from(CHOICES[name])
    if name in RANGES:
        return st.floats(*RANGES[name])
    return st.booleans()


def invalid(name: str) -> st.SearchStrategy[Any]:
    wrong = st.none() | st.lists(st.integers(), max_size=2) | st.text(max_size=9)
    if name in CHOICES:
        return (wrong | st.integers()).filter(lambda value: value not in CHOICES[name])
    if name in RANGES:
        low, high = RANGES[name]
        return st.booleans() | wrong | st.floats().filter(lambda value: not low <= value <= high)
    return wrong | st.integers() | st.floats()


MECHANISM = st.fixed_dictionaries({}, optional={name: valid(name) for name in FIELDS})

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)

FOUR = [
    Mechanism(),
    Mechanism(auction_type="first_price", reserve_price=0.9),
    Mechanism(auction_type="vcg", reserve_price=0.3, coalition_policy="restrict"),
    Mechanism(reserve_price=0.0, collusion_penalty=3.0, coalition_policy="penalize_suspected"),
]
"""Mechanisms for a small model to learn, whose rewards differ."""
