"""An adversary that chats: its one answer says who comes to an episode."""

from __future__ import annotations

import json

from daedalus.design.language.prompt import Message
from daedalus.design.language.reasoning import after_reasoning
from daedalus.doors.adversary import Moves
from daedalus.evaluation.settings import TRAITS
from daedalus.market.population import Population

_TRAITS = {
    "discretion": "share of the screens against collusion that rings evade",
    "expected_surplus": "surplus that bidders expect at first from a round",
    "learning_rate": "weight of a round in what they learn about bids",
    "outside_option": "surplus of a unit from elsewhere, for those that withdraw",
}


def opening(moves: Moves) -> list[Message]:
    """Return the chat before the answer: the task, and what may be chosen."""
    population, space = moves.population, moves.space
    types = [
        f"- {name}: {', '.join(each.menu) or 'bids its value and always comes'}"
        for name, each in population.types.items()
    ]
    bounds = [
        f"- {name}, {' to '.join(map(str, getattr(space, name)))}: {_TRAITS[name]}"
        for name in TRAITS
    ]
    first, *others = [*population.types][: population.bidders]
    example = {"bidders": {first: population.bidders - len(others)} | dict.fromkeys(others, 1)}
    middle = {name: sum(getattr(space, name)) / 2 for name in TRAITS}
    lines = [
        f"{population.bidders} bidders come to a repeated auction of {population.units} units. "
        "You choose their types and four numbers for all of them. A designer then sets the rules "
        "of the auction, step by step. It sees records of the auction, but not your choice.",
        "Your reward is the designer's with the opposite sign.",
        "Types and what their bidders may do:",
        *types,
        "Numbers:",
        *bounds,
        "Answer with one JSON object, such as",
        json.dumps(example | middle),
    ]
    user = f"Choose {population.bidders} bidders."
    return [
        {"role": "system", "content": "\n".join(lines)},
        {"role": "user", "content": user},
    ]


def answered(text: str, moves: Moves) -> Population:
    """Return the bidders of an answer; reasoning and other words may stand around its object.

    Raises:
        ValueError: It holds no object, or no move.
    """
    answer = after_reasoning(text)
    said = json.loads(answer[answer.find("{") : answer.rfind("}") + 1])
    bidders = said.pop("bidders", None) if isinstance(said, dict) else None
    if not isinstance(bidders, dict):
        raise ValueError("bidders: give an object with the number of bidders of each type")
    return moves.composition(bidders, said)
