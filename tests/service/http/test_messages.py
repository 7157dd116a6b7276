"""Messages: a mechanism survives the wire, and an error names each field out of range."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from daedalus.market.interface import MARKETS
from daedalus.market.mechanism import CHOICES, FIELDS, RANGES, Mechanism
from daedalus.service.http.messages import DesignRequest
from daedalus.service.openenv.messages import MAX_SEED, DaedalusAction, WireMechanism
from tests.service.http.test_fuzz import seeded


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


@seeded(60)
@given(fields=MECHANISM)
def test_a_mechanism_goes_over_the_wire_and_back(fields: dict[str, Any]) -> None:
    for model in (WireMechanism, DaedalusAction):
        told = model.model_validate_json(model(**fields).model_dump_json())
        assert told == model(**fields)
        assert told.to_mechanism() == Mechanism(**fields)


@seeded(150)
@given(fields=MECHANISM, name=st.sampled_from(FIELDS), data=st.data())
def test_any_one_field_out_of_range_is_named(
    fields: dict[str, Any], name: str, data: st.DataObject
) -> None:
    wrong = fields | {name: data.draw(invalid(name))}
    for model, told in (
        (WireMechanism, wrong),
        (DaedalusAction, wrong),
        (DesignRequest, {"mechanism": wrong}),
    ):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(told)
        assert {error["loc"][-1] for error in caught.value.errors()} == {name}


RESET: dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "seed": (st.integers(0, MAX_SEED), st.integers(max_value=-1) | st.integers(MAX_SEED + 1)),
    "n_agents": (st.integers(8, 64), st.integers(max_value=7) | st.integers(65) | st.booleans()),
    "episode_length": (st.integers(1, 50), st.integers(51) | st.floats() | st.just("3")),
    "population": (st.sampled_from(["stage0", "stage4"]), st.text() | st.none() | st.integers()),
    "market": (st.sampled_from(list(MARKETS)), st.text() | st.none()),
    "episode_id": (st.none() | st.text(max_size=255), st.integers()),
}


@seeded(100)
@given(data=st.data(), name=st.sampled_from(list(RESET)))
def test_any_one_option_of_a_reset_out_of_range_is_named(
    catalogue: Any, data: st.DataObject, name: str
) -> None:
    fits = data.draw(st.fixed_dictionaries({}, optional={k: v[0] for k, v in RESET.items()}))
    told = catalogue.options.model_validate(fits)
    assert told.model_dump(exclude_unset=True) == fits
    with pytest.raises(ValidationError) as caught:
        catalogue.options.model_validate(fits | {name: data.draw(RESET[name][1])})
    assert {error["loc"][0] for error in caught.value.errors()} == {name}
