"""Neighbours of sampled answers: one field differs, and they stand before their group."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.mechanism_schema import mechanism_pattern
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.algorithms.grpo.constrained_trainer import one_field, with_neighbours
from daedalus.training.constrained import Constraint, by_prompt
from daedalus.training.defaults import own_tokenizer
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.writing import mechanism_constraint

CHATS = [[{"role": "user", "content": f"market {number // 3}"}] for number in range(30)]


def told(model: LanguageModel, answer: list[int]) -> Mechanism:
    text = str(model.tokenizer.decode(answer, skip_special_tokens=True))
    mechanism = parse_mechanism(text).mechanism
    assert mechanism is not None
    return mechanism


def differing(one: Mechanism, other: Mechanism) -> list[str]:
    return [name for name in FIELDS if getattr(one, name) != getattr(other, name)]


def grouped(
    answers: list[list[int]],
    sampled: int,
    count: int,
    tokenizer: PreTrainedTokenizerBase,
    constraint: Constraint,
) -> list[list[int]]:
    prompts: list[list[int]] = [[]] * len(answers)
    allow = by_prompt(constraint)
    return with_neighbours(prompts, answers, sampled, count, tokenizer, allow, one_field())


def test_each_neighbour_differs_in_one_field_from_an_answer_of_its_group(
    untrained: LanguageModel,
) -> None:
    constraint = mechanism_constraint(untrained)
    answers = complete(untrained, CHATS, 1.0, 1, constraint).answers
    torch.manual_seed(0)
    whole = grouped(answers, 3, 5, untrained.tokenizer, constraint)
    changed = set()
    for number in range(10):
        group, own = whole[8 * number : 8 * number + 8], answers[3 * number : 3 * number + 3]
        assert group[5:] == own
        for each in group[:5]:
            found = told(untrained, each)
            (fields,) = {
                tuple(one)
                for other in own
                if len(one := differing(found, told(untrained, other))) == 1
            }
            changed |= {*fields}
            choices = constraint.choices(each)  # the answer can be trained on, to its end
            assert len(choices.places) >= 11 and each[-1] == answers[0][-1]
    assert len(changed) > 8


def test_torchs_seed_decides_and_without_neighbours_nothing_changes(
    untrained: LanguageModel,
) -> None:
    constraint = mechanism_constraint(untrained)
    answers = complete(untrained, CHATS[:6], 1.0, 1, constraint).answers
    made = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        made.append(grouped(answers, 3, 4, untrained.tokenizer, constraint))
    assert made[0] == made[1] != made[2]
    before = torch.get_rng_state()
    assert grouped(answers, 3, 0, untrained.tokenizer, constraint) == answers
    assert np.array_equal(before, torch.get_rng_state())


def spaced_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that writes a space in front of each text, as that of Llama 2 does."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    parts = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*parts, decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>")
    own_tokenizer(fast)
    return fast


def test_neighbours_are_answers_where_a_tokenizer_writes_a_space_in_front() -> None:
    texts = [format_mechanism(each) for each in synthetic_mechanisms(60, 0)]
    tokenizer = spaced_tokenizer(texts)
    vocabulary = from_tokenizer(tokenizer, n_vocab=len(tokenizer))
    matcher = LLMatcher(vocabulary, LLMatcher.grammar_from_regex(mechanism_pattern()))
    constraint = Constraint(matcher, len(tokenizer), vocabulary)
    answers = [[*constraint.tokens(text), tokenizer.eos_token_id] for text in texts]
    for neighbour in grouped(answers, 3, 3, tokenizer, constraint):
        assert len(constraint.choices(neighbour).places)
    with pytest.raises(ValueError, match="cannot continue the text"):
        constraint.choices(tokenizer.encode(texts[0], add_special_tokens=False))
