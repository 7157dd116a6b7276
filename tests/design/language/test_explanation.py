"""The explanation tells all that a model needs that has never seen the task."""

from __future__ import annotations

import pytest

from daedalus.design.designers.endpoint import zero_shot_prompt
from daedalus.design.language.explanation import MEANINGS, TERMS, explanation
from daedalus.design.language.prompt import OUTCOME_FIELDS, prompts
from daedalus.design.rewards.terms import MARKET_TERMS, TEXT_TERMS
from daedalus.launch.config import ConfigError, compose_config
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS
from daedalus.market.observation import PROXIES
from daedalus.market.parsing import parse_mechanism
from daedalus.market.seeds import market_seeds
from experiments.build import make_env


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


@pytest.mark.parametrize(
    ("overrides", "hint"),
    [
        (["+training.prompt.objective.revenue=1.0"], "prompt.objective.* tell reward.weights"),
        (["training.objectives=[{revenue: 1.0}]"], "reward.weights: composite; .* of revenue al"),
    ],
)
def test_a_goal_that_is_not_the_run_s_is_refused(overrides: list[str], hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        compose_config("+experiment=smoke", *overrides)


def test_a_term_without_a_meaning_is_told_by_its_name():
    assert set(TERMS) <= {*MARKET_TERMS, *TEXT_TERMS}
    assert "- own_term: own term" in explanation([], Goal({"own_term": 2.0}))


def test_names_that_are_not_shown_are_not_explained():
    assert "rotation_entropy" not in explanation(["welfare"], Goal())
    assert "You are shown" not in explanation([], Goal())
