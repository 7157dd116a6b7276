"""Causal language models of other shapes: loaded, adapted, trained, exported and asked."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from daedalus.design.env import DesignEnv
from daedalus.training.algorithms.grpo import trainer as grpo
from daedalus.training.backends import load_base
from daedalus.training.checkpoints import export
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel, load_language_model, make_language_model
from daedalus.training.writing import mechanism_constraint
from tests.programs import NODE
from tests.training.conftest import ADAPTED, GRPO, PROMPT, SMALL, chats_of, make_run

ROOT = Path(__file__).parents[2]

SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 16,
    "num_key_value_heads": 1, "intermediate_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 2,
    "max_position_embeddings": 1024, "sliding_window": 512,
}  # fmt: skip
"""GPT-2 has other names for its sizes."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "mistral", "qwen3", "gemma2", "gpt_neox", "gpt2"])
def test_any_causal_model_trains_by_constrained_grpo(
    env: DesignEnv, small: LanguageModel, kind: str, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    tokens, end = len(small.tokenizer), small.tokenizer.eos_token_id
    ends = {"bos_token_id": None, "eos_token_id": end, "pad_token_id": small.tokenizer.pad_token_id}
    shape = AutoConfig.for_model(kind, vocab_size=tokens, **SIZES, **ends)
    base = tmp_path / "base"
    AutoModelForCausalLM.from_config(shape).save_pretrained(base)
    small.tokenizer.save_pretrained(base)
    assert_constrained_training(env, base, tmp_path)


@NODE.needed
@pytest.mark.slow
def test_qwen_s_shape_and_tokenizer_train_by_constrained_grpo(
    env: DesignEnv, tmp_path: Path
) -> None:
    subprocess.run(["make", "outputs/tokenizer/qwen2_5"], cwd=ROOT, check=True)
    tokenizer = str(ROOT / "outputs" / "tokenizer" / "qwen2_5")
    shape = replace(SMALL, tokenizer=tokenizer, tie_embeddings=True, key_value_heads=1)
    base = tmp_path / "base"
    export(make_language_model(shape, PROMPT, env, seed=0), PROMPT, "", base)
    assert_constrained_training(env, base, tmp_path)


def assert_constrained_training(env: DesignEnv, base: Path, tmp_path: Path) -> None:
    """Train the model of a folder; its export must answer alike, alone and in a batch."""
    model = load_base(ADAPTED, base)
    settings = replace(GRPO, constrained=True, steps=1, learning_rate=1e-2, warmup_steps=0)
    trained = grpo.train(model, make_run(env, tmp_path / "run", settings, ADAPTED))
    export(trained, PROMPT, base, tmp_path / "model", ADAPTED)
    plain = load_language_model(tmp_path / "model")
    chats = chats_of(env, 6)
    only = mechanism_constraint(plain)  # which takes long if there are many tokens
    told = complete(plain, chats, 0.0, 1, only).texts
    assert complete(trained, chats, 0.0, 1, mechanism_constraint(trained)).texts == told
    alone = [complete(plain, [chat], 0.0, 1, only).texts for chat in chats]
    assert [each for [each] in alone] == told
