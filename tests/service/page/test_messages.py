"""Messages of the page: unknown fields and kinds are refused, and answers are JSON."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from daedalus.service.page.messages import Meaning, MechanismField, Tour, TrainingCurves
from daedalus.service.page.tour import STOPS

FIELD = {"name": "reserve_price", "default": 0.1, "meaning": "lowest price"}


def test_a_field_is_a_choice_a_flag_or_a_number() -> None:
    told = MechanismField.model_validate(FIELD | {"kind": "number", "low": 0, "high": 0.9})
    assert told.choices is None and (told.low, told.high) == (0.0, 0.9)
    with pytest.raises(ValidationError, match="'choice', 'flag' or 'number'"):
        MechanismField.model_validate(FIELD | {"kind": "text"})


def test_a_default_keeps_its_type() -> None:
    for default in (True, 0.5, "allow"):
        told = MechanismField.model_validate(FIELD | {"kind": "flag", "default": default})
        assert type(MechanismField.model_validate_json(told.model_dump_json()).default) is type(
            default
        )


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="menaing"):
        Meaning.model_validate({"name": "a", "meaning": "b", "menaing": "c"})


def test_every_stop_of_the_tour_goes_over_the_wire_and_back() -> None:
    told = Tour.model_validate({"stops": [stop.to_dict() for stop in STOPS]})
    assert Tour.model_validate_json(told.model_dump_json()) == told
    assert [stop.hurt.to_mechanism() for stop in told.stops] == [stop.hurt for stop in STOPS]


def test_a_number_that_a_run_did_not_log_is_null() -> None:
    told = TrainingCurves(scores=[], run="grpo/1", history=[{"step": 1.0, "entropy": None}])
    assert '"history":[{"step":1.0,"entropy":null}]' in told.model_dump_json()
