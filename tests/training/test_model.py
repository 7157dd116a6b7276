"""Models that are built from random weights, and the mechanisms that teach them the format."""

from __future__ import annotations

import numpy as np
import torch

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.mechanism import CHOICES, RANGES, Mechanisms
from daedalus.training.model import keep_numbers_alike, make_language_model
from daedalus.training.settings import ModelSettings
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.tokenizer import number_tokens
from tests.training.conftest import PROMPT, SMALL


def test_the_default_model_is_of_the_stated_size(env: DesignEnv) -> None:
    language_model = make_language_model(ModelSettings(), PROMPT, env, seed=0)
    assert 1e6 < language_model.model.num_parameters() < 5e6
    assert language_model.model.config.model_type == "qwen2"


def test_weights_depend_on_the_seed_alone(env: DesignEnv) -> None:
    one, same, other = (make_language_model(SMALL, PROMPT, env, seed).model for seed in (1, 1, 2))
    weights = [model.model.layers[0].mlp.up_proj.weight for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_numbers_are_kept_from_gradients_and_nothing_else(env: DesignEnv) -> None:
    compact = PromptSettings(averages=["welfare", "revenue"], compact=True)
    made = make_language_model(SMALL, compact, env, seed=0)
    keep_numbers_alike(made.model, made.tokenizer)
    weight = made.model.get_input_embeddings().weight
    weight.sum().backward()
    moving = (weight.grad != 0).any(dim=1)
    numbers = made.tokenizer.convert_tokens_to_ids(number_tokens())
    assert not moving[numbers].any()
    assert moving.sum() == len(weight) - len(numbers)


def test_synthetic_mechanisms_cover_the_space_and_its_ends() -> None:
    batch = Mechanisms.stack(synthetic_mechanisms(4000, seed=0))
    for name, words in CHOICES.items():
        counts = np.bincount(getattr(batch, name), minlength=len(words))
        assert (counts > 4000 / len(words) * 0.85).all()
    for name, (low, high) in RANGES.items():
        values = getattr(batch, name)
        assert 0.08 < (values == low).mean() < 0.13
        assert 0.08 < (values == high).mean() < 0.13
        inside = values[(values > low) & (values < high)]
        assert abs(inside.mean() - (low + high) / 2) < 0.05 * (high - low)
    assert (batch.reserve_price == batch.reserve_price.round(2)).all()
    assert (batch.collusion_penalty == batch.collusion_penalty.round(1)).all()
