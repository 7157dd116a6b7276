"""Compare the states of markets; not a test."""

from __future__ import annotations

import dataclasses

import numpy as np

from daedalus.market.state import MarketState


def arrays(state: MarketState) -> dict[str, np.ndarray]:
    """Return all arrays of a state, and the rounds of its history."""
    found = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
    return found | {"history": state.history.rounds()}


def assert_same_state(left: MarketState, right: MarketState) -> None:
    for name, array in arrays(left).items():
        assert array.tobytes() == arrays(right)[name].tobytes(), name
