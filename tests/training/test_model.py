"""Models: built from random weights, and loaded with the prompt that they were trained on."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from daedalus.env import DesignEnv
from daedalus.language.prompt import PromptSettings
from daedalus.training.model import (
    keep_numbers_alike,
    make_language_model,
    trained_prompt,
)
from daedalus.training.settings import ModelSettings
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


def test_a_model_without_a_prompt_of_its_own_takes_the_default(tmp_path: Path) -> None:
    assert trained_prompt(tmp_path) == PromptSettings()
    shown = PromptSettings(rounds=1, stage=True, mechanism=True)
    (tmp_path / "prompt.json").write_text(json.dumps(asdict(shown)))
    assert trained_prompt(tmp_path) == shown


def test_a_prompt_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompt.json").write_text(json.dumps(asdict(PromptSettings()) | {"version": 0}))
    with pytest.raises(ValueError, match="prompts have changed since"):
        trained_prompt(tmp_path)


def test_a_prompt_with_the_old_key_says_how_to_rename_it(tmp_path: Path) -> None:
    written = asdict(PromptSettings(mechanism=True))
    written["rules"] = written.pop("mechanism")
    (tmp_path / "prompt.json").write_text(json.dumps(written))
    with pytest.raises(ValueError, match=r"prompt\.json: rules .* mechanism; rename the key"):
        trained_prompt(tmp_path)
