"""Answers that cannot be invalid: what no mechanism goes on with is masked as tokens are drawn.

The texts allowed are those of ``mechanism_pattern``; llguidance follows them token by token
(constrained decoding as in Willard & Louf 2023, with masks computed as they are needed).
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from llguidance import LLExecutor, LLMatcher
from llguidance.hf import from_tokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par
from transformers import LogitsProcessor

from daedalus.market.schema import longest_spelling, mechanism_pattern
from daedalus.training.model import LanguageModel

ANSWER_TOKENS = longest_spelling() + 1
"""Tokens that hold every mechanism and the end of the turn, one byte each at the least."""


def mechanism_matcher(language_model: LanguageModel) -> LLMatcher:
    """Return what follows a mechanism through this model's tokens, from its start.

    Raises:
        ValueError: The pattern cannot be followed with this tokenizer, or it is not a fast one.
    """
    model, tokenizer = language_model.model, language_model.tokenizer
    vocabulary = from_tokenizer(
        cast(Any, tokenizer),  # its type asks for a fast tokenizer; a slow one raises
        n_vocab=model.get_output_embeddings().out_features,  # often padded beyond the tokenizer's
        eos_token=model.generation_config.eos_token_id,
    )
    matcher = LLMatcher(vocabulary, LLMatcher.grammar_from_regex(mechanism_pattern()))
    if matcher.is_error():
        raise ValueError(f"constrained: {matcher.get_error()}; decode without it")
    return matcher


class MechanismConstraint(LogitsProcessor):
    """Gives tokens that cannot continue a mechanism a score of minus infinity, and leaves the rest.

    It follows one call of ``generate``, so every call needs a new one.

    Args:
        matcher: At the start of a mechanism; it is copied.
        rows: Answers B that are sampled side by side.
    """

    def __init__(self, matcher: LLMatcher, rows: int) -> None:
        self._matchers = [matcher.deep_copy() for _ in range(rows)]
        self._executor = LLExecutor()
        self._started = False

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Mask scores of shape (B, vocabulary), given the tokens so far, shape (B, length).

        Raises:
            ValueError: A row goes on with a token that was masked, as in beam search.
        """
        if self._started:
            self._consume(input_ids[:, -1].tolist())
        self._started = True
        allowed = torch.from_numpy(self._allowed(scores.shape[1])).to(scores.device)
        return cast(torch.FloatTensor, scores.masked_fill(~allowed, -torch.inf))

    def _consume(self, tokens: list[int]) -> None:
        for matcher, token in zip(self._matchers, tokens, strict=True):
            ended = matcher.is_stopped()  # such a row is padded
            if not ended and not matcher.consume_token(token):
                raise ValueError(f"token {token} was masked; sample every row from its own scores")

    def _allowed(self, vocabulary: int) -> np.ndarray:
        """Return which tokens may follow, bool, shape (B, vocabulary)."""
        words = allocate_token_bitmask(len(self._matchers), vocabulary)
        numbered = [(matcher, row) for row, matcher in enumerate(self._matchers)]
        fill_next_token_bitmask_par(self._executor, numbered, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little", count=vocabulary)
        return bits.astype(bool)
