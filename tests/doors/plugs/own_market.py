"""A short market, and a mechanism for each of its steps."""

from __future__ import annotations

from typing import Any

import daedalus
from daedalus.market.parsing import format_mechanism
from tests.design.designers.chat_double import Reply

SHORT = "market.episode_length=3"
RULES = [daedalus.Mechanism("first_price", 0.2), daedalus.Mechanism("vcg"), daedalus.Mechanism()]


def answer(_: int, body: dict[str, Any]) -> Reply:
    """Answer each turn with a mechanism of its own."""
    turn = sum(each["role"] == "assistant" for each in body["messages"])
    return Reply(format_mechanism(RULES[turn]))


def earned(seed: int, rules: list[daedalus.Mechanism], population: Any = "stage4") -> float:
    """Return what mechanisms earn, a step each."""
    own = daedalus.make(population, SHORT)
    own.reset(seed)
    return sum(own.step(each).reward for each in rules) / 3
