"""A small language model answers briefs, learns their meanings, and earns more by GRPO's steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from daedalus.checks import CannotRunError
from daedalus.design.briefs.answers import (
    answer_text,
    clauses_in,
    mechanism_in,
    mechanism_pattern_for,
    reading_pattern,
    reading_text,
    true_clauses,
    understood_in,
    values_text,
)
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.model_reader import ModelReader
from daedalus.design.briefs.scoring import mean_terms
from daedalus.design.briefs.search import worth
from daedalus.design.designers.brief_model import BriefModel
from daedalus.design.env import DesignEnv
from daedalus.design.search.space import GRID
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.training.brief_model import BriefWriting, brief_chat, load_brief_model
from daedalus.training.brief_pipeline import searched, train_from_briefs
from daedalus.training.brief_settings import BriefLessonSettings
from daedalus.training.generation import complete
from daedalus.training.model import load_language_model
from daedalus.training.settings import ModelSettings, TrainingSettings
from daedalus.training.sources.brief_source import BriefReward
from daedalus.training.sources.market_reward import RewardFunction
from tests.populations import population
from tests.training.conftest import GRPO, PROMPT, SFT, make_run

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
BRIEFS = frozen_briefs("training")[:2000]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a Llama of two small layers, and a tokenizer that knows the words of briefs."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<end>", "<pad>", "<system>", "<user>", "<assistant>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([each.text for each in BRIEFS[:400]], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>", pad_token="<pad>", chat_template=TEMPLATE
    )
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    shape = LlamaConfig(
        vocab_size=len(fast), num_attention_heads=2, eos_token_id=0, pad_token_id=1, **sizes
    )
    folder = tmp_path_factory.mktemp("base")
    LlamaForCausalLM(shape).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture
def envs(env: DesignEnv) -> dict[str, DesignEnv]:
    """Return one and the same market under every name."""
    return {each.population: env for each in BRIEFS}


@pytest.mark.parametrize("at_once", [False, True])
def test_a_model_that_nobody_trained_answers_every_brief(base: Path, at_once: bool) -> None:
    model = load_language_model(base)
    writing = BriefWriting(model, at_once)
    chats = [brief_chat(each.text, at_once) for each in BRIEFS[:12]]
    torch.manual_seed(0)
    told = complete(model, chats, 1.0, 1, writing.allow)
    for brief, prompt, text in zip(BRIEFS, told.prompts, told.texts, strict=False):
        assert writing.brief_of(prompt) == brief.text
        mechanism = mechanism_in(text)
        if at_once:
            assert text == values_text(mechanism)
            continue
        assert re.fullmatch(reading_pattern(brief.text), text.partition("|")[0] + "|")
        assert understood_in(text, brief.text).goal().admits(mechanism)
        near = writing.change(prompt, text, np.random.default_rng(0))
        assert len(writing.allow(prompt).choices(writing.allow(prompt).tokens(near)).places)


@pytest.mark.slow
def test_lessons_can_be_spelt_under_their_own_mask(envs: dict[str, DesignEnv]) -> None:
    shown = BRIEFS[:3]
    for brief, mechanism in zip(shown, searched(shown, envs, 0), strict=True):
        reading = reading_text(true_clauses(brief))
        pattern = mechanism_pattern_for(reading, brief.text)
        assert re.fullmatch(pattern, values_text(mechanism)), mechanism


def test_a_shuffled_designer_answers_every_brief_as_another(envs: dict[str, DesignEnv]) -> None:
    asked: list[str] = []

    class Answers:
        at_once = False

        def __call__(self, briefs: Sequence[str], rng: np.random.Generator) -> list[str]:
            asked[:] = briefs
            known = {each.text: each for each in BRIEFS}
            return [answer_text(true_clauses(known[each]), Mechanism()) for each in briefs]

    texts = [each.text for each in BRIEFS[:6]]
    episodes = next(iter(envs.values())).reset(market_seeds(0, "x", len(texts)))
    episodes.goals = np.array([Goal({}, {}, each) for each in texts], object)
    observed, rng = episodes.observe(), np.random.default_rng(0)
    designer = BriefModel(Answers(), shuffled=True)
    designer.propose(observed, rng)
    assert sorted(asked) == sorted(texts) and not any(map(str.__eq__, asked, texts))
    plain = BriefModel(Answers())
    plain.propose(observed, rng)
    understood = plain.understand(texts[0])
    assert asked == texts and understood and understood.same_as(BRIEFS[0].truth)


def test_a_model_that_sets_at_once_is_no_reader() -> None:
    class AtOnce:
        at_once = True

        def __call__(self, briefs: Sequence[str], rng: np.random.Generator) -> list[str]:
            return [values_text(Mechanism())] * len(briefs)

    with pytest.raises(CannotRunError, match="does not say what it reads"):
        ModelReader(AtOnce())


def test_a_mechanism_that_breaks_a_rule_earns_nothing(envs: dict[str, DesignEnv]) -> None:
    ruled = next(each for each in BRIEFS if each.allowed and not each.floors)
    reward = RewardFunction(BriefReward([ruled], envs, futures=2, seed=0, at_once=True), 2)
    fine = ruled.goal.nearest(Mechanisms.stack([Mechanism()]))[0]
    (name, allowed), *_ = ruled.allowed.items()
    other = next(
        each
        for each in GRID[name]
        if not Goal({}, {name: allowed}).admits(replace(fine, **{name: each}))
    )
    mechanisms = [fine, replace(fine, **{name: other})]
    metrics: dict[str, float] = {}
    texts = [values_text(each) for each in mechanisms]
    earned = reward(texts, [0] * len(texts), log_metric=metrics.__setitem__)
    for mechanism, each in zip(mechanisms, earned, strict=True):
        assert (each == 0) == (not ruled.goal.admits(mechanism))
    assert metrics["term/rules_kept"] == 0.5 and earned[0] > 0


def test_answers_are_played_before_the_bidders_of_whom_the_brief_tells(env: DesignEnv) -> None:
    told = next(each for each in BRIEFS if each.population == "briefs_ring" and not each.floors)
    others = DesignEnv.of(env.settings, population(3, bidders=5))
    envs = {told.population: env, told.known_population: others}
    best = told.goal.nearest(Mechanisms.stack([Mechanism()]))
    scorer = BriefReward([told], envs, futures=4, seed=0, at_once=True)
    (got,), _ = scorer.score([values_text(best[0])], [0], 0)
    there, elsewhere = (
        1 + worth(mean_terms(each, best, 4, 0, "briefs/training/0"), told.reward, {})[0]
        for each in (env, others)
    )
    assert got == pytest.approx(there) and abs(there - elsewhere) > 1e-3


def settings(sft: int, grpo: int) -> TrainingSettings:
    return TrainingSettings(
        prompt=PROMPT,
        sft=replace(SFT, steps=sft, batch_size=16, examples=64, learning_rate=1e-2),
        grpo=replace(
            GRPO,
            steps=grpo,
            prompts_per_step=4,
            group_size=8,
            micro_batch=32,
            neighbours=4,
            states=8,
            constrained=True,
            loss_type="boltzmann",
            sharpness=10.0,
            last_sharpness=20.0,
            learning_rate=3e-3,
            save_every=100,
        ),
    )


@pytest.mark.slow
def test_sft_teaches_meanings_and_the_model_comes_back(
    base: Path, env: DesignEnv, envs: dict[str, DesignEnv], tmp_path: Path
) -> None:
    model = ModelSettings(pretrained=str(base))
    run = make_run(env, tmp_path / "run", settings(sft=120, grpo=2), model)
    train_from_briefs(run, BRIEFS, BriefLessonSettings(taught=4), envs)
    losses = [each["loss"] for each in run.tracker.history("sft")]
    assert np.mean(losses[-5:]) < 0.3 * losses[0]
    ask = load_brief_model(str(run.folder.sft_model), 0.0, None)
    shown = BRIEFS[:64]
    told = ask([each.text for each in shown], np.random.default_rng(0))
    right = [
        a.meaning == b.meaning
        for text, brief in zip(told, shown, strict=True)
        for a, b in zip(clauses_in(text, brief.text), true_clauses(brief), strict=True)
    ]
    assert np.mean(right) > 0.4  # one of 44 by chance
    history = run.tracker.history("grpo")
    assert len(history) == 2 and {"rules_kept", "sentences_read"} <= set(history[0])
    assert not load_brief_model(str(run.folder.model), 0.0, None).at_once
    with pytest.raises(ValueError, match="was trained with False"):
        load_brief_model(str(run.folder.model), 0.0, at_once=True)
    before = run.folder.model.stat().st_mtime_ns
    train_from_briefs(run, BRIEFS, BriefLessonSettings(taught=4), envs)  # a finished one rests
    assert run.folder.model.stat().st_mtime_ns == before


@pytest.mark.slow
def test_rewards_alone_teach_to_keep_the_rules_of_a_brief(
    base: Path, env: DesignEnv, envs: dict[str, DesignEnv], tmp_path: Path
) -> None:
    model = ModelSettings(pretrained=str(base))
    ruled = [each for each in BRIEFS if each.allowed == {"auction_type": ("first_price",)}][:8]
    assert len(ruled) == 8
    run = make_run(env, tmp_path / "run", settings(sft=0, grpo=40), model)
    train_from_briefs(run, ruled, BriefLessonSettings(at_once=True), envs)
    kept = [each["rules_kept"] for each in run.tracker.history("grpo")]
    assert np.mean(kept[-10:]) > np.mean(kept[:10]) + 0.1


def test_more_briefs_of_few_wordings_than_there_are_are_refused(
    base: Path, env: DesignEnv, envs: dict[str, DesignEnv], tmp_path: Path
) -> None:
    run = make_run(env, tmp_path / "run", settings(1, 1), ModelSettings(pretrained=str(base)))
    with pytest.raises(CannotRunError, match=r"briefs have no other wordings than the first 1"):
        train_from_briefs(run, BRIEFS, BriefLessonSettings(wordings=1), envs)
