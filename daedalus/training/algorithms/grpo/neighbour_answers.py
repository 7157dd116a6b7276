"""Answers that are not sampled: sampled ones with another value of one field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from daedalus.design.search.space import GRID, FieldValues, neighbour
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.constrained import Constraints
from daedalus.training.defaults import end_of_answer
from daedalus.training.writing import Change


def with_neighbours(
    prompts: Sequence[list[int]],
    answers: Sequence[list[int]],
    sampled: int,
    count: int,
    tokenizer: PreTrainedTokenizerBase,
    allow: Constraints,
    change: Change,
) -> list[list[int]]:
    """Return groups in which neighbours of sampled answers come before these.

    Args:
        prompts: Tokens of the prompt of each answer.
        answers: Tokens of valid answers, groups side by side.
        sampled: Answers of each group.
        count: Neighbours that each group gets, drawn by torch's global random numbers.
        tokenizer: It reads answers.
        allow: Returns the constraint that writes answers to a prompt.
        change: Returns a neighbour of an answer.
    """
    if not count:
        return list(answers)
    rng, end = np.random.default_rng(int(torch.randint(2**62, ()))), end_of_answer(tokenizer)
    whole: list[list[int]] = []
    for start in range(0, len(answers), sampled):
        prompt, group = prompts[start], answers[start : start + sampled]
        parents = [group[place] for place in rng.integers(len(group), size=count)]
        texts = [str(tokenizer.decode(each, skip_special_tokens=True)) for each in parents]
        changed = [change(prompt, text, rng) for text in texts]
        whole += [[*allow(prompt).tokens(each), end] for each in changed]
        whole += group
    return whole


def one_field(grid: FieldValues = GRID) -> Change:
    """Return what changes one field of an answer that is a mechanism.

    Args:
        grid: Values that the fields take.
    """

    def change(prompt: Sequence[int], text: str, rng: np.random.Generator) -> str:
        mechanism = parse_mechanism(text).mechanism
        assert mechanism is not None
        return format_mechanism(neighbour(mechanism, rng, grid))

    return change
