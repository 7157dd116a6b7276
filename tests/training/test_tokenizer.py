"""The embedded tokenizer: lossless, ends turns rightly, and comes back as it was saved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings, prompts
from daedalus.design.search.states import mid_episode_states
from daedalus.launch.from_config import make_env
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.settings import ModelSettings
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.tokenizer import schema_tokens
from tests.launch.config.composing import composed
from tests.training.conftest import PROMPT

ODD_TEXTS = [
    "",
    " ",
    "naïve café 漢字 🏛",
    "reveal_reserve",
    '{"auction_type"',
    "0.123456789",
    "\n\n\t",
]


def texts(language_model: LanguageModel, env: DesignEnv) -> list[str]:
    chats = prompts(mid_episode_states(env, 100, seed=9, purpose="x").observe(), PROMPT)
    rendered = language_model.tokenizer.apply_chat_template(
        chats, tokenize=False, add_generation_prompt=True
    )
    answers = [format_mechanism(each) for each in synthetic_mechanisms(100, seed=9)]
    return [*rendered, *answers, *ODD_TEXTS]


def test_text_survives_tokenization(small: LanguageModel, env: DesignEnv) -> None:
    for text in texts(small, env):
        assert small.tokenizer.decode(small.tokenizer(text).input_ids) == text


def test_saved_and_loaded_it_is_the_same(
    small: LanguageModel, env: DesignEnv, tmp_path: Path
) -> None:
    small.tokenizer.save_pretrained(tmp_path)
    small.model.config.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    for text in texts(small, env):
        assert loaded(text).input_ids == small.tokenizer(text).input_ids
    assert loaded.eos_token == "<|im_end|>"
    assert loaded.pad_token == "<|endoftext|>"
    assert loaded.chat_template == small.tokenizer.chat_template


def test_every_key_is_one_token_and_an_answer_is_short(small: LanguageModel) -> None:
    for key in schema_tokens():
        assert len(small.tokenizer(key).input_ids) == 1
    values = ["vcg", "0.3", *["true"] * 5, "1.5", "0.0", "3.0", "allow"]
    filled = "".join(map("".join, zip(schema_tokens(), values, strict=True))) + '"}'
    assert parse_mechanism(filled).valid
    assert len(small.tokenizer(format_mechanism(Mechanism())).input_ids) <= 40


def test_a_compact_number_is_one_token_and_close_ones_are_alike(env: DesignEnv) -> None:
    compact = PromptSettings(rounds=0, averages=["welfare", "revenue"], compact=True)
    settings = ModelSettings(hidden_size=32, layers=1, heads=2, intermediate_size=32)
    model = make_language_model(settings, compact, env, seed=0)
    states = mid_episode_states(env, 100, seed=9, purpose="x")
    for chat in prompts(states.observe(), compact):
        text = chat[-1]["content"]
        tokens = model.tokenizer.tokenize(text.split("averages:")[1].split("\n")[0])
        assert len(tokens) == 2
        assert model.tokenizer.decode(model.tokenizer(text).input_ids) == text
    rows = model.tokenizer.convert_tokens_to_ids([" 0.50", " 0.51", " 1.50"])
    at, near, far = model.model.get_input_embeddings().weight[rows]
    assert torch.cosine_similarity(at, near, dim=0) > 0.8
    assert torch.cosine_similarity(at, far, dim=0) < 0.6


@pytest.mark.slow
def test_a_market_takes_some_sixty_tokens_to_tell() -> None:
    config = composed("+experiment=grpo_mixture", "model.layers=1")
    env, prompt = make_env(config), config.training.prompt
    model = make_language_model(config.model, prompt, env, seed=0)
    chats = prompts(mid_episode_states(env, 100, seed=9, purpose="x").observe(), prompt)
    asked = model.tokenizer.apply_chat_template(chats, add_generation_prompt=True)
    assert max(len(tokens) for tokens in asked["input_ids"]) <= 60
