"""Messages of the session API: a question to a designer names the field out of range."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from daedalus.market.mechanism import FIELDS
from daedalus.service.http.messages import DesignRequest, StepRequest
from daedalus.service.sessions.messages import TRAINED
from tests.service.generated import MECHANISM, invalid, seeded


@seeded(150)
@given(fields=MECHANISM, name=st.sampled_from(FIELDS), data=st.data())
def test_any_one_field_out_of_range_is_named(
    fields: dict[str, Any], name: str, data: st.DataObject
) -> None:
    wrong = fields | {name: data.draw(invalid(name))}
    with pytest.raises(ValidationError) as caught:
        DesignRequest.model_validate({"mechanism": wrong})
    assert {error["loc"][-1] for error in caught.value.errors()} == {name}


@pytest.mark.parametrize("name", ["", "a" * 65, "../a", "a b", "a\n"])
def test_the_name_of_a_session_is_short_and_plain(name: str) -> None:
    with pytest.raises(ValidationError, match="session_id"):
        StepRequest.model_validate({"session_id": name, "action": {}})


def test_a_question_goes_to_the_trained_designer_unless_it_names_another() -> None:
    assert DesignRequest().designer == TRAINED
    with pytest.raises(ValidationError, match="designer"):
        DesignRequest.model_validate({"designer": "/etc/passwd"})
