"""Answers are sampled from the generator that is given, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from daedalus.training.generation import complete, generating, make_generate
from daedalus.training.model import LanguageModel


@pytest.mark.parametrize("constrained", [False, True])
def test_sampling_depends_on_the_generator_alone(small: LanguageModel, constrained: bool) -> None:
    chats = [[{"role": "user", "content": "hello"}]] * 4
    generate = make_generate(small, 1.0, 8, constrained)
    torch.manual_seed(1)
    one = generate(chats, np.random.default_rng(0))
    torch.manual_seed(2)
    assert generate(chats, np.random.default_rng(0)) == one
    assert generate(chats, np.random.default_rng(1)) != one
    assert len(set(one)) > 1


def test_completions_keep_tokens_without_padding(small: LanguageModel) -> None:
    chats = [[{"role": "user", "content": text}] for text in ("hello", "a much longer question")]
    done = complete(small, chats, 0.0, 4)
    for chat, asked, answer, text in zip(
        chats, done.prompts, done.answers, done.texts, strict=True
    ):
        rendered = small.tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=False
        )
        assert small.tokenizer.decode(asked) == rendered
        assert 1 <= len(answer) <= 4
        assert small.tokenizer.decode(answer, skip_special_tokens=True) == text


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.skipif(torch.cuda.is_available(), reason="tested elsewhere: there is a GPU here")
def test_generation_is_the_same_on_one_thread_and_on_two(
    small: LanguageModel, threads: None
) -> None:
    asked = torch.arange(17 * 61).reshape(17, 61) % 300
    logits = []
    for count in (1, 2):
        torch.set_num_threads(count)
        with generating(small.model):
            done = small.model.generate(
                asked, max_new_tokens=8, output_logits=True, return_dict_in_generate=True
            )
        logits.append(torch.stack(done.logits))
    assert torch.equal(*logits)
