"""Checkpoints that are complete, and an exported model that loads by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from transformers import AutoModelForCausalLM, AutoTokenizer

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.seeds import market_seeds
from daedalus.training.checkpoints import completed_steps, export, last_checkpoint
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.trained_prompt import trained_prompt


def test_exported_model_designs_by_itself(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    prompt = PromptSettings(rounds=1, stage=True)
    export(small, prompt, "", tmp_path / "model")
    assert trained_prompt(tmp_path / "model") == prompt
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert model.generation_config.eos_token_id == tokenizer.convert_tokens_to_ids("<|im_end|>")
    generate = make_generate(LanguageModel(model, tokenizer), 0.0, 16)
    designer = LanguageModelDesigner(generate, prompt)
    observed = env.reset(market_seeds(0, "x", 3)).observe()
    proposals = designer.propose(observed, np.random.default_rng(0))
    assert len(proposals) == 3  # nonsense from random weights, so malformed, but never an exception
    assert proposals.malformed.all()


def test_a_checkpoint_cut_short_is_not_resumed(tmp_path: Path) -> None:
    for step, state in ((9, "{}"), (10, "{}"), (11, None), (12, ""), (13, '{"best_metric": nul')):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert completed_steps(tmp_path) == 10
    assert last_checkpoint(tmp_path / "nothing") is None
    assert completed_steps(tmp_path / "nothing") == 0
