"""Constrained decoding: tokens that cannot continue a valid mechanism are masked.

Allowed texts are those of ``mechanism_pattern``. llguidance follows them token by token, as in
Willard & Louf (2023), and computes each mask when it is needed.
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
"""Tokens that are enough for any mechanism and the end of the turn, if each is at least a byte."""


def mechanism_matcher(language_model: LanguageModel) -> LLMatcher:
    """Return a matcher of mechanisms for the tokens of a model, at the start of a mechanism.

    Raises:
        ValueError: The tokenizer cannot follow the pattern, or is not a fast tokenizer.
    """
    model, tokenizer = language_model.model, language_model.tokenizer
    vocabulary = from_tokenizer(
        cast(Any, tokenizer),  # the type needs a fast tokenizer; a slow one raises
        n_vocab=model.get_output_embeddings().out_features,  # often more than the tokenizer has
        eos_token=model.generation_config.eos_token_id,
    )
    matcher = LLMatcher(vocabulary, LLMatcher.grammar_from_regex(mechanism_pattern()))
    if matcher.is_error():
        raise ValueError(f"constrained: {matcher.get_error()}; decode without it")
    return matcher


class MechanismConstraint(LogitsProcessor):
    """Sets the score of tokens that cannot continue a mechanism to minus infinity.

    It follows one call of ``generate``, so each call needs a new constraint.

    Args:
        matcher: A matcher at the start of a mechanism, which is copied.
        rows: Number of answers B that are sampled side by side.
    """

    def __init__(self, matcher: LLMatcher, rows: int) -> None:
        self._matchers = [matcher.deep_copy() for _ in range(rows)]
        self._executor = LLExecutor()
        self._started = False

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Mask scores of shape (B, vocabulary), given the tokens so far, shape (B, length).

        Raises:
            ValueError: A row continues with a token that was masked, as in beam search.
        """
        if self._started:
            self._consume(input_ids[:, -1].tolist())
        self._started = True
        allowed = torch.from_numpy(self._allowed(scores.shape[1])).to(scores.device)
        return cast(torch.FloatTensor, scores.masked_fill(~allowed, -torch.inf))

    def _consume(self, tokens: list[int]) -> None:
        for matcher, token in zip(self._matchers, tokens, strict=True):
            ended = matcher.is_stopped()  # the rest of such a row is padding
            if not ended and not matcher.consume_token(token):
                raise ValueError(f"token {token} was masked; sample each row from its own scores")

    def _allowed(self, vocabulary: int) -> np.ndarray:
        """Return which tokens may follow, bool, shape (B, vocabulary)."""
        words = allocate_token_bitmask(len(self._matchers), vocabulary)
        numbered = [(matcher, row) for row, matcher in enumerate(self._matchers)]
        fill_next_token_bitmask_par(self._executor, numbered, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little", count=vocabulary)
        return bits.astype(bool)
