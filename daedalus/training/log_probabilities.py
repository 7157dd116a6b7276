"""Log-probabilities of constrained answers: those of choices, among the tokens allowed there.

Answers to the same prompt stand behind it in one row, and none attends to another. So the prompt is
computed once for its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch

from daedalus.training.constrained import Constraint, Constraints, by_prompt, logits_only_at

_PROMPT, _PADDING = 0, -1  # owners of tokens that belong to no answer


def choice_log_probabilities(
    model: Any,
    tokens: torch.Tensor,
    mask: torch.Tensor,
    length: int,
    constraint: Constraint | Constraints,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log-probabilities and entropies in nats, each of shape (B, length).

    Both are 0 where a token was no choice.

    Args:
        model: A causal language model, which may be wrapped.
        tokens: Prompts, padded on the left, and answers, padded on the right; shape (B, L).
        mask: 1 where there is a token; shape (B, L).
        length: Columns of the answers.
        constraint: What the model may write, after all prompts or by prompt.
        temperature: The logits are divided by it.
    """
    sides = [each.split([each.shape[1] - length, length], dim=1) for each in (tokens, mask.bool())]
    prompts, answers = (
        [row[here].tolist() for row, here in zip(*side, strict=True)]
        for side in zip(*sides, strict=True)
    )
    allow = by_prompt(constraint)
    choices = [allow(a).choices(b) for a, b in zip(prompts, answers, strict=True)]
    rows, places = _shared(prompts, answers)
    before = [
        [where[place] for place in each.places] for where, each in zip(places, choices, strict=True)
    ]
    logits = _logits(model, rows, list(chain.from_iterable(before)))
    allowed = torch.cat([torch.from_numpy(each.allowed) for each in choices]).to(logits.device)
    logps = (logits.float() / temperature).masked_fill(~allowed, -torch.inf).log_softmax(dim=1)
    entropies = -(logps.exp() * logps.masked_fill(~allowed, 0.0)).sum(dim=1)
    chosen = torch.zeros(len(answers), length, dtype=torch.bool, device=logits.device)
    for row, each in enumerate(choices):
        chosen[row, each.places] = True
    drawn = logps.gather(1, tokens[:, -length:][chosen][:, None])[:, 0]
    empty = logps.new_zeros(chosen.shape)
    return empty.masked_scatter(chosen, drawn), empty.masked_scatter(chosen, entropies)


@dataclass(frozen=True)
class _Row:
    """A prompt, and behind it all answers to it.

    Attributes:
        tokens: Its tokens.
        positions: The position of each, which an answer counts from the end of the prompt.
        owners: The number of its answer, from 1; or ``_PROMPT``.
    """

    tokens: list[int]
    positions: list[int]
    owners: list[int]

    def add(self, tokens: Sequence[int], position: int, owner: int) -> None:
        self.tokens.extend(tokens)
        self.positions.extend(range(position, position + len(tokens)))
        self.owners.extend([owner] * len(tokens))


def _shared(
    prompts: Sequence[list[int]], answers: Sequence[list[int]]
) -> tuple[list[_Row], list[list[tuple[int, int]]]]:
    """Return the rows, and the place before each token of each answer: its row and column."""
    rows: dict[tuple[int, ...], _Row] = {}
    places = []
    for prompt, answer in zip(prompts, answers, strict=True):
        row = rows.setdefault(tuple(prompt), _Row([], [], []))
        if not row.tokens:
            row.add(prompt, 0, _PROMPT)
        start, number = len(row.tokens), list(rows).index(tuple(prompt))
        row.add(answer, len(prompt), row.owners[-1] + 1)
        before = [len(prompt) - 1, *range(start, start + len(answer) - 1)]
        places.append([(number, column) for column in before])
    return list(rows.values()), places


def _logits(model: Any, rows: Sequence[_Row], places: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Return the logits at N places, shape (N, vocabulary)."""
    weight = next(model.parameters())  # of the embeddings, which are never quantised
    device = weight.device

    def padded(name: str, padding: int) -> torch.Tensor:
        values = [torch.tensor(getattr(row, name)) for row in rows]
        whole = torch.nn.utils.rnn.pad_sequence(values, batch_first=True, padding_value=padding)
        return whole.to(device)

    owners = padded("owners", _PADDING)
    wanted = tuple(torch.tensor(each, device=device) for each in zip(*places, strict=True))
    with logits_only_at(model, wanted):
        logits: torch.Tensor = model(
            input_ids=padded("tokens", 0),
            position_ids=padded("positions", 0),
            attention_mask=_attention(owners, weight.dtype),
            use_cache=False,
        ).logits
    return logits


def _attention(owners: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the mask by which a token attends to its prompt and to its own answer.

    Its shape is (rows, 1, length, length), added to the scores of attention. If no row has several
    answers, it is the usual one of shape (rows, length).
    """
    if owners.max() <= 1:
        return (owners != _PADDING).long()
    query, key = owners[:, :, None], owners[:, None, :]
    sees = ((key == query) | (key == _PROMPT)).tril()
    return torch.where(sees, 0.0, torch.finfo(dtype).min).to(dtype)[:, None]
