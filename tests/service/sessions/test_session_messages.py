"""Messages of sessions: an answer names its source, and unknown fields are refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.sessions.session_messages import DesignAnswer, DesignerState, Reveal

ANSWER = {"mechanism": {"reserve_price": 0.3}, "source": "ai", "status": "ready", "latency": 0.5}
BIDDER = {"type": "shader", "menu": ["shade"], "budget": 2.0}


def test_an_answer_has_a_whole_mechanism() -> None:
    told = DesignAnswer.model_validate(ANSWER)
    assert told.mechanism == WireMechanism(reserve_price=0.3)
    assert (told.error, told.text) == (None, None)
    assert DesignAnswer.model_validate_json(told.model_dump_json()) == told


@pytest.mark.parametrize(
    ("message", "told", "field"),
    [
        (DesignAnswer, ANSWER | {"source": "oracle"}, "source"),
        (DesignAnswer, ANSWER | {"status": "asleep"}, "status"),
        (DesignAnswer, ANSWER | {"mechanism": {"reserve_price": 2.0}}, "reserve_price"),
        (DesignAnswer, ANSWER | {"values": [0.5]}, "values"),
        (DesignerState, {"status": "none"}, "waiting"),
        (Reveal, {"bidders": [BIDDER], "false_names": [], "values": []}, "budget"),
    ],
)
def test_a_message_that_a_reader_does_not_know_is_refused(
    message: type[BaseModel], told: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        message.model_validate(told)
    assert caught.value.errors()[0]["loc"][-1] == field
