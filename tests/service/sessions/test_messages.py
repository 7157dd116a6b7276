"""Messages of sessions: an answer names its source, and unknown fields are refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.sessions.messages import Arena, DesignAnswer, DesignerState, Reveal

ANSWER = {"mechanism": {"reserve_price": 0.3}, "source": "ai", "status": "ready", "latency": 0.5}


def test_an_answer_has_a_whole_mechanism() -> None:
    told = DesignAnswer.model_validate(ANSWER)
    assert told.mechanism == WireMechanism(reserve_price=0.3)
    assert (told.error, told.text) == (None, None)
    assert DesignAnswer.model_validate_json(told.model_dump_json()) == told


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": "oracle"}, "source"),
        ({"status": "asleep"}, "status"),
        ({"mechanism": {"reserve_price": 2.0}}, "reserve_price"),
        ({"values": [0.5]}, "values"),
    ],
)
def test_an_answer_that_a_reader_does_not_know_is_refused(
    change: dict[str, object], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        DesignAnswer.model_validate(ANSWER | change)
    assert caught.value.errors()[0]["loc"][-1] == field


def test_a_state_says_how_many_wait() -> None:
    with pytest.raises(ValidationError, match="waiting"):
        DesignerState.model_validate({"status": "none"})


def test_before_the_first_step_there_is_nothing_to_watch() -> None:
    assert Arena(step=0, rounds=[]).model_dump() == {"step": 0, "rounds": []}
    with pytest.raises(ValidationError, match="budget"):
        bidder = {"type": "shader", "menu": ["shade"], "budget": 2.0}
        Reveal.model_validate({"bidders": [bidder], "false_names": []})
