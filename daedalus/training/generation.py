"""Sampling of completions, and the ``generate`` function of language-model designers.

To ask a model needs no library of training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import BatchEncoding, PreTrainedModel

from daedalus.design.language.prompt import Generate, Message
from daedalus.design.language.reply import Ask, Reply
from daedalus.market.goal import ANYTHING, Goal, Restrictions, by_allowed
from daedalus.training.constrained import (
    Constraint,
    Constraints,
    answer_constrained,
    by_prompt,
    constraint_to,
    draw_at,
)
from daedalus.training.defaults import end_of_answer, neutral_generation
from daedalus.training.model import LanguageModel
from daedalus.training.writing import mechanism_constraint

_BATCH = 256
_CONSTRAINTS = 16  # of different goals, which are remembered


def make_generate(
    language_model: LanguageModel,
    temperature: float,
    max_new_tokens: int,
    constrained: bool | None = False,
) -> Generate[str]:
    """Return a function from chats to completions.

    Args:
        language_model: The model that answers.
        temperature: Sampling temperature; 0 decodes greedily.
        max_new_tokens: Largest number of tokens of an answer that is not constrained.
        constrained: Whether to force a valid mechanism that the goal allows, see
            ``daedalus.training.constrained``; None does so only where a goal restricts it.
    """

    @lru_cache(maxsize=_CONSTRAINTS)
    def constraint_of(restrictions: Restrictions) -> Constraint | None:
        if constrained or (constrained is None and restrictions):
            allowed = {name: each for name, _, each in restrictions}
            return mechanism_constraint(language_model, allowed)
        return None

    constraint_of(())  # refuses a tokenizer before anything is asked

    def generate(
        chats: Sequence[list[Message]], rng: np.random.Generator, goals: Sequence[Goal] = ()
    ) -> list[str]:
        texts: dict[int, str] = {}
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**63)))
            for rows, goal in _batches(goals or [ANYTHING] * len(chats)):
                constraint, asked = constraint_of(goal.restrictions), [chats[row] for row in rows]
                answered = complete(language_model, asked, temperature, max_new_tokens, constraint)
                texts |= zip(rows, answered.texts, strict=True)
        return [texts[row] for row in range(len(chats))]

    return generate


def _batches(goals: Sequence[Goal]) -> Iterator[tuple[list[int], Goal]]:
    """Yield the rows of each batch, whose goals allow the same, with one of these."""
    for goal, rows in by_allowed(goals):
        for start in range(0, len(rows), _BATCH):
            yield rows[start : start + _BATCH].tolist(), goal


def make_ask(language_model: LanguageModel, temperature: float, pattern: str) -> Ask:
    """Return a function that asks for one reply. A reply depends on its chat and seed alone.

    Args:
        language_model: The model that answers.
        temperature: Sampling temperature; 0 decodes greedily.
        pattern: A regular expression of the texts that it may write.
    """
    constraint = constraint_to(pattern, language_model.model, language_model.tokenizer)

    def ask(chat: list[Message], seed: int) -> Reply:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            said = complete(language_model, [chat], temperature, 1, constraint)
        return Reply(said.texts[0], len(said.prompts[0]), len(said.answers[0]))

    return ask


def repeatable_attention() -> AbstractContextManager[None]:
    """Return a context in which CPUs generate the same text on any number of threads.

    PyTorch's flash attention for CPUs rounds differently on each thread when a model generates
    token by token. GPUs keep it.
    """
    return nullcontext() if torch.cuda.is_available() else sdpa_kernel(SDPBackend.MATH)


@contextmanager
def generating(model: PreTrainedModel) -> Iterator[None]:
    """Switch a model to generation, and afterwards back to the mode that it had."""
    was_training = model.training
    prepare = getattr(model, "for_inference", model.eval)  # Unsloth's models have their own
    restore = getattr(model, "for_training", model.train)
    prepare()
    try:
        with torch.inference_mode(), repeatable_attention():
            yield
    finally:
        if was_training:
            restore()


@dataclass(frozen=True)
class Completions:
    """B prompts of a model, and its answers.

    Attributes:
        prompts: Tokens of each chat, without padding.
        answers: Tokens of each answer, including the token that ends it.
        texts: The answers without special tokens.
    """

    prompts: list[list[int]]
    answers: list[list[int]]
    texts: list[str]


def complete(
    language_model: LanguageModel,
    chats: Sequence[list[Message]],
    temperature: float,
    max_new_tokens: int,
    constraint: Constraint | Constraints | None = None,
) -> Completions:
    """Answer chats in one batch, with torch's global random numbers and no settings but these.

    Args:
        language_model: The model that answers.
        chats: B chats.
        temperature: Sampling temperature; 0 decodes greedily.
        max_new_tokens: Largest number of tokens of an answer that is not constrained.
        constraint: What the model may write, of all prompts or by prompt; None is anything.
    """
    tokenizer = language_model.tokenizer
    inputs = tokenizer.apply_chat_template(
        list(chats), add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
    )
    assert isinstance(inputs, BatchEncoding)
    prompts = [
        row[mask.bool()].tolist()
        for row, mask in zip(inputs.input_ids, inputs.attention_mask, strict=True)
    ]
    with generating(language_model.model):
        if constraint:
            constraint_for = by_prompt(constraint)
            answers = answer(language_model, prompts, temperature, constraint_for)
        else:
            answers = _free(language_model, inputs, temperature, max_new_tokens)
    return Completions(
        prompts, answers, list(tokenizer.batch_decode(answers, skip_special_tokens=True))
    )


def answer(
    language_model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    temperature: float,
    constraint_for: Constraints,
) -> list[list[int]]:
    """Return the tokens of a constrained answer to each prompt, with the token that ends it."""
    model, tokenizer = language_model.model, language_model.tokenizer
    end = end_of_answer(tokenizer)
    constraints = [constraint_for(each) for each in prompts]
    answers = answer_constrained(model, prompts, constraints, draw_at(temperature), end)
    return [[*each, end] for each in answers]


def _free(
    language_model: LanguageModel, inputs: BatchEncoding, temperature: float, max_new_tokens: int
) -> list[list[int]]:
    model = language_model.model
    sampling = (
        {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        if temperature > 0
        else {"do_sample": False}
    )
    ends = neutral_generation(model, language_model.tokenizer)
    inputs = inputs.to(model.device)
    tokens = cast(Any, model).generate(  # the method of a mixin, which the type lacks
        **inputs, max_new_tokens=max_new_tokens, **sampling
    )
    return [_ended(row, ends) for row in tokens[:, inputs["input_ids"].shape[1] :].tolist()]


def _ended(tokens: list[int], ends: Sequence[int]) -> list[int]:
    """Return the tokens up to the first that ends an answer."""
    length = next((place for place, token in enumerate(tokens, 1) if token in ends), len(tokens))
    return tokens[:length]
