"""Drawn goals that restrict the mechanism, and drawn mechanisms."""

from __future__ import annotations

from hypothesis import strategies as st

from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import CHOICES, FIELDS, RANGES, Mechanism


def _value(name: str) -> st.SearchStrategy[object]:
    if name in RANGES:
        low, high = RANGES[name]
        return st.floats(low, high) | st.integers(0, round(100 * high)).map(lambda each: each / 100)
    return st.sampled_from(CHOICES[name]) if name in CHOICES else st.booleans()


def _allowed(name: str) -> st.SearchStrategy[Allowed]:
    some = st.lists(_value(name), min_size=1, max_size=4).map(tuple)
    if name not in RANGES:
        return some
    ends = st.lists(_value(name), min_size=2, max_size=2).map(sorted)
    return some | ends.map(lambda each: Between(*each))


goals = st.fixed_dictionaries({}, optional={name: _allowed(name) for name in FIELDS}).map(
    lambda allowed: Goal(allowed=allowed)
)
"""Goals that restrict any fields in any way."""

mechanisms = st.fixed_dictionaries({name: _value(name) for name in FIELDS}).map(
    lambda fields: Mechanism(**fields)
)
"""All mechanisms."""
