"""The explanation tells all that a model needs that has never seen the task."""

from __future__ import annotations

from dataclasses import replace

import pytest

import daedalus
from daedalus.design.designers.endpoint import zero_shot_prompt
from daedalus.design.language.explanation import MEANINGS, TERMS, explanation
from daedalus.design.language.prompt import OUTCOME_FIELDS, PromptSettings, prompts
from daedalus.design.rewards.terms import MARKET_TERMS, TEXT_TERMS
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.from_config import make_env
from daedalus.market.allowed import Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS
from daedalus.market.observation import PROXIES
from daedalus.market.parsing import parse_mechanism
from daedalus.market.seeds import market_seeds


def test_every_field_comes_with_what_it_may_be():
    text = explanation([], Goal())
    for name in FIELDS:
        assert f'- "{name}": ' in text
    for words in ('"second_price" or "vcg"', "from 0.0 to 0.9", "from 0.0 to 3.0", "true or false"):
        assert words in text
    assert parse_mechanism(text.splitlines()[-1]).valid


def test_every_name_that_a_prompt_can_show_has_a_meaning():
    assert set(MEANINGS) == {*OUTCOME_FIELDS, *PROXIES}
    text = explanation([*OUTCOME_FIELDS, *PROXIES, "welfare"], Goal())
    for name, meaning in MEANINGS.items():
        assert text.count(f"- {name}: {meaning}") == 1


@pytest.mark.parametrize(
    ("reward", "told"),
    [
        ("composite", "by welfare x fairness x participation x stability, each from 0 to 1, so"),
        ("revenue", "by 1 x revenue, where each is from 0 to 1:\n- revenue: what the seller takes"),
        ("balanced", "by 0.5 x revenue + 0.25 x fairness + 0.25 x participation, where each"),
    ],
)
def test_a_prompt_that_explains_tells_the_reward_of_the_run(reward: str, told: str) -> None:
    config = compose_config("+experiment=boxplot", f"reward={reward}")
    observed = make_env(config).reset(market_seeds(0, "x", 1)).observe()
    ((system, _),) = prompts(observed, zero_shot_prompt())
    assert f"You are scored {told}" in system["content"]


def test_a_goal_that_is_not_the_run_s_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"prompt\.objective.* tell reward\.weights"):
        compose_config("+experiment=smoke", "+training.prompt.objective.revenue=1.0")


def test_a_term_without_a_meaning_is_told_by_its_name():
    assert set(TERMS) <= {*MARKET_TERMS, *TEXT_TERMS}
    assert "- own_term: own term" in explanation([], Goal({"own_term": 2.0}))


def test_names_that_are_not_shown_are_not_explained():
    assert "rotation_entropy" not in explanation(["welfare"], Goal())
    assert "You are shown" not in explanation([], Goal())


def test_what_a_goal_allows_is_told_and_the_example_keeps_to_it() -> None:
    goal = Goal(allowed={"auction_type": ("vcg",), "reserve_price": Between(0.1, 0.2)})
    said, number = explanation([], goal), "a number from 0.1 to 0.2, two decimals at most"
    assert '- "auction_type": "vcg";' in said and f'- "reserve_price": {number}' in said
    assert '{"auction_type":"vcg","reserve_price":0.1' in said.replace(": ", ":").replace(", ", ",")
    called = explanation([], goal, "set_rules")
    assert called.endswith(f'- auction_type: only "vcg"\n- reserve_price: only {number}')


def test_a_prompt_without_an_explanation_tells_what_is_allowed() -> None:
    env, name = daedalus.make("stage3").env, "reveal_winner_identity"
    envs = (replace(env, allowed=each) for each in ({}, {name: (False,)}))
    seen = [each.reset(market_seeds(0, "test", 1)).observe() for each in envs]
    free, bound = (prompts(each, PromptSettings())[0] for each in seen)
    assert bound[0]["content"] == free[0]["content"] + f"\n- {name}: only false"
    assert bound[1:] == free[1:]
