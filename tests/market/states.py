"""Compare the states of markets; not a test."""

from __future__ import annotations

import dataclasses

import numpy as np

from daedalus.market.state import MarketState


def arrays(state: MarketState) -> dict[str, np.ndarray]:
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}


def assert_same_state(left: MarketState, right: MarketState) -> None:
    for name, array in arrays(left).items():
        assert array.tobytes() == arrays(right)[name].tobytes(), name
