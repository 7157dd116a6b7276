"""Constrained decoding: every answer spells an allowed text, and forced tokens are not computed.

llguidance follows a regular expression or a JSON schema token by token, as in Willard & Louf
(2023). Where only one text can follow, its usual tokens are forced. Only the other tokens are
*choices*: the model draws them from the tokens that can continue a text. Forced tokens are read in
one forward pass with the choice before them (jump-forward decoding: Zheng et al. 2024, "SGLang").

Nothing here knows of markets: it serves any causal model of transformers with a fast tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import torch
from llguidance import LLExecutor, LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask_par
from numpy.typing import NDArray

_EXECUTOR = LLExecutor()
_REMEMBERED = 512  # answers


@dataclass(frozen=True)
class Choices:
    """The choices in an answer.

    Attributes:
        places: Their places in the answer, shape (N,).
        words: The tokens from which each was drawn, 32 of them in each number as llguidance packs
            them.
        vocabulary: Number of the model's tokens.
    """

    places: NDArray[np.int64]
    words: NDArray[np.int32]
    vocabulary: int

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The tokens from which each was drawn, shape (N, vocabulary)."""
        return _unpacked(self.words, self.vocabulary)


@dataclass(frozen=True, eq=False)
class Constraint:
    """What a model may write: the texts of a grammar, token by token.

    Attributes:
        start: A matcher at the start of a text, which is only copied.
        vocabulary: Number of the model's tokens.
        tokenizer: It writes texts in their usual tokens.
        after: Returns what may follow a text that is complete; None if nothing may.
    """

    start: LLMatcher
    vocabulary: int
    tokenizer: LLTokenizer
    after: Callable[[str], Constraint | None] = lambda _: None

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text that tokens spell."""
        return str(self.tokenizer.decode_str(list(tokens)))

    def tokens(self, text: str) -> list[int]:
        """Return the usual tokens of a text, as forced ones are: without a space in front."""
        return list(self.tokenizer.tokenize_str(text))

    def allowed(self, matchers: Sequence[LLMatcher]) -> NDArray[np.bool_]:
        """Return which tokens may follow in each of B answers, shape (B, vocabulary)."""
        return _unpacked(_allowed(matchers, self.vocabulary), self.vocabulary)

    def choices(self, answer: Sequence[int]) -> Choices:
        """Return the choices in an answer. What follows the end of the text is none.

        Training asks three times about an answer, so the last answers are remembered.

        Raises:
            ValueError: The answer is not a text of the grammar.
        """
        return _choices(self, tuple(answer))


@lru_cache(maxsize=_REMEMBERED)
def _choices(constraint: Constraint, answer: tuple[int, ...]) -> Choices:
    partial, place, places = PartialAnswer(constraint), 0, []
    words = [allocate_token_bitmask(0, constraint.vocabulary)]
    while place < len(answer) and not partial.is_complete:
        must = partial.matcher.compute_ff_tokens()
        if must and list(answer[place : place + len(must)]) == must:
            partial.take(must)
            place += len(must)
            continue
        words.append(_allowed([partial.matcher], constraint.vocabulary))
        places.append(place)
        if not partial.take([answer[place]]):
            raise ValueError(f"token {answer[place]} cannot continue the text")
        place += 1
    return Choices(np.array(places, dtype=np.int64), np.concatenate(words), constraint.vocabulary)


def _allowed(matchers: Sequence[LLMatcher], vocabulary: int) -> NDArray[np.int32]:
    """Return which tokens may follow in each of B answers, packed."""
    words = allocate_token_bitmask(len(matchers), vocabulary)
    numbered = [(matcher, row) for row, matcher in enumerate(matchers)]
    fill_next_token_bitmask_par(_EXECUTOR, numbered, words)
    return words


def _unpacked(words: NDArray[np.int32], vocabulary: int) -> NDArray[np.bool_]:
    """Return which tokens are allowed, shape (N, vocabulary)."""
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little", count=vocabulary)
    return bits.view(np.bool_)


def constraint_to(pattern: str | Mapping[str, Any], model: Any, tokenizer: Any) -> Constraint:
    """Return the constraint that a model writes nothing but a text of a pattern.

    Args:
        pattern: A regular expression, or a JSON schema, whose texts have no spaces between values.
        model: A causal language model.
        tokenizer: Its tokenizer.

    Raises:
        ValueError: The tokenizer cannot follow the pattern, or is not a fast tokenizer.
    """
    return constraint_of(pattern, *vocabulary_of(model, tokenizer))


def vocabulary_of(model: Any, tokenizer: Any) -> tuple[LLTokenizer, int]:
    """Return a model's tokenizer as constraints need it, and the number of the model's tokens.

    Raises:
        ValueError: The tokenizer is not a fast one.
    """
    tokens = model.get_output_embeddings().out_features  # often more than the tokenizer has
    ends = model.generation_config.eos_token_id
    return from_tokenizer(tokenizer, n_vocab=tokens, eos_token=ends), tokens


def constraint_of(
    pattern: str | Mapping[str, Any],
    tokenizer: LLTokenizer,
    vocabulary: int,
    after: Callable[[str], Constraint | None] = lambda _: None,
) -> Constraint:
    """Return the constraint to a pattern, see ``constraint_to``; for the rest see ``Constraint``.

    Raises:
        ValueError: The tokenizer cannot follow the pattern.
    """
    if isinstance(pattern, str):
        grammar = LLMatcher.grammar_from_regex(pattern)
    else:
        options = {"whitespace_flexible": False, **pattern.get("x-guidance", {})}
        grammar = LLMatcher.grammar_from_json_schema({**pattern, "x-guidance": options})
    matcher = LLMatcher(tokenizer, grammar)
    if matcher.is_error():
        raise ValueError(f"constrained: {matcher.get_error()}; decode without it")
    return Constraint(matcher, vocabulary, tokenizer, after)


class PartialAnswer:
    """An answer that is being written under a constraint, and under those that come after it.

    Attributes:
        matcher: What may be written next.
    """

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._part: list[int] = []
        self.matcher = constraint.start.deep_copy()

    @property
    def is_complete(self) -> bool:
        """Return whether nothing may follow."""
        return bool(self.matcher.is_stopped())

    def take(self, tokens: Sequence[int]) -> bool:
        """Write tokens, if they may stand there, and return whether they may.

        Where a constraint is complete, the next one begins.
        """
        if not self.matcher.consume_tokens(list(tokens)):
            return False
        self._part += tokens
        if self.matcher.is_stopped():
            after = self._constraint.after(self._constraint.text(self._part))
            if after:
                self._constraint, self._part = after, []
                self.matcher = after.start.deep_copy()
        return True

    def forced(self) -> list[int]:
        """Write the tokens that must follow, until the next choice, and return them.

        Raises:
            ValueError: The tokenizer writes the text in tokens that do not spell it.
        """
        written: list[int] = []
        while tokens := self.matcher.compute_ff_tokens():
            if not self.take(tokens):
                raise ValueError(f"constrained: {self.matcher.get_error()}; decode without it")
            written += tokens
        return written


Places = torch.Tensor | tuple[torch.Tensor, ...]
"""N places in the input: bool of its shape (B, length), or their rows and columns, each (N,)."""


@contextmanager
def logits_only_at(model: Any, places: Places) -> Iterator[None]:
    """Compute the logits at N places only: the model then returns them with shape (N, vocabulary).

    The model is a causal one, which may be wrapped.
    """
    inner = getattr(model, "module", model)  # of several processes
    head = inner.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][places],))
    try:
        yield
    finally:
        hook.remove()


Constraints = Callable[[Sequence[int]], Constraint]
"""Returns what a model may write after a prompt, which is given as its tokens."""


def by_prompt(constraint: Constraint | Constraints) -> Constraints:
    """Return what gives the constraint of a prompt, though all have the same."""
    return (lambda _: constraint) if isinstance(constraint, Constraint) else constraint


Draw = Callable[[torch.Tensor], torch.Tensor]
"""From logits of shape (B, vocabulary), masked with minus infinity, to B tokens."""


def draw_at(temperature: float) -> Draw:
    """Return what samples at a temperature with torch's global random numbers; 0 is greedy."""

    def draw(logits: torch.Tensor) -> torch.Tensor:
        if not temperature:
            return logits.argmax(dim=1)
        return torch.multinomial((logits / temperature).softmax(dim=1), 1)[:, 0]

    return draw


