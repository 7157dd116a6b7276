"""The space of mechanisms: uniform draws, and changes of one field."""

from __future__ import annotations

import numpy as np

from daedalus.design.search.space import (
    GRID,
    LEVELS,
    mechanisms_at,
    neighbour,
    places_of,
    random_mechanisms,
    variants,
    with_one_field_redrawn,
)
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms
from daedalus.market.seeds import generator


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_fields_are_drawn_independently() -> None:
    drawn = random_mechanisms(20_000, rng())
    columns = [getattr(drawn, name).astype(float) for name in (*CHOICES, *RANGES, *FLAGS)]
    assert np.abs(np.corrcoef(columns) - np.eye(11)).max() < 0.035


def test_every_level_of_a_field_is_a_variant() -> None:
    assert set(LEVELS) == set(FIELDS)
    start = Mechanism("vcg", 0.15, shill_penalty=0.1)
    for name in FIELDS:
        changed = variants(start, name)
        assert [getattr(each, name) for each in changed] == list(LEVELS[name])
        for other in set(FIELDS) - {name}:
            assert {getattr(each, other) for each in changed} == {getattr(start, other)}


def test_a_neighbour_has_one_field_at_another_value_of_the_grid() -> None:
    start, draws, changed = Mechanism(reserve_price=0.153), rng(), set()
    for _ in range(300):
        other = neighbour(start, draws)
        (name,) = [each for each in FIELDS if getattr(other, each) != getattr(start, each)]
        assert getattr(other, name) in GRID[name]
        changed.add(name)
    assert changed == set(FIELDS)


def test_one_field_is_redrawn_and_every_field_can_be() -> None:
    start = Mechanisms.repeat(Mechanism(reserve_price=0.15, shill_penalty=0.1), 400)
    changed = with_one_field_redrawn(start, generator(0, "v"))
    moved = {f: getattr(changed, f) != getattr(start, f) for f in FIELDS}
    assert (np.sum([*moved.values()], axis=0) <= 1).all()
    assert all(each.any() for each in moved.values())
    for name in RANGES:
        assert set(getattr(changed, name)[moved[name]]) <= set(LEVELS[name])


def test_places_in_a_table_are_mechanisms_and_back() -> None:
    for table in (LEVELS, GRID):
        sizes = [len(table[name]) for name in FIELDS]
        places = rng().integers(sizes, size=(50, len(FIELDS)))
        made = mechanisms_at(places, table)
        np.testing.assert_array_equal(places_of(made, table), places)
        for name, place in zip(FIELDS, places[7], strict=True):
            assert getattr(made[7], name) == table[name][place]
    drawn = random_mechanisms(50, rng())
    nearest = mechanisms_at(places_of(drawn), GRID)
    np.testing.assert_allclose(nearest.reserve_price, drawn.reserve_price, atol=0.005)
    np.testing.assert_array_equal(nearest.auction_type, drawn.auction_type)
