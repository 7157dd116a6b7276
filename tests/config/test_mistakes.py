"""A mistake gets one message that says what to write, and an old name its new one."""

from __future__ import annotations

import pytest

from tests.config.composing import failure


@pytest.mark.parametrize(
    ("overrides", "hints"),
    [
        (["+experiment=grpo_stag3"], ["Did you mean grpo_stage3?"]),
        (["population=stage33"], ["Did you mean stage3?"]),
        (["trainin.grpo.steps=3"], ["trainin", "Did you mean training?"]),
        (["training.grpo.stepz=3"], ["stepz", "Did you mean steps?"]),
        (["designer=random", "designer.samplng=published"], ["Did you mean sampling?"]),
        (["training.grpo.steps=many"], ["training.grpo.steps", "many", "Integer"]),
        (["mechanism.reserve_price=1.5"], ["reserve_price: 1.5", "from 0.0 to 0.9"]),
        (["mechanism.auction_type=dutch"], ["dutch", "first_price, second_price, vcg"]),
        (["+reward.weights.welfar=1"], ["welfar", "welfare"]),
        (["reward.weights.composit=1"], ["Did you mean composite?"]),
        (["evaluation.baselines.randm.sampling=published"], ["Did you mean random?"]),
        (["market.strategic.audit_rte=1"], ["Did you mean audit_rate?"]),
        (["training.grpo.learning_rate=inf"], ["learning_rate: inf", "finite"]),
        (
            ["market=classic", "population.classic.groups.colluder.seats=[1,2]"],
            ["seat 1", "dropout_patient"],
        ),
        (["designer=language_model"], ["checkpoint", "`model` folder"]),
        (["designer=endpoint"], ["model: not set", "the server offers"]),
        (["designer=endpoint", "designer.api_key=x"], ["Did you mean api_key_variable?"]),
        (["service.connections=200"], ["connections: 200", "more than websocket_sessions"]),
        (["training.grpo.max_gradient_norm=0"], ["max_gradient_norm: 0", "above 0"]),
        (["reward.weights.composite=-1"], ["reward.weights.composite: -1.0", "from 0 up"]),
        (["tracking.project=a/b"], ["tracking.project: 'a/b'", "1 to 128 characters"]),
        (["model.pretrained=docs"], ["model.pretrained: 'docs'", "config.json"]),
        (["model.key_value_heads=0"], ["key_value_heads: 0", "a divisor of heads, 4"]),
        (["load.http_rates=[nan]"], ["http_rates: [nan]"]),
        (["designer=heuristic", "designer.exit_alarm=2"], ["designer.exit_alarm: 2.0", "0 to 1"]),
        (["designer=distilled", "designer.data=README.md"], ["designer.data: README.md holds no"]),
        (["designer=null"], ["a group takes the name of one of its files"]),
        (["population=[stage1,stage2]"], ["choose one file of conf/population/"]),
    ],
)
def test_mistakes_say_what_to_write(overrides: list[str], hints: list[str]) -> None:
    message = failure("task=compare", *overrides)
    for hint in hints:
        assert hint in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("market.rules=classic", "market.rules: renamed to market.name"),
        ("population.units=2", "renamed to population.strategic.units"),
        ("population.concentration=2", "renamed to population.strategic.concentration"),
        ("population.types.shader.share=1", "renamed to population.strategic.types"),
        ("population.groups.shader.seats=[1]", "renamed to population.classic.groups"),
        (
            "population.bidders=12",
            "renamed to population.strategic.bidders or population.classic.bidders",
        ),
        ("population.stage=1", "renamed to population.strategic.stage or population.classic.stage"),
        (
            "population.strategic.types.shader.hope=0.1",
            "renamed to population.strategic.types.shader.expected_surplus",
        ),
        ("adversary.hope=[0.0,0.1]", "renamed to adversary.expected_surplus"),
        ("training.prompt.rules=true", "renamed to training.prompt.mechanism"),
        ("training.sft.answer_scale=1", "renamed to training.sft.temperature"),
        ("training.grpo.kept=1", "renamed to training.grpo.commitment_steps"),
        (
            "evaluation.baselines.random_card.sampling=uniform",
            "renamed to evaluation.baselines.random_published",
        ),
        ("populations=shipped", "populations=shipped: renamed to populations=development"),
        ("reward=card", "renamed to reward=published"),
        ("reward=card_stability", "renamed to reward=published_stability"),
        ("training=card", "renamed to training=published"),
        ("training/curriculum=card", "renamed to training/curriculum=published"),
        ("designer=random_card", "renamed to designer=random_published"),
        ("+experiment=replicate_card", "renamed to experiment=replicate_published"),
    ],
)
def test_an_old_name_says_what_it_was_renamed_to(old: str, new: str) -> None:
    assert new in failure("task=compare", old)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "old", "new"),
    [
        ("designer=distilled", "designer.kept=1", "designer.commitment_steps"),
        ("designer=distilled", "designer.lessons=x", "designer.data"),
        (
            "training=planned",
            "training.sft.teacher.kept=1",
            "training.sft.teacher.commitment_steps",
        ),
        ("training=planned", "training.sft.teacher.lessons=x", "training.sft.teacher.data"),
    ],
)
def test_an_old_name_in_a_group_says_what_it_was_renamed_to(
    choice: str, old: str, new: str
) -> None:
    assert f"renamed to {new}" in failure("task=compare", "population=varied", choice, old)
