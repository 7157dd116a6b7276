"""Actions and mechanisms: a codec both ways, and levels that are told."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.gym import FEATURES, LEVELS, decode, encode
from daedalus.gym.spaces import action_space, observation_space
from daedalus.market.mechanism import FIELDS, Mechanism


def test_an_action_is_a_level_of_each_field_in_order() -> None:
    space = action_space()
    assert [*space.nvec] == [len(LEVELS[name]) for name in FIELDS]
    space.seed(0)
    for _ in range(50):
        action = space.sample()
        made = decode(action)
        assert made.to_dict() == {
            name: LEVELS[name][place] for name, place in zip(FIELDS, action, strict=True)
        }
        np.testing.assert_array_equal(encode(made), action)
    assert space.contains(encode(Mechanism("vcg", 0.26, shill_penalty=0.4)))
    assert decode(encode(Mechanism("vcg", 0.26, shill_penalty=0.4))) == Mechanism(
        "vcg", 0.3, shill_penalty=0.5
    )
    assert observation_space().shape == (len(FEATURES),) == (49,)


def test_what_is_no_level_is_refused() -> None:
    for column, value in ((0, 3), (1, 10), (2, 2), (10, -1)):
        action = np.zeros(11, np.int64)
        action[column] = value
        with pytest.raises(ValueError, match=f"action: {FIELDS[column]} has no level {value}"):
            decode(action)
