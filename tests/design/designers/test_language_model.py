"""A language model as designer: what it is asked, and what its answers become."""

from __future__ import annotations

from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal

from daedalus.checks import CannotRunError
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.language_model import LanguageModelDesigner, LanguageModelSettings
from daedalus.design.language.prompt import PromptSettings, prompts
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import market_seeds
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import env_of
from tests.populations import draw_mechanism

ANSWER = Mechanism("first_price", 0.35, collusion_penalty=2.0, reveal_winner_identity=True)


def test_the_model_is_asked_once_for_all_markets_and_answers_in_order():
    asked = []
    answers = [draw_mechanism(rng(i)) for i in range(3)]
    source = rng()

    def generate(chats, generator, goals):
        asked.append((chats, generator))
        return [format_mechanism(answer) for answer in answers]

    observed = observe(3, welfare=0.5)
    proposal = LanguageModelDesigner(generate, PromptSettings(rounds=1)).propose(observed, source)
    assert [proposal[i] for i in range(3)] == answers
    assert not proposal.malformed.any()
    assert asked == [(prompts(observed, PromptSettings(rounds=1)), source)]


@pytest.mark.parametrize("strict", [False, True])
def test_the_answers_are_kept_with_their_prompts_and_reasons(strict):
    texts = [f"```json\n{format_mechanism(ANSWER)}\n```", "no"]
    designer = LanguageModelDesigner(lambda chats, *_: texts, PromptSettings(), strict)
    proposal = designer.propose(observe(2), rng())
    assert_array_equal(proposal.malformed, [strict, True])
    told = [chat[-1]["content"] for chat in prompts(observe(2), PromptSettings())]
    assert [(each.prompt, each.text) for each in designer.answers] == list(
        zip(told, texts, strict=True)
    )
    kinds = ["other text" if strict else "", "no object"]
    assert [each.parsed.kind for each in designer.answers] == kinds


@pytest.mark.parametrize("strict", [False, True])
def test_a_setting_makes_the_designer_strict(strict):
    settings = LanguageModelSettings("owner/name", strict=strict)
    load = Loader()
    load.generate = lambda chats, *_: [f"I choose {format_mechanism(ANSWER)}"] * len(chats)
    designer = settings.build(DesignerContext(env_of(), 0, load_model=load))
    assert_array_equal(designer.propose(observe(2), rng()).malformed, [strict] * 2)


class Loader:
    """Stands for a model on disk: it notes how it was loaded, and always answers the same."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.chats: list[object] = []

    def __call__(self, checkpoint, temperature, max_new_tokens, constrained):
        self.asked.append((checkpoint, temperature, max_new_tokens, constrained))
        return self.generate, PromptSettings(rounds=1)

    def generate(self, chats, generator, goals):
        self.chats += chats
        return [format_mechanism(ANSWER)] * len(chats)


@pytest.mark.parametrize("prompt", [None, PromptSettings(rounds=3)])
def test_settings_load_the_model_and_the_prompt_it_was_trained_on(prompt):
    load = Loader()
    settings = LanguageModelSettings("owner/name", 0.5, 99, constrained=True, prompt=prompt)
    designer = settings.build(DesignerContext(env_of(), 0, load_model=load))
    assert load.asked == [("owner/name", 0.5, 99, True)]
    proposal = designer.propose(observe(2), rng())
    assert [proposal[row] for row in range(2)] == [ANSWER] * 2
    assert load.chats == prompts(observe(2), prompt or PromptSettings(rounds=1))


@pytest.mark.parametrize("reward", [{"revenue": 1.0}, {"revenue": 0.5, "fairness": 0.5}])
def test_a_model_of_many_objectives_is_asked_for_the_reward_of_the_run(reward):
    load, told = Loader(), PromptSettings(weights=["revenue", "fairness"])
    settings = LanguageModelSettings("owner/name", prompt=told)
    context = DesignerContext(env_of(RewardStack(reward)), 0, load_model=load)
    observed = context.env.reset(market_seeds(0, "x", 2)).observe()
    settings.build(context).propose(observed, rng())
    assert load.chats == prompts(observed, told)
    shown = ",".join(f"{name}:{reward.get(name, 0.0):.2f}" for name in told.weights)
    assert f"objective: {{{shown}}}" in load.chats[1][-1]["content"]
    with pytest.raises(CannotRunError, match=r"composite; .* choose a reward of these"):
        settings.build(replace(context, env=env_of()))


def test_a_context_that_loads_no_models_is_refused():
    with pytest.raises(ValueError, match="load_model"):
        LanguageModelSettings("owner/name").build(DesignerContext(env_of(), 0))


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no model"):
        LanguageModelSettings(str(tmp_path))
    (tmp_path / "config.json").touch()
    assert LanguageModelSettings(str(tmp_path)).checkpoint == str(tmp_path)
