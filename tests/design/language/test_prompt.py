"""The prompt: the published shape, its options, and what it never shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import REQUEST, SYSTEM, VERSION, PromptSettings, prompts
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS
from tests.design.designers.observations import observe


def two_rounds() -> Observation:
    """Return one market whose last rounds differ, two of three rounds known."""
    observed = observe(known=2)
    for name, values in {"welfare": (0.9, 1.0), "gini": (0.25, 0.5), "dropouts": (0, 2)}.items():
        observed.history.blocks[0][0, -2:, ROUND_FIELDS.index(name)] = values
    observed.history.blocks[0][0, -2:, ROUND_FIELDS.index("participation")] = (1.0, 0.875)
    observed.proxies[0, PROXIES.index("bid_mean")] = 0.456
    return observed


def user_text(observed: Observation, settings: PromptSettings | None = None) -> str:
    (chat,) = prompts(observed, settings or PromptSettings())
    assert [message["role"] for message in chat] == ["system", "user"]
    assert chat[0]["content"] == SYSTEM
    return chat[1]["content"]


def test_the_prompt_has_the_published_shape():
    assert user_text(two_rounds()).split("\n") == [
        "round_number: 3 / 10",
        "recent_outcomes: [{welfare:0.90,fairness:0.75,participation:1.00},"
        "{welfare:1.00,fairness:0.50,participation:0.88}]",
        REQUEST,
    ]


def test_other_words_of_the_prompt_are_another_version() -> None:
    system = "You design auctions. Answer with one JSON mechanism and nothing else."
    assert (VERSION, SYSTEM, REQUEST) == (2, system, "Reply with JSON only."), "raise VERSION, too"


@pytest.mark.parametrize(("rounds", "shown"), [(1, 1), (3, 3), (20, 20), (50, 20)])
def test_the_prompt_lists_the_last_rounds_oldest_first(rounds, shown):
    observed = observe()
    observed.history.blocks[0][0, :, 0] = np.arange(20) / 20
    settings = PromptSettings(rounds=rounds, outcomes=["welfare"])
    values = [f"{{welfare:{(20 - back) / 20:.2f}}}" for back in range(shown, 0, -1)]
    assert f"recent_outcomes: [{','.join(values)}]" in user_text(observed, settings)


def test_a_compact_prompt_shows_short_numbers_in_the_order_asked_for():
    observed = observe(mechanism=Mechanism("vcg", 0.25, True, shill_penalty=2.5))
    observed.history.blocks[0][0, :, ROUND_FIELDS.index("welfare")] = np.arange(20) / 25
    observed.history.blocks[0][0, :, ROUND_FIELDS.index("gini")] = 0.25
    observed.proxies[0, PROXIES.index("bid_mean")] = 0.057
    observed.proxies[0, PROXIES.index("bid_correlation")] = -0.31
    observed.proxies[0, PROXIES.index("active_count")] = 1.996
    settings = PromptSettings(
        rounds=0,
        averages=["welfare", "fairness"],
        proxies=["bid_correlation", "bid_mean", "active_count", "rotation_entropy"],
        mechanism=True,
        compact=True,
    )
    observed.proxies[0, PROXIES.index("rotation_entropy")] = -0.001
    in_force = "rules: vcg 0.25 True False False True False 2.5 0.00 0.00 allow"
    lines = [
        "round_number: 3 / 10",
        in_force,
        "averages: 0.38 0.75",
        "population: -0.31 0.06 2.0 0.00",
    ]
    assert prompts(observed, settings) == [[{"role": "user", "content": "\n".join(lines)}]]


def test_the_prompt_before_the_first_round():
    assert "averages" not in user_text(observe(known=0), PromptSettings(averages=["welfare"]))
    assert "recent_outcomes: []\n" in user_text(observe(known=0))


def test_the_stage_is_shown_only_when_asked():
    texts = {user_text(observe(stage=stage)) for stage in range(5)}
    assert len(texts) == 1
    assert "stage" not in texts.pop()
    asked = user_text(observe(stage=4), PromptSettings(stage=True))
    assert "stage: 4" in asked.split("\n")


def test_proxies_are_shown_only_when_asked():
    assert "0.46" not in user_text(two_rounds())
    asked = user_text(two_rounds(), PromptSettings(proxies=["bid_mean", "dropout_rate"]))
    assert "population: {bid_mean:0.46,dropout_rate:0.00}" in asked.split("\n")


@pytest.mark.parametrize(
    ("name", "value"),
    [("outcomes", ["welfare", "values"]), ("proxies", ["budgets"]), ("rounds", -1), ("version", 0)],
)
def test_the_prompt_refuses_what_designers_cannot_see(name, value):
    with pytest.raises(ValueError, match=name):
        PromptSettings(**{name: value})


def observing(*weights: dict[str, float]) -> Observation:
    """Return observations of markets whose goals have these weights."""
    goals = np.array([Goal(each) for each in weights], object)
    return replace(observe(len(weights)), goals=goals)


WEIGHTED = PromptSettings(weights=["revenue", "welfare", "fairness"])


@pytest.mark.parametrize(
    ("compact", "line"),
    [
        (False, "objective: {revenue:0.75,welfare:0.00,fairness:0.25}"),
        (True, "objective: 0.75 0.00 0.25"),
    ],
)
def test_a_prompt_shows_the_weights_of_its_objective(compact: bool, line: str) -> None:
    settings = replace(WEIGHTED, compact=compact)
    asked = observing({"revenue": 3.0, "fairness": 1.0}, {"welfare": 0.5})
    first, second = (chat[-1]["content"].splitlines() for chat in prompts(asked, settings))
    assert line in first and line not in second


def test_a_prompt_of_many_objectives_explains_its_own() -> None:
    asked = observing({"revenue": 1.0}, {"welfare": 1.0})
    chats = prompts(asked, replace(WEIGHTED, explained=True))
    assert ["by 1 x revenue," in chat[0]["content"] for chat in chats] == [True, False]


def test_a_prompt_that_shows_weights_refuses_other_terms_and_none() -> None:
    with pytest.raises(CannotRunError, match=r"composite; .* revenue, welfare, fairness "):
        prompts(observing({"composite": 1.0}), WEIGHTED)
    with pytest.raises(CannotRunError, match="the goal has no weights"):
        prompts(observe(1), WEIGHTED)


@pytest.mark.parametrize("explained", [False, True])
def test_a_brief_is_shown_and_is_what_counts(explained: bool) -> None:
    brief = "Nobody may learn who won."
    settings = PromptSettings(explained=explained)
    observed = replace(two_rounds(), goals=np.array([Goal(brief=brief)], object))
    (chat,) = prompts(observed, settings)
    assert chat[0]["content"].count(brief) == 1 and "Keep every rule" in chat[0]["content"]
    assert ("scored by what the seller asks" in chat[0]["content"]) == explained
    without = replace(observed, goals=np.array([Goal()], object))
    (plain,) = prompts(without, settings)
    assert "seller" not in plain[0]["content"] and plain[1] == chat[1]


def test_a_compact_prompt_refuses_a_brief() -> None:
    observed = replace(two_rounds(), goals=np.array([Goal(brief="Sell dear.")], object))
    with pytest.raises(CannotRunError, match="compact prompts do not show it"):
        prompts(observed, PromptSettings(compact=True))
