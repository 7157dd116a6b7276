"""How close an exported model is to the trained one."""

from __future__ import annotations

import copy

import torch

from daedalus.design.env import DesignEnv
from daedalus.training.model import LanguageModel
from daedalus.training.pipeline import fidelity
from tests.training.conftest import chats_of


def compared(env: DesignEnv, one: LanguageModel, shift: float) -> tuple[float, float]:
    """Compare a model with a copy whose output favours its first token by ``shift``."""
    other = LanguageModel(copy.deepcopy(one.model), one.tokenizer)
    head = other.model.lm_head
    head.bias = torch.nn.Parameter(torch.zeros(head.out_features))
    head.bias.data[0] = shift
    chats = chats_of(env, 3)
    found = fidelity(one, other, chats, tokens=5)
    return found["divergence"], found["agreement"]


def test_a_changed_model_differs_by_as_much_as_it_was_changed(
    env: DesignEnv, small: LanguageModel
) -> None:
    nothing, same = compared(env, small, 0.0)
    assert abs(nothing) < 1e-6 and same == 1.0
    little, alike = compared(env, small, 0.01)
    much, other = compared(env, small, 50.0)
    assert 0.0 < little < 0.01 and alike > 0.8
    assert much > 10.0 and other == 0.0