def answer_constrained(
    model: Any,
    prompts: Sequence[Sequence[int]],
    constraints: Sequence[Constraint],
    draw: Draw,
    pad: int,
) -> list[list[int]]:
    """Return the tokens of an answer to each prompt. Equal neighbours are read once.

    Args:
        model: A causal language model in evaluation mode.
        prompts: Tokens of B prompts.
        constraints: What the model may write after each; equal prompts have equal ones.
        draw: Draws a token of each row.
        pad: Any token, for places without one.
    """
    partial = [PartialAnswer(each) for each in constraints]
    answers = [each.forced() for each in partial]
    reading = _Reading(model, pad)
    logits = reading.read_prompts([[*a, *b] for a, b in zip(prompts, answers, strict=True)])
    rows = list(range(len(prompts)))  # of the answers that go on
    while rows:
        mask = torch.from_numpy(constraints[0].allowed([partial[row].matcher for row in rows]))
        drawn = draw(logits.float().masked_fill(~mask.to(logits.device), -torch.inf)).tolist()
        parts: dict[int, list[int]] = {}
        for row, token in zip(rows, drawn, strict=True):
            partial[row].take([token])
            parts[row] = [token, *partial[row].forced()]
            answers[row] += parts[row]
        rows = [row for row in rows if not partial[row].is_complete]
        if rows:
            logits = reading.read(
                [parts[row] if row in rows else [] for row in range(len(answers))]
            )
    return answers


