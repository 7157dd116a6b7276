"""An adversary's answer is read as its move, or refused."""

from __future__ import annotations

import pytest

import daedalus
from daedalus.doors.adversary import Moves
from daedalus.doors.plugs.adversary_chat import answered, opening

MOVES = Moves(daedalus.make("mixture").env.market.population)


def test_the_prompt_s_own_example_is_a_move() -> None:
    system, user = (each["content"] for each in opening(MOVES))
    example = system.splitlines()[-1]
    found = answered(f"<think>{{</think> I choose\n{example}\nnow", MOVES)
    assert found.seats_of_types() == dict.fromkeys(found.types, 1) | {"truthful": 2}
    assert user == "Choose 8 bidders." and "outside_option, 0.0 to 0.25:" in system


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ("{}", "bidders: give an object"),
        ('{"bidders": 3}', "bidders: give an object"),
        ('{"bidders": {"rota": 8}}', "give discretion"),
        ("<think> without end", "cut off"),
    ],
)
def test_an_answer_without_a_move_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        answered(text, MOVES)
