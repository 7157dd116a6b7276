"""Nothing that a checkpoint brings along changes how its model answers, learns or is exported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.training.algorithms.grpo import trainer as grpo
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.sft import trainer as sft
from daedalus.training.checkpoints import export
from daedalus.training.defaults import (
    end_of_answer,
    require_answers,
)
from daedalus.training.generation import complete, make_generate
from daedalus.training.model import (
    LanguageModel,
    load_language_model,
    load_tokenizer,
)
from daedalus.training.tokenizer import CHAT_TEMPLATE
from tests.training.conftest import GRPO, PROMPT, SFT, Writer, chats_of, make_run, small_model

POISON: dict[str, Any] = {
    "repetition_penalty": 1.3,
    "no_repeat_ngram_size": 2,
    "bad_words_ids": [[40]],
    "suppress_tokens": [41, 42],
    "begin_suppress_tokens": [43],
    "sequence_bias": [[[44], 5.0]],
    "forced_eos_token_id": 45,
    "min_new_tokens": 20,
    "max_new_tokens": 3,
    "do_sample": True,
    "temperature": 0.2,
    "top_k": 3,
    "top_p": 0.4,
    "min_p": 0.2,
    "typical_p": 0.5,
    "num_beams": 2,
    "length_penalty": 2.0,
    "guidance_scale": 1.5,
    "renormalize_logits": True,
    "exponential_decay_length_penalty": [2, 1.5],
    "use_cache": False,
}
"""What a ``generation_config.json`` may hold beside the tokens that end and pad."""
REFUSES_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    + CHAT_TEMPLATE
)
IGNORES_SYSTEM = CHAT_TEMPLATE.replace("messages %}", "messages if message.role != 'system' %}")
THINKS = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
    "{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}"
    "<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
"""As Qwen3 does it."""
TELLS_DATE = "Today is {{ strftime_now('%d %b %Y') }}. " + CHAT_TEMPLATE
CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]

Change = Callable[..., Path]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "model"
    export(small_model(), PROMPT, "", folder)
    return folder


@pytest.fixture
def changed(clean: Path, tmp_path: Path) -> Change:
    """Return a function that copies the checkpoint and changes its files."""

    def change(template: str | None = CHAT_TEMPLATE, **files: dict[str, Any]) -> Path:
        folder = tmp_path / "changed"
        shutil.copytree(clean, folder)
        for name, values in files.items():
            path = folder / f"{name}.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | values))
        if template is None:
            (folder / "chat_template.jinja").unlink()
        else:
            (folder / "chat_template.jinja").write_text(template)
        return folder

    return change


@pytest.fixture(scope="module")
def chats(env: DesignEnv) -> list[list[dict[str, str]]]:
    return chats_of(env, 8)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_checkpoint_is_sampled_without_its_own_settings(
    clean: Path, changed: Change, chats: list[list[dict[str, str]]], temperature: float
) -> None:
    folder = changed(generation_config=POISON)
    one, other = (
        make_generate(load_language_model(each), temperature, 24)(chats, np.random.default_rng(0))
        for each in (clean, folder)
    )
    assert one == other


def test_a_model_in_memory_is_sampled_and_exported_without_its_own_settings(
    small: LanguageModel, chats: list[list[dict[str, str]]], tmp_path: Path
) -> None:
    expected = complete(small, chats, 0.0, 12)
    for name, value in POISON.items():
        setattr(small.model.generation_config, name, value)
    assert complete(small, chats, 0.0, 12) == expected
    small.model.generation_config.repetition_penalty = 1.3
    export(small, PROMPT, "", tmp_path / "model")
    written = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert set(written) == {"eos_token_id", "pad_token_id", "transformers_version"}


@pytest.mark.slow
def test_grpo_samples_the_policy_that_is_evaluated(
    env: DesignEnv, clean: Path, changed: Change, tmp_path: Path
) -> None:
    changes = {"entropy_bonus": 0.1, "max_completion_tokens": 8, "states": 2}
    short = DesignEnv(env.market, MarketSettings(episode_length=2))
    settings = GrpoSettings(**{**vars(GRPO), **changes})

    def trained(folder: Path, out: Path) -> torch.Tensor:
        found = grpo.train(load_language_model(folder), make_run(short, out, settings))
        return torch.cat([each.flatten() for each in found.model.parameters()])

    config = {"attention_dropout": 0.5}
    folder = changed(generation_config=POISON, config=config)
    one, other = trained(clean, tmp_path / "one"), trained(folder, tmp_path / "other")
    assert torch.equal(one, other)


def test_dropout_is_ours(changed: Change) -> None:
    model = load_language_model(changed(config={"attention_dropout": 0.5})).model.train()
    tokens = torch.arange(8)[None]
    assert torch.equal(model(tokens).logits, model(tokens).logits)
    assert model.config.attention_dropout == 0.0


def test_every_end_token_ends_an_answer(
    changed: Change, chats: list[list[dict[str, str]]], tmp_path: Path
) -> None:
    loaded = load_language_model(changed(generation_config={"eos_token_id": [2, 50]}))
    assert loaded.model.generation_config.eos_token_id == [2, 50]
    writer = LanguageModel(Writer([60, 50, 61]), loaded.tokenizer)
    writer.model.generation_config.eos_token_id = [2, 50]
    assert complete(writer, chats[:1], 0.0, 3).answers == [[60, 50]]
    export(loaded, PROMPT, "", tmp_path / "model")
    written = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert written["eos_token_id"] == [2, 50]
    assert make_generate(loaded, 0.0, 8, constrained=True)(chats[:1], np.random.default_rng(0))


def test_a_model_tells_what_ends_an_answer_and_that_pads(changed: Change) -> None:
    missing = {"eos_token": None, "pad_token": None}
    loaded = load_language_model(changed(tokenizer_config=missing))
    assert loaded.tokenizer.pad_token == loaded.tokenizer.eos_token == "<|im_end|>"
    assert loaded.model.generation_config.pad_token_id == 2


def test_a_model_whose_answers_never_end_is_refused(changed: Change) -> None:
    none = {"eos_token_id": None}
    folder = changed(tokenizer_config={"eos_token": None}, generation_config=none, config=none)
    with pytest.raises(CannotRunError, match="no token ends an answer; write eos_token into"):
        load_language_model(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "told"),
    [
        (None, "S\n\nU\n\n"),
        (REFUSES_SYSTEM, "<|im_start|>user\nS\n\nU<|im_end|>\n<|im_start|>assistant\n"),
        (IGNORES_SYSTEM, "<|im_start|>user\nS\n\nU<|im_end|>\n<|im_start|>assistant\n"),
    ],
    ids=["none", "refuses", "ignores"],
)
def test_a_template_without_a_system_role_gets_a_plain_fallback(
    env: DesignEnv, changed: Change, tmp_path: Path, template: str | None, told: str
) -> None:
    loaded = load_language_model(changed(template, tokenizer_config={"pad_token": None}))

    def render(tokenizer: Any, chat: list[dict[str, str]], **options: Any) -> str:
        return str(tokenizer.apply_chat_template(chat, tokenize=False, **options))

    assert render(loaded.tokenizer, CHAT, add_generation_prompt=True) == told
    answered = render(loaded.tokenizer, [*CHAT, {"role": "assistant", "content": "A"}])
    assert answered.startswith(f"{told}A<|im_end|>")
    trained = sft.train(loaded, make_run(env, tmp_path, SFT))
    export(trained, PROMPT, "", tmp_path / "model")
    again = load_tokenizer(tmp_path / "model")
    plain = AutoTokenizer.from_pretrained(tmp_path / "model")
    for each in (again, plain):
        assert render(each, CHAT, add_generation_prompt=True) == told
        assert each.pad_token == "<|im_end|>"
    assert again.chat_template == plain.chat_template


def test_a_template_that_tells_the_date_tells_the_same_on_all_days(changed: Change) -> None:
    tokenizer = load_tokenizer(changed(TELLS_DATE))
    assert "Today is 01 Jan 2025. " in tokenizer.apply_chat_template(CHAT, tokenize=False)


def test_answers_follow_questions_without_reasoning(changed: Change) -> None:
    folder = changed(THINKS)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with pytest.raises(CannotRunError, match="does not lead from a question straight"):
        require_answers(tokenizer)
    tokenizer = load_tokenizer(folder)
    require_answers(tokenizer)
    tokenizer.save_pretrained(folder)
    assert load_tokenizer(folder).chat_template == tokenizer.chat_template


def test_a_broken_template_is_refused_in_one_sentence(changed: Change) -> None:
    with pytest.raises(CannotRunError, match="its chat template cannot tell a question"):
        load_tokenizer(changed("{% for message in messages %}"))


def test_the_end_of_a_turn_ends_an_answer(changed: Change) -> None:
    """A base model's end token is often not the end of a turn in its template."""
    end = {"eos_token": "<|im_start|>"}
    loaded = load_language_model(
        changed(tokenizer_config=end, generation_config={"eos_token_id": 1})
    )
    assert loaded.model.generation_config.eos_token_id == [1, 2]
    assert end_of_answer(loaded.tokenizer) == 2