class _Reading:
    """What a model has read of B texts, which grow by parts of different lengths.

    A part that is shorter than another leaves places that no token attends to.
    """

    def __init__(self, model: Any, pad: int) -> None:
        self._model = model
        self._pad = pad
        self._cache: Any = None
        self._seen: torch.Tensor  # (B, length): places that hold tokens

    def read_prompts(self, prompts: Sequence[list[int]]) -> torch.Tensor:
        """Read the beginning of each text; return the logits after it, shape (B, vocabulary)."""
        groups = [(each, len(list(same))) for each, same in groupby(prompts)]
        longest = max(map(len, prompts))
        padded = [[None] * (longest - len(each)) + each for each, _ in groups]  # as in training
        logits = self._forward(padded)
        rows = [row for row, (_, count) in enumerate(groups) for _ in range(count)]
        self._seen = self._seen[rows]
        self._cache.batch_select_indices(torch.tensor(rows, device=logits.device))
        return logits[rows]

    def read(self, parts: Sequence[list[int]]) -> torch.Tensor:
        """Read a part of each text; return the logits after those that are not empty, in order."""
        longest = max(map(len, parts))
        return self._forward([each + [None] * (longest - len(each)) for each in parts])

    def _forward(self, rows: Sequence[list[int | None]]) -> torch.Tensor:
        """Read rows of one length, in which None is a place without a token."""
        device = self._model.device
        here = torch.tensor([[each is not None for each in row] for row in rows], device=device)
        tokens = [[self._pad if each is None else each for each in row] for row in rows]
        self._seen = here if self._cache is None else torch.cat([self._seen, here], dim=1)
        count = self._seen.long().cumsum(dim=1)[:, -here.shape[1] :]
        last = here & (count == count[:, -1:])
        with logits_only_at(self._model, last):
            output = self._model(
                input_ids=torch.tensor(tokens, device=device),
                attention_mask=self._seen.long(),
                position_ids=(count - 1).clamp(min=0),
                past_key_values=self._cache,
                use_cache=True,
            )
        self._cache = output.past_key_values
        logits: torch.Tensor = output.logits
        return logits
