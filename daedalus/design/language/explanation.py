"""The explanation of the task for a model that was not trained on it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.mechanism_schema import mechanism_schema
from daedalus.market.parsing import format_mechanism

TASK = """\
You set the rules of a repeated sealed-bid auction, anew every few rounds. Bidders learn, and some \
may shade their bids, stay away, collude in rings, bid under false names or walk away from what \
they won. You see bids and outcomes, never values. Rules may cost as well as help: penalties can \
hit the honest, reserves can leave goods unsold, secrecy can keep bidders away."""

PRODUCT = """\
You are scored by welfare x fairness x participation x stability, each from 0 to 1, so none may \
be given up for another:"""

BY_BRIEF = "You are scored by what the seller asks for, and by nothing if you break a rule of it."

SUM = "You are scored by {formula}, where each is from 0 to 1:"

FACTORS = {
    "welfare": "value delivered over the best possible",
    "fairness": "1 - Gini coefficient of what bidders gain",
    "participation": "share of bidders with a competitive bid at or above the reserve",
    "stability": "how steady welfare was over the last rounds",
}

TERMS = FACTORS | {
    "composite": "welfare x fairness x participation x stability",
    "competition": "1 - how much the bids look like a ring's",
    "revenue": "what the seller takes for each unit for sale",
    "consumer_surplus": "value delivered less what the seller takes, over the best possible value",
    "format": "1 for a valid answer",
    "schema": "share of the fields that are valid",
}
"""What the terms of a reward stand for."""

ANSWER = """\
Answer with one JSON object and nothing else: no explanation, no code fence. All eleven fields \
are required:
{fields}
For example, with values that are valid but not recommended:
{example}"""

CALL = """\
Set the rules by calling {function}, once in each turn; its answer shows you the market again. Go \
on until it says that the episode has ended."""

BRIEF = """
This is what the seller asks for. Keep every rule in it, and of what keeps them choose what serves \
the seller's aim best:
{brief}"""

SHOWN = """\
You are shown how often you have set the rules, and of how many times (round_number), and as far \
as there are any: the mechanism in force (rules), numbers of the last rounds, oldest first \
(recent_outcomes), their means over all rounds remembered (averages) and statistics of the bidders \
(population). Names mean:
{names}"""

MEANINGS: dict[str, str] = {
    "welfare": "as scored, but estimated from bids",
    "fairness": "as scored, but of units delivered",
    "gini": "1 - fairness",
    "participation": "as scored, false names included",
    "stability": "as scored, of that welfare",
    "composite": "welfare x fairness x participation x stability",
    "clearing_price": "price paid, 0 if nothing was sold",
    "dropouts": "bidders who stayed out or walked away",
    "collusion_signal": "how much the bids look like a ring's, 0 to 1",
    "revenue": "what the seller took",
    "revenue_share": "revenue over the value delivered",
    "active_count": "bidders who come",
    "total_bidders": "bidders in all",
    "units": "units for sale in a round",
    "bid_mean": "mean of the bids",
    "bid_std": "standard deviation of the bids",
    "bid_correlation": "correlation across bidders of their bids in successive rounds",
    "rotation_entropy": "entropy of win counts over its maximum: 1 if all win alike, as in a ring "
    "that takes turns",
    "dropout_rate": "share of bidders who are out",
    "budget_exhaustion": "share of bidders who had won before and are out",
    "clearing_price_trend": "slope of the clearing price, per round",
}
"""What the names in a prompt stand for."""


def explanation(shown: Iterable[str], goal: Goal, function: str = "") -> str:
    """Return a system message that says everything needed to answer.

    Args:
        shown: Names that the prompt will show numbers under, of ``MEANINGS``; repeats do no harm.
        goal: What is asked for.
        function: Name of the function by which the model sets the rules. If it is empty, the model
            answers with a mechanism.
    """
    reward = BY_BRIEF if goal.brief and not goal.weights else _scored_by(goal)
    call = CALL.format(function=function) + restrictions(goal)
    answer = call if function else _answer(goal)
    names = "\n".join(f"- {name}: {MEANINGS[name]}" for name in dict.fromkeys(shown))
    told = [SHOWN.format(names=names)] if names else []
    asked = [BRIEF.format(brief=goal.brief).strip()] * bool(goal.brief and not function)
    return "\n\n".join([TASK, reward, *told, answer, *asked])


def _scored_by(goal: Goal) -> str:
    """Return what the reward is, and what its parts mean."""
    if goal.is_usual:
        head, parts = PRODUCT, FACTORS
    else:
        sums = (f"{weight:g} x {name}" for name, weight in goal.weights.items())
        head = SUM.format(formula=" + ".join(sums))
        parts = {name: TERMS.get(name, name.replace("_", " ")) for name in goal.weights}
    return "\n".join([head, *(f"- {name}: {meaning}" for name, meaning in parts.items())])


def restrictions(goal: Goal) -> str:
    """Return a line for each field that a goal restricts, each after a new line, and its brief.

    It is "" if there are neither.
    """
    fields = mechanism_schema(goal.allowed)["properties"]
    lines = [f"\n- {name}: only {values_in_words(fields[name])}" for name in goal.allowed]
    return "".join([*lines, BRIEF.format(brief=goal.brief) if goal.brief else ""])


def _answer(goal: Goal) -> str:
    fields = mechanism_schema(goal.allowed)["properties"]
    lines = [
        f'- "{name}": {values_in_words(field)}; {field["description"]}'
        for name, field in fields.items()
    ]
    example = goal.nearest(Mechanisms.repeat(Mechanism(), 1))[0]
    return ANSWER.format(fields="\n".join(lines), example=format_mechanism(example))


def values_in_words(field: dict[str, Any]) -> str:
    """Return in words which values a field of ``mechanism_schema`` may have."""
    if "minimum" in field:
        return f"a number from {field['minimum']} to {field['maximum']}, two decimals at most"
    words = (json.dumps(word) for word in field.get("enum", ()))
    return " or ".join(words) or "true or false"
