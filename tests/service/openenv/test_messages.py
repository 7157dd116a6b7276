"""Messages: a mechanism survives the wire, and an error names the field out of range."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.service.openenv.messages import (
    DaedalusAction,
    DaedalusState,
    PartialObservation,
    WireMechanism,
)
from tests.service.generated import MECHANISM, invalid, seeded


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
    for model in (WireMechanism, DaedalusAction):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(wrong)
        assert {error["loc"][-1] for error in caught.value.errors()} == {name}
    with pytest.raises(ValidationError) as caught:
        PartialObservation.model_validate({"mechanism": wrong})
    assert [error["loc"][:2] for error in caught.value.errors()] == [("mechanism", name)]


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"market_outcomes": [{}] * (HISTORY_LENGTH + 1)}, "market_outcomes"),
        ({"population_proxies": {"bid_correlation": -1.5}}, "bid_correlation"),
        ({"curriculum_stage": 5}, "curriculum_stage"),
        ({"episode_length": 0}, "episode_length"),
        ({"values": [0.5]}, "values"),
    ],
)
def test_a_partial_observation_out_of_range_is_refused(told: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PartialObservation.model_validate(told)
    assert [error["loc"][-1] for error in caught.value.errors()] == [field]


def test_before_the_first_reset_a_state_is_empty() -> None:
    told = DaedalusState().model_dump()
    assert (told.pop("episode_id"), told.pop("step_count")) == (None, 0)
    assert not any(told.values())
