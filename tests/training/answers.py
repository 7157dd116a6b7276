"""Answers as a model writes them; a helper for tests, not a test."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.training.defaults import end_of_answer


def answer_tokens(tokenizer: PreTrainedTokenizerBase, mechanism: Mechanism) -> list[int]:
    """Return the tokens of an answer, with the token that ends it."""
    text = format_mechanism(mechanism)
    return [*tokenizer(text, add_special_tokens=False).input_ids, end_of_answer(tokenizer)]
