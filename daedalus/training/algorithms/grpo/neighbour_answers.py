"""Answers that are not sampled: sampled ones with another value of one field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from daedalus.design.search.space import GRID, Settings, neighbour
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.constrained import Constraint
from daedalus.training.defaults import end_of_answer


def with_neighbours(
    answers: Sequence[list[int]],
    sampled: int,
    count: int,
    tokenizer: PreTrainedTokenizerBase,
    constraint: Constraint,
    grid: Settings = GRID,
) -> list[list[int]]:
    """Return groups in which neighbours of sampled answers come before these.

    Args:
        answers: Tokens of valid answers, groups side by side.
        sampled: Answers of each group.
        count: Neighbours that each group gets, drawn by torch's global random numbers.
        tokenizer: It reads answers.
        constraint: It writes them.
        grid: Values of each field that neighbours take.
    """
    if not count:
        return list(answers)
    rng, end = np.random.default_rng(int(torch.randint(2**62, ()))), end_of_answer(tokenizer)
    whole: list[list[int]] = []
    for start in range(0, len(answers), sampled):
        group = answers[start : start + sampled]
        parents = [group[place] for place in rng.integers(len(group), size=count)]
        texts = [str(tokenizer.decode(each, skip_special_tokens=True)) for each in parents]
        whole += [[*constraint.tokens(_neighbour(text, rng, grid)), end] for text in texts]
        whole += group
    return whole


def _neighbour(text: str, rng: np.random.Generator, grid: Settings) -> str:
    mechanism = parse_mechanism(text).mechanism
    assert mechanism is not None
    return format_mechanism(neighbour(mechanism, rng, grid))
